"""Laws of noise that is added to whole numbers: discrete Laplace and discrete Gaussian, as values.

A law is recorded with what it was added to, so that an audit can ask it what a change of the exact values costs, and
how much likelier the noisy values are for one data set than for another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sudare.noise.gaussian import discrete_gaussian
from sudare.noise.laplace import discrete_laplace
from sudare.noise.source import Source
from sudare.privacy import Budget

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class AddedLaplace:
    """Discrete Laplace noise: P(z) in proportion to exp(-|z|/scale)."""

    scale: Fraction

    def draw(self, source: Source, size: int) -> Ints:
        """``size`` independent values."""
        return discrete_laplace(self.scale, source, size)

    def cost(self, change: Sequence[int]) -> Fraction:
        """The epsilon between exact values that differ by ``change``: its L1 norm in scales.

        >>> AddedLaplace(Fraction(4)).cost([1, -2])
        Fraction(3, 4)
        """
        return sum(map(abs, change)) / self.scale

    def log_ratio(self, noisy: Ints, here: Ints, there: Ints) -> float:
        """ln P(noisy | here)/P(noisy | there), in whole numbers until the last division."""
        return float(Fraction(int((np.abs(noisy - there) - np.abs(noisy - here)).sum())) / self.scale)


@dataclass(frozen=True)
class AddedGaussian:
    """Discrete Gaussian noise: P(z) in proportion to exp(-z**2/(2 variance))."""

    variance: Fraction

    def draw(self, source: Source, size: int) -> Ints:
        """``size`` independent values."""
        return discrete_gaussian(self.variance, source, size)

    def cost(self, change: Sequence[int]) -> Fraction:
        """The rho between exact values that differ by ``change``: its squared L2 norm in twice the variance.

        >>> AddedGaussian(Fraction(2)).cost([3, 4])
        Fraction(25, 4)
        """
        return sum(step * step for step in change) / (2 * self.variance)

    def log_ratio(self, noisy: Ints, here: Ints, there: Ints) -> float:
        """ln P(noisy | here)/P(noisy | there), in whole numbers until the last division."""
        near, far = noisy - here, noisy - there
        return float(Fraction(int((far * far - near * near).sum())) / (2 * self.variance))


Added = AddedLaplace | AddedGaussian


def added(sensitivity: Fraction, budget: Budget) -> Added:
    """The noise that makes values of this sensitivity (L1 for epsilon, L2 for rho) cost ``budget``."""
    if budget.epsilon is not None:
        return AddedLaplace(sensitivity / budget.epsilon)
    return AddedGaussian(sensitivity**2 / (2 * budget.amount))
