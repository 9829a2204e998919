"""How far the truth is from a released block, by block level and released value, learned from examples."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from sudare.arrays import Floats, Numbers
from sudare.domain import Domain
from sudare.measure.blocks import logical_blocks
from sudare.parallel import each
from sudare.tables.pyramid import Pyramid

ENOUGH = 100
"""A stratum with fewer examples also uses those of its neighbours."""
_MOST_KEPT = 4001


@dataclass(frozen=True, eq=False)
class Stratum:
    """Errors (true minus released) of similar blocks: ``zeros`` that are 0, and the others sorted.

    Of many errors evenly spaced order statistics are ``kept``, each standing for ``weight`` of them.
    """

    independent: float
    zeros: int
    kept: Floats
    weight: float
    expected: float
    mean: float
    variance: float

    @classmethod
    def of(cls, errors: Numbers, zeros: int = 0, replicates: int = 1) -> Stratum:
        """From a plain list of errors and a number of further errors of 0, over ``replicates``."""
        ordered = np.sort(errors.astype(np.float64))
        number = max(1, zeros + len(ordered))
        mean = float(ordered.sum()) / number
        variance = max(0.0, float(ordered @ ordered) / number - mean**2)
        expected = float(np.abs(ordered).sum()) / number
        weight = 1.0
        if len(ordered) > _MOST_KEPT:
            weight = len(ordered) / _MOST_KEPT
            ordered = ordered[np.linspace(0, len(ordered) - 1, _MOST_KEPT).round().astype(np.int64)]
        return cls(number / replicates, zeros, ordered, weight, expected, mean, variance)

    @property
    def number(self) -> float:
        """Examples in all."""
        return self.zeros + self.weight * len(self.kept)

    def below(self, tail: float) -> float:
        """The error that only a share ``tail`` of the examples is below."""
        return -self._reach(tail, -1)

    def above(self, tail: float) -> float:
        """The error that only a share ``tail`` of the examples is above."""
        return self._reach(tail, 1)

    def _reach(self, tail: float, side: int) -> float:
        """How far the examples reach on one side (-1 or 1), with a little more where they are few.

        Replicates repeat the same blocks, so only ``independent`` examples count for how sure a quantile is.
        """
        degrees = max(self.independent - 1, 2.0)
        mean = side * self.mean
        if self.number * tail < 1:
            # Too few for quantiles of their own: a normal law with estimated mean and variance.
            return float(mean + self.variance**0.5 * student(1 - tail, degrees))
        rank = np.ceil((self.number + 1) * (1 - tail))
        own = side * self._ranked(rank if side > 0 else self.number + 1 - rank)
        return own + (own - mean) * (student(1 - tail, degrees) / student(1 - tail, np.inf) - 1)

    def _ranked(self, rank: float) -> float:
        """The error with this rank from 1 on, the zeros standing where they belong."""
        below = self.weight * int(np.searchsorted(self.kept, 0.0))
        if below < rank <= below + self.zeros:
            return 0.0
        position = (rank if rank <= below else rank - self.zeros) / self.weight
        return float(self.kept[min(max(int(np.ceil(position)) - 1, 0), len(self.kept) - 1)])


@dataclass(frozen=True, eq=False)
class Strata:
    """The strata of each block level: one for released zeros, then half octaves of the released value.

    With ``additive`` noise the error does not depend on the value, and each level is one stratum.
    """

    levels: tuple[tuple[Stratum, ...], ...]
    additive: bool

    @classmethod
    def learn(cls, pairs: Sequence[Pyramid], domain: Domain, additive: bool = False) -> Strata:
        """From ``pairs`` of two columns, a plausible truth and what it was released as."""

        def at(level: int) -> tuple[Stratum, ...]:
            sums = np.concatenate([pair.level(level)[1] for pair in pairs], axis=1)
            elsewhere = len(pairs) * logical_blocks(domain, level) - sums.shape[1]
            error = sums[0] - sums[1]
            if additive:
                return (Stratum.of(error, elsewhere),)
            return _by_value(sums[1], error, elsewhere, len(pairs))

        return cls(tuple(each(at, range(domain.bits + 1))), additive)

    def of(self, level: int, value: Numbers) -> tuple[tuple[Stratum, ...], NDArray[np.int64]]:
        """The strata of a level, and which of them each released value belongs to."""
        strata = self.levels[level]
        if self.additive:
            return strata, np.zeros(len(value), dtype=np.int64)
        return strata, np.minimum(value_class(value), len(strata) - 1)


def value_class(value: Numbers) -> NDArray[np.int64]:
    """0 for 0 (and below), 1 to 3 for themselves, from 4 on half octaves.

    >>> value_class(np.array([0, 1, 3, 4, 6, 8, 1000])).tolist()
    [0, 1, 3, 4, 5, 6, 19]
    """
    number = np.maximum(np.asarray(value, dtype=np.float64), 0)
    return np.where(number < 4, number, np.floor(2 * np.log2(np.maximum(number, 4)) + 1e-9)).astype(np.int64)


@lru_cache(maxsize=4096)
def student(probability: float, degrees: float) -> float:
    """The quantile of Student's t with ``degrees`` of freedom, those of the normal law with infinitely many.

    From a thousand degrees on it is the expansion of Cornish and Fisher to the fourth order, below Newton's method on
    the tail, which is convex above 0: from the normal quantile, which lies below, each step stays below the solution.

    >>> round(student(0.99, 3), 3), round(student(0.95, np.inf), 3)
    (4.541, 1.645)
    """
    if probability < 0.5:
        return -student(1 - probability, degrees)
    if probability >= 1:
        return math.inf
    z = NormalDist().inv_cdf(probability)
    if degrees >= 1000:
        s, n = z * z, degrees
        orders = (
            (s + 1) / 4,
            ((5 * s + 16) * s + 3) / 96,
            (((3 * s + 19) * s + 17) * s - 15) / 384,
            ((((79 * s + 776) * s + 1482) * s - 1920) * s - 945) / 92160,
        )
        return z * (1 + sum(order / n**power for power, order in enumerate(orders, 1)))
    log_density = math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2) - math.log(degrees * math.pi) / 2
    quantile = z
    for _ in range(1000):
        density = math.exp(log_density - (degrees + 1) / 2 * math.log1p(quantile**2 / degrees))
        step = (_student_tail(quantile, degrees) - (1 - probability)) / density
        quantile += step
        if step <= 1e-15 * quantile:
            break
    return quantile


def _student_tail(value: float, degrees: float) -> float:
    """P[T > value] for ``value`` >= 0: half an incomplete beta function, by its continued fraction (Lentz)."""
    a, b, x = degrees / 2, 0.5, degrees / (degrees + value**2)
    swapped = x > (a + 1) / (a + b + 2)  # the fraction converges quickly on one side of the mean only
    if swapped:
        a, b, x = b, a, value**2 / (degrees + value**2)
    if x == 0:
        return 0.5
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    upper, lower, fraction = 1.0, 1 / (1 - (a + b) * x / (a + 1)), 1 / (1 - (a + b) * x / (a + 1))
    for m in range(1, 1000):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            lower, upper = 1 / (1 + term * lower), 1 + term / upper
            fraction *= lower * upper
        if abs(lower * upper - 1) < 1e-16:
            break
    whole = math.exp(log_front) * fraction / a
    return (1 - whole if swapped else whole) / 2


def _by_value(released: Numbers, error: Numbers, elsewhere: int, replicates: int) -> tuple[Stratum, ...]:
    own = value_class(released).astype(np.uint8)  # at most 125; of bytes: a radix sort
    order = np.argsort(own, kind="stable")
    own, error = own[order], error[order]
    first_above = int(np.searchsorted(own, 1))
    strata = [Stratum.of(error[:first_above], elsewhere, replicates)]
    for number in range(1, int(own[-1]) + 1 if len(own) else 1):
        width = 0
        while True:
            first, last = np.searchsorted(own, [max(number - width, 1), number + width + 1])
            if last - first >= ENOUGH or (first == first_above and last == len(own)):
                break
            width += 1
        strata.append(Stratum.of(error[first:last], replicates=replicates))
    if len(strata) == 1:
        # No example was released above 0: a released value may be off by as much as the people who vanished.
        strata.append(Stratum.of(np.concatenate([error, -error]), replicates=replicates))
    return tuple(strata)
