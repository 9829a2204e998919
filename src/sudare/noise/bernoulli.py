"""Exact coins, many at once: 64 of them are tossed by the bits of machine words.

A coin shows heads when U < p, U uniform in [0, 1). The bits of U and of p are compared from the highest on: at the
first place where they differ, heads is where p has the 1. A word holds one place of 64 independent U, so that a place
of all of them costs one comparison; half of the coins still open are settled by each further place, and words whose
coins are all settled are left alone. So p may be any real number, and the law is exactly the one asked for.

The p of a law is often irrational, such as exp(-1/scale). `scaled_floor`, `Rate` and `first_words` give the leading
bits of such numbers, with as much precision as it takes to be certain of each bit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from threading import Lock
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sudare.errors import ParameterError
from sudare.noise.source import Source

Real: TypeAlias = Any
"""An mpmath real number (mpmath ships no types)."""

_MARGIN = 2.0**-12
_LOCK = Lock()


@cache
def _context() -> Any:
    """An mpmath context of our own, so that its precision is not changed elsewhere (imported late: it is slow)."""
    import mpmath

    return mpmath.mp.clone()


def scaled_floor(number: Callable[[Any], Real], precision: int) -> int:
    """floor(2**precision * number(context)), certain: the precision is raised until rounding cannot matter.

    ``number`` computes an irrational number in (0, 1) with the functions of the given mpmath context.

    >>> scaled_floor(lambda real: real.exp(-1), 32) == int(2**32 * 0.36787944117144233)
    True
    """
    guard = 64
    with _LOCK:
        real = _context()
        while True:
            real.prec = precision + guard
            scaled = real.ldexp(number(real), precision)
            slack = real.ldexp(1, -guard // 2)
            # The number lies strictly between 0 and 1, however near: its floor needs no more precision there.
            low = max(int(real.floor(scaled - slack)), 0)
            high = min(int(real.floor(scaled + slack)), (1 << precision) - 1)
            if low >= high:
                return low
            guard *= 2


@dataclass(frozen=True)
class Rate:
    """A positive real x that stands for the ratio exp(-x) of a geometric law; ``number`` computes it."""

    number: Callable[[Any], Real]
    approximate: float

    @classmethod
    def rational(cls, value: Fraction) -> Rate:
        """The rate that is a rational number."""
        return cls(lambda real: real.mpf(value.numerator) / value.denominator, float(value))

    @classmethod
    def of_chance(cls, chance: Callable[[Any], Real]) -> Rate:
        """The rate whose ratio is 1 - chance: gaps between events of that chance are geometric with it."""
        return cls(lambda real: -real.log1p(-chance(real)), cls._value(lambda real: -real.log1p(-chance(real))))

    @staticmethod
    def _value(number: Callable[[Any], Real]) -> float:
        with _LOCK:
            real = _context()
            real.prec = 128
            return float(number(real))


def first_words(approximate: NDArray[np.float64], bits: Callable[[int, int], int]) -> NDArray[np.uint32]:
    """floor(2**32 * threshold) for many thresholds: from doubles where these are certain, else from ``bits``.

    ``approximate`` is within 2**-46 of the thresholds, hundreds of times the error of NumPy's exp.
    """
    scaled = np.ldexp(approximate, 32)
    words = np.floor(scaled)
    uncertain = np.flatnonzero((scaled - words < _MARGIN) | (words + 1 - scaled < _MARGIN) | (scaled >= 2.0**32 - 1))
    result = np.clip(words, 0, 2.0**32 - 1).astype(np.uint32)
    for j in uncertain:
        result[j] = bits(int(j), 32)
    return result


_CHUNK = 1 << 12
_ALL = np.uint64(2**64 - 1)
_SOLID = 6  # places compared for every word before the open ones are selected


class Bernoulli:
    """A coin with a fixed chance of heads: a Fraction, or an irrational number as a function of an mpmath context.

    >>> coin = Bernoulli(lambda real: 1 / (1 + real.exp(1)))
    >>> bool(abs(coin.draw(Source.from_seed(1), 10_000).mean() - 0.2689) < 0.03)
    True
    """

    def __init__(self, chance: Fraction | Callable[[Any], Real]) -> None:
        if isinstance(chance, Fraction) and not 0 <= chance <= 1:
            raise ParameterError("a probability is not between 0 and 1", value=str(chance))
        self._chance = chance
        self._known = 64, self._floor(64)  # places, and their bits; replaced at once, since threads share a coin

    def _floor(self, places: int) -> int:
        """floor(2**places p)."""
        if isinstance(self._chance, Fraction):
            return (self._chance.numerator << places) // self._chance.denominator
        return scaled_floor(self._chance, places)

    def _place(self, place: int) -> bool:
        """The binary digit of p at 2**-(place + 1)."""
        places, bits = self._known
        if place >= places:
            places = 1 << place.bit_length()
            self._known = places, (bits := self._floor(places))
        return bool(bits >> (places - 1 - place) & 1)

    def packed(self, source: Source, size: int) -> NDArray[np.uint8]:
        """``size`` coins, eight a byte, the first in the lowest bit; bits beyond ``size`` are 0."""
        words = np.zeros(-(-size // 64), dtype=np.uint64)
        if self._chance == 1:
            words[:] = _ALL
        elif self._chance != 0:
            for start in range(0, len(words), _CHUNK):
                self._toss(words[start : start + _CHUNK], source)
        # Words are little-endian in memory, whatever the machine, so that coin j is bit j % 8 of byte j // 8.
        packed = words.astype("<u8", copy=False).view(np.uint8)[: -(-size // 8)]
        if size % 8:
            packed[-1] &= (1 << size % 8) - 1
        return packed

    def _toss(self, heads: NDArray[np.uint64], source: Source) -> None:
        """Toss all coins of ``heads``, which come as zeros."""
        drawn = source.words(2 * _SOLID * len(heads)).view(np.uint64).reshape(_SOLID, len(heads))
        is_open = np.full(len(heads), _ALL)
        for place, bits in enumerate(drawn):
            if self._place(place):
                heads |= is_open & ~bits
                is_open &= bits
            else:
                is_open &= ~bits
        where, place = np.flatnonzero(is_open), _SOLID
        is_open = is_open[where]
        while len(where):
            bits = source.words(2 * len(where)).view(np.uint64)
            if self._place(place):
                heads[where] |= is_open & ~bits
                is_open &= bits
            else:
                is_open &= ~bits
            left = np.flatnonzero(is_open)
            where, is_open, place = where[left], is_open[left], place + 1

    def draw(self, source: Source, size: int) -> NDArray[np.bool_]:
        """``size`` coins as truth values."""
        packed = self.packed(source, size)
        return np.unpackbits(packed, count=size, bitorder="little").view(np.bool_)


def uniform(bound: int, source: Source, size: int) -> NDArray[np.int64]:
    """``size`` whole numbers, each of 0..bound-1 equally likely: words beyond the last multiple are drawn again.

    >>> sorted(set(uniform(3, Source.from_seed(1), 50).tolist()))
    [0, 1, 2]
    """
    if not 1 <= bound <= 2**62:
        raise ParameterError("the bound is not between 1 and 2**62", value=bound)
    if bound <= 2**16:  # 32 bits are seldom beyond the last multiple
        return _below(bound, source.words(size), source.words).astype(np.int64)
    return _below(bound, _long(source, size), lambda count: _long(source, count)).astype(np.int64)


def _below(bound: int, numbers: NDArray[Any], draw: Callable[[int], NDArray[Any]]) -> NDArray[Any]:
    limit = (int(np.iinfo(numbers.dtype).max) + 1) // bound * bound - 1
    again = np.flatnonzero(numbers > limit)
    while len(again):
        numbers[again] = draw(len(again))
        again = again[numbers[again] > limit]
    return np.asarray(numbers % numbers.dtype.type(bound))


def _long(source: Source, size: int) -> NDArray[np.uint64]:
    return source.words(2 * size).view(np.uint64)
