"""Reports that are a value or a set of values.

Generalised randomised response: the report is a value, with high probability the true one. Subset selection: the
report is a set of values of a fixed size, which contains the true one with high probability.
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
from sudare.errors import ParameterError
from sudare.local.encoding import Encoding, power, response_chances
from sudare.local.layout import Bitmap, Index, Packed, mark
from sudare.local.unary import coins
from sudare.noise import Bernoulli, Source, uniform


@dataclass(frozen=True)
class RandomisedResponse(Encoding):
    """The true value with chance p = e**epsilon/(e**epsilon + size - 1), else one of the others, all alike.

    Privacy: each report has chance p under its own value and q = p/e**epsilon under any other, so the quotient for
    two values is at most e**epsilon, and reaches it. Best where there are fewer than 3 e**epsilon + 2 values.

    >>> RandomisedResponse(size=4, epsilon=1).randomize([0, 3, 3], seed=1).packed.shape
    (3, 1)
    """

    name: ClassVar[str] = "randomised_response"

    @property
    def layout(self) -> Index:
        """The value that is reported."""
        return Index(self.size)

    @property
    def chances(self) -> tuple[float, float]:
        return response_chances(self.size, self.epsilon)

    @property
    def pair_chances(self) -> tuple[float, float]:
        """A report supports one value."""
        return 0.0, 0.0

    @cached_property
    def channel(self) -> noise.RandomisedResponse:
        """The law itself."""
        return noise.RandomisedResponse(self.size, self.epsilon)

    def draw(self, values: NDArray[np.int64], source: Source) -> Packed:
        return self.layout.pack(self.channel.draw(values, source))

    def bitmaps(self, packed: Packed) -> Packed:
        """The one value that each report is."""
        return np.packbits(self.layout.unpack(packed)[:, None] == np.arange(self.size), axis=1, bitorder="little")


_CHUNK = 1 << 16


@dataclass(frozen=True)
class SubsetSelection(Encoding):
    """A random set of ``subset`` = w values, about size/(e**epsilon + 1), as one bit per value (Ye and Barg 2018).

    The true value is in it with chance p = w e**epsilon/(w e**epsilon + size - w); the rest is uniform among sets
    that fit. Privacy: a set that holds the value has chance e**epsilon/c, one that does not 1/c, with c the same for
    every value, so the quotient for two values is at most e**epsilon; it is reached by sets with one of the two.

    >>> SubsetSelection(size=23, epsilon=1).subset
    6
    """

    subset: int | None = None

    name: ClassVar[str] = "subset_selection"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.subset is None:
            best = round(self.size / (exp(float(self.epsilon)) + 1))
            object.__setattr__(self, "subset", min(max(1, best), self.size - 1))
        elif type(self.subset) is not int or not 1 <= self.subset < self.size:
            raise ParameterError(
                "subset is not the size of a set", value=self.subset, allowed="1 to {size}", size=self.size - 1
            )

    @property
    def _ones(self) -> int:
        assert self.subset is not None  # noqa: S101 - __post_init__ has set it
        return self.subset

    @property
    def layout(self) -> Bitmap:
        """One bit per value, ``subset`` of them set."""
        return Bitmap(self.size, self._ones)

    @property
    def chances(self) -> tuple[float, float]:
        """p, and what is left for each other value: the set has w - 1 or w of the size - 1 others."""
        own = self._ones / (self._ones + (self.size - self._ones) * exp(-float(self.epsilon)))
        return own, (self._ones - own) / (self.size - 1)

    @property
    def pair_chances(self) -> tuple[float, float]:
        """The other values of the set are a uniform draw without replacement."""
        own, _ = self.chances
        ones, others = self._ones, self.size - 1
        pairs = others * max(others - 1, 1)
        with_own, without_own = (ones - 1) * (ones - 2) / pairs, ones * (ones - 1) / pairs
        return own * (ones - 1) / others, own * with_own + (1 - own) * without_own

    @cached_property
    def _own_coin(self) -> Bernoulli:
        ones, rest = self._ones, self.size - self._ones
        return Bernoulli(lambda real: ones / (ones + rest * power(real, -self.epsilon)))

    def draw(self, values: NDArray[np.int64], source: Source) -> Packed:
        """Whether the true value is in the set, then a uniform set of others."""
        packed = np.empty((len(values), self.layout.report_bytes), dtype=np.uint8)
        for start in range(0, len(values), _CHUNK):
            part = values[start : start + _CHUNK]
            own = self._own_coin.draw(source, len(part))
            packed[start : start + _CHUNK] = _sets(part, own, self.size, self._ones, source)
        return packed

    def to_json(self) -> dict[str, Any]:
        """Also the size of the set, so that a device need not compute it."""
        return {**super().to_json(), "subset": self.subset}


def _sets(values: NDArray[np.int64], own: NDArray[np.bool_], size: int, ones: int, source: Source) -> Packed:
    """Uniform sets of ``ones`` values that hold their own value exactly where ``own`` says so.

    Independent coins make a set that is uniform given how many it holds. Where those are too many, values of the set
    chosen uniformly leave it, where too few, others chosen uniformly enter: given the number it stays uniform.
    """
    packed = coins(Bernoulli(Fraction(ones, size)), source, len(values), size)
    mark(packed, values, own)
    excess = np.bitwise_count(packed).sum(axis=1, dtype=np.int64) - ones
    rows = np.flatnonzero(excess)
    while len(rows):
        place = uniform(size, source, len(rows))
        byte, mask = place >> 3, (1 << (place & 7)).astype(np.uint8)
        is_set = (packed[rows, byte] & mask) != 0
        # A value that is already as wanted, or the true one, is drawn again.
        moved = (is_set == (excess[rows] > 0)) & (place != values[rows])
        hit = rows[moved]
        packed[hit, byte[moved]] ^= mask[moved]
        excess[hit] -= np.sign(excess[hit])
        rows = rows[excess[rows] != 0]
    return packed
