"""What a basis is: the functions of a record whose private mean is measured, and how far one record can move them.

Features are counted in whole steps of 1/`GRID`, so that sums over records are exact whole numbers, whatever the order
of the rows, and `sudare.noise.measure` applies to them. The rounding is part of the stated sensitivity.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sudare.arrays import Floats
from sudare.reweight.space import Codes

GRID = 1 << 24
"""Steps in one unit of a feature."""
_ROWS_AT_ONCE = 2048
"""Few enough rows that a block of features stays in the cache."""

Adjacency: TypeAlias = Literal["replace", "add_remove"]


@dataclass(frozen=True)
class Reach:
    """How far one record can move the sum of the features, in steps: bounds in L1 and L2, proved by the basis."""

    l1: Fraction
    l2: Fraction

    def times(self, factor: int) -> Reach:
        """For a unit of ``factor`` records."""
        return Reach(self.l1 * factor, self.l2 * factor)


class Basis(ABC):
    """Functions of a record, whose mean over the private records is measured."""

    @property
    @abstractmethod
    def size(self) -> int:
        """How many features."""

    @property
    def nonnegative(self) -> bool:
        """Whether no feature is ever below zero: then uLSIF cuts its coefficients at zero, else the ratio."""
        return True

    @abstractmethod
    def steps(self, codes: Codes) -> Floats:
        """Whole numbers (rows, size): each feature in steps of 1/`GRID`, the same for a record in every call."""

    @property
    def mixing(self) -> Floats | None:
        """M (size, size) where M times the mean of the features is measured; None for the mean itself."""
        return None

    def total(self, codes: Codes) -> NDArray[np.int64]:
        """The sum of `steps` over the rows; exact in any order, since partial sums are whole numbers below 2**53."""
        total = np.zeros(self.size, dtype=np.int64)
        for first in range(0, len(codes), _ROWS_AT_ONCE):
            part = codes[first : first + _ROWS_AT_ONCE]
            total += (np.ones(len(part)) @ self.steps(part)).astype(np.int64)
        return total

    def measured(self, total: NDArray[np.int64]) -> NDArray[np.int64]:
        """What is measured of a total, in steps: most bases measure the total itself."""
        return total

    def people(self, noisy: NDArray[np.int64]) -> float | None:  # noqa: ARG002 - most bases do not show it
        """The number of records that a measured total shows, where it does; None where it must be measured."""
        return None

    def consistent(self, mean: Floats) -> Floats:
        """A noisy mean with what is known of every mean put right."""
        return mean

    @abstractmethod
    def reach(self, adjacency: Adjacency, averaged: bool) -> Reach:
        """How far a record can move `measured`; where ``averaged``, a person's rows are averaged and rounded first."""

    @abstractmethod
    def prior(self, covariance: Floats) -> Floats:
        """The prior covariance (size, size) of the coefficients of a log ratio, given the public covariance."""

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """Plain facts that say which basis it is."""


class Bounded(Basis):
    """Functions that are clipped to public ranges.

    Sensitivity: every column l is clipped to low_l .. high_l. Replacing a record moves it by at most high_l - low_l,
    adding one by max(|low_l|, |high_l|); in L1 these add, in L2 their squares do. Rounding to steps adds 1/2 a column
    and record.
    """

    @property
    @abstractmethod
    def ranges(self) -> tuple[Floats, Floats]:
        """The range of every column: low (size,) and high (size,)."""

    @property
    def nonnegative(self) -> bool:
        return bool((self.ranges[0] >= 0).all())

    def clipped(self, values: Floats) -> Floats:
        """Values (rows, size) in steps; what is no number must not survive clipping, and becomes the lower bound."""
        low, high = self.ranges
        inside: Floats = np.clip(np.where(np.isnan(values), low, values), low, high)
        return np.rint(inside * GRID)

    def reach(self, adjacency: Adjacency, averaged: bool) -> Reach:
        low, high = self.ranges
        widths = high - low if adjacency == "replace" else np.maximum(np.abs(low), np.abs(high))
        records = 2 if adjacency == "replace" else 1
        exact_widths = [Fraction(width) * (1 + Fraction(1, 1 << 50)) for width in widths.tolist()]
        rounding = records * self.size * Fraction(1 + averaged, 2)
        square = sum((width**2 for width in exact_widths), Fraction(0))
        return Reach(GRID * sum(exact_widths, Fraction(0)) + rounding, GRID * root_above(square) + rounding)


def root_above(square: Fraction) -> Fraction:
    """A rational not below the square root, within 2**-40 of its size.

    >>> float(root_above(Fraction(2)))
    1.414213562373...
    """
    scale = 1 << 96
    return Fraction(isqrt(square.numerator * scale * scale // square.denominator) + 1, scale)


def above(number: float) -> Fraction:
    """A rational above a positive float that was computed with relative error below 2**-30."""
    return Fraction(number) * (1 + Fraction(1, 1 << 30))
