"""Rehearsals that were made: numbers, and both grids as bytes that a canvas can draw.

Tables as dense grids for a canvas: little-endian float32, row 0 in the south, summed over everything not drawn.
"""

from __future__ import annotations

import json
import math
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.domain import CountTable, Domain, Mesh
from sudare.language.catalogue import ENGLISH, Words
from sudare.measure import error_by_value
from sudare.measure.comparison import support
from sudare.recipe.kind import Rehearsal
from sudare.render.drawing import View
from sudare.studio.models import RehearsalSummary
from sudare.studio.protection import cost_text
from sudare.studio.refusals import RequestError
from sudare.studio.tasks import kept, kept_lines, shown
from sudare.studio.workspace import Workspace
from sudare.tables.rehearsal import TableRehearsal
from sudare.workflow.job import Job

MOST_CELLS = 1 << 22
"""Of a grid: a larger one is summed in blocks first."""
_SHARES = (0.5, 0.9, 0.99, 0.999, 1.0)
_MOST_LABELS = 400


def frame_of(domain: Domain) -> dict[str, Any]:
    """What is drawn of tables over a domain: the attribute, rows and columns, cells along a side of a drawn one.

    >>> from sudare.domain import Categories, Grid
    >>> frame = frame_of(Domain(sex=Categories(["f", "m"]), cell=Grid(500, 400)))
    >>> frame["attribute"], frame["rows"], frame["columns"], frame["side"], frame["summed_over"]
    ('cell', 500, 400, 1, ['sex'])
    """
    name = View.of(domain).name
    attribute = domain.attributes[name]
    shift = 0
    while math.prod(_coarse(attribute.lengths, shift)) > MOST_CELLS:
        shift += 1
    lengths = _coarse(attribute.lengths, shift)
    rows, columns = lengths if len(lengths) == 2 else (1, lengths[0])
    labels: list[str] = []
    if len(lengths) == 1 and columns <= _MOST_LABELS:
        labels = [str(label) for label in attribute.labels(np.arange(columns) << shift).tolist()]
    return {
        "attribute": name,
        "summed_over": [other for other in domain.attributes if other != name],
        "rows": rows,
        "columns": columns,
        "side": 1 << shift,
        "bounds": _bounds(attribute),
        "labels": labels,
    }


def grid_of(table: CountTable, frame: dict[str, Any]) -> NDArray[np.float32]:
    """The values (rows, columns) of a table as its ``frame`` says."""
    own = [place for place, axis in enumerate(table.domain.axes) if axis.name == frame["attribute"]]
    coordinates = table.domain.coordinates(table.index)
    shift = frame["side"].bit_length() - 1
    places = [coordinates[place] >> shift for place in own]
    place = places[0] if len(places) == 1 else places[0] * frame["columns"] + places[1]
    dense = np.bincount(place, weights=table.count, minlength=frame["rows"] * frame["columns"])
    return dense.reshape(frame["rows"], frame["columns"]).astype("<f4")


def quantiles(*grids: NDArray[np.float32]) -> dict[str, float]:
    """Of all cells that are not 0, by share: where a colour scale may end."""
    values = np.concatenate([grid[grid != 0] for grid in grids])
    if not len(values):
        return {str(share): 0.0 for share in _SHARES}
    return {str(share): float(found) for share, found in zip(_SHARES, np.quantile(values, _SHARES), strict=True)}


def _coarse(lengths: tuple[int, ...], shift: int) -> list[int]:
    return [((length - 1) >> shift) + 1 for length in lengths]


def _bounds(attribute: Any) -> dict[str, float] | None:
    """Where a mesh lies, in degrees."""
    if not isinstance(attribute, Mesh):
        return None
    corners = attribute.corners([0, attribute.lengths[0] - 1], [0, attribute.lengths[1] - 1])
    south, west, north, east = corners
    return {"south": float(south[0]), "west": float(west[0]), "north": float(north[1]), "east": float(east[1])}


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


def listed(workspace: Workspace, words: Words = ENGLISH) -> list[RehearsalSummary]:
    """What is kept, newest first."""
    found = sorted(_folder(workspace).glob("[0-9a-f]*-*"), key=lambda path: path.stat().st_mtime_ns, reverse=True)
    contents = (get(workspace, path.name) for path in found)
    return [RehearsalSummary.model_validate({**each, "basis": shown(each["basis"], words)}) for each in contents]


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
