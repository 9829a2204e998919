"""What the release of a table needs: a small release of the same law is made and measured, and scaled up.

How many cells a method looks at on its way depends on the counts, the budget and the domain at once, so no formula of
their sizes is within twice the truth. A pilot is: a part of the table, seeded noise, and its result thrown away.
"""

from __future__ import annotations

import tracemalloc
from contextvars import Context
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from sudare.domain import CountTable, Domain, Grid, Line
from sudare.recipe.kind import FIXED_DISK, FIXED_MEMORY, Needs, row_size
from sudare.tables import Laplace, Privelet, TopDown, Tree
from sudare.tables.files import GEOJSON_LIMIT, columns

if TYPE_CHECKING:
    from sudare.tables.kind import TableKind

SMALL = 2**13
"""Cells that need no pilot."""
_MOST = 2**15
"""Cells of a pilot."""
_RUNS = 8
"""A tree is measured on so many stretches of neighbours, since people are not everywhere alike."""
_SMALL_CELL = 2**11, 2**9
"""Bytes of memory and disk of a cell of a small table: more than any takes."""
_BEYOND_TRACED = {Tree: 1.5, TopDown: 1.15}
"""Memory of the process over what Python and NumPy ask for, which the system rounds, fragments or never touches."""
_BEYOND = 1.3
_PLACE = 10
"""Bytes of each axis of a cell, where ranks of cells have to be turned into their places in a padded domain."""
_WRITERS = 96 << 20
_ROW, _AXIS, _POLYGON, _FEATURE = 28, 19, 420, 6000
"""Bytes of memory of a listed cell while it is written, of each of its axes, and of its shape in map formats."""
_SHAPE_ON_DISK, _FEATURE_ON_DISK = 24, 600
_DISK = 1.2
"""Files over what the rows of a pilot take, which compress in another way."""


@dataclass(frozen=True)
class Pilot:
    """A release of a ``share`` of the cells: the peak of its memory, and the released cells where they would lie."""

    share: float
    peak: int
    listed: CountTable


def needs(job: TableKind, table: CountTable) -> Needs:
    """What the release of ``table`` takes in this process, and in the output folder."""
    domain, formats = job.domain, job.recipe.output.formats
    drawn = domain.size if _dense(job) else len(table)
    if drawn <= SMALL:
        return Needs(FIXED_MEMORY + _SMALL_CELL[0] * drawn, FIXED_DISK + _SMALL_CELL[1] * drawn)
    pilot = _pilot(job, table, drawn)
    listed = min(domain.size, int(len(pilot.listed) / pilot.share))
    protect = _BEYOND_TRACED.get(type(job.method), _BEYOND) * pilot.peak / pilot.share
    if _dense(job) and domain.size < 1 << domain.bits:
        protect += _PLACE * len(domain.axes) * domain.size
    mapped = listed if "geojson" in formats and listed <= GEOJSON_LIMIT else 0
    write = min(1, listed / 2**20) * _WRITERS + listed * (_ROW + _AXIS * len(domain.axes)) + mapped * _FEATURE
    write += listed * _POLYGON if "geoparquet" in formats else 0
    frame = columns(pilot.listed)
    tables = row_size(frame, [name for name in formats if name in ("parquet", "geoparquet")])
    texts = row_size(frame.drop_columns(["index"]), [name for name in formats if name == "csv"])
    disk = _DISK * listed * (tables + texts + ("geoparquet" in formats) * _SHAPE_ON_DISK) + mapped * _FEATURE_ON_DISK
    return Needs(FIXED_MEMORY + int(max(protect, write)), FIXED_DISK + int(disk))


def _dense(job: TableKind) -> bool:
    """Whether every cell of the domain gets noise of its own, with people or without."""
    method = job.method
    return isinstance(method, Privelet) or (isinstance(method, Laplace) and method.cut is None and not method.clip)


def _pilot(job: TableKind, table: CountTable, drawn: int) -> Pilot:
    cells = min(_MOST, max(SMALL // 2, drawn // 8))
    in_tree = isinstance(job.method, Tree | TopDown)
    part, share = _stretches(table, cells) if in_tree else _thinned(job, table, cells, drawn)
    watched = tracemalloc.is_tracing()
    if not watched:
        tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    tracemalloc.reset_peak()
    try:
        # A context of its own: a tape or a meter that watches the publication must not see what is no part of it.
        made = Context().run(job.release, part, (), seed=0).table
        peak = tracemalloc.get_traced_memory()[1] - before
    finally:
        if not watched:
            tracemalloc.stop()
    if not in_tree:
        rank = np.minimum(made.index * (job.domain.size / part.domain.size), job.domain.size - 1).astype(np.int64)
        index, first = np.unique(job.domain.cells(rank), return_index=True)
        made = CountTable.released(job.domain, index, made.count[first])
    return Pilot(share, peak, made)


def _stretches(table: CountTable, cells: int) -> tuple[CountTable, float]:
    """Some stretches of neighbours, at their places: a tree treats each as it would amid the others."""
    length = cells // _RUNS
    starts = np.linspace(0, len(table) - length, _RUNS).astype(np.int64)
    rows = (starts[:, None] + np.arange(length)).reshape(-1)
    return replace(table, index=table.index[rows], count=table.count[rows]), len(rows) / len(table)


def _thinned(job: TableKind, table: CountTable, cells: int, drawn: int) -> tuple[CountTable, float]:
    """A domain and a table smaller by the same share: methods that see each cell by itself do not miss the rest."""
    share = cells / drawn
    size = max(1, round(job.domain.size * share))
    domain = Domain(cell=Line(size))
    if isinstance(job.method, Privelet):
        bits = max(2, int(np.log2((1 << job.domain.bits) * share)))
        domain, share = Domain(cell=Grid(1 << bits // 2, 1 << bits - bits // 2)), 2.0 ** (bits - job.domain.bits)
    rows = np.linspace(0, len(table) - 1, int(len(table) * share)).astype(np.int64)
    index = np.linspace(0, domain.size - 1, len(rows)).astype(np.int64)
    return replace(table, domain=domain, index=index, count=table.count[rows]), share
