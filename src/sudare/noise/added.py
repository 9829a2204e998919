"""Laws of noise that is added to whole numbers: discrete Laplace and discrete Gaussian, as values.

A law is recorded with what it was added to, so that an audit can ask it what a change of the exact values costs, and
how much likelier the noisy values are for one data set than for another.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sudare.arrays import Integers
from sudare.noise.gaussian import discrete_gaussian
from sudare.noise.laplace import discrete_laplace
from sudare.noise.source import Source
from sudare.privacy import Budget

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
        """``size`` independent values."""
        return discrete_laplace(self.scale, source, size)

    def cost(self, change: Sequence[int]) -> Fraction:
        """The epsilon between exact values that differ by ``change``: its L1 norm in scales.

        >>> AddedLaplace(Fraction(4)).cost([1, -2])
        Fraction(3, 4)
        """
        return sum(map(abs, change)) / self.scale

    def log_ratio(self, noisy: Integers, here: Integers, there: Integers) -> float:
        """ln P(noisy | here)/P(noisy | there), in whole numbers until the last division."""
        return float(Fraction(int((np.abs(noisy - there) - np.abs(noisy - here)).sum())) / self.scale)


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
        """``size`` independent values."""
        return discrete_gaussian(self.variance, source, size)

    def cost(self, change: Sequence[int]) -> Fraction:
        """The rho between exact values that differ by ``change``: its squared L2 norm in twice the variance.

        >>> AddedGaussian(Fraction(2)).cost([3, 4])
        Fraction(25, 4)
        """
        return sum(step * step for step in change) / (2 * self.variance)

    def log_ratio(self, noisy: Integers, here: Integers, there: Integers) -> float:
        """ln P(noisy | here)/P(noisy | there), in whole numbers until the last division."""
        near, far = noisy - here, noisy - there
        return float(Fraction(int((far * far - near * near).sum())) / (2 * self.variance))


Added = AddedLaplace | AddedGaussian


def added(sensitivity: Fraction, budget: Budget) -> Added:
    """The noise that makes values of this sensitivity (L1 for epsilon, L2 for rho) cost ``budget``."""
    if budget.epsilon is not None:
        return AddedLaplace(sensitivity / budget.epsilon)
    return AddedGaussian(sensitivity**2 / (2 * budget.amount))
