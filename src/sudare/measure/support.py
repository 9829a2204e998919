"""Which cells are not zero: density, and the cells that appear or vanish."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sudare.domain import CountTable
from sudare.measure.pairs import pair


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
