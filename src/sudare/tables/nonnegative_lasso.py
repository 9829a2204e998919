"""The non-negative lasso in closed form: no solver is needed, at any size."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

from sudare.arrays import Cells
from sudare.errors import ParameterError
from sudare.noise import SparseNoise
from sudare.noise.sparse import DENSE_LIMIT
from sudare.tables.method import Asked, Task
from sudare.tables.strength import look
from sudare.tables.threshold import Thresholded, noise_law, read_strength


@dataclass(frozen=True)
class NonnegativeLasso(Thresholded):
    """max(z - strength/2, 0), the minimiser of |z - b|^2 + strength |b|_1 over b >= 0, then fitted to the total.

    Sensitivity: as for `Simplex`, the counts and their total each move by at most max_rows in L1 when a unit comes
    or goes; the total takes 5 % of epsilon and the cells the rest. With a public total all of epsilon goes to the
    cells. The strength is declared, or chosen from noisy values and public tables.

    ``fit="scale"`` multiplies by total/sum: then it is negative l2 with gamma = sum max(z - strength/2, 0)/total, as
    long as that is at most 1; below the simplex threshold gamma passes 1, and people are spread over noise.
    ``fit="shift"``, the paper's uniform addition or subtraction, adds one number to every cell that is left.

    ``strength``: from 0 (noise clipped at 0) on, in people; "auto" and the rest as for `NegativeL2`.

    >>> import sudare as sd
    >>> table = sd.CountTable.from_array([0, 0, 90, 0, 120, 0, 0, 30])
    >>> sd.release(table, NonnegativeLasso(strength=8), epsilon=1, total="public", seed=7).table.total
    240
    """

    name = "nonnegative_lasso"

    def protect(self, task: Task) -> Cells:
        """Integers > 0 that add up to the noisy (or public) total; cells at 0 are not listed."""
        strength = read_strength(self.strength)
        if isinstance(strength, Fraction):
            require_few_cells(task, strength / 2)
        return super().protect(task)

    def threshold(self, noisy: SparseNoise, total: int, scale: Fraction) -> Fraction:
        """See `Thresholded`."""
        strength = read_strength(self.strength)
        if isinstance(strength, Fraction):
            return strength / 2
        visible = look(noisy, total, scale, self.fit)
        return strength.choose(replace(visible, lowest=max(visible.lowest, Fraction(0))))


def require_few_cells(task: Asked, threshold: Fraction) -> None:
    """Refuse a threshold >= 0 above which the noise of empty cells would fill the memory."""
    size = task.domain.size
    expected = size * noise_law(task).chance_above(math.floor(threshold))
    if expected > DENSE_LIMIT:
        raise ParameterError(
            "the noise of too many cells is above the threshold",
            value=size,
            allowed="about {dense_limit} cells with noise above it",
            hint='Raise the strength, use "auto", or declare a smaller domain.',
            dense_limit=DENSE_LIMIT,
        )
