"""Fixed points of slow iterations such as EM, reached in fewer steps: SQUAREM (Varadhan and Roland 2008)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Fixed:
    """Where an iteration ended: the point, its score, how many steps were made, and whether they had come to rest."""

    point: NDArray[np.float64]
    score: float
    steps: int
    converged: bool


def accelerate(
    step: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    start: NDArray[np.float64],
    score: Callable[[NDArray[np.float64]], float],
    *,
    tolerance: float = 1e-8,
    steps: int = 2_000,
    repair: Callable[[NDArray[np.float64]], NDArray[np.float64]] = lambda point: point,
) -> Fixed:
    """Iterate ``step``, of which ``score`` grows, until a step moves no entry by more than ``tolerance``.

    Two plain steps show the direction and the rate of the decay; the third extrapolates along it. ``repair`` takes an
    extrapolated point back to where ``step`` is defined (onto the simplex, say). An extrapolation that scores less
    than the plain steps is not taken, so the score never falls. ``steps`` bounds the plain steps.

    >>> found = accelerate(lambda x: 0.99 * x + 0.01, np.array([0.0]), lambda x: -abs(float(x[0]) - 1))
    >>> bool(abs(found.point[0] - 1) < 1e-6), found.steps < 20
    (True, True)
    """
    point, best, made = start, score(start), 0
    while made < steps:
        first = step(point)
        second = step(first)
        made += 2
        change, bend = first - point, second - 2 * first + point
        if np.abs(change).max(initial=0.0) <= tolerance:
            return Fixed(second, score(second), made, True)
        curvature = float(np.sqrt((bend * bend).sum()))
        length = float(np.sqrt((change * change).sum())) / curvature if curvature > 0 else 1.0
        candidate, gained = second, score(second)
        if length > 1:
            # A stabilising step follows the jump, so that what repair did is smoothed out again.
            reached = step(repair(point + 2 * length * change + length**2 * bend))
            made += 1
            value = score(reached)
            if np.isfinite(value) and value >= gained:
                candidate, gained = reached, value
        point, best = candidate, gained
    return Fixed(point, best, made, False)
