"""Negative l2 (Matsumoto, Matsui, Terada): reward a large sum of squares, which leaves fewer and larger cells."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from sudare.noise import SparseNoise
from sudare.tables.simplex import active_cells
from sudare.tables.strength import look
from sudare.tables.threshold import Thresholded, read_strength


@dataclass(frozen=True)
class NegativeL2(Thresholded):
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

    name = "negative_l2"
    below = 1

    def threshold(self, noisy: SparseNoise, total: int, scale: Fraction) -> Fraction:
        """See `Thresholded`."""
        strength = read_strength(self.strength, self.below)
        if not isinstance(strength, Fraction):
            return strength.choose(look(noisy, total, scale, self.fit))
        excess = (1 - strength) * total
        _, value = active_cells(noisy, excess)
        return (int(value.sum()) - excess) / len(value)
