"""Discrete Laplace and discrete Gaussian noise: exact samplers, and the laws as values.

**Laplace**: P(Z = z) = (1 - a)/(1 + a) a**|z|, a = exp(-1/scale). With Z = B H + L, B = 2**k, 0 <= L < B, the half
H >= 0 has probability 1/(1 + a) and is geometric there with ratio a**B; the half H < 0 has a/(1 + a) and mirrors it:
-Z - 1 = B (-H - 1) + L' with L' truncated geometric. So one table over both halves gives H, and the digits of the
geometric law give L or L'.

**Gaussian**: P(Z = z) proportional to exp(-z**2 / (2 variance)), by rejection from the discrete Laplace (Canonne,
Kamath and Steinke 2020): with t = floor(sigma) + 1 draw Y of scale t and keep it with probability exp(-gamma),
gamma = (|Y| - variance/t)**2 / (2 variance). A draw is settled in floating point where 64 random bits are clear of the
rounding error, else in exact arithmetic.

`AddedLaplace` and `AddedGaussian` are recorded with what they were added to, so that an audit can ask what a change of
the exact values costs, and how much likelier the noisy values are for one data set than for another.

**Gradual release**: a fine noisy value that refines a coarse one, at the cost of the fine one alone. A value x was
measured with discrete Laplace noise of scale b1, z1 = x + n1. Later it is to be known with the smaller
scale b2. Measuring it anew would cost 1/b1 and then 1/b2. Instead the two noises are drawn as a pair: n2 has the law
f2 of scale b2, and n1 is n2 plus further independent noise. Then z1 reveals nothing that z2 does not, and both
together cost 1/b2 for a change of x by 1.

With A = exp(-1/b), discrete Laplace noise has the characteristic function (1 - A)**2 / (1 - 2 A cos t + A**2). The
quotient of those of f1 and f2 is linear in that of f1: f1/f2 = p + (1 - p) f1 with

    p = A2 (1 - A1)**2 / (A1 (1 - A2)**2) = (sinh(1/(2 b1)) / sinh(1/(2 b2)))**2,    0 < p < 1 for b2 < b1.

So n1 = n2 + (0 with chance p, else a draw of f1) has exactly the law f1. Nobody needs n2 unless the value is refined,
so n1 is drawn first and n2 later, given n1, by Bayes' rule (`Refinement.draw`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.arrays import Integers
from sudare.errors import ParameterError
from sudare.noise.bernoulli import Bernoulli, Rate, Real, first_words, scaled_floor
from sudare.noise.geometric import Digits, Geometric, Inversion, Split
from sudare.noise.source import Source
from sudare.privacy import Budget

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
        length = self._length
        steps = self._head.draw(source, size)
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


_UNCLEAR = 2.0**-40  # thousands of times the rounding error of gamma and exp(-gamma) in doubles


def _keep_exactly(words: tuple[int, int], gamma: Fraction, source: Source) -> bool:
    """Whether U < exp(-gamma), where ``words`` are the first 64 bits of U and more are drawn as needed."""
    if gamma == 0:
        return True
    bits, precision = words[0] << 32 | words[1], 64
    while True:
        threshold = scaled_floor(lambda real: real.exp(-real.mpf(gamma.numerator) / gamma.denominator), precision)
        if bits != threshold:
            return bits < threshold
        bits, precision = bits << 64 | source.integer(64), precision + 64


def keep_with(size: NDArray[np.int64], centre: Fraction, variance: Fraction, source: Source) -> NDArray[np.bool_]:
    """Which proposals of these sizes >= 0 survive: each with its chance exp(-(size - centre)**2/(2 variance))."""
    distance = size.astype(np.float64) - float(centre)
    chance = np.exp(-(distance**2) / (2 * float(variance)))
    words = source.words(2 * len(size)).reshape(-1, 2)
    uniform = np.ldexp(words[:, 0].astype(np.float64), -32) + np.ldexp(words[:, 1].astype(np.float64), -64)
    keep = uniform < chance
    for i in np.flatnonzero(np.abs(uniform - chance) < _UNCLEAR):
        gamma = (int(size[i]) - centre) ** 2 / (2 * variance)
        keep[i] = _keep_exactly((int(words[i, 0]), int(words[i, 1])), gamma, source)
    return keep


def discrete_gaussian(variance: Fraction, source: Source, size: int) -> NDArray[np.int64]:
    """``size`` exact draws, int64; ``variance`` is sigma squared (of the continuous law of the same shape).

    >>> discrete_gaussian(Fraction(100), Source.from_seed(7), 4).shape
    (4,)
    """
    if not SMALLEST_SCALE**2 <= variance <= LARGEST_SCALE**2:
        raise ParameterError(
            "the scale of the noise is out of range",
            value=f"{(Decimal(variance.numerator) / variance.denominator).sqrt():.4g}",  # no double holds some of them
            allowed="sigma from {smallest_scale:.0e} to {largest_scale:.0e}",
            smallest_scale=float(SMALLEST_SCALE),
            largest_scale=float(LARGEST_SCALE),
        )
    step = isqrt(variance.numerator // variance.denominator) + 1
    kept = [np.empty(0, dtype=np.int64)]
    missing = size
    while missing:
        proposal = discrete_laplace(Fraction(step), source, missing + missing // 2 + 16)
        survivors = proposal[keep_with(np.abs(proposal), variance / step, variance, source)][:missing]
        kept.append(survivors)
        missing -= len(survivors)
    return np.concatenate(kept)


_WIDE = 4
"""A variance from which on the discrete and the continuous Gaussian have the same one, to the last bit of a double."""


@dataclass(frozen=True)
class AddedLaplace:
    """Discrete Laplace noise: P(z) in proportion to exp(-|z|/scale)."""

    scale: Fraction

    @property
    def spread(self) -> float:
        """The variance: 2a/(1-a)**2, a = exp(-1/scale)."""
        step = float(1 / self.scale)
        return 2 * math.exp(-step) / math.expm1(-step) ** 2

    def chance_above(self, level: int) -> float:
        """P(Z > level), level >= 0, about: a**(level + 1)/(1 + a)."""
        step = float(1 / self.scale)
        return math.exp(-(level + 1) * step) / (1 + math.exp(-step))

    def rise(self, level: float) -> float:
        """E max(Z - level, 0), level >= 0 and whole: a**(level + 1)/((1 + a)(1 - a))."""
        ratio = math.exp(-1 / float(self.scale))
        return ratio ** (level + 1) / ((1 + ratio) * (1 - ratio)) if ratio < 1 else math.inf

    def draw(self, source: Source, size: int) -> Integers:
        return discrete_laplace(self.scale, source, size)

    def cost(self, change: Sequence[int]) -> Fraction:
        """The epsilon between exact values that differ by ``change``: its L1 norm in scales.

        >>> AddedLaplace(Fraction(4)).cost([1, -2])
        Fraction(3, 4)
        """
        return sum(map(abs, change)) / self.scale

    def log_ratio(self, noisy: Integers, here: Integers, there: Integers) -> Fraction:
        """ln P(noisy | here)/P(noisy | there), exactly."""
        return int((np.abs(noisy - there) - np.abs(noisy - here)).sum()) / self.scale


@dataclass(frozen=True)
class AddedGaussian:
    """Discrete Gaussian noise: P(z) in proportion to exp(-z**2/(2 variance))."""

    variance: Fraction

    @property
    def scale(self) -> Fraction:
        """The standard deviation of the continuous law of this shape, as a rational number near it."""
        return Fraction(math.sqrt(self.variance))

    @property
    def spread(self) -> float:
        """The variance of the discrete law: below that of the continuous one of this shape where it is narrow."""
        if self.variance > _WIDE:
            return float(self.variance)
        size = np.arange(1, 64)
        chance = np.exp(-(size**2) / (2 * float(self.variance)))
        return float(2 * (size**2 @ chance) / (1 + 2 * chance.sum()))

    def chance_above(self, level: int) -> float:
        """P(Z > level), level >= 0, about: that of the continuous law half a step higher."""
        return math.erfc((level + 0.5) / math.sqrt(2 * self.variance)) / 2

    def rise(self, level: float) -> float:
        """E max(Z - level, 0) of the continuous law.

        >>> round(AddedGaussian(Fraction(1)).rise(0), 4)
        0.3989
        """
        height = level / math.sqrt(self.variance)
        density = math.exp(-(height**2) / 2) / math.sqrt(2 * math.pi)
        return math.sqrt(self.variance) * max(0.0, density - height * math.erfc(height / math.sqrt(2)) / 2)

    def draw(self, source: Source, size: int) -> Integers:
        return discrete_gaussian(self.variance, source, size)

    def cost(self, change: Sequence[int]) -> Fraction:
        """The rho between exact values that differ by ``change``: its squared L2 norm in twice the variance.

        >>> AddedGaussian(Fraction(2)).cost([3, 4])
        Fraction(25, 4)
        """
        return sum(step * step for step in change) / (2 * self.variance)

    def log_ratio(self, noisy: Integers, here: Integers, there: Integers) -> Fraction:
        """ln P(noisy | here)/P(noisy | there), exactly."""
        near, far = noisy - here, noisy - there
        return int((far * far - near * near).sum()) / (2 * self.variance)


Added = AddedLaplace | AddedGaussian


def added(sensitivity: Fraction, budget: Budget) -> Added:
    """The noise that makes values of this sensitivity (L1 for epsilon, L2 for rho) cost ``budget``."""
    if budget.epsilon is not None:
        return AddedLaplace(sensitivity / budget.epsilon)
    return AddedGaussian(sensitivity**2 / (2 * budget.amount))


@dataclass(frozen=True)
class Refined:
    """The law of fine noise given coarse noise: scales ``fine`` < ``coarse``, as a value that a tape keeps."""

    coarse: Fraction
    fine: Fraction

    def __post_init__(self) -> None:
        if not 0 < self.fine < self.coarse:
            raise ParameterError("a refinement has no smaller scale than what it refines", value=str(self.fine))

    @property
    def spread(self) -> float:
        """The variance of the fine noise."""
        return AddedLaplace(self.fine).spread

    def draw(self, noise: Integers, source: Source) -> Integers:
        """Fine noise for each value of coarse ``noise`` (any shape)."""
        return _refiner(self.coarse, self.fine).draw(noise.ravel(), source).reshape(noise.shape)

    def cost(self, change: Sequence[int]) -> Fraction:
        """What a refinement adds to the cost of its coarse value, for exact values that differ by ``change``.

        Only the sum of both means something: the fine value alone, given the coarse one, can tell more than this.

        >>> Refined(Fraction(10), Fraction(2)).cost([1, -2]) + AddedLaplace(Fraction(10)).cost([1, -2])
        Fraction(3, 2)
        """
        return sum(map(abs, change)) * (1 / self.fine - 1 / self.coarse)

    def log_ratio(self, noisy: Integers, coarse: Integers, here: Integers, there: Integers) -> Fraction:
        """ln P(noisy | coarse, here)/P(noisy | coarse, there), exactly."""
        gain = int((np.abs(noisy - there) - np.abs(noisy - here)).sum()) / self.fine
        known = int((np.abs(coarse - there) - np.abs(coarse - here)).sum()) / self.coarse
        return gain - known


class Refinement:
    """A sampler of n2 given n1 for one pair of scales. No coin in it depends on n1.

    Bayes: P(n2 | n1) = f2(n2) g(n1 - n2)/f1(n1), where g is 0 with chance p and f1 else. Let n1 be m >= 0 (below 0 it
    is the mirror image), a = 1/b1 and r = 1/b2 - 1/b1. The law has three geometric pieces and an atom:

    - n2 < 0 with chance expm1(r)/expm1(2 (a + r)), and there -1 - n2 is geometric with ratio exp(-(2 a + r));
    - else G is geometric with ratio exp(-r), and n2 = G where G <= m;
    - else with chance exp(-2 a) expm1(-r)/expm1(-(2 a + r)) n2 exceeds m, and n2 - m - 1 is again geometric with ratio
      exp(-(2 a + r)); otherwise n2 = m.

    The forms with expm1 keep their digits where scales are large.
    """

    def __init__(self, coarse: Fraction, fine: Fraction) -> None:
        first, more = 1 / coarse, 1 / fine - 1 / coarse

        def of(real: Any, number: Fraction) -> Real:
            return real.mpf(number.numerator) / number.denominator

        self._other_side = Bernoulli(lambda real: real.expm1(of(real, more)) / real.expm1(of(real, 2 * (first + more))))
        self._beyond = Bernoulli(
            lambda real: (
                real.exp(-of(real, 2 * first)) * real.expm1(-of(real, more)) / real.expm1(-of(real, 2 * first + more))
            )
        )
        self._within = Geometric(Rate.rational(more))
        self._tail = Geometric(Rate.rational(2 * first + more))

    def draw(self, noise: Integers, source: Source) -> Integers:
        """Fine noise for coarse ``noise`` (k,)."""
        size = np.abs(noise)
        fine = self._within.draw(source.child("within"), len(noise))
        other_side = self._other_side.draw(source.child("side"), len(noise))
        over = np.flatnonzero(~other_side & (fine > size))
        fine[over] = size[over]
        beyond = over[self._beyond.draw(source.child("beyond"), len(over))]
        fine[beyond] += 1 + self._tail.draw(source.child("above"), len(beyond))
        below = np.flatnonzero(other_side)
        fine[below] = -1 - self._tail.draw(source.child("below"), len(below))
        sign = noise >> 63  # -1 where fine noise is the mirror image, else 0
        fine ^= sign
        fine -= sign
        return fine


@lru_cache(maxsize=64)
def _refiner(coarse: Fraction, fine: Fraction) -> Refinement:
    return Refinement(coarse, fine)
