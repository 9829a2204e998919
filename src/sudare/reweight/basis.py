"""What a basis is: the functions of a record whose private mean is measured, and how far one record can move them.

Features are counted in whole steps of 1/`GRID`, so that sums over records are exact whole numbers, whatever the order
of the rows, and `sudare.noise.measure` applies to them. The rounding is part of the stated sensitivity.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Any, ClassVar, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sudare.arrays import Floats
from sudare.reweight.space import Codes

GRID = 1 << 24
"""Steps in one unit of a feature."""

Adjacency: TypeAlias = Literal["replace", "add_remove"]


@dataclass(frozen=True)
class Reach:
    """How far one record can move the sum of the features, in steps: bounds in L1 and L2, proved by the basis."""

    l1: Fraction
    l2: Fraction

    def times(self, factor: int) -> Reach:
        """For a unit of ``factor`` records."""
        return Reach(self.l1 * factor, self.l2 * factor)


class Basis(Protocol):
    """Functions of a record. ``steps`` must give the same record the same whole numbers in every call."""

    @property
    def size(self) -> int:
        """How many features."""

    @property
    def nonnegative(self) -> bool:
        """Whether no feature is ever below zero: then uLSIF cuts its coefficients at zero, else the ratio."""

    def steps(self, codes: Codes) -> Floats:
        """Whole numbers (rows, size): each feature in steps of 1/`GRID`, rounded."""

    def total(self, codes: Codes) -> NDArray[np.int64]:
        """The sum of `steps` over the rows, exact."""

    def measured(self, total: NDArray[np.int64]) -> NDArray[np.int64]:
        """What is measured of a total, in steps: most bases measure the total itself."""

    def people(self, noisy: NDArray[np.int64]) -> float | None:
        """The number of records that a measured total shows, where it does; None where it must be measured."""

    def consistent(self, mean: Floats) -> Floats:
        """A noisy mean with what is known of every mean put right."""

    @property
    def mixing(self) -> Floats | None:
        """M (size, size) where what is measured is M times the mean of the steps; None for the mean itself."""

    def reach(self, adjacency: Adjacency, averaged: bool) -> Reach:
        """How far a record can move `measured`; where ``averaged``, a person's rows are averaged and rounded first."""

    def prior(self, covariance: Floats) -> Floats:
        """The prior covariance (size, size) of the coefficients of a log ratio, given the public covariance."""

    def to_json(self) -> dict[str, Any]:
        """Plain facts that say which basis it is."""


class Summed(ABC):
    """What most bases share: features >= 0 whose total is measured as it is, and shows nothing else."""

    rows_at_once: ClassVar[int] = 2048
    """Few enough rows that a block of features stays in the cache."""

    @property
    def nonnegative(self) -> bool:
        return True

    @abstractmethod
    def steps(self, codes: Codes) -> Floats:
        """Whole numbers (rows, size)."""

    def total(self, codes: Codes) -> NDArray[np.int64]:
        """Exact sums in any order: whole numbers below 2**26 in size, and at most 2**16 of them at once."""
        parts = [
            np.ones(len(part)) @ self.steps(part)
            for first in range(0, len(codes), self.rows_at_once)
            if len(part := codes[first : first + self.rows_at_once])
        ]
        if not parts:
            return np.zeros(self.steps(codes).shape[1], dtype=np.int64)
        return np.asarray(np.array(parts).astype(np.int64).sum(axis=0), dtype=np.int64)

    def measured(self, total: NDArray[np.int64]) -> NDArray[np.int64]:
        return total

    def people(self, noisy: NDArray[np.int64]) -> float | None:  # noqa: ARG002 - as the protocol has it
        return None

    def consistent(self, mean: Floats) -> Floats:
        return mean

    @property
    def mixing(self) -> Floats | None:
        return None


def features(basis: Basis, codes: Codes) -> Floats:
    """The functions (rows, size) whose mean is measured."""
    values = basis.steps(codes) / GRID
    return values if basis.mixing is None else values @ basis.mixing.T


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
