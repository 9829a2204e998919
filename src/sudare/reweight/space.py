"""The declared space of records: which columns, their bounds or categories, and their public grid.

A number becomes one of 2**20 + 1 steps between its declared bounds (what lies outside is moved to the bound), a
category its rank in the declared list. Everything private is computed from these *codes*, which are whole numbers:
so squared distances are exact and the same record always gives the same features, wherever in the file it stands.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sudare.domain import Categories
from sudare.domain.text import numbers as read_numbers
from sudare.errors import InputError, ParameterError

STEPS = 1 << 20
"""Steps between the bounds of a number; with up to 2**10 coordinates a squared distance stays below 2**53."""

Codes: TypeAlias = NDArray[np.float64]
"""Whole numbers (rows, attributes)."""


@dataclass(frozen=True)
class Numeric:
    """A number between declared bounds.

    >>> Numeric("age", 0, 100).encode(np.array([50.0, 130.0])).tolist()
    [524288.0, 1048576.0]
    """

    name: str
    low: float
    high: float

    def __post_init__(self) -> None:
        for name in ("low", "high"):
            object.__setattr__(self, name, _finite(getattr(self, name), self.name))
        if not self.low < self.high:
            raise ParameterError(
                "the bounds of column {name!r} are not in order",
                value=(self.low, self.high),
                allowed="low < high",
                name=self.name,
            )
        if not math.isfinite(self.high - self.low):
            raise ParameterError(
                "the bounds of column {name!r} are too wide", value=(self.low, self.high), name=self.name
            )

    def encode(self, column: ArrayLike) -> Codes:
        """Whole steps from the lower bound, 0 to `STEPS`."""
        values = numbers(column, self.name)
        if np.isnan(values).any():
            raise InputError(
                "a column holds missing values",
                value=self.name,
                allowed="numbers",
                hint="Leave such rows out, or declare the column as categories with one for missing.",
            )
        share = (np.clip(values, self.low, self.high) - self.low) / (self.high - self.low)
        return np.rint(share * STEPS)

    def decode(self, codes: Codes) -> Codes:
        """The numbers at whole steps."""
        return self.low + codes * ((self.high - self.low) / STEPS)

    def functions(self, codes: Codes) -> Codes:
        """The number (rows, 1) at codes (rows,)."""
        return self.decode(codes)[:, None]

    def to_json(self) -> dict[str, Any]:
        """Name and bounds."""
        return {"name": self.name, "bounds": [self.low, self.high]}


@dataclass(frozen=True)
class Categorical:
    """One of the declared categories; a column with one category says nothing and is refused."""

    name: str
    values: Categories

    def __post_init__(self) -> None:
        if len(self.values.values) < 2:
            raise ParameterError("column {name!r} has one category", allowed="at least two", name=self.name)

    @property
    def size(self) -> int:
        return len(self.values.values)

    def encode(self, column: ArrayLike) -> Codes:
        """Ranks in the declared list."""
        (rank,), known = self.values.positions(column)
        if not known.all():
            raise InputError(
                "a column holds values outside its declared categories",
                value=self.name,
                hint="Declare every category that may occur, also one for missing values.",
            )
        return rank.astype(np.float64)

    def decode(self, codes: Codes) -> NDArray[Any]:
        """The declared values of ranks."""
        return self.values.names(codes.astype(np.int64))

    def functions(self, codes: Codes) -> Codes:
        """0/1 columns (rows, size), one for each category, at codes (rows,)."""
        return np.asarray(codes[:, None] == np.arange(self.size), dtype=np.float64)

    def to_json(self) -> dict[str, Any]:
        """Name and categories."""
        return {"name": self.name, "categories": list(self.values.values)}


Attribute: TypeAlias = Numeric | Categorical


@dataclass(frozen=True)
class Space:
    """The attributes that the ratio of densities is a function of, in order.

    >>> space = Space.declare({"age": (0, 100)}, {"sex": ["f", "m"]})
    >>> space.encode({"age": [25, 100], "sex": ["m", "f"]}).tolist()
    [[262144.0, 1.0], [1048576.0, 0.0]]
    """

    attributes: tuple[Attribute, ...]

    def __post_init__(self) -> None:
        if not self.attributes:
            raise ParameterError("no column is declared", hint="Give bounds=, categories= or both.")
        if len(set(self.names)) < len(self.attributes):
            twice = next(name for name in self.names if self.names.count(name) > 1)
            raise ParameterError("a column is declared twice", value=twice)

    @classmethod
    def declare(
        cls,
        bounds: Mapping[str, tuple[float, float]] | Sequence[tuple[float, float]] | None = None,
        categories: Mapping[str, Sequence[Any]] | None = None,
    ) -> Space:
        """Numbers first, then categories; bounds without names belong to the columns of an array, x0, x1, ..."""
        if bounds is not None and not isinstance(bounds, Mapping):
            pairs: list[Any] = list(bounds)
            # One attribute may be written without the list around it: bounds=(-4, 6).
            if len(pairs) == 2 and not any(isinstance(part, Sequence | np.ndarray) for part in pairs):
                pairs = [(pairs[0], pairs[1])]
            bounds = {f"x{place}": pair for place, pair in enumerate(pairs)}
        numbers = [Numeric(name, *_pair(pair, name)) for name, pair in (bounds or {}).items()]
        words = [
            Categorical(name, values if isinstance(values, Categories) else Categories(values))
            for name, values in (categories or {}).items()
        ]
        return cls((*numbers, *words))

    @cached_property
    def names(self) -> list[str]:
        return [attribute.name for attribute in self.attributes]

    @property
    def numeric(self) -> bool:
        """True where every attribute is a number."""
        return all(isinstance(attribute, Numeric) for attribute in self.attributes)

    def encode(self, columns: Mapping[str, ArrayLike]) -> Codes:
        """The codes (rows, attributes) of columns by name."""
        codes = [attribute.encode(columns[attribute.name]) for attribute in self.attributes]
        if len({len(part) for part in codes}) > 1:
            raise InputError("the columns have different lengths", value=self.names)
        return np.stack(codes, axis=1)

    @cached_property
    def coordinates(self) -> int:
        """How many coordinates a record has where categories are unit vectors."""
        return sum(1 if isinstance(attribute, Numeric) else attribute.size for attribute in self.attributes)

    def embed(self, codes: Codes) -> Codes:
        """Points (rows, coordinates) on the grid: numbers as they are, two different categories `STEPS` apart.

        A category is `STEPS` / sqrt(2) times a unit vector, rounded: as far from another as bounds are.
        """
        points = np.zeros((len(codes), self.coordinates))
        start = 0
        for place, attribute in enumerate(self.attributes):
            if isinstance(attribute, Numeric):
                points[:, start] = codes[:, place]
                start += 1
            else:
                points[np.arange(len(codes)), start + codes[:, place].astype(np.int64)] = CATEGORY
                start += attribute.size
        return points

    def to_json(self) -> list[dict[str, Any]]:
        return [attribute.to_json() for attribute in self.attributes]


CATEGORY = float(round(STEPS / math.sqrt(2)))
"""The length of a category's vector, in steps."""


def _pair(pair: Any, name: str) -> tuple[Any, Any]:
    try:
        low, high = pair
    except (TypeError, ValueError):
        raise ParameterError(
            "the bounds of column {name!r} are not two numbers", value=pair, allowed="(low, high)", name=name
        ) from None
    return low, high


def _finite(bound: Any, name: str) -> float:
    try:
        number = float(bound)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise ParameterError("a bound of column {name!r} is not a finite number", value=bound, name=name)
    return number


def numbers(column: ArrayLike, name: str) -> NDArray[np.float64]:
    """A column as numbers (rows,), NaN where missing; text is read as the number it says."""
    mistake = InputError("a column holds values that are not numbers", value=name, allowed="numbers")
    try:
        array = np.ma.asarray(column) if np.ma.isMaskedArray(column) else np.asarray(column)
        texts = array.dtype.kind == "U" or (array.dtype.kind == "O" and not np.ma.isMaskedArray(array))
        values = read_numbers(array.reshape(-1)).reshape(array.shape) if texts else None
        values = array.astype(np.float64) if values is None and array.dtype.kind in "biufO" else values
    except (TypeError, ValueError):  # the message of either would quote a value
        raise mistake from None
    if values is None:
        raise mistake
    if values.ndim != 1:
        raise InputError("a column is not one value per row", value=name)
    return np.asarray(np.ma.filled(values, np.nan))
