"""Parametric models: any functions of a record with declared bounds, such as polynomials or random Fourier features.

What is public about the private mean of a function f is only its declared range [low, high]: values are clipped to it,
so the stated sensitivity holds whatever f computes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sudare.arrays import Floats
from sudare.errors import InputError, ParameterError
from sudare.privacy import whole
from sudare.reweight.basis import GRID, Adjacency, Reach, Summed, root_above
from sudare.reweight.hats import VARIANCE
from sudare.reweight.space import STEPS, Codes, Numeric, Space

_LARGEST = 2.0
_ROUNDING = Fraction(1, 2)


@dataclass(frozen=True)
class Parametric(Summed):
    """``function`` of a record's codes -> (rows, size), each column clipped to ``low`` .. ``high`` (size,), within +-2.

    Sensitivity: clipping makes it so. Replacing a record moves column l by at most high_l - low_l, adding one by
    max(|low_l|, |high_l|); in L1 these add, in L2 their squares do. Rounding to steps adds 1/2 a column and record.
    The function must give a row the same value in every call, whatever rows stand around it: no matrix products.

    >>> square = Parametric(lambda codes: (codes / STEPS) ** 2, [0.0], [1.0], "square")
    >>> (square.steps(np.array([[STEPS / 2]])) / GRID).tolist()
    [[0.25]]
    """

    function: Callable[[Codes], Floats]
    low: ArrayLike
    high: ArrayLike
    name: str = "parametric"
    scale: float | None = None
    recipe: Mapping[str, Any] | None = None
    """What `parametric_from_json` makes it of again, where there is such."""

    def __post_init__(self) -> None:
        low, high = (np.asarray(bound, dtype=np.float64) for bound in (self.low, self.high))
        if low.shape != high.shape or low.ndim != 1 or not len(low):
            raise ParameterError("low and high do not have one bound for each function", value=(low.shape, high.shape))
        if not (np.isfinite(low).all() and np.isfinite(high).all() and (low <= high).all() and (low < high).any()):
            raise ParameterError("the bounds of a function are not in order", allowed="finite, low < high")
        if max(np.abs(low).max(), np.abs(high).max()) > _LARGEST:
            raise ParameterError("the bounds of a function are too wide", allowed="within -2 .. 2", hint="Scale it.")
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    @property
    def size(self) -> int:
        return len(self._bounds[0])

    @property
    def nonnegative(self) -> bool:
        return bool((self._bounds[0] >= 0).all())

    @cached_property
    def _bounds(self) -> tuple[Floats, Floats]:
        return np.asarray(self.low), np.asarray(self.high)

    def steps(self, codes: Codes) -> Floats:
        """Clipped values in steps."""
        values = np.asarray(self.function(codes), dtype=np.float64)
        if values.shape != (len(codes), self.size):
            raise ParameterError(
                "a basis function returns an array of another shape", value=values.shape, allowed="(rows, size)"
            )
        # A value that is no number must not survive clipping: it becomes the lower bound.
        low, high = self._bounds
        clipped: Floats = np.clip(np.where(np.isnan(values), low, values), low, high)
        return np.rint(clipped * GRID)

    def reach(self, adjacency: Adjacency, averaged: bool) -> Reach:
        low, high = self._bounds
        widths = high - low if adjacency == "replace" else np.maximum(np.abs(low), np.abs(high))
        records = 2 if adjacency == "replace" else 1
        exact_widths = [Fraction(width) * (1 + Fraction(1, 1 << 50)) for width in widths.tolist()]
        rounding = records * self.size * (_ROUNDING + Fraction(int(averaged), 2))
        square = sum((width**2 for width in exact_widths), Fraction(0))
        return Reach(GRID * sum(exact_widths, Fraction(0)) + rounding, GRID * root_above(square) + rounding)

    def prior(self, covariance: Floats) -> Floats:
        """Each function alone moves the public rows' log ratio by about sqrt(`VARIANCE`), or as ``scale`` says."""
        if self.scale is not None:
            return self.scale * np.eye(self.size)
        return np.diag(VARIANCE / np.maximum(np.diag(covariance), 1e-9))

    def to_json(self) -> dict[str, Any]:
        """The name and the bounds, and what it can be made of again."""
        low, high = self._bounds
        return {"basis": self.name, "low": low.tolist(), "high": high.tolist(), "made_of": self.recipe}


def standardised(space: Space, codes: Codes) -> Floats:
    """Numbers from -1 to 1 over their declared range; a category as its 0/1 columns."""
    columns = []
    for place, attribute in enumerate(space.attributes):
        own = codes[:, place]
        columns.append((own * 2 / STEPS - 1)[:, None] if isinstance(attribute, Numeric) else attribute.functions(own))
    return np.concatenate(columns, axis=1)


def polynomial(space: Space, degree: int = 2, *, constant: bool = False) -> Parametric:
    """Monomials of the numbers up to ``degree`` (each from -1 to 1 over its range) and the 0/1 columns of categories.

    With ``constant`` also the function 1, which a linear model of the ratio needs; replacing a record never moves it.

    >>> polynomial(Space.declare([(0, 1), (0, 1)])).size
    5
    """
    degree = whole(degree, "degree")
    numbers = [place for place, attribute in enumerate(space.attributes) if isinstance(attribute, Numeric)]
    powers = [
        term for order in range(1, degree + 1) for term in combinations_with_replacement(range(len(numbers)), order)
    ]
    even = [all(term.count(place) % 2 == 0 for place in set(term)) for term in powers]
    categories = sum(attribute.size for attribute in space.attributes if not isinstance(attribute, Numeric))
    is_number = np.concatenate(
        [[True] if isinstance(attribute, Numeric) else [False] * attribute.size for attribute in space.attributes]
    )

    def function(codes: Codes) -> Floats:
        columns = standardised(space, codes)
        values, rest = columns[:, is_number], columns[:, ~is_number]
        products = [np.multiply.reduce([values[:, place] for place in term]) for term in powers]
        parts = [*([np.stack(products, axis=1)] if powers else []), rest]
        return np.concatenate([*parts, *([np.ones((len(codes), 1))] if constant else [])], axis=1)

    low = [0.0 if flat else -1.0 for flat in even] + [0.0] * categories + [1.0] * constant
    recipe = {"family": "polynomial", "degree": degree, "constant": constant}
    return Parametric(function, low, [1.0] * len(low), f"polynomial of degree {degree}", recipe=recipe)


def fourier(space: Space, size: int = 50, width: float = 0.2, seed: int = 0) -> Parametric:
    """Random Fourier features cos(v'x + u) of a Gaussian kernel of ``width`` (Rahimi and Recht 2007), for many columns.

    ``width`` is in declared ranges; frequencies come from a public seed. A cosine moves by at most 2.
    """
    generator = np.random.default_rng(seed)
    frequencies = generator.normal(scale=1 / width, size=(space.coordinates, size))
    phases = generator.uniform(0, 2 * math.pi, size)

    def function(codes: Codes) -> Floats:
        points = space.embed(codes) / STEPS
        angles = np.tile(phases, (len(codes), 1))
        # Coordinate by coordinate: the sum of a matrix product may depend on where in the chunk a row stands.
        for place in range(space.coordinates):
            angles += points[:, place, None] * frequencies[place]
        return np.cos(angles)

    recipe = {"family": "fourier", "size": size, "width": width, "seed": seed}
    return Parametric(function, [-1.0] * size, [1.0] * size, "random Fourier features", 2 * VARIANCE / size, recipe)


def unit_length(space: Space, degree: int) -> Parametric:
    """Polynomial features and a constant, scaled so that no row is longer than 1."""
    inner = polynomial(space, degree)
    categories = [attribute for attribute in space.attributes if not isinstance(attribute, Numeric)]
    columns = sum(attribute.size for attribute in categories)
    # Every monomial may be 1 at once; of an attribute's categories, one is. Rounding to steps may lengthen a row too.
    length = math.sqrt(inner.size - columns + len(categories) + 1) * (1 + (inner.size + 1) / GRID)

    def function(codes: Codes) -> Floats:
        values = inner.function(codes)
        return np.concatenate([values, np.ones((len(codes), 1))], axis=1) / length

    low = np.append(np.asarray(inner.low), 0.0) / length
    high = np.full(len(low), 1 / length * (1 + 1e-9))
    recipe = {"family": "unit_length", "degree": degree}
    return Parametric(function, low, high, f"{inner.name}, of unit length", recipe=recipe)


def parametric_from_json(space: Space, made_of: Mapping[str, Any]) -> Parametric:
    """The basis that `Parametric.to_json` states under ``made_of``."""
    family = made_of["family"]
    if family == "polynomial":
        return polynomial(space, int(made_of["degree"]), constant=bool(made_of["constant"]))
    if family == "fourier":
        return fourier(space, int(made_of["size"]), float(made_of["width"]), int(made_of["seed"]))
    if family == "unit_length":
        return unit_length(space, int(made_of["degree"]))
    raise InputError("the saved weighting lacks a part or has a wrong one")
