"""Rehearsals that were made: numbers, and both grids as bytes that a canvas can draw."""

from __future__ import annotations

import json
import math
import re
import shutil
from pathlib import Path
from typing import Any

from sudare.measure import error_by_value, support
from sudare.publish import Rehearsal
from sudare.publish.job import Job
from sudare.publish.table_rehearsal import TableRehearsal
from sudare.studio.grids import frame_of, grid_of, quantiles
from sudare.studio.models import RehearsalSummary
from sudare.studio.outcomes import kept, kept_lines
from sudare.studio.protection import cost_text
from sudare.studio.refusals import RequestError
from sudare.studio.workspace import Workspace

KEPT = 20
GRIDS = ("true", "released")
_NAME = re.compile(r"[0-9a-f]{16}-[0-9]{1,18}")


def keep(workspace: Workspace, name: str, version: int, job: Job, made: Rehearsal) -> dict[str, Any]:
    """Write a rehearsal into the hidden folder, whole or not at all; its summary."""
    folder = _folder(workspace) / name
    partial = folder.with_name(f".{name}")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    content = {
        "id": name,
        "version": version,
        "kind": job.recipe.kind,
        "dataset": job.recipe.dataset,
        "method": _method(job),
        "cost": cost_text(job.guarantee),
        "guarantee": str(job.guarantee),
        "basis": kept(made.basis),
        "repetitions": made.repetitions,
        "facts": kept_lines(made.facts),
        "errors": made.errors,
        "accuracy": None,
        "by_value": [],
        "support": None,
        "grid": None,
    }
    if isinstance(made, TableRehearsal):
        truth, released = made.truth, made.release.table
        frame = frame_of(truth.domain)
        grids = [grid_of(table, frame) for table in (truth, released)]
        for side, grid in zip(GRIDS, grids, strict=True):
            (partial / f"{side}.bin").write_bytes(grid.tobytes())
        found = support(truth, released)
        content |= {
            "accuracy": made.accuracy,
            "by_value": error_by_value(truth, released).rows(),
            "support": {
                "kept": found.true_positives,
                "vanish": found.false_negatives,
                "appear": found.false_positives,
                "empty": found.true_negatives,
            },
            "grid": {
                **frame,
                "totals": {"true": float(truth.total), "released": float(released.total)},
                "quantiles": quantiles(*grids),
            },
        }
    text = json.dumps(_finite(content), ensure_ascii=False)
    (partial / "rehearsal.json").write_text(text, encoding="utf-8", newline="\n")
    partial.rename(folder)
    _forget(workspace)
    return get(workspace, name)


def get(workspace: Workspace, name: str) -> dict[str, Any]:
    """What a rehearsal found."""
    try:
        content: dict[str, Any] = json.loads((_found(workspace, name) / "rehearsal.json").read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise RequestError(404, "there is no such rehearsal") from None
    return content


def grid(workspace: Workspace, name: str, side: str) -> bytes:
    """One of its grids."""
    if side not in GRIDS:
        raise RequestError(404, "there is no such grid", allowed=GRIDS)
    try:
        return (_found(workspace, name) / f"{side}.bin").read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        raise RequestError(404, "the rehearsal has no such grid") from None


def listed(workspace: Workspace) -> list[RehearsalSummary]:
    """What is kept, newest first."""
    found = sorted(_folder(workspace).glob("[0-9a-f]*-*"), key=lambda path: path.stat().st_mtime_ns, reverse=True)
    return [RehearsalSummary.model_validate(get(workspace, path.name)) for path in found]


def _folder(workspace: Workspace) -> Path:
    return workspace.hidden / "rehearsals"


def _found(workspace: Workspace, name: str) -> Path:
    if not _NAME.fullmatch(name):
        raise RequestError(404, "there is no such rehearsal")
    return _folder(workspace) / name


def _forget(workspace: Workspace) -> None:
    """Keep the newest."""
    for old in listed(workspace)[KEPT:]:
        shutil.rmtree(_folder(workspace) / old.id, ignore_errors=True)


def _finite(value: Any) -> Any:
    """JSON has no infinity and no missing number: both become null."""
    if isinstance(value, dict):
        return {name: _finite(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _method(job: Job) -> str | None:
    method = getattr(job.kind, "method", None)
    name = getattr(method, "name", None)
    return name if isinstance(name, str) else None
