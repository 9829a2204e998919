"""Unary encodings: one bit per value, each randomised by itself."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sudare.local.encoding import Encoding, logistic, power
from sudare.local.layout import Bitmap, Layout, Packed, clear_padding, mark
from sudare.noise import Bernoulli, Source


@dataclass(frozen=True)
class UnaryEncoding(Encoding):
    """One bit per value, all independent."""

    @property
    def layout(self) -> Layout:
        """One bit per value."""
        return Bitmap(self.size)

    @property
    @abstractmethod
    def chances(self) -> tuple[float, float]:
        """The probabilities that the bit of the true value and that of another value are set."""

    @property
    def pair_chances(self) -> tuple[float, float]:
        """See `Encoding`: products, since bits are independent."""
        own, other = self.chances
        return own * other, other**2


@dataclass(frozen=True)
class SymmetricUnary(UnaryEncoding):
    """Basic RAPPOR: each bit of the one-hot vector is kept with p = e**(epsilon/2)/(1 + e**(epsilon/2)), else flipped.

    Privacy: bits are independent, and the one-hot vectors of two values differ in two bits. For each of the two
    the quotient of probabilities is at most p/(1 - p) = e**(epsilon/2), so for a report at most e**epsilon; it is
    reached by a report with one of the two bits set.

    >>> encoding = SymmetricUnary(size=23, epsilon=1.0)
    >>> encoding.randomize([0, 5, 22], seed=1).packed.shape
    (3, 3)
    """

    name: ClassVar[str] = "symmetric_unary"

    @property
    def chances(self) -> tuple[float, float]:
        """p and 1 - p."""
        return logistic(self.epsilon / 2), logistic(-self.epsilon / 2)

    @cached_property
    def _flip(self) -> Bernoulli:
        return Bernoulli(lambda real: 1 / (1 + power(real, self.epsilon / 2)))

    def draw(self, values: NDArray[np.int64], source: Source) -> Packed:
        """Flips for all bits, then the true bit turned around."""
        packed = coins(self._flip, source, len(values), self.size)
        rows = np.arange(len(values))
        packed[rows, values >> 3] ^= (1 << (values & 7)).astype(np.uint8)
        return packed


@dataclass(frozen=True)
class OptimisedUnary(UnaryEncoding):
    """The true bit is a fair coin, every other bit is set with chance q = 1/(e**epsilon + 1) (Wang et al. 2017).

    Privacy: the one-hot vectors of two values differ in two bits. A report with the first set and the second not
    has chance (1/2)(1 - q) under the one value and q (1/2) under the other: the quotient is (1 - q)/q = e**epsilon,
    the largest there is, since for equal bits it is 1.

    >>> OptimisedUnary(size=23, epsilon=1).chances
    (0.5, 0.2689414213699951)
    """

    name: ClassVar[str] = "optimised_unary"

    @property
    def chances(self) -> tuple[float, float]:
        """One half and q."""
        return 0.5, logistic(-self.epsilon)

    @cached_property
    def _other_coin(self) -> Bernoulli:
        return Bernoulli(lambda real: 1 / (1 + power(real, self.epsilon)))

    def draw(self, values: NDArray[np.int64], source: Source) -> Packed:
        """Coins for all bits, then a fair one in the true place."""
        packed = coins(self._other_coin, source, len(values), self.size)
        mark(packed, values, Bernoulli(Fraction(1, 2)).draw(source, len(values)))
        return packed


def coins(coin: Bernoulli, source: Source, rows: int, size: int) -> Packed:
    """(rows, bytes) of independent coins, ``size`` in each row."""
    width = -(-size // 8)
    packed = coin.packed(source, rows * width * 8).reshape(rows, width)
    clear_padding(packed, size)
    return packed
