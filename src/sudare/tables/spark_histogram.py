"""Fitting noisy cells to a total when only their histogram is at hand.

Noisy values are whole numbers, and cells of equal value are alike: how many cells have each value is all that the
threshold and the rounding depend on. Distinct values above 0 that add up to S are at most sqrt(2 S) many, so the
histogram fits the driver whatever the table. Only who of several equal cells gets a unit is left to chance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sudare.arrays import Integers
from sudare.errors import AccountingError

_GRAIN = 20
"""Fractions that agree in this many bits are ties, as in `round_real_to_total`."""


@dataclass(frozen=True)
class ValueCounts:
    """``value`` (d,) ascending, ``times`` (d,) > 0: how many cells have each."""

    value: Integers
    times: Integers

    @property
    def cells(self) -> int:
        """Cells in all."""
        return int(self.times.sum())

    @property
    def sum(self) -> int:
        """The sum over all cells, exactly."""
        return int(self.value.astype(object) @ self.times.astype(object)) if len(self.value) else 0

    def above(self, level: int) -> ValueCounts:
        """The cells with a value above ``level``."""
        kept = self.value > level
        return ValueCounts(self.value[kept], self.times[kept])

    def simplex_level(self, total: int | Fraction) -> int:
        """As `sudare.measure.simplex_level` of the cells: floor(t) where the excess over t adds up to ``total``.

        >>> ValueCounts(np.array([1, 4, 10]), np.array([1, 1, 1])).simplex_level(9)
        2
        """
        active = self
        while True:
            level = (active.sum - total) // active.cells
            remaining = active.above(level)
            if len(remaining.value) == len(active.value):
                return level
            active = remaining


@dataclass(frozen=True)
class FittedValues:
    """What each ``value`` becomes: ``rounded``, and one more for ``gaining`` of the cells whose value is ``tied``."""

    value: Integers
    rounded: Integers
    tied: NDArray[np.bool_]
    gaining: int

    def of(self, values: Integers) -> tuple[Integers, NDArray[np.bool_]]:
        """What listed values become, and which are tied; 0 and not for those that are not listed."""
        if not len(self.value):
            return np.zeros_like(values), np.zeros(len(values), dtype=np.bool_)
        place = np.minimum(np.searchsorted(self.value, values), len(self.value) - 1)
        listed = self.value[place] == values
        return np.where(listed, self.rounded[place], 0), self.tied[place] & listed


def fit_to_simplex(visible: ValueCounts, total: int) -> FittedValues:
    """As `round_to_total` of the cells above the simplex threshold: all are alike, and units left over go to any.

    >>> fit = fit_to_simplex(ValueCounts(np.array([4, 10]), np.array([1, 1])), 9)
    >>> fit.rounded.tolist(), fit.gaining
    ([1, 7], 1)
    """
    active = visible.above(visible.simplex_level(total))
    ceiling = -((total - active.sum) // active.cells)
    rounded = active.value - ceiling
    gaining = total - (active.sum - ceiling * active.cells)
    return FittedValues(active.value, rounded, np.ones(len(rounded), dtype=np.bool_), gaining)


def fit_by_scale(visible: ValueCounts, total: int, threshold: Fraction) -> FittedValues:
    """As `round_real_to_total` of (value - threshold) times one factor: the largest fractions gain, ties by chance."""
    factor = total / (visible.sum - visible.cells * threshold)
    exact = [(int(value) - threshold) * factor for value in visible.value]
    rounded = np.array([math.floor(number) for number in exact], dtype=np.int64)
    order = np.array([round((number - math.floor(number)) * 2**_GRAIN) for number in exact], dtype=np.int64)
    left_over = total - ValueCounts(rounded, visible.times).sum
    if not 0 <= left_over <= visible.cells:
        raise AccountingError("the fractions do not add up to what is left over")
    if left_over == 0:
        return FittedValues(visible.value, rounded, np.zeros(len(rounded), dtype=np.bool_), 0)
    fractions = np.unique(order)[::-1]
    reached = np.cumsum([int(visible.times[order == fraction].sum()) for fraction in fractions])
    least = fractions[int(np.searchsorted(reached, left_over))]
    gains = order > least
    rounded[gains] += 1
    return FittedValues(visible.value, rounded, order == least, left_over - int(visible.times[gains].sum()))


def chosen_by_group(available: Integers, number: int, generator: np.random.Generator) -> Integers:
    """How many of ``number`` things, drawn without replacement from groups of ``available``, come from each group.

    A coin for each thing and then, at random, as many more or fewer as are missing: no thing is preferred, so every
    set of ``number`` things is equally likely. Works for any size, which NumPy's own law does not.

    >>> chosen_by_group(np.array([3, 0, 4]), 7, np.random.default_rng(1)).tolist()
    [3, 0, 4]
    """
    whole = int(available.sum())
    taken = generator.binomial(available, min(1.0, number / max(whole, 1)))
    missing = number - int(taken.sum())
    reserve = available - taken if missing > 0 else taken
    ends = np.cumsum(reserve)
    drawn: set[int] = set()
    while len(drawn) < abs(missing):
        drawn.update(generator.integers(0, ends[-1], abs(missing) - len(drawn)).tolist())
    group = np.searchsorted(ends, sorted(drawn), side="right")
    change = np.bincount(group, minlength=len(available))
    return np.asarray(taken + np.sign(missing) * change, dtype=np.int64)
