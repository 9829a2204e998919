"""The memory and disk that the release of a table needs, estimated from a pilot: a small release that is measured and
scaled up.

How many cells a method visits depends on the counts, the budget and the domain at once, so no formula of their sizes is
within a factor of two. A pilot is: part of the table is released with seeded noise, and the result is discarded.
"""

from __future__ import annotations

import tracemalloc
from contextvars import Context
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from sudare.domain import CountTable, Domain
from sudare.engines.scratch import PrivateFolder
from sudare.parallel import cores
from sudare.recipe.kind import FIXED_DISK, FIXED_MEMORY, Needs
from sudare.tables.files import GEOJSON_LIMIT, MOST_WITH_BARS, write

if TYPE_CHECKING:
    from sudare.tables.kind import TableKind

SMALL = 2**13
"""Cells that need no pilot."""
_MOST = 2**15
"""Cells of a pilot."""
_RUNS = 8
"""The pilot of a tree takes this many runs of neighbouring cells, since densities differ by place."""
_SPREAD = 4
"""The ratio of released to populated cells of a small table, at most about: noise adds some."""
_SMALL_CELL = 2**9, 2**7
"""Bytes of memory and disk of a cell of a small table, without its shape."""
_BEYOND_TRACED = {"tree": 1.8, "top_down": 1.15}
"""Memory of the process over what Python and NumPy ask for, which the system rounds, fragments or never touches."""
_BEYOND = 1.3
_MERGED = 64
"""Bytes of a listed cell of a tree while its levels' cells are merged: of a pilot, less than what its maps take."""
_PLACE = 10
"""Bytes of each axis of a cell, where ranks of cells have to be turned into their places in a padded domain."""
_WRITERS = 24 << 20, 2**18
"""Bytes that the writers of files keep in buffers, and from how many listed cells on those are full."""
_DENSE_ROW, _ROW, _AXIS, _POLYGON, _FEATURE = 15, 20, 19, 520, 700
"""Bytes of memory of a listed cell while it is written, of each of its axes, and of its shape in map formats.

Where every cell has noise of its own nothing but the table is held."""
_SHAPE_ON_DISK, _FEATURE_ON_DISK = 16, 450
_BARS, _HELD = 285, 400
"""Bytes of memory of a listed cell in each replicate that error bars are learned from, and in all earlier ones."""
_BESIDE, _THREAD = 310, 60
"""What `_BARS` is more where replicates are worked on side by side, and for each thread: none gives back what others
could use. In a full domain, whose levels halve, that is nothing."""
_BARS_IN_TEXT, _BARS_PACKED = 14, 9
"""Bytes of a cell's error bars in a CSV file, and in another one."""
_NEARLY = 1.1
"""A table that seems larger by this factor than those that have bars may have them all the same."""
_DISK, _DISK_OF_TREE = 1.07, 1.16
"""Files over what the rows of a pilot take, which compress in another way."""


@dataclass(frozen=True)
class Pilot:
    """A release of a ``share`` of the cells: the peak of its memory, and the released cells where they would lie.

    Of the peak, ``fixed`` is what the domain takes, whatever its share: a map of all places.
    """

    share: float
    peak: int
    listed: CountTable
    fixed: int = 0

    @property
    def whole_peak(self) -> float:
        """The peak of the whole release."""
        return self.fixed + (self.peak - self.fixed) / self.share


def needs(job: TableKind, table: CountTable) -> Needs:
    """What the release of ``table`` takes in this process, and in the output folder."""
    domain, formats = job.domain, job.recipe.formats
    drawn = _drawn(job, table)
    if drawn <= SMALL:
        cells = min(domain.size, _SPREAD * drawn)
        memory = _SMALL_CELL[0] + ("geoparquet" in formats) * _POLYGON + ("geojson" in formats) * _FEATURE
        file = _SMALL_CELL[1] + ("geoparquet" in formats) * _SHAPE_ON_DISK + ("geojson" in formats) * _FEATURE_ON_DISK
        learned = _bars_memory(cells, domain) if job.recipe.output.bars else 0
        return Needs(FIXED_MEMORY + memory * cells + learned, FIXED_DISK + file * cells)
    pilot = _pilot(job, table, drawn)
    listed = min(domain.size, int(len(pilot.listed) / pilot.share))
    protect = _BEYOND_TRACED.get(job.method.name, _BEYOND) * pilot.whole_peak
    protect = max(protect, _MERGED * listed if job.method.name == "tree" else 0)
    if _dense(job) and domain.size < 1 << domain.bits:
        protect += _PLACE * len(domain.axes) * domain.size
    mapped = listed if "geojson" in formats and listed <= GEOJSON_LIMIT else 0
    (buffers, full), row = _WRITERS, _DENSE_ROW if _dense(job) else _ROW
    write = min(1, listed / full) * buffers + listed * (row + _AXIS * len(domain.axes)) + mapped * _FEATURE
    write += listed * _POLYGON if "geoparquet" in formats else 0
    barred = min(listed, MOST_WITH_BARS) if job.recipe.output.bars and listed <= _NEARLY * MOST_WITH_BARS else 0
    if barred:  # replicates are released, some side by side, while earlier ones are held
        protect = protect * _side_by_side(barred) + barred * _HELD
    sizes = _row_bytes(pilot.listed)  # bars are counted apart: learning those of a pilot takes long
    rows = sum(sizes[name] for name in formats if name in sizes)
    packed = _DISK_OF_TREE if job.method.name in _BEYOND_TRACED else _DISK
    disk = packed * listed * (rows + ("geoparquet" in formats) * _SHAPE_ON_DISK) + mapped * _FEATURE_ON_DISK
    disk += barred * sum(_BARS_IN_TEXT if name == "csv" else _BARS_PACKED for name in formats)
    raw = _dense(job) and job.method.name == "laplace"  # the law of its errors is known, and not learned
    learned = _bars_memory(barred, domain) if barred and not raw else 0
    return Needs(FIXED_MEMORY + int(max(protect, learned, write)), FIXED_DISK + int(disk))


def _bars_memory(cells: int, domain: Domain) -> int:
    """Bytes while the error bars of so many listed cells are learned."""
    from sudare.tables.error_bars import replicates_of

    threads = _side_by_side(cells)
    beside = (_BESIDE + _THREAD * threads) * (1 - cells / domain.size) if threads > 1 else 0.0
    return int(cells * (_BARS + beside) * replicates_of(cells))


def _side_by_side(cells: int) -> int:
    """How many replicates of a table with so many listed cells are worked on at once."""
    from sudare.tables.error_bars import replicates_of

    return min(cores(), replicates_of(cells))


def _drawn(job: TableKind, table: CountTable) -> int:
    """How many cells get noise of their own: all, or those with people and the empty ones that pass a cut."""
    size, cut = job.domain.size, job.method.parameters.get("cut")
    if _dense(job):
        return size
    if cut is None:
        return len(table)
    from sudare.noise.discrete import added

    passing = added(Fraction(table.unit.max_rows), job.budget).chance_above(cut - 1)
    return len(table) + int((size - len(table)) * passing)


def _row_bytes(listed: CountTable) -> dict[str, float]:
    """Bytes of a row by format, without shapes and error bars: the first rows, as they are written."""
    first = slice(0, 1 << 14)
    some = CountTable.released(listed.domain, listed.index[first], listed.count[first])
    with PrivateFolder.within() as folder:
        files = write(some, ("parquet", "csv"), folder.path)
        sizes = {name: path.stat().st_size / max(1, len(some)) for name, path in files.items()}
    return {**sizes, "geoparquet": sizes["parquet"]}


def _dense(job: TableKind) -> bool:
    """Whether every cell of the domain gets noise of its own, with people or without."""
    name, parameters = job.method.name, job.method.parameters
    return name == "privelet" or (name == "laplace" and parameters["cut"] is None and not parameters["clip"])


def _pilot(job: TableKind, table: CountTable, drawn: int) -> Pilot:
    cells = min(_MOST, max(SMALL // 2, drawn // 8))
    if job.method.name in _BEYOND_TRACED:
        fixed = _of_the_map(job, table, cells) if job.method.name == "tree" else 0
        part, share = _stretches(table, cells)
        made, peak = _released(job, part)
        return Pilot(share, peak, made, min(fixed, peak))
    part, share = _thinned(job, table, cells, drawn)
    made, peak = _released(job, part)
    rank = np.minimum(made.index * (job.domain.size / part.domain.size), job.domain.size - 1).astype(np.int64)
    index, first = np.unique(job.domain.cells(rank), return_index=True)
    return Pilot(share, peak, CountTable.released(job.domain, index, made.count[first]))


def _of_the_map(job: TableKind, table: CountTable, cells: int) -> int:
    """Bytes that a tree's release takes whatever its share of the cells: for maps of all places, and of all blocks.

    Two points of a line give where it begins; 0 where there are no such maps.
    """
    from sudare.tables.posterior import Surroundings
    from sudare.tables.smoothing import can_smooth

    if not can_smooth(job.domain) and not Surroundings(job.domain).has_neighbours:
        return 0
    (least, small), (less, middle) = (_stretches(table, cells // number) for number in (4, 2))
    low, high = _released(job, least)[1], _released(job, less)[1]
    return max(0, int(low - (high - low) * small / (middle - small)))


def _released(job: TableKind, part: CountTable) -> tuple[CountTable, int]:
    """A seeded release of a part, and the peak of what Python and NumPy asked for meanwhile."""
    watched = tracemalloc.is_tracing()
    if not watched:
        tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    tracemalloc.reset_peak()
    try:
        # A context of its own: a tape or a meter that watches the publication must not see what is no part of it.
        made = Context().run(job.release, part, (), seed=0).table
        return made, tracemalloc.get_traced_memory()[1] - before
    finally:
        if not watched:
            tracemalloc.stop()


def _stretches(table: CountTable, cells: int) -> tuple[CountTable, float]:
    """Some runs of neighbouring cells, at their own positions: a tree treats each as it would in the whole table."""
    length = cells // _RUNS
    starts = np.linspace(0, len(table) - length, _RUNS).astype(np.int64)
    rows = (starts[:, None] + np.arange(length)).reshape(-1)
    return replace(table, index=table.index[rows], count=table.count[rows]), len(rows) / len(table)


def _thinned(job: TableKind, table: CountTable, cells: int, drawn: int) -> tuple[CountTable, float]:
    """A domain and a table smaller by the same share, for methods that treat each cell by itself."""
    from sudare.domain import Grid, Line

    share = cells / drawn
    size = max(1, round(job.domain.size * share))
    domain = Domain(cell=Line(size))
    if job.method.name == "privelet":
        bits = max(2, int(np.log2((1 << job.domain.bits) * share)))
        domain, share = Domain(cell=Grid(1 << bits // 2, 1 << bits - bits // 2)), 2.0 ** (bits - job.domain.bits)
    rows = np.linspace(0, len(table) - 1, int(len(table) * share)).astype(np.int64)
    index = np.linspace(0, domain.size - 1, len(rows)).astype(np.int64)
    return replace(table, domain=domain, index=index, count=table.count[rows]), share
