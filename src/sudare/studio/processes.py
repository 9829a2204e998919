"""Starts jobs in processes of their own, and finds out what became of those whose process is gone."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from datetime import UTC, datetime
from typing import Any

from sudare.errors import Message, PaidError, SudareError, system_reason
from sudare.language.messages import PageMessage
from sudare.privacy import Ledger
from sudare.privacy.notebook import remaining_text
from sudare.studio.refusals import in_every_language, kept_error
from sudare.studio.tasks import JobRecord, JobStore
from sudare.studio.workspace import Workspace
from sudare.workflow.folder import CERTIFICATE
from sudare.workflow.pages import public_path

_BEGIN_SECONDS = 60.0
"""How long a process may take until it holds its job's lock."""
_UNDRAWN = PageMessage("left_out.report", reason=PageMessage("left_out.job_ended"))


class Processes:
    """The processes of the jobs of a workspace."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self.tasks = JobStore(workspace)
        self._started: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, verb: str, task: dict[str, Any]) -> JobRecord:
        """A new job, at work."""
        self.settle()
        made = self.tasks.add(verb, task)
        command = [sys.executable, "-m", "sudare.studio.worker"]
        try:
            process = subprocess.Popen(  # noqa: S603 - our own program
                [*command, str(self._workspace.folder), self._workspace.name, made.id],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                # A session of its own, on Windows a group: an interrupt in the server's terminal is not meant for it.
                start_new_session=True,
                creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
            )
        except OSError as problem:
            failed = SudareError("the job cannot be started: {reason}", reason=system_reason(problem))
            self.tasks.move(made.id, ("waiting",), "failed", error=kept_error(failed))
        else:
            self._started[made.id] = process
            # Nobody asks for a job again that ended well: its process would stay a zombie as long as the studio runs.
            threading.Thread(target=process.wait, daemon=True).start()
        return self.tasks.get(made.id)

    def get(self, name: str) -> JobRecord:
        """A job, after looking whether it still lives."""
        self.settle()
        return self.tasks.get(name)

    def settle(self) -> None:
        """Give every job whose process is gone its end."""
        for task in self.tasks.listed():
            if not task.is_open or not self._is_lost(task):
                continue
            # Once more: it may have ended well between the two looks.
            task = self.tasks.get(task.id)
            if task.state == "spending":
                self._settle_spending(task)
            elif task.is_open:
                lost = SudareError("the job stopped before it finished", hint="Nothing was spent. Begin it again.")
                self.tasks.move(task.id, ("waiting", "running"), "failed", error=kept_error(lost))

    def _is_lost(self, task: JobRecord) -> bool:
        process = self._started.get(task.id)
        if process is not None:
            if process.poll() is None:
                return False
            del self._started[task.id]
        if self.tasks.holder(task.id) is not None:
            return False
        if task.state != "waiting":
            return True
        age = (datetime.now(UTC) - datetime.fromisoformat(task.time)).total_seconds()
        return process is not None or age > _BEGIN_SECONDS

    def _settle_spending(self, task: JobRecord) -> None:
        """The ledger says whether it was paid, the folder whether the release is out."""
        asked = task.task
        folder = self._workspace.folder / asked["folder"]
        ledger = Ledger(self._workspace.folder / asked["ledger"])
        entry = None
        try:
            rows = ledger.entries(asked["dataset"])
            new = [row for row in rows if row.id > asked["ledger_row"] and row.kind == "spend"]
            entry = next((row for row in new if row.content["recipe_hash"] == asked["recipe_sha256"]), None)
            certificate = json.loads((folder / CERTIFICATE).read_text(encoding="utf-8-sig"))
        except (SudareError, OSError, ValueError):
            certificate = {}
        if entry is not None and certificate.get("release_id") == entry.content["release_id"]:
            report = public_path(folder)
            result = {
                "release_id": certificate["release_id"],
                "folder": self._workspace.shown(folder),
                "files": sorted([*certificate["files"], CERTIFICATE]),
                "report": self._workspace.shown(report) if report.exists() else None,
                "internal_report": None,
                "guarantee": certificate["guarantee"]["text"],
                "said": in_every_language(
                    lambda words: {
                        "left_out": [] if report.exists() else [_UNDRAWN.text(words)],
                        "headline": [],
                        "left": remaining_text(ledger.balance(asked["dataset"]), words),
                    }
                ),
            }
            self.tasks.move(task.id, ("spending",), "done", stage="", fraction=1.0, result=result)
            return
        if entry is not None:
            lost: SudareError = PaidError.of(
                entry.content["release_id"], Message("the job stopped before it finished"), can_resume=True
            )
        else:
            lost = SudareError("the job stopped before it finished", hint="Nothing was spent. Begin it again.")
        self.tasks.move(task.id, ("spending",), "failed", error=kept_error(lost))
