"""The process of one job: ``python -m sudare.studio.worker FOLDER RECIPE JOB``.

It outlives the server that started it, so that closing the page or killing the server loses nothing. What it writes
into the job's row holds no private value: of errors that are not the package's own, only type and place are written.
"""

from __future__ import annotations

import json
import signal
import sys
import traceback
from pathlib import Path
from typing import Any

from sudare.errors import SudareError
from sudare.language.messages import Progress, Stage
from sudare.privacy.notebook import remaining_text
from sudare.recipe.model import contents_of_text
from sudare.signals import Ended, ending_in_order
from sudare.studio.protection import listed_facts
from sudare.studio.refusals import in_every_language, kept_error
from sudare.studio.rehearsals import keep
from sudare.studio.tasks import JobRecord, JobStore
from sudare.studio.workspace import Workspace
from sudare.workflow.publication import Publication, publish
from sudare.workflow.rehearsal import rehearse

_BEGIN = {
    Stage.INVENTING: 0.02,
    Stage.READING: 0.05,
    Stage.SPENDING: 0.4,
    Stage.PROTECTING: 0.45,
    Stage.WRITING: 0.75,
}
"""Shares of the work that are done when a stage begins; the pages come last."""


class Cancelled(Exception):  # noqa: N818 - it is no error
    """Somebody cancelled the job."""


class RowProgress:
    """Says in the job's row how far it is, and asks for leave to spend. ``share`` of the work begins at ``start``."""

    def __init__(self, tasks: JobStore, job: str, start: float = 0.0, share: float = 1.0) -> None:
        self._tasks, self._job, self._start, self._share = tasks, job, start, share

    def __call__(self, progress: Progress) -> None:
        """The next stage begins."""
        inside = (progress.done - 1) / progress.total if progress.total else _BEGIN.get(progress.stage, 0.9)
        fraction, stage = self._start + self._share * inside, json.dumps(in_every_language(progress.text))
        if progress.stage is Stage.SPENDING:
            # One transaction against the one that cancels: either this job may spend, or it is cancelled.
            allowed = self._tasks.move(self._job, ("running",), "spending", stage=stage, fraction=fraction)
        else:
            allowed = self._tasks.report(self._job, stage, fraction)
        if not allowed:
            raise Cancelled


def run(workspace: Workspace, name: str) -> None:
    """Do one job."""
    tasks = JobStore(workspace)
    with tasks.held(name):
        if not tasks.move(name, ("waiting",), "running"):
            return
        task = tasks.get(name)
        try:
            result = _publish(workspace, tasks, task) if task.verb == "publish" else _rehearse(workspace, tasks, task)
        except Cancelled:
            return
        except SudareError as problem:
            tasks.move(name, ("running", "spending"), "failed", error=kept_error(problem))
        except Exception as problem:
            tasks.move(name, ("running", "spending"), "failed", error=kept_error(_defect(problem)))
        else:
            tasks.move(name, ("running", "spending"), "done", stage="", fraction=1.0, result=result)


def _publish(workspace: Workspace, tasks: JobStore, task: JobRecord) -> dict[str, Any]:
    paid = task.task.get("paid")
    made = publish(
        contents_of_text(task.task["text"]),
        folder=workspace.folder,
        language=task.task.get("report_language"),
        resume=paid == "complete",
        anew=paid == "anew",
        progress=RowProgress(tasks, task.id),
    )
    return publication_json(workspace, made)


def publication_json(workspace: Workspace, made: Publication) -> dict[str, Any]:
    """What the page shows of a release that is out; paths as names inside the workspace."""
    said = made.to_json()
    return {
        "release_id": made.release_id,
        "folder": workspace.shown(made.folder),
        "files": said["files"],
        "report": None if made.report is None else workspace.shown(made.report),
        "internal_report": None if made.internal_report is None else workspace.shown(made.internal_report),
        "guarantee": str(made.release.guarantee),
        "said": in_every_language(
            lambda words: {
                "left_out": [each.text(words) for each in made.left_out],
                "headline": listed_facts(made.headline, words),
                "left": remaining_text(made.balance, words),
            }
        ),
    }


def _rehearse(workspace: Workspace, tasks: JobStore, task: JobRecord) -> dict[str, Any]:
    versions = [task.task, *([task.task["other"]] if task.task.get("other") else [])]
    made_of = []
    for place, asked in enumerate(versions):
        progress = RowProgress(tasks, task.id, place / len(versions), 1 / len(versions))
        job = workspace.job(asked["text"])
        made = rehearse(job.recipe, folder=workspace.folder, progress=progress)
        made_of.append(keep(workspace, f"{task.id}-{asked['version']}", asked["version"], job, made)["id"])
    return {"rehearsals": made_of}


def _defect(problem: Exception) -> SudareError:
    """The type and the place of an error that should not be: its text could quote a value."""
    place = next((f for f in reversed(traceback.extract_tb(problem.__traceback__)) if "sudare" in f.filename), None)
    where = "" if place is None else f" at {Path(place.filename).stem}:{place.lineno}"
    return SudareError("the job failed: {type}{where}", type=type(problem).__name__, where=where)


def main(arguments: list[str]) -> None:
    """The command line of the process."""
    folder, recipe, name = arguments
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        # So that folders half written are removed on the way out, and what lies in scratch.
        with ending_in_order():
            run(Workspace(Path(folder), recipe), name)
    except Ended as ended:
        sys.exit(128 + ended.number)


if __name__ == "__main__":
    main(sys.argv[1:])
