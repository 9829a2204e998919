"""Jobs, which run in processes of their own: their state, and their results kept as facts.

A job's row says how far it is. A publication asks for permission before it spends: in one transaction its row goes from
``running`` to ``spending``, unless it was cancelled first, which is a transaction of the same kind. So a cancelled
publication has spent nothing, and one that spends can no longer be cancelled. Every running process holds a lock; if
the lock is free, the process has died, and the ledger and the release's folder tell what it had done.

What a job says is kept in every language, since whoever looks later may read another one.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import signal
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sudare.errors import Message
from sudare.language.catalogue import Words
from sudare.privacy.private_files import is_locked, locked
from sudare.studio.models import ErrorParts, JobStatus
from sudare.studio.refusals import RequestError, in_language
from sudare.studio.workspace import Workspace, session

OPEN = ("waiting", "running", "spending")
_SHOWN, _KEPT = 50, 200
_VERBS = {"publish": Message("publish"), "rehearse": Message("rehearse")}


@dataclass(frozen=True)
class JobRecord:
    """A job as its row says. ``task`` is what it was asked: texts and versions; what it says is kept
    in every language."""

    id: str
    verb: str
    task: dict[str, Any]
    time: str
    state: str
    stage: str
    fraction: float
    error: dict[str, Any] | None
    result: dict[str, Any] | None

    @classmethod
    def of(cls, row: sqlite3.Row) -> JobRecord:
        """From the store."""
        names = ("task", "error", "result")
        read: dict[str, Any] = {name: None if row[name] is None else json.loads(row[name]) for name in names}
        plain: dict[str, Any] = {name: row[name] for name in ("id", "verb", "time", "state", "stage", "fraction")}
        return cls(**plain, **read)

    @property
    def is_open(self) -> bool:
        """Whether it may still do something."""
        return self.state in OPEN

    @property
    def can_cancel(self) -> bool:
        """Whether nothing is spent, and nothing will be if it is cancelled now."""
        return self.state in ("waiting", "running")

    def status(self, words: Words) -> JobStatus:
        """For the page."""
        return JobStatus(
            id=self.id,
            verb=self.verb,
            version=self.task.get("version"),
            time=self.time,
            state=self.state,
            stage=in_language(json.loads(self.stage), words) if self.stage else "",
            fraction=self.fraction,
            error=None if self.error is None else ErrorParts(**in_language(self.error, words)),
            result=self.result and {**self.result, **in_language(self.result.get("said", {"en": {}}), words)},
            can_cancel=self.can_cancel,
        )


class JobStore:
    """The jobs of a workspace."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def add(self, verb: str, task: dict[str, Any]) -> JobRecord:
        """A new job, waiting. Each verb has one open job at a time: the next may begin when that has ended."""
        made = secrets.token_hex(8)
        time = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        with session(self._workspace) as store:
            running = store.execute(
                "SELECT id FROM jobs WHERE verb = ? AND state IN (?, ?, ?)", [verb, *OPEN]
            ).fetchone()
            if running is not None:
                raise RequestError(
                    409, "another job to {verb} has not ended yet", hint="Wait for it, or cancel it.", verb=_VERBS[verb]
                )
            store.execute(
                "INSERT INTO jobs VALUES (?, ?, ?, ?, ?, 'waiting', '', 0, NULL, NULL)",
                [made, self._workspace.name, verb, json.dumps(task), time],
            )
            store.execute(
                "DELETE FROM jobs WHERE state NOT IN (?, ?, ?) AND rowid <= (SELECT max(rowid) FROM jobs) - ?",
                [*OPEN, _KEPT],
            )
        return self.get(made)

    def get(self, name: str) -> JobRecord:
        """A job by its id."""
        with session(self._workspace) as store:
            row = store.execute("SELECT * FROM jobs WHERE id = ?", [name]).fetchone()
        if row is None:
            raise RequestError(404, "there is no such job")
        return JobRecord.of(row)

    def listed(self, verb: str | None = None) -> list[JobRecord]:
        """The last jobs, newest first."""
        with session(self._workspace) as store:
            rows = store.execute(
                "SELECT * FROM jobs WHERE ? IS NULL OR verb = ? ORDER BY time DESC, rowid DESC LIMIT ?",
                [verb, verb, _SHOWN],
            ).fetchall()
        return [JobRecord.of(row) for row in rows]

    def move(self, name: str, before: tuple[str, ...], after: str, **columns: Any) -> bool:
        """From one of the states ``before`` to ``after``, with other columns; False where it was in none of them."""
        values = {"state": after, **columns}
        for key in ("error", "result"):
            if values.get(key) is not None:
                values[key] = json.dumps(values[key])
        changes = ", ".join(f"{column} = ?" for column in values)
        places = ", ".join("?" * len(before))
        with session(self._workspace) as store:
            done = store.execute(
                f"UPDATE jobs SET {changes} WHERE id = ? AND state IN ({places})",  # noqa: S608 - our own column names
                [*values.values(), name, *before],
            )
            return done.rowcount == 1

    def report(self, name: str, stage: str, fraction: float) -> bool:
        """Say how far a job is; False where it was cancelled."""
        with session(self._workspace) as store:
            done = store.execute(
                "UPDATE jobs SET stage = ?, fraction = ? WHERE id = ? AND state IN ('running', 'spending')",
                [stage, fraction, name],
            )
            return done.rowcount == 1

    def cancel(self, name: str) -> JobRecord:
        """Stop a job that has not begun to spend."""
        task = self.get(name)
        if not self.move(name, ("waiting", "running"), "cancelled", stage=""):
            raise RequestError(
                409,
                "the job can no longer be cancelled",
                value=self.get(name).state,
                allowed="a job that waits or runs and has not begun to spend",
            )
        if (process := self.holder(name)) is not None:
            with contextlib.suppress(OSError):
                os.kill(process, signal.SIGTERM)
        return self.get(task.id)

    def lock_path(self, name: str) -> Path:
        """The file that a job's process keeps locked."""
        return self._workspace.hidden / f"job-{name}.lock"

    @contextlib.contextmanager
    def held(self, name: str) -> Iterator[None]:
        """The lock of a job's own process, which writes its number there."""
        with locked(self.lock_path(name), remove=True) as handle:
            os.write(handle, str(os.getpid()).encode())
            yield

    def holder(self, name: str) -> int | None:
        """The process that works on a job; None where none does."""
        if not is_locked(self.lock_path(name)):
            return None
        try:
            written = self.lock_path(name).read_bytes()
        except FileNotFoundError:
            return None
        return int(written) if written.isdigit() else None
