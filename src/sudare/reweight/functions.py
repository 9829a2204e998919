"""Parametric models: functions of a record with public ranges, such as monomials, waves or a caller's own.

What is public about the private mean of a function is only its range: values are clipped to it, so the stated
sensitivity holds whatever a function computes of a record.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from sudare.arrays import Floats
from sudare.errors import InputError, ParameterError
from sudare.privacy import whole
from sudare.reweight.basis import GRID, Bounded
from sudare.reweight.hats import VARIANCE
from sudare.reweight.space import STEPS, Codes, Numeric, Space


@dataclass(frozen=True)
class Polynomial(Bounded):
    """Monomials of numbers from -1 to 1 over their declared range, and the 0/1 columns of categories.

    With ``constant`` also the function 1, which a linear model of the ratio needs and no record moves. With
    ``unit_length`` (and the constant) all is scaled so that no row is longer than 1. Ranges begin at -1, or at 0 for
    categories and even powers.

    >>> Polynomial(Space.declare([(0, 1), (0, 1)])).size
    5
    """

    space: Space
    degree: int = 2
    constant: bool = False
    unit_length: bool = False

    def __post_init__(self) -> None:
        whole(self.degree, "degree")

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
    def ranges(self) -> tuple[Floats, Floats]:
        even = [all(term.count(place) % 2 == 0 for place in term) for term in self._terms]
        low = [0.0 if flat else -1.0 for flat in even] + [0.0] * self._columns + [1.0] * self.constant
        return np.array(low) / self._length, np.ones(self.size) / self._length

    def steps(self, codes: Codes) -> Floats:
        """Element by element, so that a row has the same values in every chunk."""
        columns = [np.multiply.reduce([codes[:, place] * 2 / STEPS - 1 for place in term]) for term in self._terms]
        for place, attribute in enumerate(self.space.attributes):
            if not isinstance(attribute, Numeric):
                columns += list(attribute.functions(codes[:, place]).T)
        columns += [np.ones(len(codes))] * self.constant
        return self.clipped(np.stack(columns, axis=1) / self._length)

    def prior(self, covariance: Floats) -> Floats:
        """Each function alone moves the public rows' log ratio by about sqrt(`VARIANCE`)."""
        return np.diag(VARIANCE / np.maximum(np.diag(covariance), 1e-9))


@dataclass(frozen=True)
class Fourier(Bounded):
    """Random Fourier features cos(v'x + u) of a Gaussian kernel of ``width`` (Rahimi and Recht 2007), for many columns.

    ``width`` is in declared ranges; frequencies and phases come from a public seed. A cosine is from -1 to 1.
    """

    space: Space
    number: int = 50
    width: float = 0.2
    seed: int = 0

    @property
    def size(self) -> int:
        return self.number

    @cached_property
    def ranges(self) -> tuple[Floats, Floats]:
        return -np.ones(self.number), np.ones(self.number)

    @cached_property
    def _waves(self) -> tuple[Floats, Floats]:
        """Frequencies (coordinates, size) and phases (size,)."""
        generator = np.random.default_rng(self.seed)
        frequencies = generator.normal(scale=1 / self.width, size=(self.space.coordinates, self.number))
        return frequencies, generator.uniform(0, 2 * math.pi, self.number)

    def steps(self, codes: Codes) -> Floats:
        """Coordinate by coordinate: the sum of a matrix product may depend on where in the chunk a row stands."""
        frequencies, phases = self._waves
        angles = np.tile(phases, (len(codes), 1))
        for point, frequency in zip((self.space.embed(codes) / STEPS).T, frequencies, strict=True):
            angles += point[:, None] * frequency
        return self.clipped(np.cos(angles))

    def prior(self, covariance: Floats) -> Floats:  # noqa: ARG002 - all features together make one kernel
        return 2 * VARIANCE / self.number * np.eye(self.number)

    def to_json(self) -> dict[str, Any]:
        made_of = {"family": "fourier", "size": self.number, "width": self.width, "seed": self.seed}
        return {"basis": "random Fourier features", "made_of": made_of}


_MOST = 2.0
_LOOKED_AT = 50


@dataclass(frozen=True)
class Functions(Bounded):
    """A caller's own functions of a record: ``function`` of columns by name -> (rows, size), from ``low`` to ``high``.

    The value at a row must depend on that row alone, or the stated sensitivity does not hold; `fit` refuses functions
    of which public rows show that it does. Such a weighting cannot be saved.

    >>> old = Functions(lambda row: row["age"][:, None] >= 65, low=[0], high=[1], name="old")
    >>> made = old.of(Space.declare({"age": (0, 100)}))
    >>> (made.steps(np.array([[0.0], [STEPS]])) / GRID).ravel().tolist()
    [0.0, 1.0]
    """

    function: Callable[[Mapping[str, Any]], Any]
    low: Sequence[float]
    high: Sequence[float]
    name: str = "own functions"
    space: Space | None = None

    def __post_init__(self) -> None:
        low, high = self.ranges
        if low.shape != high.shape or low.ndim != 1 or not len(low):
            raise ParameterError("low and high do not have one bound for each function", value=(low.shape, high.shape))
        if not (np.isfinite(low).all() and np.isfinite(high).all() and (low <= high).all() and (low < high).any()):
            raise ParameterError("the bounds of a function are not in order", allowed="finite, low < high")
        if max(np.abs(low).max(), np.abs(high).max()) > _MOST:
            raise ParameterError("the bounds of a function are too wide", allowed="within -2 .. 2", hint="Scale it.")

    def of(self, space: Space, public: Codes | None = None) -> Functions:
        """These of records of ``space``; refused where ``public`` rows have other values alone than together."""
        made = replace(self, space=space)
        some = np.empty((0, 0)) if public is None else public[:_LOOKED_AT]
        if len(some) and (made.steps(some) != np.concatenate([made.steps(row[None, :]) for row in some])).any():
            raise ParameterError("a basis function depends on other rows", hint="Compute each row from itself alone.")
        return made

    @property
    def size(self) -> int:
        return len(self.ranges[0])

    @cached_property
    def ranges(self) -> tuple[Floats, Floats]:
        return np.asarray(self.low, dtype=np.float64), np.asarray(self.high, dtype=np.float64)

    def steps(self, codes: Codes) -> Floats:
        assert self.space is not None  # noqa: S101 - `of` gives it
        columns = {one.name: one.decode(codes[:, place]) for place, one in enumerate(self.space.attributes)}
        values = np.asarray(self.function(columns), dtype=np.float64)
        if values.shape != (len(codes), self.size):
            raise ParameterError(
                "a basis function returns an array of another shape", value=values.shape, allowed="(rows, size)"
            )
        return self.clipped(values)

    def prior(self, covariance: Floats) -> Floats:
        """As of a polynomial."""
        return np.diag(VARIANCE / np.maximum(np.diag(covariance), 1e-9))

    def to_json(self) -> dict[str, Any]:
        return {"basis": self.name}


def parametric_from_json(space: Space, made_of: Mapping[str, Any]) -> Bounded:
    """The basis that `to_json` states under ``made_of``."""
    family = made_of["family"]
    if family == "fourier":
        return Fourier(space, int(made_of["size"]), float(made_of["width"]), int(made_of["seed"]))
    if family == "unit_length":
        return Polynomial(space, int(made_of["degree"]), constant=True, unit_length=True)
    if family != "polynomial":
        raise InputError("the saved weighting lacks a part or has a wrong one")
    return Polynomial(space, int(made_of["degree"]), bool(made_of["constant"]))
