"""Two sparse tables laid side by side: one entry per cell that either of them stores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.domain import CountTable
from sudare.errors import ParameterError

Integers = NDArray[np.int64]
Values = NDArray[Any]  # int64 counts, or float64 where a method gives out floats


@dataclass(frozen=True)
class Pairs:
    """Cells that at least one table stores: ``index`` (k,), ``truth`` (k,) and ``released`` (k,)."""

    index: Integers
    truth: Values
    released: Values

    @property
    def error(self) -> Values:
        """Released minus true: int64 while both are whole, else float64."""
        return np.asarray(self.released - self.truth)


def pair(truth: CountTable, released: CountTable) -> Pairs:
    """Lay two tables over the same domain side by side; a cell that one does not store is 0 there."""
    if truth.domain != released.domain:
        raise ParameterError("the two tables are over different domains", hint="Measure tables of one domain.")
    # A stable sort merges two ascending runs in one pass; NumPy's own union hashes, a hundred times slower.
    index = np.sort(np.concatenate([truth.index, released.index]), kind="stable")
    index = index[np.diff(index, prepend=-1) > 0]
    return Pairs(index, _spread(truth, index), _spread(released, index))


def _spread(table: CountTable, index: Integers) -> Values:
    values = np.zeros(len(index), dtype=table.count.dtype)
    values[np.searchsorted(index, table.index)] = table.count
    return values
