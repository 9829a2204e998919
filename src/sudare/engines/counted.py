"""Tables of records that are counts already: one row per cell, placed in NumPy.

Such a table is as large as the table that is made of it, so that it may be held in memory as a whole.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.domain import Attribute, CountTable
from sudare.domain.table import LARGEST_TOTAL
from sudare.engines.columns import outside_error
from sudare.engines.protocol import UNKNOWN, CountRows, Placement
from sudare.errors import TableError
from sudare.privacy import Unit


def table_of_counts(placement: Placement, rows: CountRows, unit: Unit) -> CountTable:
    """The table of ``rows``, after those outside the domain are refused, dropped or clamped."""
    domain = placement.domain
    inside = np.ones(rows.value.shape, dtype=bool)
    kept = inside.copy()
    coordinates: list[NDArray[np.int64]] = []
    concerned = []
    axes = iter(rows.axes)
    for name, attribute in domain.attributes.items():
        own = tuple(next(axes) for _ in attribute.lengths)
        own_inside = attribute.allowed(*own)
        if not own_inside.all():
            concerned.append(name)
        inside &= own_inside
        nearest, reached = _nearest(attribute, own) if placement.outside == "clamp" else (own, own_inside)
        coordinates += nearest
        kept &= reached
    if concerned and placement.outside == "error":
        raise outside_error(placement, concerned)
    index = domain.index(*(axis[kept] for axis in coordinates))
    moved = ~inside[kept]
    # What lay inside must be a table by itself; only what was moved adds to a cell that has a row.
    table = CountTable(domain, index[~moved], rows.value[kept][~moved], unit)
    return _added(table, index[moved], rows.value[kept][moved]) if moved.any() else table


def _nearest(
    attribute: Attribute, axes: tuple[NDArray[np.int64], ...]
) -> tuple[tuple[NDArray[np.int64], ...], NDArray[np.bool_]]:
    """Positions moved into the attribute's box, and which are known and end in a cell that is not masked."""
    known = np.logical_and.reduce([axis != UNKNOWN for axis in axes])
    nearest = tuple(np.clip(axis, 0, length - 1) for axis, length in zip(axes, attribute.lengths, strict=True))
    return nearest, known & attribute.allowed(*nearest)


def _added(table: CountTable, index: NDArray[np.int64], count: NDArray[Any]) -> CountTable:
    """The table with further counts added, each of which must be a count by itself."""
    rows = CountTable.from_array(count)  # a line of counts: refuses what is none
    if table.total + rows.total > LARGEST_TOTAL:
        raise TableError("the counts are too large", allowed="a total of at most 2**62")
    cells, position = np.unique(np.concatenate([table.index, index[rows.index]]), return_inverse=True)
    sums = np.zeros(cells.size, dtype=np.int64)
    np.add.at(sums, position, np.concatenate([table.count, rows.count]))
    return CountTable(table.domain, cells, sums, table.unit)
