"""The parametric model: monomials of the numbers up to a degree, and the 0/1 columns of categories."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from sudare.arrays import Floats
from sudare.errors import InputError
from sudare.privacy import whole
from sudare.reweight.basis import GRID, Adjacency, Basis, Reach, root_above
from sudare.reweight.hats import VARIANCE
from sudare.reweight.space import STEPS, Codes, Numeric, Space


@dataclass(frozen=True)
class Polynomial(Basis):
    """Monomials of numbers from -1 to 1 over their declared range; with ``constant`` also the function 1.

    A linear model of the ratio needs the constant, which no record moves. With ``unit_length`` (and the constant) all
    is scaled so that no row is longer than 1.

    Sensitivity: every column is clipped to its range, low to high, from -1 or, for categories and even powers, from 0.
    Replacing a record moves column l by at most high_l - low_l, adding one by max(|low_l|, |high_l|); in L1 these add,
    in L2 their squares do. Rounding to steps adds 1/2 a column and record.

    >>> Polynomial(Space.declare([(0, 1), (0, 1)])).size
    5
    """

    space: Space
    degree: int = 2
    constant: bool = False
    unit_length: bool = False

    def __post_init__(self) -> None:
        whole(self.degree, "degree")

    @classmethod
    def from_json(cls, space: Space, made_of: Mapping[str, Any]) -> Polynomial:
        """The basis that `to_json` states under ``made_of``."""
        family, degree = made_of["family"], int(made_of["degree"])
        if family == "unit_length":
            return cls(space, degree, constant=True, unit_length=True)
        if family != "polynomial":
            raise InputError("the saved weighting lacks a part or has a wrong one")
        return cls(space, degree, bool(made_of["constant"]))

    def to_json(self) -> dict[str, Any]:
        family: dict[str, Any] = {"family": "unit_length" if self.unit_length else "polynomial", "degree": self.degree}
        made_of = family if self.unit_length else {**family, "constant": self.constant}
        name = f"polynomial of degree {self.degree}" + (", of unit length" if self.unit_length else "")
        return {"basis": name, "made_of": made_of}

    @cached_property
    def _numbers(self) -> list[int]:
        """The places of the numbers among the attributes."""
        return [place for place, attribute in enumerate(self.space.attributes) if isinstance(attribute, Numeric)]

    @cached_property
    def _terms(self) -> list[tuple[int, ...]]:
        """The places of the numbers in each monomial."""
        orders = range(1, self.degree + 1)
        return [term for order in orders for term in combinations_with_replacement(self._numbers, order)]

    @cached_property
    def _columns(self) -> int:
        """How many 0/1 columns the categories have."""
        return self.space.coordinates - len(self._numbers)

    @cached_property
    def size(self) -> int:
        return len(self._terms) + self._columns + self.constant

    @cached_property
    def _length(self) -> float:
        """Every monomial may be 1 at once; of an attribute's categories, one is. Rounding may lengthen a row too."""
        if not self.unit_length:
            return 1.0
        ones = len(self._terms) + len(self.space.attributes) - len(self._numbers) + 1
        return math.sqrt(ones) * (1 + self.size / GRID)

    @cached_property
    def _bounds(self) -> tuple[Floats, Floats]:
        """The range of every column: low (size,) and high (size,)."""
        even = [all(term.count(place) % 2 == 0 for place in term) for term in self._terms]
        low = [0.0 if flat else -1.0 for flat in even] + [0.0] * self._columns + [1.0] * self.constant
        return np.array(low) / self._length, np.ones(self.size) / self._length

    @property
    def nonnegative(self) -> bool:
        return bool((self._bounds[0] >= 0).all())

    def steps(self, codes: Codes) -> Floats:
        """Clipped values in steps; element by element, so that a row has the same values in every chunk."""
        columns = [np.multiply.reduce([codes[:, place] * 2 / STEPS - 1 for place in term]) for term in self._terms]
        for place, attribute in enumerate(self.space.attributes):
            if not isinstance(attribute, Numeric):
                columns += list(attribute.functions(codes[:, place]).T)
        columns += [np.ones(len(codes))] * self.constant
        return np.rint(np.clip(np.stack(columns, axis=1) / self._length, *self._bounds) * GRID)

    def reach(self, adjacency: Adjacency, averaged: bool) -> Reach:
        low, high = self._bounds
        widths = high - low if adjacency == "replace" else np.maximum(np.abs(low), np.abs(high))
        records = 2 if adjacency == "replace" else 1
        exact_widths = [Fraction(width) * (1 + Fraction(1, 1 << 50)) for width in widths.tolist()]
        rounding = records * self.size * Fraction(1 + averaged, 2)
        square = sum((width**2 for width in exact_widths), Fraction(0))
        return Reach(GRID * sum(exact_widths, Fraction(0)) + rounding, GRID * root_above(square) + rounding)

    def prior(self, covariance: Floats) -> Floats:
        """Each function alone moves the public rows' log ratio by about sqrt(`VARIANCE`)."""
        return np.diag(VARIANCE / np.maximum(np.diag(covariance), 1e-9))
