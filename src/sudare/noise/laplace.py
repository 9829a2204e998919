"""The discrete Laplace law, exact: P(Z = z) = (1 - a)/(1 + a) a**|z|, a = exp(-1/scale).

With Z = B H + L, B = 2**k, 0 <= L < B, the half H >= 0 has probability 1/(1 + a) and is geometric there with
ratio a**B; the half H < 0 has a/(1 + a) and mirrors it: -Z - 1 = B (-H - 1) + L' with L' truncated geometric.
So one table over both halves gives H, and the digits of the geometric law give L or L'.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.errors import ParameterError
from sudare.noise.bernoulli import Rate, Real, first_words, scaled_floor
from sudare.noise.geometric import Digits, Geometric, Inversion, Split
from sudare.noise.source import Source

LARGEST_SCALE = 2**50
SMALLEST_SCALE = Fraction(1, 2**20)


class DiscreteLaplace:
    """A sampler for one scale; use `discrete_laplace`, which keeps the tables of recent scales."""

    def __init__(self, scale: Fraction) -> None:
        split = Split(Rate.rational(1 / scale))
        length = split.length
        self._tail_bits, self._length = split.tail_bits, length
        self._digits = Digits(split)
        self._beyond = Geometric(split.power(1 << split.tail_bits))
        one, head = split.rate, split.power(1 << split.tail_bits)

        def threshold(j: int, real: Any) -> Real:
            """P(H < j - length): rows of the lower half, then of the upper."""
            a = real.exp(-one.number(real))
            if j <= length:
                return real.exp(-one.number(real) - (length - j) * head.number(real)) / (1 + a)
            return 1 - real.exp(-(j - length) * head.number(real)) / (1 + a)

        def bits(j: int, precision: int) -> int:
            return scaled_floor(lambda real: threshold(j, real), precision)

        a = np.exp(-one.approximate)
        lower = np.exp(-one.approximate - np.arange(length, -1, -1) * head.approximate) / (1 + a)
        upper = 1 - np.exp(-np.arange(1, length + 1) * head.approximate) / (1 + a)
        self._head = Inversion(first_words(np.concatenate([lower, upper]), bits), bits)

    def draw(self, source: Source, size: int) -> NDArray[np.int64]:
        """``size`` independent values of Z."""
        length = self._length
        steps = self._head.draw(source, size).astype(np.int64)
        steps -= length + 1
        for end, sign in ((-length - 1, -1), (length, 1)):
            past = np.flatnonzero(steps == end)
            if len(past):
                steps[past] += sign * self._beyond.draw(source, len(past))
        if not self._tail_bits:
            return steps
        digits = self._digits.draw(source, size)
        digits ^= steps >> 63  # L' counts down from the step above: B H + (B - 1 - L')
        digits &= (1 << self._tail_bits) - 1
        steps <<= self._tail_bits
        steps += digits
        return steps


@lru_cache(maxsize=64)
def _sampler(scale: Fraction) -> DiscreteLaplace:
    return DiscreteLaplace(scale)


def discrete_laplace(scale: Fraction, source: Source, size: int) -> NDArray[np.int64]:
    """``size`` exact draws, int64.

    >>> from fractions import Fraction
    >>> discrete_laplace(Fraction(10), Source.from_seed(7), 4).shape
    (4,)
    """
    if not SMALLEST_SCALE <= scale <= LARGEST_SCALE:
        raise ParameterError(
            "the scale of the noise is out of range",
            value=f"{Decimal(scale.numerator) / scale.denominator:.4g}",  # no double holds some of them
            allowed="{smallest_scale:.0e} to {largest_scale:.0e}",
            hint="Epsilon is too small or too large for this sensitivity.",
            smallest_scale=float(SMALLEST_SCALE),
            largest_scale=float(LARGEST_SCALE),
        )
    return _sampler(scale).draw(source, size)
