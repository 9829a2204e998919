"""Discrete Gaussian noise on a long vector of mostly zeros, drawn only where it rises above a level.

Which empty cells fire is found by thinning, exactly and without the tail of the law. With t = level + 1, variance v,
and any step b >= t, the chance of a value t + x, x = 0, 1, ..., is at most that of a candidate:

    exp(-(t + x)**2 / 2v) / N  <=  C r**x / N,    r = exp(-b / v),  C = exp(((b - t)**2 - t**2) / 2v)

because ((t + x)**2 - t**2)/2v - x b/v + (b - t)**2/2v = (x - (b - t))**2 / 2v. So each empty cell is a candidate with
chance Q = C/(N (1 - r)), found by geometric gaps; its x is geometric with ratio r; and it fires with the chance
exp(-(x - (b - t))**2 / 2v), or else stays below. That is P(Z = t + x) for every x. (With b the larger of t and the
whole number above sqrt(v), Q is never above 0.66.) Of irrational numbers only N, the
sum of exp(-z**2/2v) over all whole z, enters: a theta function, whose series is known to any precision.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.noise.added import AddedGaussian
from sudare.noise.bernoulli import Rate, Real
from sudare.noise.gaussian import discrete_gaussian, keep_with
from sudare.noise.geometric import Geometric
from sudare.noise.source import Source
from sudare.noise.sparse import Sparse, SparseNoise, firing

_FARTHEST = 35
"""Standard deviations past which the chance to fire leaves the range of a double."""


def theta(variance: Fraction, real: Any) -> Real:
    """N, the sum of exp(-z**2 / 2 variance) over all whole z, in the precision of the mpmath context ``real``.

    For a wide law by Poisson's formula, sqrt(2 pi v) times the sum of exp(-2 pi**2 v k**2): either series falls as
    fast as a Gaussian does, and is summed until its terms are below the precision.

    >>> import mpmath
    >>> float(theta(Fraction(1, 2), mpmath.mp))
    1.772637204826652
    """
    spread = real.mpf(variance.numerator) / variance.denominator
    wide = spread > 0.2
    exponent = 2 * real.pi**2 * spread if wide else 1 / (2 * spread)
    whole, number, least = real.mpf(1), 1, real.ldexp(1, -real.prec - 8)
    while (term := 2 * real.exp(-exponent * number * number)) > least:
        whole, number = whole + term, number + 1
    return whole * real.sqrt(2 * real.pi * spread) if wide else whole


@lru_cache(maxsize=64)
def _candidates(variance: Fraction, level: int) -> tuple[Rate, Geometric, int]:
    """The rate at which empty cells are candidates for a value above ``level`` >= 0, the law of x, and b."""
    lowest = level + 1
    step = max(lowest, math.isqrt(variance.numerator // variance.denominator) + 1)
    gain = (Fraction(step - lowest) ** 2 - lowest**2) / (2 * variance)
    slope = step / variance

    def chance(real: Any) -> Real:
        top = real.exp(real.mpf(gain.numerator) / gain.denominator)
        return top / theta(variance, real) / -real.expm1(-real.mpf(slope.numerator) / slope.denominator)

    return Rate.of_chance(chance), Geometric(Rate.rational(slope)), step


class SparseGaussian(SparseNoise):
    """The noisy values of a `Sparse` vector under discrete Gaussian noise of ``variance``: see `SparseNoise`."""

    __slots__ = ("_variance",)
    gaussian = True

    def __init__(self, exact: Sparse, variance: Fraction, source: Source) -> None:
        self._variance = variance
        # A scale to guess levels by; nothing of the law depends on it.
        super().__init__(exact, Fraction(math.sqrt(variance)), source)

    def _drawn(self, size: int) -> NDArray[np.int64]:
        return discrete_gaussian(self._variance, self._source, size)

    def _farthest(self) -> int:
        return math.floor(_FARTHEST * self._scale)

    def _rise(self, level: float) -> float:
        return AddedGaussian(self._variance).rise(level)

    def _lower(self, level: int) -> None:
        """Fire the empty cells with noise in (level, old level], given that none left is above the old.

        The law of a cell given that it is not above the old level: what would be above it is drawn again until it is
        not, however far down it then lies.
        """
        rate, rises, step = _candidates(self._variance, level)
        ranks = firing(rate, self.size, self._source)
        rise = rises.draw(self._source, len(ranks))
        kept = keep_with(rise, Fraction(step - level - 1), self._variance, self._source)
        value = level + 1 + rise[kept]
        if self._level is not None:
            again = np.flatnonzero(value > self._level)
            while len(again):
                value[again] = self._drawn(len(again))
                again = again[value[again] > self._level]
        hits = self._domain.indices(ranks[kept])
        if self._domain.place is not None:
            order = np.argsort(hits, kind="stable")
            hits, value = hits[order], value[order]
        fresh = self._admit(hits)
        # Candidates among cells that have a value already are nothing: those cells are not empty any more.
        self._value[fresh] = value[np.searchsorted(hits, self._index[fresh])]
        self._level = level
