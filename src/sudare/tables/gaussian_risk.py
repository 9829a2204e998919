"""How a fitted cell responds to Gaussian noise: what `sudare.tables.risk` needs to know of the law, beside Laplace's.

For noise X with P(x) in proportion to exp(-x**2/2v), A(x) = sum of y P(y) over y >= x, and every f,

    E[X f(v + X)] = sum A(x) (f(v + x) - f(v + x - 1))

(summation by parts). A(x) adds up to the variance, and is v times the density half a step before x, up to terms of
1/v: so it is the variance times what the weights below make of the six nearest P. Averages over noise of what is seen
of a noisy value may then take its place: of how many cells lie at the threshold, and above it. The weights are those
that are right for polynomials up to the fifth degree, which a Gaussian is near enough from a sigma of 1 on.
"""

from __future__ import annotations

import math

import numpy as np

from sudare.arrays import Floats, Integers

_WEIGHTS = ((0, 37 / 60), (1, -8 / 60), (2, 1 / 60))
"""Of the two values next to a half step, of the next two, and of the two after these."""


def lift_of_each(step: Integers, whole: Floats | int) -> Floats:
    """Twice the share of each cell of noisy value ``step`` that counts as above the whole threshold ``whole``."""
    first = np.asarray(whole) + 1
    return np.asarray(
        2 * sum(weight * ((step >= first + off) + (step >= first - off - 1.0)) for off, weight in _WEIGHTS)
    )


def lifts(step: Integers, weight: Floats, whole: Floats, unseen: float, level: int, deviation: float) -> Floats:
    """`lift_of_each` summed over all cells, for every one of ``whole``.

    ``step``, ascending, and ``whole`` are relative to ``level``. ``unseen`` cells are not above it: empty ones, of
    which as many lie on the last values before it as noise alone would put there.
    """
    above = np.append(np.cumsum(weight[::-1])[::-1], 0.0)
    hidden = unseen * _below(level, deviation)

    def from_(first: Floats) -> Floats:
        """Cells with a value of at least ``first``."""
        down = np.clip(-first, -1, len(hidden) - 1).astype(np.int64)  # so many values below the level are counted in
        return np.asarray(above[np.searchsorted(step, first, side="left")] + np.append(hidden, 0.0)[down])

    first = whole + 1
    return np.asarray(2 * sum(part * (from_(first + off) + from_(first - off - 1.0)) for off, part in _WEIGHTS))


def _below(level: int, deviation: float) -> Floats:
    """P(Z >= level - j given Z <= level), j = 0 to 3, for noise Z alone."""
    far = math.ceil(40 * deviation) + 4
    start = min(level, far)
    value = np.arange(start, start - 4, -1, dtype=np.float64)
    # Only what lies within far of 0 has any weight; a level above that hides nobody near it.
    support = np.arange(-far, start + 1, dtype=np.float64)
    if level > far:
        return np.zeros(4)
    lowest = (support**2).min() if len(support) else start**2
    whole = np.exp((lowest - support**2) / (2 * deviation**2)).sum() if len(support) else 1.0
    return np.cumsum(np.exp((lowest - value**2) / (2 * deviation**2))) / max(whole, 1e-300)
