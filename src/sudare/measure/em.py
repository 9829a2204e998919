"""EM for a distribution that is observed through a known channel (iterative Bayes), for reports and perturbed records.

Values follow p, reports q = A p with A known. Given how often each report occurred, EM raises the likelihood of p at
every step: p <- p * A^T(h / A p), h the shares of the reports (Agrawal and Aggarwal 2001; the paper's IBT). Where
reports are few, its limit fits the noise too. So by default it stops early, by a rule that needs no truth: when
held-out reports stop becoming likelier. `accelerate` reaches fixed points of slow iterations such as EM in fewer steps,
by SQUAREM (Varadhan and Roland 2008).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sudare.errors import ParameterError


@dataclass(frozen=True)
class Fixed:
    """Where an iteration ended: the point, its score, how many steps were made, and whether it converged."""

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


Array: TypeAlias = NDArray[np.float64]
Apply: TypeAlias = Callable[[Array], Array]
Stop: TypeAlias = Literal["held_out", "converged"] | int
FOLDS = 5
FLOOR = 1e-15
_TINY = 1e-300


@dataclass(frozen=True)
class Fitted:
    """A distribution: probabilities of any shape, steps made, mean log likelihood of a report, and convergence."""

    probabilities: Array
    steps: int
    score: float
    converged: bool


def em(
    counts: Array,
    forward: Apply,
    back: Apply,
    start: Array,
    *,
    stop: Stop = "held_out",
    smooth: Apply | None = None,
    generator: np.random.Generator | None = None,
    tolerance: float = 1e-7,
    steps: int = 10_000,
) -> Fitted:
    """The distribution behind ``counts`` of reports.

    ``forward`` maps probabilities (the shape of ``start``) to the law of reports (the shape of ``counts``) and ``back``
    is its adjoint; the matrix is never formed. ``stop``: "converged" iterates, accelerated, until nothing moves by
    more than ``tolerance``; a number makes that many plain steps; "held_out" splits the reports at random into five
    folds (``generator``), finds the number of steps after which held-out reports are likeliest, and makes that many
    steps on all. ``smooth`` is applied after each step (EMS, Silverman et al. 1990).

    >>> channel = np.array([[0.8, 0.3], [0.2, 0.7]])
    >>> reports, start = np.array([550.0, 450.0]), np.array([0.9, 0.1])
    >>> found = em(reports, lambda p: channel @ p, lambda r: channel.T @ r, start, stop="converged")
    >>> found.probabilities.round(4).tolist()
    [0.5, 0.5]
    """
    total = float(counts.sum())
    if not np.isfinite(total) or total <= 0 or bool((counts < 0).any()):
        raise ParameterError("EM needs reports: counts that are not negative, at least one above 0")
    shares = counts / total

    def advance(point: Array, seen: Array) -> Array:
        moved = point * back(seen / np.maximum(forward(point), _TINY))
        moved = moved if smooth is None else smooth(moved)
        return np.asarray(moved / moved.sum())

    def likelihood(point: Array, seen: Array = shares) -> float:
        # 0 log 0 is 0: reports that did not occur contribute nothing.
        return float((seen * np.log(np.maximum(forward(point), _TINY))).sum())

    if stop == "converged":
        found = accelerate(
            lambda point: advance(point, shares),
            start,
            likelihood,
            tolerance=tolerance,
            steps=steps,
            repair=onto_simplex,
        )
        return Fitted(found.point, found.steps, found.score, found.converged)
    if stop == "held_out":
        chosen = _likeliest_step(counts, advance, likelihood, start, generator or np.random.default_rng(0), steps)
    elif type(stop) is not int or stop < 1:
        raise ParameterError("no such rule to stop EM", value=stop, allowed="held_out, converged, or a number of steps")
    else:
        chosen = stop
    point = start
    for _ in range(chosen):
        point = advance(point, shares)
    return Fitted(point, chosen, likelihood(point), False)


def onto_simplex(point: Array) -> Array:
    """A point with positive shares that add up to 1: a share of 0 would stay 0 in every further step of EM."""
    kept = np.maximum(point, FLOOR)
    return np.asarray(kept / kept.sum())


def _likeliest_step(
    counts: Array,
    advance: Callable[[Array, Array], Array],
    likelihood: Callable[[Array, Array], float],
    start: Array,
    generator: np.random.Generator,
    steps: int,
) -> int:
    """The step at which held-out reports are likeliest over all folds; stops when it has been passed by far."""
    # A fold of few reports may hold none of them, or all: it is left out.
    total = counts.sum()
    folds = [fold for fold in split(counts, generator) if 0 < fold.sum() < total]
    if not folds:
        return 1
    points = [start] * len(folds)
    held = [fold / max(fold.sum(), 1.0) for fold in folds]
    kept = [(counts - fold) / max((counts - fold).sum(), 1.0) for fold in folds]
    best, best_step = -np.inf, 1
    for made in range(1, steps + 1):
        points = [advance(point, seen) for point, seen in zip(points, kept, strict=True)]
        value = float(np.mean([likelihood(point, seen) for point, seen in zip(points, held, strict=True)]))
        if value > best:
            best, best_step = value, made
        elif made > 1.5 * best_step + 10:
            break
    return best_step


def split(counts: Array, generator: np.random.Generator, folds: int = FOLDS) -> list[Array]:
    """``counts`` parted at random into ``folds`` of equal chance, as if the single reports were; sums are kept."""
    whole = np.rint(counts).astype(np.int64)
    left, parts = whole.copy(), []
    for place in range(folds - 1):
        part = generator.binomial(left, 1 / (folds - place))
        parts.append(part.astype(np.float64))
        left -= part
    return [*parts, left.astype(np.float64)]
