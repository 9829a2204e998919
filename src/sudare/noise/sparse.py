"""Noise on a long vector of mostly zeros, drawn only where it rises above a level.

The law is the one of noise on every cell. Empty cells with noise above the level are found by the geometric
gaps between them; lowering the level later keeps what was drawn and extends it by the conditional law. Proof:
docs/explanation/proofs.md, theorem 2.

Which empty cells exceed the level under Gaussian noise (`SparseGaussian`) is found by thinning, exactly and without the
tail of the law. With t = level + 1, variance v, and any step b >= t, the chance of a value t + x, x = 0, 1, ..., is at
most that of a candidate:

    exp(-(t + x)**2 / 2v) / N  <=  C r**x / N,    r = exp(-b / v),  C = exp(((b - t)**2 - t**2) / 2v)

because ((t + x)**2 - t**2)/2v - x b/v + (b - t)**2/2v = (x - (b - t))**2 / 2v. So each empty cell is a candidate with
chance Q = C/(N (1 - r)), found by geometric gaps; its x is geometric with ratio r; and it fires with the chance
exp(-(x - (b - t))**2 / 2v), or else stays below. That is P(Z = t + x) for every x. (With b the larger of t and the
whole number above sqrt(v), Q is never above 0.66.) Of irrational numbers only N, the
sum of exp(-z**2/2v) over all whole z, enters: a theta function, whose series is known to any precision.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.errors import AccountingError, ParameterError
from sudare.noise.bernoulli import Rate, Real
from sudare.noise.discrete import AddedGaussian, AddedLaplace, discrete_gaussian, discrete_laplace, keep_with
from sudare.noise.geometric import Geometric
from sudare.noise.source import Source

DENSE_LIMIT = 2**28
_BATCH = 1 << 20
_CEILING = 1.5 * 2.0**62
_GUESS_CELLS = 20_000
_MOST_AGAIN = 2**22
_DENSE = 8
"""Where one of so many cells is listed, they are put in order by marking them among all."""


@dataclass(frozen=True)
class Sparse:
    """A vector of ``size`` integers, given by its non-zero ones: sorted ``index`` and ``value``, int64.

    ``place`` maps ranks 0..size-1 to indices where these are others (a domain with padding).
    """

    index: NDArray[np.int64]
    value: NDArray[np.int64]
    size: int
    place: Callable[[NDArray[np.int64]], NDArray[np.int64]] | None = None

    def indices(self, rank: NDArray[np.int64]) -> NDArray[np.int64]:
        """The indices of logical ranks."""
        return rank if self.place is None else self.place(rank)


def firing(rate: Rate, size: int, source: Source) -> NDArray[np.int64]:
    """Sorted positions in [0, size) that fire, each independently with probability 1 - exp(-rate).

    The gap before the next firing position is geometric, so empty stretches cost nothing.
    """
    gaps = _sampler(rate)
    found = [np.empty(0, dtype=np.int64)]
    position = -1
    while True:
        expected = -np.expm1(-rate.approximate) * (size - position)
        batch = gaps.draw(source, min(_BATCH, int(expected + 6 * expected**0.5) + 8))
        # Doubles show from where on the running sum may pass 2**63; there it is past the end anyhow.
        batch = batch[: int(np.searchsorted(np.cumsum(batch.astype(np.float64)), _CEILING)) + 1]
        fits = np.cumsum(batch[:-1] + 1) + position if len(batch) > 1 else batch[:0]
        last = (int(fits[-1]) if len(fits) else position) + int(batch[-1]) + 1
        fits = np.append(fits, min(last, size))
        inside = int(np.searchsorted(fits, size))
        found.append(fits[:inside])
        if inside < len(fits):
            return np.concatenate(found)
        position = int(fits[-1])


# A table cut into blocks asks for the same laws again and again, and their tables take milliseconds to build.
@lru_cache(maxsize=64)
def _sampler(rate: Rate) -> Geometric:
    return Geometric(rate)


@lru_cache(maxsize=64)
def _rate_of(scale: Fraction) -> Rate:
    return Rate.rational(1 / scale)


@lru_cache(maxsize=64)
def _rate_between(scale: Fraction, level: int, old: int | None) -> Rate:
    """The rate of P(Z > level), or of P(Z > level | Z <= old); P(Z > l) = a**(l+1) / (1+a) for l >= 0."""

    def above(bound: int, real: Any) -> Real:
        step = real.mpf(scale.denominator) / scale.numerator
        return real.exp(-(bound + 1) * step) / (1 + real.exp(-step))

    def chance(real: Any) -> Real:
        new = above(level, real)
        if old is None:
            return new
        before = above(old, real)
        return (new - before) / (1 - before)

    return Rate.of_chance(chance)


class SparseNoise:
    """The noisy values of a `Sparse` vector under discrete Laplace noise of ``scale``.

    `above` shows exactly what the dense noisy vector would show above a level, and nothing else: a populated
    cell below the level does not appear, and an empty one above it does. The exact values are not kept, and nothing
    of what is inside (which cells are populated, and the source) is printed, copied or pickled.
    """

    __slots__ = ("_domain", "_index", "_level", "_scale", "_source", "_value")
    gaussian = False

    def __init__(self, exact: Sparse, scale: Fraction, source: Source) -> None:
        self._scale, self._source = scale, source
        self._domain = replace(exact, index=exact.index[:0], value=exact.value[:0])  # which cells there are
        self._index = exact.index  # cells with a value so far: the populated ones, and those that fired
        self._value = exact.value + self._drawn(len(exact.value))
        self._level: int | None = None  # the noise of every other cell is known not to be above it

    def __repr__(self) -> str:
        return f"SparseNoise({self.size} cells)"

    def __reduce__(self) -> str:
        raise AccountingError("a noisy vector cannot be copied", hint="Ask it what lies above a level.")

    @property
    def size(self) -> int:
        return self._domain.size

    def again(self, exact: Sparse) -> SparseNoise:
        """The same noisy vector for a neighbour, whose populated cells are others: for replays.

        What it shows must be the same, although it holds other cells: so that a replay sees where populated cells are
        treated in another way than empty ones, or get no noise. A vector too long to be listed stays as it is.
        """
        if max(self.size, exact.size) > _MOST_AGAIN:
            return self
        return _Replayed(exact, self)

    def above(self, level: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Index and value, sorted by index, of all cells whose noisy value is above ``level``."""
        looked = min(level, self._farthest())
        if len(self._index) < self.size and (self._level is None or looked < self._level):
            if looked < 0:
                self._complete()
            else:
                self._lower(looked)
        shown = self._value > level
        return self._index[shown], self._value[shown]

    def level_for(self, total: int) -> int:
        """A level a little below the threshold t where the excess over t sums to ``total``, in expectation.

        Only a guess of how deep to look, from some of the cells: every choice gives the same law of the result.
        """
        step = 1 + len(self._value) // _GUESS_CELLS
        ordered = np.sort(self._value[::step])[::-1].astype(np.float64)
        sums = np.cumsum(ordered)
        empty = self.size - len(self._value)

        def excess(level: float) -> float:
            populated = int(np.searchsorted(-ordered, -level))
            own = step * (sums[populated - 1] - populated * level) if populated else 0.0
            # E max(Z - t, 0) for t < 0 is that of -t, and -t more.
            return float(own + empty * (self._rise(abs(level)) - min(level, 0.0)))

        low, high = -1.0, max(1.0, ordered[0] if len(ordered) else 1.0)
        if excess(low) < total:
            return -1
        while excess(high) > total:
            high *= 2
        while high - low > 0.5:
            middle = (low + high) / 2
            low, high = (middle, high) if excess(middle) > total else (low, middle)
        return int(np.floor(low - float(self._scale) / 20))

    def _drawn(self, size: int) -> NDArray[np.int64]:
        """Noise for ``size`` cells."""
        return discrete_laplace(self._scale, self._source, size)

    def _farthest(self) -> int:
        """Past 500 scales the chance to fire leaves the range of a double; looking down to there costs nothing."""
        return math.floor(500 * self._scale)

    def _rise(self, level: float) -> float:
        """E max(Z - t, 0) for a whole ``level`` t >= 0."""
        return AddedLaplace(self._scale).rise(level)

    def _lower(self, level: int) -> None:
        """Fire the empty cells with noise in (level, old level], given that none left is above the old."""
        old = self._level
        hits = self._domain.indices(firing(_rate_between(self._scale, level, old), self.size, self._source))
        fresh = self._admit(hits if self._domain.place is None else np.sort(hits))
        rise = _sampler(_rate_of(self._scale)).draw(self._source, len(fresh))
        if old is not None:
            rise %= old - level  # a geometric variable modulo m is the one truncated to m values
        self._value[fresh] = level + 1 + rise
        self._level = level

    def _complete(self) -> None:
        """Draw every remaining empty cell, given that its noise is not above the lowest level so far."""
        if self.size > DENSE_LIMIT:
            raise ParameterError(
                "the noise fills too many cells to be listed",
                value=self.size,
                allowed="at most {dense_limit} cells",
                hint="Declare a smaller domain, or spend a larger epsilon.",
                dense_limit=DENSE_LIMIT,
            )
        everywhere = self._domain.indices(np.arange(self.size, dtype=np.int64))
        waiting = self._admit(everywhere if self._domain.place is None else np.sort(everywhere))
        fresh = self._drawn(len(waiting))
        if (level := self._level) is not None:
            again = np.flatnonzero(fresh > level)
            while len(again):
                fresh[again] = self._drawn(len(again))
                again = again[fresh[again] > level]
        self._value[waiting] = fresh

    def _admit(self, hits: NDArray[np.int64]) -> NDArray[np.int64]:
        """Give the sorted ``hits`` that have no value yet a place; returns the places, for their values."""
        span = max(int(own[-1]) + 1 if len(own) else 0 for own in (self._index, hits))
        if span <= _DENSE * (len(self._index) + len(hits)):
            known, listed = np.zeros((2, span), dtype=np.bool_)
            known[self._index] = True
            listed[self._index] = listed[hits] = True
            index, old = np.flatnonzero(listed), known[listed]
        else:
            merged = np.concatenate([self._index, hits])
            order = np.argsort(merged, kind="stable")  # two sorted runs: a merge
            merged = merged[order]
            first = np.ones(len(merged), dtype=np.bool_)
            np.not_equal(merged[1:], merged[:-1], out=first[1:])  # of two equal ones the first has the value
            index, old = merged[first], order[first] < len(self._value)
        value = np.empty(len(index), dtype=np.int64)
        value[old] = self._value
        self._index, self._value = index, value
        return np.flatnonzero(~old)


class _Replayed(SparseNoise):
    """A noisy vector of which every cell is known, shown as if only some cells were populated."""

    __slots__ = ("_cells", "_noisy", "_recorded")

    def __init__(self, exact: Sparse, recorded: SparseNoise) -> None:
        self._recorded = recorded
        self._cells, self._noisy = recorded.above(-(2**62))
        if len(self._cells) != exact.size or not np.isin(exact.index, self._cells).all():
            raise AccountingError("the replay measures cells that had no noise")
        self._scale, self._source = recorded._scale, recorded._source
        self._domain = replace(exact, index=exact.index[:0], value=exact.value[:0])
        self._index = exact.index
        self._value = self._noisy[np.searchsorted(self._cells, exact.index)]
        self._level = None

    @property
    def gaussian(self) -> bool:  # type: ignore[override]  # a constant of each law, and here of the recorded one
        """Whether the recorded noise is Gaussian."""
        return self._recorded.gaussian

    def _farthest(self) -> int:
        return self._recorded._farthest()

    def _rise(self, level: float) -> float:
        return self._recorded._rise(level)

    def _lower(self, level: int) -> None:
        hits = np.flatnonzero(self._noisy > level)
        fresh = self._admit(self._cells[hits])
        self._value[fresh] = self._noisy[np.searchsorted(self._cells, self._index[fresh])]
        self._level = level

    def _complete(self) -> None:
        self._lower(-(2**62))


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
