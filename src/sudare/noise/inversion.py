"""Exact draws by inversion: a random word finds its place among thresholds known to any precision.

A real number U, uniform in [0, 1), is revealed 32 bits at a time. The outcome is how many thresholds are at
most U. One word decides almost always; where a threshold has the same first 32 bits as U, more bits of both
are compared until they differ. So the law is exactly the one of the thresholds, which are real numbers.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sudare.noise.source import Source

_WORD = 32
_CHUNK = 1 << 14
_HARD = -(1 << 30)


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
        self._threshold = np.where(inside == 1, first[np.minimum(edges[:-1], len(first) - 1)], own)
        self._outcome = np.where(inside <= 1, edges[:-1], _HARD).astype(np.int32)

    def draw(self, source: Source, size: int) -> NDArray[np.int32]:
        """``size`` independent outcomes."""
        outcomes = np.empty(size, dtype=np.int32)
        length = min(size, _CHUNK)
        words = np.empty(length, dtype=np.uint32)
        bucket = np.empty(length, dtype=np.intp)
        threshold = np.empty(length, dtype=np.uint32)
        flags = np.empty(length, dtype=np.bool_)
        for start in range(0, size, _CHUNK):
            out = outcomes[start : start + _CHUNK]
            if len(out) < len(words):
                words, bucket = words[: len(out)], bucket[: len(out)]
                threshold, flags = threshold[: len(out)], flags[: len(out)]
            source.fill(words)
            np.right_shift(words, self._shift, out=bucket)
            self._outcome.take(bucket, out=out, mode="clip")
            self._threshold.take(bucket, out=threshold, mode="clip")
            np.greater(words, threshold, out=flags)
            np.add(out, flags, out=out)
            np.equal(words, threshold, out=flags)
            np.logical_or(flags, out < 0, out=flags)
            hard = np.flatnonzero(flags)
            if len(hard):
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
