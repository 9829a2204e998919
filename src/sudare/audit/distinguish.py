"""Distinguishers: how well two neighbours can be told apart by their releases, as a lower bound that is nearly sure.

From many releases of two neighbours, half are used to find the set S of outcomes by which they are told apart best, the
other half to bound P(S) from below and Q(S) from above (Clopper and Pearson 1934, exact for any number of trials). For
an (epsilon, delta)-DP release P(S) <= e**epsilon Q(S) + delta, so ln((P(S) - delta)/Q(S)) is a lower bound of epsilon.
A sound release is accused with probability at most `FALSE_ALARM`; that little is found does not prove that it is sound.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, inf, log

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from sudare.errors import ParameterError

FALSE_ALARM = 1e-9
"""The chance that a bound, or a test of a law, accuses what is right."""

Ints = NDArray[np.int64]


def low_chance(hits: int, trials: int, alarm: float = FALSE_ALARM) -> float:
    """The probability of a hit is above this, but for ``alarm``.

    >>> round(low_chance(500, 1000), 3)
    0.406
    """
    return float(stats.beta.ppf(alarm, hits, trials - hits + 1)) if hits else 0.0


def high_chance(hits: int, trials: int, alarm: float = FALSE_ALARM) -> float:
    """The probability of a hit is below this, but for ``alarm``."""
    return float(stats.beta.isf(alarm, hits + 1, trials - hits)) if hits < trials else 1.0


@dataclass(frozen=True)
class Bound:
    """Lower bounds from ``trials`` releases of each neighbour: epsilon at the given delta, and delta at an epsilon."""

    epsilon: float
    delta: float
    trials: int


def lower_bound(here: NDArray[np.generic], there: NDArray[np.generic], *, epsilon: float, delta: float = 0.0) -> Bound:
    """Lower bounds from outcomes (trials, parts) of releases of two neighbours, any numbers.

    ``epsilon`` is what is promised: where the lower bound of delta is taken. Both directions are tried, for
    epsilon and for delta, with two probabilities each: an eighth of the false alarms goes to each.

    >>> bound = lower_bound(np.zeros((2000, 1)), np.ones((2000, 1)), epsilon=1.0)
    >>> bound.epsilon > 3, bound.delta > 0.9
    (True, True)
    """
    if len(here) != len(there) or len(here) < 4:
        raise ParameterError("a distinguisher needs as many releases of one neighbour as of the other")
    first, second = _numbered(here.reshape(len(here), -1), there.reshape(len(there), -1))
    half = len(here) // 2
    found = [_one_way(first, second, half, epsilon, delta), _one_way(second, first, half, epsilon, delta)]
    return Bound(max(found[0][0], found[1][0]), max(found[0][1], found[1][1]), len(here))


def _numbered(here: NDArray[np.generic], there: NDArray[np.generic]) -> tuple[Ints, Ints]:
    """Outcomes as numbers: equal rows, equal numbers."""
    _, number = np.unique(np.concatenate([here, there]), axis=0, return_inverse=True)
    number = number.reshape(-1).astype(np.int64)
    return number[: len(here)], number[len(here) :]


def _one_way(one: Ints, other: Ints, half: int, epsilon: float, delta: float) -> tuple[float, float]:
    """Bounds from P(S) <= e**epsilon Q(S) + delta, with S found on the first half."""
    kinds = int(max(one.max(), other.max())) + 1
    seen, beside = np.bincount(one[:half], minlength=kinds), np.bincount(other[:half], minlength=kinds)
    order = np.argsort(-np.log((seen + 0.5) / (beside + 0.5)), kind="stable")
    hits, misses = np.cumsum(seen[order]), np.cumsum(beside[order])
    alarm = FALSE_ALARM / 8
    score_epsilon = _bounds(hits, misses, half, alarm, delta)
    # Of the two sets, one is best for epsilon and one for delta.
    likely = stats.beta.ppf(alarm, np.maximum(hits, 1), half - hits + 1)
    score_delta = likely - exp(epsilon) * stats.beta.isf(alarm, misses + 1, np.maximum(half - misses, 0.5))
    best = [order[: int(np.argmax(score)) + 1] for score in (score_epsilon, score_delta)]
    rest = len(one) - half
    tested = [(int(np.isin(one[half:], s).sum()), int(np.isin(other[half:], s).sum())) for s in best]
    low, high = low_chance(tested[0][0], rest, alarm), high_chance(tested[0][1], rest, alarm)
    lower = log((low - delta) / high) if low > delta else -inf
    return lower, low_chance(tested[1][0], rest, alarm) - exp(epsilon) * high_chance(tested[1][1], rest, alarm)


def _bounds(hits: Ints, misses: Ints, trials: int, alarm: float, delta: float) -> NDArray[np.float64]:
    low = stats.beta.ppf(alarm, np.maximum(hits, 1), trials - hits + 1) - delta
    high = stats.beta.isf(alarm, misses + 1, np.maximum(trials - misses, 0.5))
    return np.asarray(np.log(np.maximum(low, 1e-300) / high))


def lowest_digit(values: NDArray[np.float64]) -> Ints:
    """The place of the last binary digit of each double, 0 for 0: a double near 0 has finer digits than one near 1.

    Noise of floating point added to a count shows the count by it; whole numbers all have places from 0 on.

    >>> lowest_digit(np.array([0.0, 1.0, 6.0, 0.75])).tolist()
    [0, 0, 1, -2]
    """
    mantissa, exponent = np.frexp(values)
    whole = (mantissa * 2.0**53).astype(np.int64)
    trailing = np.log2((whole & -whole).astype(np.float64), where=whole != 0, out=np.zeros(len(whole)))
    return np.where(whole == 0, 0, exponent + trailing.astype(np.int64) - 53).astype(np.int64)
