"""Negative l2 (Matsumoto, Matsui, Terada): reward a large sum of squares, which leaves fewer and larger cells."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sudare.arrays import Cells
from sudare.noise import SparseNoise
from sudare.privacy import Number
from sudare.tables.method import MeasuredSums, Task
from sudare.tables.simplex import active_cells
from sudare.tables.strength import Strength, look
from sudare.tables.threshold import plain_strength, protect_above, read_strength, require_fit


@dataclass(frozen=True)
class NegativeL2(MeasuredSums):
    """The table b >= 0 with the measured total that minimises |z - b|^2 - strength |b|^2, sparse and in integers.

    Sensitivity: as for `Simplex`, the counts and their total each move by at most max_rows in L1 when a unit comes
    or goes; the total takes 5 % of epsilon and the cells the rest. With a public total all of epsilon goes to the
    cells. The strength is declared, or chosen from noisy values and public tables.

    With gamma = 1 - strength (the paper prints 1 - n strength: errata N1) it is the simplex
    projection of z/gamma: b = max(z - t, 0)/gamma, where the excess over t adds up to gamma times the total. So
    every strength is a threshold t, and the other way round; the non-negative lasso scaled to the total is the same
    b, named by t. ``fit="shift"`` keeps the same cells but adds one number to each instead of dividing by gamma.

    ``strength``: 0 (the simplex projection) to below 1; "auto", from the noisy table alone; or what
    `from_reference` or `target_sparsity` give. A number that is right for one size of counts is very wrong for
    another.

    >>> import sudare as sd
    >>> table = sd.CountTable.from_array([0, 0, 90, 0, 120, 0, 0, 30])
    >>> sd.release(table, NegativeL2(), epsilon=1, total="public", seed=7).table.total
    240
    """

    strength: Number | Strength = "auto"
    fit: str = "scale"

    def __post_init__(self) -> None:
        read_strength(self.strength, below=1)
        require_fit(self.fit)

    name = "negative_l2"

    @property
    def parameters(self) -> dict[str, Any]:
        """The declared parameters."""
        return {"strength": plain_strength(self.strength), "fit": self.fit}

    def protect(self, task: Task) -> Cells:
        """Integers > 0 that add up to the noisy (or public) total; cells at 0 are not listed."""
        return protect_above(task, self._threshold, self.fit)

    def _threshold(self, noisy: SparseNoise, total: int, scale: Fraction) -> Fraction:
        strength = read_strength(self.strength, below=1)
        if not isinstance(strength, Fraction):
            return strength.choose(look(noisy, total, scale, self.fit))
        excess = (1 - strength) * total
        _, value = active_cells(noisy, excess)
        return (int(value.sum()) - excess) / len(value)
