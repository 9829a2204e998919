"""The point of {b >= 0, sum b = total} nearest to integers z: b = max(z - t, 0), in exact integers.

The threshold t solves sum max(z - t, 0) = total. It is found by Michelot's method: start with all cells, drop
those not above the t of the rest, repeat; a few linear passes, no sort.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sudare.errors import ParameterError


def simplex_level(values: NDArray[np.int64], total: int) -> int:
    """floor(t): the cells that stay positive are exactly those with a value above it.

    >>> simplex_level(np.array([10, 4, 1]), 9)  # t = (10 + 4 - 9) / 2 = 2.5
    2
    """
    if not len(values) or total <= 0:
        raise ParameterError("a projection needs cells and a positive total", value=(len(values), total > 0))
    active = values
    while True:
        level = (int(active.sum()) - total) // len(active)
        remaining = active[active > level]
        if len(remaining) == len(active):
            return level
        active = remaining


def round_to_total(values: NDArray[np.int64], total: int, generator: np.random.Generator) -> NDArray[np.int64]:
    """The nearest integer point: non-negative integers of the same shape that add up to ``total`` exactly.

    ``values`` are the cells above the level. All have the same fraction after z - t, so the units left over
    after rounding down go to cells drawn at random: by index, low indices would gain.

    >>> sum(round_to_total(np.array([10, 4]), 9, np.random.default_rng(1)).tolist())
    9
    """
    count = len(values)
    ceiling = -((total - int(values.sum())) // count)
    rounded = values - ceiling
    left_over = total - int(rounded.sum())
    rounded[generator.choice(count, left_over, replace=False, shuffle=False)] += 1
    return rounded
