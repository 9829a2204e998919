"""A released table compared with the true one, cell by cell: L1 accuracy, density, cells that appear or vanish, and
errors by the size of the true count. Results are columns of equal length, ready for Arrow or a data frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.arrays import Floats, Integers, Numbers
from sudare.domain import CountTable
from sudare.domain.frames import arrow
from sudare.errors import ParameterError

if TYPE_CHECKING:
    import pyarrow as pa


class ColumnArrays:
    """A frozen dataclass whose fields are arrays of one length."""

    def to_arrow(self) -> pa.Table:
        """One tidy Arrow table; what is undefined (NaN) is null."""
        pa = arrow()

        return pa.table({name: pa.array(column, from_pandas=True) for name, column in self._columns().items()})

    def rows(self) -> list[dict[str, Any]]:
        """One dictionary of plain numbers per row."""
        columns = {name: column.tolist() for name, column in self._columns().items()}
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def _columns(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]  # every subclass is a dataclass


@dataclass(frozen=True)
class Pairs:
    """Cells that at least one table stores: ``index`` (k,), ``truth`` (k,) and ``released`` (k,)."""

    index: Integers
    truth: Numbers
    released: Numbers

    @property
    def error(self) -> Numbers:
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


def _spread(table: CountTable, index: Integers) -> Numbers:
    values = np.zeros(len(index), dtype=table.count.dtype)
    values[np.searchsorted(index, table.index)] = table.count
    return values


def l1_accuracy(truth: CountTable, released: CountTable) -> float:
    """1 - |truth - released|_1 / (2 total): 1 if equal, 0 if every person is counted in a wrong cell.

    It is below 0 when the released total is far too large, and NaN when nobody is in the true table.

    >>> from sudare.domain import CountTable
    >>> l1_accuracy(CountTable.from_array([3, 1]), CountTable.from_array([2, 2]))
    0.75
    """
    both = pair(truth, released)
    total = float(both.truth.sum())
    return 1 - float(np.abs(both.error).sum()) / (2 * total) if total > 0 else float("nan")


@dataclass(frozen=True)
class Support:
    """How the non-zero cells of two tables agree, in numbers of cells (exact integers).

    A false positive is a cell that is empty in truth and not in the release; a false negative the reverse.
    """

    cells: int
    true_positives: int
    false_positives: int
    false_negatives: int

    @property
    def true_negatives(self) -> int:
        """Cells that are empty in both."""
        return self.cells - self.true_positives - self.false_positives - self.false_negatives

    @property
    def false_positive_rate(self) -> float:
        """Share of the truly empty cells that the release fills; NaN if none is empty."""
        empty = self.cells - self.true_positives - self.false_negatives
        return self.false_positives / empty if empty else float("nan")

    @property
    def false_negative_rate(self) -> float:
        """Share of the truly populated cells that the release leaves empty; NaN if none is populated."""
        populated = self.true_positives + self.false_negatives
        return self.false_negatives / populated if populated else float("nan")


def density(table: CountTable) -> float:
    """Share of the domain's logical cells that are not zero.

    >>> from sudare.domain import CountTable
    >>> density(CountTable.from_array([0, 7, 0, 0]))
    0.25
    """
    return float(np.count_nonzero(table.count) / table.domain.size)


def support(truth: CountTable, released: CountTable) -> Support:
    """Compare which cells are not zero.

    >>> from sudare.domain import CountTable
    >>> support(CountTable.from_array([0, 7, 1, 0]), CountTable.from_array([2, 6, 0, 0]))
    Support(cells=4, true_positives=1, false_positives=1, false_negatives=1)
    """
    both = pair(truth, released)
    populated, shown = both.truth != 0, both.released != 0
    return Support(
        cells=truth.domain.size,
        true_positives=int(np.count_nonzero(populated & shown)),
        false_positives=int(np.count_nonzero(~populated & shown)),
        false_negatives=int(np.count_nonzero(populated & ~shown)),
    )


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
