"""Rigorous upper bounds of a supremum over the declared box, by branch and bound; never a sampled maximum.

A box is cut into smaller ones; each has an upper bound of the function on it, and a value that the function attains in
it. Boxes whose upper bound is below what is attained elsewhere are dropped, those with the largest bounds are cut
next. Whenever it stops, the largest upper bound of the boxes that are left holds for the whole: stopping early costs
tightness and never truth.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sudare.arrays import Floats

Bounding = Callable[[Floats, Floats], tuple[Floats, Floats]]
"""Boxes (low, high), each (boxes, axes) -> an upper bound and an attained value, each (boxes,)."""

_BATCH = 512


def supremum(
    bounding: Bounding,
    low: Floats,
    high: Floats,
    whole: NDArray[np.bool_],
    *,
    tolerance: float = 0.02,
    boxes: int = 40_000,
) -> float:
    """An upper bound of a function on the box from ``low`` to ``high``, within ``tolerance`` if ``boxes`` suffice.

    Axes in ``whole`` take whole numbers only (ranks of categories); both ends belong to a box. The result is raised
    by 1e-9 of itself, far more than the rounding of a sum of some thousand terms.

    >>> rise = lambda low, high: (np.sin(np.minimum(high[:, 0], np.pi / 2)), np.sin(low[:, 0]))
    >>> 1 <= supremum(rise, np.array([0.0]), np.array([1.6]), np.array([False])) < 1.03
    True
    """
    lows, highs = low[None, :].astype(np.float64), high[None, :].astype(np.float64)
    scale = np.maximum(high - low, 1.0)
    upper, attained = bounding(lows, highs)
    best, used = float(attained.max()), 1
    while used < boxes and len(upper) and upper.max() > best * (1 + tolerance):
        chosen = np.argsort(upper)[-_BATCH:]
        rest = np.ones(len(upper), dtype=bool)
        rest[chosen] = False
        parts = _halves(lows[chosen], highs[chosen], whole, scale)
        if len(parts[0]) == len(chosen):  # nothing could be cut any more: every box is one point
            break
        part_upper, part_attained = bounding(*parts)
        used += len(part_upper)
        best = max(best, float(part_attained.max()))
        lows = np.concatenate([lows[rest], parts[0]])
        highs = np.concatenate([highs[rest], parts[1]])
        upper = np.concatenate([upper[rest], part_upper])
        keep = upper > best * (1 + tolerance)
        lows, highs, upper = lows[keep], highs[keep], upper[keep]
    left = float(upper.max()) if len(upper) else 0.0
    return max(left, best * (1 + tolerance)) * (1 + 1e-9)


def _halves(lows: Floats, highs: Floats, whole: NDArray[np.bool_], scale: Floats) -> tuple[Floats, Floats]:
    """Each box cut in two along its longest axis; a box of one point stays as it is."""
    width = highs - lows
    width[:, whole] += highs[:, whole] > lows[:, whole]  # two categories left are a whole axis, not a half
    axis = (width / scale).argmax(axis=1)
    rows = np.arange(len(lows))
    cut = width[rows, axis] > 0
    middle = (lows[rows, axis] + highs[rows, axis]) / 2
    steps = whole[axis]
    left_high, right_low = np.where(steps, np.floor(middle), middle), np.where(steps, np.floor(middle) + 1, middle)
    left, right = highs.copy(), lows.copy()
    left[rows, axis] = np.where(cut, left_high, left[rows, axis])
    right[rows, axis] = np.where(cut, right_low, right[rows, axis])
    return np.concatenate([lows, right[cut]]), np.concatenate([left, highs[cut]])
