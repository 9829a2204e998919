"""Exact geometric variables: P(G = g) = (1 - r) r**g for g >= 0, any ratio r = exp(-rate).

A geometric variable splits exactly (methods: noise): G = B H + L with B = 2**k, H geometric with ratio r**B
and L in [0, B) truncated geometric, independent; and L splits again into digits. Each part has at most a few
thousand thresholds, whatever the scale. Past the end of H's table the draw starts anew and adds the table's
length, which is exact because the variable has no memory.

Each part is drawn by inversion (`Inversion`). A real number U, uniform in [0, 1), is revealed 32 bits at a time, and
the outcome is the number of thresholds that are at most U. One word decides almost always; where a threshold has the
same first 32 bits as U, more bits of both are compared until they differ. So the law is exactly that of the thresholds,
which are real numbers.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sudare.errors import ParameterError
from sudare.noise.bernoulli import Rate, first_words, scaled_floor
from sudare.noise.source import Source

_WORD = 32
_CHUNK = 1 << 14
_HARD = -(1 << 30)
_TIE = 2**32 - 1


class Inversion:
    """Draws outcomes 0..count, where outcome j means thresholds[j-1] <= U < thresholds[j].

    ``bits(j, precision)`` returns floor(2**precision * threshold j), exactly, for j in [0, count); thresholds
    do not decrease. ``first`` holds the same numbers for 32 bits.

    A guide table maps the top bits of a word to the only threshold that may lie in that bucket, so that one
    gather and one comparison settle a draw. Buckets with several thresholds take a binary search.
    """

    def __init__(self, first: NDArray[np.uint32], bits: Callable[[int, int], int]) -> None:
        self._first = first
        self._bits = bits
        guide_bits = min(max(10, int(len(first) - 1).bit_length() + 2), 14)
        self._shift = np.uint32(_WORD - guide_bits)
        starts = np.arange(1 << guide_bits, dtype=np.uint64) << np.uint64(self._shift)
        edges = np.append(np.searchsorted(first, starts, side="left"), len(first))
        inside = np.diff(edges)
        # A bucket without a threshold compares with its own last word: never above it, and rarely equal.
        own = (starts + (np.uint64(1) << np.uint64(self._shift)) - np.uint64(1)).astype(np.uint32)
        threshold = np.where(inside == 1, first[np.minimum(edges[:-1], len(first) - 1)], own).astype(np.int64)
        outcome = np.where(inside <= 1, edges[:-1], _HARD)
        # Adding a word carries a 1 into the outcome where it is above the threshold, and gives _TIE below it where it
        # is equal.
        self._guide = (outcome << _WORD) + (_TIE - threshold)

    def draw(self, source: Source, size: int) -> NDArray[np.int64]:
        """``size`` independent outcomes."""
        outcomes = np.empty(size, dtype=np.int64)
        length = min(size, _CHUNK)
        words = np.empty(length, dtype=np.uint32)
        bucket = np.empty(length, dtype=np.intp)
        for start in range(0, size, _CHUNK):
            out = outcomes[start : start + _CHUNK]
            words, bucket = words[: len(out)], bucket[: len(out)]
            source.fill(words)
            np.right_shift(words, self._shift, out=bucket)
            self._guide.take(bucket, out=out, mode="clip")
            out += words
            ties = out.astype(np.uint32)
            out >>= _WORD
            if out.min() < 0 or ties.max() == _TIE:
                hard = np.flatnonzero((out < 0) | (ties == _TIE))
                out[hard] = self._settle(words[hard], source)
        return outcomes

    def _settle(self, words: NDArray[np.uint32], source: Source) -> NDArray[np.int64]:
        """Outcomes of words that the guide table could not settle."""
        low = np.searchsorted(self._first, words, side="left")
        high = np.searchsorted(self._first, words, side="right")
        for tie in np.flatnonzero(low != high):
            low[tie] = self._extend(int(words[tie]), int(low[tie]), int(high[tie]), source)
        return low

    def _extend(self, word: int, low: int, high: int, source: Source) -> int:
        """Reveal further bits of U until no threshold in [low, high) shares all of them."""
        precision = _WORD
        while low < high:
            word = word << (2 * _WORD) | source.integer(2 * _WORD)
            precision += 2 * _WORD
            below = bisect_right(range(low, high), word, key=lambda j: self._bits(j, precision))
            ties = [j for j in range(low, high) if self._bits(j, precision) == word]
            low, high = (min(ties), max(ties) + 1) if ties else (low + below, low + below)
        return low


DIGIT_BITS = 12
_HEAD_BITS = 8  # the head H has a scale below 2**8 steps,
_HEAD_SCALES = 16  # and a table that ends after 16 of these: one draw in e**16 goes past it
_MOST_BITS = 62
_EVEN = 2.0**-34


@dataclass(frozen=True)
class Split:
    """How a law of this rate splits: a head in steps of 2**tail_bits, with a table of ``length`` rows."""

    rate: Rate

    @cached_property
    def tail_bits(self) -> int:
        """k of B = 2**k."""
        if self.rate.approximate < 2.0**-_MOST_BITS:  # or so small that a double is 0
            return _MOST_BITS
        exponent = -math.frexp(self.rate.approximate)[1]
        return min(max(0, exponent - _HEAD_BITS + 1), _MOST_BITS)

    @cached_property
    def head_rate(self) -> float:
        """The rate of H, approximately."""
        return math.ldexp(self.rate.approximate, self.tail_bits)

    @cached_property
    def length(self) -> int:
        """Rows of the head's table; past the largest index it only matters whether there is a step at all."""
        if self.tail_bits == _MOST_BITS:
            return 1
        return min(max(1, math.ceil(_HEAD_SCALES / self.head_rate)), _HEAD_SCALES << _HEAD_BITS)

    def power(self, steps: int) -> Rate:
        """The rate of ``steps`` steps taken as one."""
        rate = self.rate
        return Rate(lambda real: rate.number(real) * steps, rate.approximate * steps)


class Digits:
    """L in [0, 2**bits), truncated geometric: independent digits of 12 bits, each drawn by inversion.

    Digit d has ratio q = r**(4096**d); P(digit < j) = (1 - q**j) / (1 - q**m), m its number of values. That
    lies between j/m and j/m (1 + m x), q = exp(-x), so for m x < 2**-33 its first 32 bits are those of j/m.
    """

    def __init__(self, split: Split) -> None:
        self._tables: list[tuple[int, Inversion]] = []
        for low in range(0, split.tail_bits, DIGIT_BITS):
            values = 1 << min(DIGIT_BITS, split.tail_bits - low)
            self._tables.append((low, self._table(split.power(1 << low), values)))

    @staticmethod
    def _table(rate: Rate, values: int) -> Inversion:
        def bits(j: int, precision: int) -> int:
            return scaled_floor(
                lambda real: real.expm1(-(j + 1) * rate.number(real)) / real.expm1(-values * rate.number(real)),
                precision,
            )

        if rate.approximate * values < _EVEN:
            first = np.arange(1, values, dtype=np.uint32) * np.uint32(2**32 // values)
        else:
            steps = np.arange(1, values) * rate.approximate
            first = first_words(np.expm1(-steps) / math.expm1(-values * rate.approximate), bits)
        return Inversion(first, bits)

    def draw(self, source: Source, size: int) -> NDArray[np.int64]:
        """``size`` independent values of L."""
        total = np.zeros(size, dtype=np.int64)
        for low, table in self._tables:
            total += table.draw(source, size) << low
        return total


class Geometric:
    """A sampler for one ratio. Draws saturate at 2**62, far above any index.

    >>> from fractions import Fraction
    >>> bool((Geometric(Rate.rational(Fraction(1, 10))).draw(Source.from_seed(1), 5) >= 0).all())
    True
    """

    def __init__(self, rate: Rate) -> None:
        if not 0 <= rate.approximate < math.inf:
            raise ParameterError("the rate of a geometric law is positive and finite", value=rate.approximate)
        split = Split(rate)
        self._tail_bits, self._length = split.tail_bits, split.length
        self._digits = Digits(split)
        head = split.power(1 << split.tail_bits)

        def bits(j: int, precision: int) -> int:
            return scaled_floor(lambda real: -real.expm1(-(j + 1) * head.number(real)), precision)

        rows = np.arange(1, self._length + 1) * head.approximate
        self._head = Inversion(first_words(-np.expm1(-rows), bits), bits)

    def head(self, source: Source, size: int) -> NDArray[np.int64]:
        """H: steps of 2**tail_bits."""
        steps = self._head.draw(source, size)
        past = np.flatnonzero(steps == self._length)
        while len(past):
            more = self._head.draw(source, len(past))
            steps[past] += more
            past = past[(more == self._length) & (steps[past] < 1 << (_MOST_BITS - self._tail_bits))]
        return steps

    def draw(self, source: Source, size: int) -> NDArray[np.int64]:
        """``size`` independent values of G."""
        steps = self.head(source, size)
        if not self._tail_bits:
            return steps
        far = np.flatnonzero(steps >= 1 << (_MOST_BITS - self._tail_bits))
        steps[far] = 0
        steps <<= self._tail_bits
        steps += self._digits.draw(source, size)
        steps[far] = 1 << _MOST_BITS
        return steps
