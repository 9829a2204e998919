"""Synthetic people: one row per released person, placed at random in its cell.

Counting the rows by the declared domain gives the released table back, cell for cell. The rows are made from the
released table and fresh random numbers alone, so that the guarantee of the table is theirs too (post-processing).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sudare.arrays import Floats, Integers
from sudare.domain import Bins, CountTable, Place
from sudare.domain.attribute import Attribute
from sudare.domain.frames import arrow, arrow_table
from sudare.domain.shapes import Shapes
from sudare.errors import ParameterError

if TYPE_CHECKING:
    import pyarrow as pa

    from sudare.tables.release import Release

SYNTHETIC = "synthetic"
"""The column that is true in every row, so that nobody takes the rows for records of people."""
_ROWS_AT_ONCE = 1 << 20
_TRIES = 64
"""A cell that has less than a tenth of the box around it gets its people at its centre, once in 800 of them."""


def synthesize(release: Release, *, seed: int | None = None) -> pa.Table:
    """One row per released person, as an Arrow table; for a table of whole numbers >= 0.

    Columns are those of `CountTable.to_arrow` without the count: a place has its code and beside it ``latitude`` and
    ``longitude`` drawn uniformly in the cell, a bin a number drawn uniformly in it (a whole one where its edges are
    whole; the finite edge where it is open). ``synthetic`` is true in every row. Rows of a cell stand together.
    ``seed`` makes the same rows again; it protects nobody and needs no secrecy.

    >>> import sudare as sd
    >>> made = sd.release(sd.CountTable.from_array([0, 9, 0, 120]), sd.Simplex(), epsilon=1, seed=7)
    >>> sd.synthesize(made, seed=1).num_rows == made.table.total
    True
    """
    arrow()
    return arrow_table(list(person_pieces(release.table, seed)))


def person_pieces(table: CountTable, seed: int | None = None) -> Iterator[dict[str, Any]]:
    """The rows of `synthesize`, about a million at once: at least one piece, which may be empty."""
    if table.private:
        raise ParameterError("synthetic people are made of a released table, and this one is private")
    if table.count.dtype.kind == "f" or (len(table) and int(table.count.min()) < 0):
        raise ParameterError(
            "synthetic people need counts that are whole numbers >= 0",
            hint="Laplace and Privelet release others; use another method.",
        )
    generator = np.random.default_rng(seed)
    ends = np.cumsum(table.count)
    start = 0
    while True:
        before = int(ends[start - 1]) if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, before + _ROWS_AT_ONCE, side="right")))
        yield _people(table, slice(start, stop), generator)
        if stop >= len(table):
            return
        start = stop


def _people(table: CountTable, cells: slice, generator: np.random.Generator) -> dict[str, Any]:
    index = np.repeat(table.index[cells], table.count[cells].astype(np.int64, copy=False))
    coordinates = table.domain.coordinates(index)
    columns: dict[str, Any] = {}
    for name, attribute in table.domain.attributes.items():
        own = [coordinates[number] for number, axis in enumerate(table.domain.axes) if axis.name == name]
        columns |= _drawn(name, attribute, own, generator, alone=_places(table) == 1)
    return {**columns, SYNTHETIC: np.ones(len(index), dtype=np.bool_)}


def _places(table: CountTable) -> int:
    return sum(isinstance(attribute, Place) for attribute in table.domain.attributes.values())


def _drawn(
    name: str, attribute: Attribute, own: list[Integers], generator: np.random.Generator, *, alone: bool
) -> dict[str, Any]:
    """The columns of one attribute."""
    if isinstance(attribute, Bins):
        return {name: _in_bins(attribute, own[0], generator)}
    labels = attribute.labels(*own)
    if not isinstance(attribute, Place):
        return dict(zip(attribute.label_columns(name), np.atleast_2d(labels.T), strict=True))
    prefix = "" if alone else f"{name}_"
    latitude, longitude = _in_cells(attribute, own, generator)
    return {name: labels, f"{prefix}latitude": latitude, f"{prefix}longitude": longitude}


def _in_cells(place: Place, own: list[Integers], generator: np.random.Generator) -> tuple[Floats, Floats]:
    """Points drawn uniformly from the box around each cell, again where the place puts them into another one."""
    cells, which = np.unique(np.ravel_multi_index(own, place.lengths), return_inverse=True)
    coordinates = np.unravel_index(cells, place.lengths)
    low, high = _boxes(place.outlines(*coordinates))
    centre = np.stack(place.centres(*coordinates), axis=1)
    points = centre[which]  # where no draw falls inside
    left = np.arange(len(which))
    for _ in range(_TRIES):
        if not len(left):
            break
        drawn = low[which[left]] + generator.random((len(left), 2)) * (high - low)[which[left]]
        found, inside = place.locate(drawn[:, 1], drawn[:, 0])
        right = inside & (np.ravel_multi_index(found, place.lengths) == cells[which[left]])
        points[left[right]] = drawn[right][:, ::-1]
        left = left[~right]
    return points[:, 0], points[:, 1]


def _boxes(shapes: Shapes) -> tuple[Floats, Floats]:
    """The corners (x, y) of the box around each shape."""
    starts = shapes.rings[shapes.polygons[shapes.shapes[:-1]]]
    return np.minimum.reduceat(shapes.points, starts), np.maximum.reduceat(shapes.points, starts)


def _in_bins(bins: Bins, position: Integers, generator: np.random.Generator) -> NDArray[Any]:
    whole = all(edge is None or isinstance(edge, int) for edge in bins.edges)
    step: Any = 1 if whole else 0
    low: Any = np.array([edges[1] - step if edges[0] is None else edges[0] for edges in _pairs(bins)])
    high: Any = np.array([edges[0] if edges[1] is None else edges[1] - step for edges in _pairs(bins)])
    below, above = low[position], np.maximum(high, low)[position]
    if whole:
        return np.asarray(generator.integers(below, above, endpoint=True))
    drawn = below + generator.random(len(position)) * (above - below)
    return np.asarray(np.where(drawn < above, drawn, below))


def _pairs(bins: Bins) -> list[tuple[Any, Any]]:
    return list(zip(bins.edges[:-1], bins.edges[1:], strict=True))
