"""Error by the size of the true count: do small counts grow and large ones shrink?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sudare.arrays import Floats, Integers
from sudare.domain import CountTable
from sudare.errors import ParameterError
from sudare.measure.columns import ColumnArrays
from sudare.measure.pairs import pair


@dataclass(frozen=True)
class ValueErrors(ColumnArrays):
    """One entry per range ``lower <= true count < upper``; without ``cells`` in it, its errors are NaN."""

    lower: Floats
    upper: Floats
    cells: Integers
    mean_absolute_error: Floats
    root_mean_square_error: Floats
    mean_error: Floats


def error_by_value(truth: CountTable, released: CountTable, edges: Sequence[float] = (0, 1, 10, 100)) -> ValueErrors:
    """Errors of the cells whose true count lies between one edge and the next; the last range has no end.

    Cells that neither table stores are true zeros released as zero: they count where 0 belongs.

    >>> from sudare.domain import CountTable
    >>> truth, released = CountTable.from_array([4, 0, 0, 0]), CountTable.from_array([3, 0, 2, 0])
    >>> error_by_value(truth, released, edges=(0, 1)).mean_error.round(3).tolist()
    [0.667, -1.0]
    """
    lower = np.array(edges, dtype=np.float64)
    if lower.ndim != 1 or not len(lower) or not np.isfinite(lower).all() or (np.diff(lower) <= 0).any():
        raise ParameterError("edges are not an ascending list", value=tuple(edges), allowed="for instance (0, 1, 10)")
    both = pair(truth, released)
    error = both.error.astype(np.float64)
    where = np.searchsorted(lower, both.truth, side="right") - 1
    inside = where >= 0
    where, error = where[inside], error[inside]

    cells = np.bincount(where, minlength=len(lower)).astype(np.int64)
    if (zeros := int(np.searchsorted(lower, 0, side="right")) - 1) >= 0:
        cells[zeros] += truth.domain.size - len(both.index)
    with np.errstate(invalid="ignore"):
        means = [
            np.bincount(where, weights=part, minlength=len(lower)) / cells for part in (np.abs(error), error**2, error)
        ]
    return ValueErrors(lower, np.append(lower[1:], np.inf), cells, means[0], np.sqrt(means[1]), means[2])
