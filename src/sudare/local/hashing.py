"""Optimal local hashing: each device hashes the values into a few buckets by a key of its own, and reports a bucket.

The hash is multiply-shift on words of 32 bits (Dietzfelbinger 1996), so that a browser can repeat it::

    h = ((a * x + b) mod 2**32) >> 16          16 bits, x < 2**16
    bucket = (h * buckets) >> 16

For random words a and b, and two values x and x', the pair (h(x), h(x')) takes each of its 2**32 values equally
often: words of u + l - 1 = 31 bits suffice for values of u = 16 bits and hashes of l = 16. In JavaScript
``(Math.imul(a, x) + b) >>> 16`` is h. A report is a, b (four bytes each, the lowest first) and the bucket (one byte).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import exp
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sudare import noise
from sudare.errors import InputError, ParameterError
from sudare.local.encoding import Encoding, response_chances
from sudare.local.layout import Packed
from sudare.noise import Source

LARGEST_HASHED = 1 << 16
MOST_BUCKETS = 256
_KEY_BYTES = 8
_CHUNK = 1 << 14  # reports whose words stay in the processor's cache


def bucket_of(
    values: NDArray[np.int64], first: NDArray[np.uint32], second: NDArray[np.uint32], buckets: int
) -> NDArray[np.int64]:
    """The bucket of each value under its own key (``first``, ``second``): a and b of the formula above.

    >>> words = np.array([2654435769], dtype=np.uint32), np.array([12345], dtype=np.uint32)
    >>> bucket_of(np.array([1000]), *words, 4).tolist()
    [0]
    """
    hashed = (first * values.astype(np.uint32) + second) >> np.uint32(16)
    return (hashed.astype(np.int64) * buckets) >> 16


@dataclass(frozen=True)
class Keyed:
    """A key of two words and a bucket; the sums are how many reports have each value in their bucket."""

    size: int
    buckets: int
    report_bytes: int = _KEY_BYTES + 1

    @property
    def sums(self) -> int:
        return self.size

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """The first hash of 16 bits in each bucket, and 2**16 at the end."""
        return -(-(np.arange(self.buckets + 1, dtype=np.int64) << 16) // self.buckets)

    def check(self, packed: Packed) -> None:
        """Refuse buckets that do not exist."""
        if len(packed) and int(packed[:, _KEY_BYTES].max()) >= self.buckets:
            raise InputError(
                "a report names a bucket that does not exist", allowed="0 to {buckets}", buckets=self.buckets - 1
            )

    def pack(self, first: NDArray[np.uint32], second: NDArray[np.uint32], bucket: NDArray[np.int64]) -> Packed:
        """The bytes of reports."""
        packed = np.empty((len(bucket), self.report_bytes), dtype=np.uint8)
        packed[:, :4] = first.astype("<u4").view(np.uint8).reshape(-1, 4)
        packed[:, 4:8] = second.astype("<u4").view(np.uint8).reshape(-1, 4)
        packed[:, 8] = bucket
        return packed

    def unpack(self, packed: Packed) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.int64]]:
        """Both words and the bucket."""
        words = np.ascontiguousarray(packed[:, :_KEY_BYTES]).view("<u4").astype(np.uint32)
        return words[:, 0].copy(), words[:, 1].copy(), packed[:, _KEY_BYTES].astype(np.int64)

    def hits(self, packed: Packed) -> _Hits:
        """Which values lie in the buckets that reports name."""
        first, second, bucket = self.unpack(packed)
        # The hash lies in the bucket when a x + b - (its start << 16) is below its width << 16, modulo 2**32.
        start, stop = self.starts[bucket], self.starts[bucket + 1]
        return _Hits(first, second - (start << 16).astype(np.uint32), ((stop - start) << 16).astype(np.uint32))

    def tally(self, packed: Packed) -> NDArray[np.int64]:
        """How many reports have each value in their bucket."""
        total = np.zeros(self.size, dtype=np.int64)
        for start in range(0, len(packed), _CHUNK):
            hits = self.hits(packed[start : start + _CHUNK])
            total += [np.count_nonzero(hits.of(value)) for value in range(self.size)]
        return total


class _Hits:
    """Reports as comparisons of words; one value at a time is tested against all of them."""

    def __init__(self, first: NDArray[np.uint32], shift: NDArray[np.uint32], width: NDArray[np.uint32]) -> None:
        self._first, self._shift, self._width = first, shift, width
        self._word = np.empty_like(first)
        self._flags = np.empty(len(first), dtype=np.bool_)

    def of(self, value: int) -> NDArray[np.bool_]:
        """Which reports have ``value`` in their bucket; overwritten by the next call."""
        np.multiply(self._first, np.uint32(value), out=self._word)
        np.add(self._word, self._shift, out=self._word)
        return np.less(self._word, self._width, out=self._flags)


@dataclass(frozen=True)
class LocalHashing(Encoding):
    """A random key, and the bucket of the value under it by randomised response over ``buckets`` = e**epsilon + 1.

    Privacy: the key does not depend on the value. Given the key, the named bucket has chance p =
    e**epsilon/(e**epsilon + buckets - 1) for values in it and p/e**epsilon for others, so the quotient for two
    values is at most e**epsilon; it is reached where the key parts them.

    >>> encoding = LocalHashing(size=1024, epsilon=1)
    >>> encoding.buckets, encoding.report_bytes
    (4, 9)
    """

    buckets: int | None = None

    name: ClassVar[str] = "local_hashing"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.size > LARGEST_HASHED:
            raise ParameterError(
                "too many values to hash",
                value=self.size,
                allowed="at most {largest_hashed}",
                largest_hashed=LARGEST_HASHED,
            )
        if self.buckets is None:
            best = round(exp(min(float(self.epsilon), 6.0))) + 1
            object.__setattr__(self, "buckets", min(best, MOST_BUCKETS))
        elif type(self.buckets) is not int or not 2 <= self.buckets <= MOST_BUCKETS:
            raise ParameterError(
                "not a number of buckets", value=self.buckets, allowed="2 to {most_buckets}", most_buckets=MOST_BUCKETS
            )

    @cached_property
    def layout(self) -> Keyed:
        """Key and bucket."""
        return Keyed(self.size, self._number)

    @property
    def _number(self) -> int:
        assert self.buckets is not None  # noqa: S101 - __post_init__ has set it
        return self.buckets

    @cached_property
    def _response(self) -> noise.RandomisedResponse:
        return noise.RandomisedResponse(self._number, self.epsilon)

    @cached_property
    def chances(self) -> tuple[float, float]:
        """p, and the chance that another value shares the bucket and it is kept, or does not and it is hit."""
        own, miss = response_chances(self._number, self.epsilon)
        widths = np.diff(self.layout.starts).tolist()
        shared = float(Fraction(sum(width**2 for width in widths), 2**32))
        return own, shared * own + (1 - shared) * miss

    def draw(self, values: NDArray[np.int64], source: Source) -> Packed:
        words = source.words(2 * len(values))
        first, second = words[: len(values)], words[len(values) :]
        bucket = self._response.draw(bucket_of(values, first, second, self._number), source)
        return self.layout.pack(first, second, bucket)

    def bitmaps(self, packed: Packed) -> Packed:
        """Which values lie in each report's bucket, one bit per value."""
        maps = np.zeros((len(packed), -(-self.size // 8)), dtype=np.uint8)
        for start in range(0, len(packed), _CHUNK):
            hits = self.layout.hits(packed[start : start + _CHUNK])
            for value in range(self.size):
                maps[start : start + _CHUNK, value >> 3] |= hits.of(value).view(np.uint8) << (value & 7)
        return maps

    def to_json(self) -> dict[str, Any]:
        """Also the number of buckets, so that a device need not compute it."""
        return {**super().to_json(), "buckets": self.buckets}
