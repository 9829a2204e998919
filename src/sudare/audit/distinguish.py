"""Distinguishers: how well two neighbours can be told apart by their releases, as a lower bound that is nearly sure.

From many releases of two neighbours, half are used to find the set S of outcomes by which they are told apart best, the
other half to bound P(S) from below and Q(S) from above (Clopper and Pearson 1934, exact for any number of trials). For
an (epsilon, delta)-DP release P(S) <= e**epsilon Q(S) + delta, so ln((P(S) - delta)/Q(S)) is a lower bound of epsilon.
A sound release is accused with probability at most ``alarm``, over both directions and both bounds together; that
little is found does not prove that it is sound.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, inf, log

import numpy as np
from numpy.typing import NDArray

from sudare.arrays import Integers
from sudare.errors import ParameterError
from sudare.measure.science import scipy_of

stats = scipy_of("stats")

FALSE_ALARM = 1e-9
"""The chance that one check of an audit accuses what is right, at most."""
_TESTS = 8
"""Two directions, epsilon and delta in each, two probabilities for each of these."""


def low_chance(hits: int, trials: int, alarm: float = FALSE_ALARM) -> float:
    """A lower confidence bound of the probability of a hit, wrong with probability ``alarm``.

    >>> round(low_chance(500, 1000), 3)
    0.406
    """
    return float(stats.beta.ppf(alarm, hits, trials - hits + 1)) if hits else 0.0


def high_chance(hits: int, trials: int, alarm: float = FALSE_ALARM) -> float:
    """An upper confidence bound of the probability of a hit, wrong with probability ``alarm``."""
    return float(stats.beta.isf(alarm, hits + 1, trials - hits)) if hits < trials else 1.0


@dataclass(frozen=True)
class Bound:
    """Lower bounds from ``trials`` releases of each neighbour: epsilon at the given delta, and delta at an epsilon."""

    epsilon: float
    delta: float
    trials: int


def lower_bound(
    here: NDArray[np.generic],
    there: NDArray[np.generic],
    *,
    epsilon: float,
    delta: float = 0.0,
    alarm: float = FALSE_ALARM,
    ordered: bool = False,
) -> Bound:
    """Lower bounds from outcomes (trials, parts) of releases of two neighbours, any numbers.

    ``epsilon`` is what is promised: where the lower bound of delta is taken. Both directions are tried. Outcomes that
    are ``ordered`` are one number each, which rises with how much more it speaks for ``here``: then S is all from some
    number on. Else S is made of the outcomes that came up more often, equal ones counted together.

    >>> bound = lower_bound(np.zeros((2000, 1)), np.ones((2000, 1)), epsilon=1.0)
    >>> bound.epsilon > 3, bound.delta > 0.9
    (True, True)
    """
    if len(here) != len(there) or len(here) < 4:
        raise ParameterError("a distinguisher needs as many releases of one neighbour as of the other")
    first, second = _numbered(here.reshape(len(here), -1), there.reshape(len(there), -1))
    half = len(here) // 2
    asked = (half, epsilon, delta, alarm / _TESTS)
    found = [
        _one_way(first, second, *asked, rising=-1 if ordered else 0),
        _one_way(second, first, *asked, rising=1 if ordered else 0),
    ]
    return Bound(max(found[0][0], found[1][0]), max(found[0][1], found[1][1]), len(here))


def _numbered(here: NDArray[np.generic], there: NDArray[np.generic]) -> tuple[Integers, Integers]:
    """Outcomes as numbers: equal rows, equal numbers; in the order of the first part."""
    both = np.concatenate([here, there])
    # A single column is sorted far faster as numbers than as rows.
    _, number = np.unique(both if both.shape[1] > 1 else both.ravel(), axis=0, return_inverse=True)
    number = number.reshape(-1).astype(np.int64)
    return number[: len(here)], number[len(here) :]


def _one_way(
    one: Integers, other: Integers, half: int, epsilon: float, delta: float, alarm: float, rising: int
) -> tuple[float, float]:
    """Bounds from P(S) <= e**epsilon Q(S) + delta, with S found on the first half."""
    kinds = int(max(one.max(), other.max())) + 1
    seen, beside = np.bincount(one[:half], minlength=kinds), np.bincount(other[:half], minlength=kinds)
    speaking = np.log((seen + 0.5) / (beside + 0.5)) if rising == 0 else -rising * np.arange(kinds)
    order = np.argsort(-speaking, kind="stable")
    hits, misses = np.cumsum(seen[order]), np.cumsum(beside[order])
    low = stats.beta.ppf(alarm, np.maximum(hits, 1), half - hits + 1)
    high = stats.beta.isf(alarm, misses + 1, np.maximum(half - misses, 0.5))
    # One set is best for epsilon and one for delta.
    scores = (np.log(np.maximum(low - delta, 1e-300) / high), low - exp(epsilon) * high)
    rest = len(one) - half
    bounds = []
    for score in scores:
        inside = np.zeros(kinds, dtype=np.bool_)
        inside[order[: int(np.argmax(score)) + 1]] = True
        tested = int(inside[one[half:]].sum()), int(inside[other[half:]].sum())
        bounds.append((low_chance(tested[0], rest, alarm), high_chance(tested[1], rest, alarm)))
    (likely, unlikely), (leaked, covered) = bounds
    lower = log((likely - delta) / unlikely) if likely > delta else -inf
    return lower, leaked - exp(epsilon) * covered


def lowest_digit(values: NDArray[np.float64]) -> Integers:
    """The place of the last binary digit of each double, 0 for 0: a double near 0 has finer digits than one near 1.

    Noise of floating point added to a count shows the count by it; whole numbers all have places from 0 on.

    >>> lowest_digit(np.array([0.0, 1.0, 6.0, 0.75])).tolist()
    [0, 0, 1, -2]
    """
    mantissa, exponent = np.frexp(values)
    whole = (mantissa * 2.0**53).astype(np.int64)
    trailing = np.log2((whole & -whole).astype(np.float64), where=whole != 0, out=np.zeros(len(whole)))
    return np.where(whole == 0, 0, exponent + trailing.astype(np.int64) - 53).astype(np.int64)
