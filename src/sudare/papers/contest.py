"""One method against the truth, many times: as the paper on negative l2 ran it, and as Sudare does.

The paper's own way is float noise in every cell, a sort and a clip, with a strength tuned on the true table. For
comparison only: Laplace noise of floats has no guarantee (its last bits show the count), the tuned strength gives the
truth away, and a dense vector has no place for a large domain. `sudare.tables` makes the same estimates sparsely, with
exact noise in whole numbers and a strength chosen without the truth.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from sudare.arrays import Floats
from sudare.domain import CountTable
from sudare.measure import density, error_by_value
from sudare.measure.simplex import round_real_to_total
from sudare.tables.method import Method
from sudare.tables.release import release


def tuned(loss: Callable[[float], float], low: float, high: float) -> float:
    """The strength of least loss between two positive bounds: doubling from ``low`` on, then closer around the best.

    >>> round(tuned(lambda strength: (strength - 0.05) ** 2, 0.001, 0.9), 3)
    0.054
    """
    coarse = low * 2.0 ** np.arange(np.floor(np.log2(high / low)) + 1)
    best = min(coarse.tolist(), key=loss)
    fine = best * 2.0 ** np.linspace(-0.75, 0.75, 7)
    return float(min(fine[fine <= high].tolist(), key=loss))


Estimator = Callable[[Floats, int, float], Floats]
"""Noisy cells (n,), the total and a strength -> the estimate (n,)."""


def simplex(noisy: Floats, total: int, strength: float = 0.0) -> Floats:  # noqa: ARG001 - an Estimator
    """The nearest point of {b >= 0, sum b = total}, by equations (8) to (10).

    >>> simplex(np.array([10.0, 4.0, 1.0]), 9).tolist()
    [7.5, 1.5, 0.0]
    """
    ordered = np.sort(noisy)[::-1]
    thresholds = (np.cumsum(ordered) - total) / np.arange(1, len(ordered) + 1)
    return np.asarray(np.maximum(noisy - thresholds[np.flatnonzero(ordered > thresholds)[-1]], 0.0))


def negative_l2(noisy: Floats, total: int, strength: float) -> Floats:
    """Equation (14), with gamma = 1 - strength (errata N1)."""
    return simplex(noisy / (1 - strength), total)


def dc_iteration(noisy: Floats, total: int, strength: float, *, tolerance: float = 1e-9) -> tuple[Floats, int]:
    """Equations (12) and (13): the concave part of the objective made linear at the last point, again and again.

    A check of the closed form `negative_l2`: each step is the simplex projection of z + strength b, whose fixed point
    is the projection of z/(1 - strength). Where it ended, and after how many steps.

    >>> noisy = np.array([10.0, 4.0, 3.0, -1.0])
    >>> bool(np.allclose(dc_iteration(noisy, 9, 0.3)[0], negative_l2(noisy, 9, 0.3)))
    True
    """
    now, steps, change = simplex(noisy, total), 0, np.inf
    while change > tolerance:
        moved = simplex(noisy + strength * now, total)
        now, steps, change = moved, steps + 1, float(np.abs(moved - now).max())
    return now, steps


def nonnegative_lasso(noisy: Floats, total: int, strength: float) -> Floats:
    """Equation (5) in closed form, scaled to the total; with strength 0 it is the paper's LM."""
    above = np.maximum(noisy - strength / 2, 0.0)
    return np.asarray(above * (total / above.sum()))


def float_release(table: CountTable, estimator: Estimator, strength: float, epsilon: float, seed: int) -> CountTable:
    """Noise of scale 1/epsilon in every cell, the estimate, and the nearest whole numbers.

    The domain's cells are its first indices: a grid whose sides are powers of two, or a line.
    """
    generator = np.random.default_rng(seed)
    noisy, total = generator.laplace(0.0, 1 / epsilon, table.domain.size), int(table.total)
    noisy[table.index] += table.count
    rounded = round_real_to_total(estimator(noisy, total, strength), total, generator)
    stored = np.flatnonzero(rounded)
    return CountTable.released(table.domain, stored, rounded[stored])


Estimate = Callable[[float, int], CountTable]
"""A strength and a seed -> a release."""


@dataclass(frozen=True)
class SparseContender:
    """A method, the paper's own estimate (``floats``), and what the paper says of it.

    ``strength`` (fixed) or ``bounds`` (to tune within) are for epsilon 1; where ``per_noise``, they grow with the
    noise. ``error`` (RMSE) and ``nonzero`` (%) are per epsilon, ``seconds`` for 100 runs per grid.
    """

    name: str
    method: Callable[[float], Method]
    floats: Estimator | None = None
    strength: float = 0.0
    bounds: tuple[float, float] | None = None
    per_noise: bool = False
    error: tuple[float, ...] = ()
    nonzero: tuple[float, ...] = ()
    seconds: tuple[float | None, ...] = ()
    seconds_tuned: tuple[float | None, ...] = ()


@dataclass(frozen=True)
class CellScore:
    """Means over runs: RMSE and mean error of a cell, share of cells not zero, and both errors (4,) by true count."""

    error: float
    mean: float
    nonzero: float
    range_error: Floats
    range_mean: Floats


@dataclass(frozen=True)
class ContestOutcome:
    """What a contender did on one table: with float noise as in the paper (None for our own), and with whole noise.

    ``seconds`` are for one run with whole noise, NaN where nothing is tuned.
    """

    floats: CellScore | None
    whole: CellScore
    first: CountTable
    seconds: float
    seconds_tuned: float


def score(truth: CountTable, estimates: Sequence[CountTable]) -> CellScore:
    """The mean error of releases."""
    ranges = [error_by_value(truth, one) for one in estimates]
    squares = [np.nansum(one.cells * one.root_mean_square_error**2) / truth.domain.size for one in ranges]
    return CellScore(
        float(np.mean(np.sqrt(squares))),
        float(np.mean([np.nansum(one.cells * one.mean_error) / truth.domain.size for one in ranges])),
        float(np.mean([density(one) for one in estimates])),
        np.mean([one.root_mean_square_error for one in ranges], axis=0),
        np.mean([one.mean_error for one in ranges], axis=0),
    )


def compete(
    truth: CountTable, contender: SparseContender, epsilon: float, runs: int, *, floats: bool = True
) -> ContestOutcome:
    """One contender at one epsilon, tuned on the truth where it has bounds; the clock runs for whole noise only."""

    def whole(strength: float, seed: int) -> CountTable:
        return release(truth, contender.method(strength), epsilon, total="public", seed=seed).table

    paper = None
    if floats and (estimator := contender.floats) is not None:

        def as_paper(strength: float, seed: int) -> CountTable:
            return float_release(truth, estimator, strength, epsilon, seed)

        strength = strength_of(truth, contender, as_paper, epsilon, runs)
        paper = score(truth, [as_paper(strength, seed) for seed in range(runs)])
    start = time.perf_counter()
    strength = strength_of(truth, contender, whole, epsilon, runs)
    tuning = time.perf_counter() - start
    start = time.perf_counter()
    made = [whole(strength, seed) for seed in range(runs)]
    seconds = time.perf_counter() - start
    tuned_seconds = (tuning + seconds) / runs if contender.bounds else float("nan")
    return ContestOutcome(paper, score(truth, made), made[0], seconds / runs, tuned_seconds)


def strength_of(truth: CountTable, contender: SparseContender, estimate: Estimate, epsilon: float, runs: int) -> float:
    """The contender's own, or the one of least error on the truth."""
    unit = 1 / epsilon if contender.per_noise else 1.0
    if contender.bounds is None:
        return contender.strength * unit
    low, high = contender.bounds
    return tuned(
        lambda strength: score(truth, [estimate(strength, seed) for seed in range(runs)]).error, low * unit, high * unit
    )
