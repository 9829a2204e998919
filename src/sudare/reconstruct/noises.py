"""The noise of one column, as the analyst has to know it: Laplace of a scale, a square wave, or retention.

A `Noise` says how the perturbed values came about; it is public, and a certificate carries it as JSON. Read on bins
of the true value it becomes a `ColumnAxis` (see `axes`), which is what reconstruction works with. `table_of` and
`columns_of` take columns in the forms that callers give them: one array, a table of numbers, or columns by name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, expm1
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sudare.arrays import Integers
from sudare.domain.text import plain_texts, twice
from sudare.errors import ParameterError, SudareError, did_you_mean
from sudare.noise import RandomisedResponse, SquareWave
from sudare.privacy import exact
from sudare.reconstruct.sample import checked_scales

Value: TypeAlias = str | int | float | bool


@dataclass(frozen=True)
class LaplaceNoise:
    """y = x + noise of density exp(-|noise|/scale)/(2 scale); ``bounds`` of x where they are known."""

    scale: float
    bounds: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        if not (np.isfinite(self.scale) and self.scale > 0):
            raise ParameterError("scale is not positive", value=self.scale, allowed="a finite number > 0")
        if self.bounds is not None:
            object.__setattr__(self, "bounds", checked_bounds(self.bounds))

    def to_json(self) -> dict[str, Any]:
        return {"noise": "laplace", "scale": self.scale, "bounds": None if self.bounds is None else list(self.bounds)}


@dataclass(frozen=True)
class SquareWaveNoise:
    """x lies in one of the law's cells between ``bounds``; y is the middle of the reported cell."""

    bounds: tuple[float, float]
    law: SquareWave

    def __post_init__(self) -> None:
        object.__setattr__(self, "bounds", checked_bounds(self.bounds))

    @property
    def step(self) -> float:
        return (self.bounds[1] - self.bounds[0]) / self.law.cells

    def to_json(self) -> dict[str, Any]:
        return {
            "noise": "square_wave",
            "bounds": list(self.bounds),
            "cells": self.law.cells,
            "epsilon": str(self.law.epsilon),
        }


@dataclass(frozen=True)
class RetentionNoise:
    """The category is kept with probability ``kept``, and else drawn uniformly from all ``categories``."""

    categories: tuple[Value, ...]
    law: RandomisedResponse

    def __post_init__(self) -> None:
        object.__setattr__(self, "categories", checked_categories(self.categories))
        if len(self.categories) != self.law.size:
            raise ParameterError("the law was made for another number of categories", value=self.law.size)

    @property
    def kept(self) -> float:
        """r with 1 + r V/(1 - r) = e**epsilon: how often a value stays without being drawn."""
        epsilon = float(self.law.epsilon)
        return -expm1(-epsilon) / (1 + (self.law.size - 1) * exp(-epsilon))  # e**epsilon itself may be too large

    def places(self, values: ArrayLike) -> Integers:
        """The position of each value among the categories; -1 for other values."""
        listed = plain_texts(np.array([*self.categories, None], dtype=object)[:-1])
        position = {category: place for place, category in enumerate(listed.tolist())}
        given = np.asarray(values)
        given = plain_texts(given) if given.dtype.kind in "OU" else given
        return np.array([position.get(value, -1) for value in given.tolist()], dtype=np.int64)

    def values(self, places: Integers) -> NDArray[Any]:
        alike = len({type(category) for category in self.categories}) == 1
        return np.array(self.categories, dtype=None if alike else object)[places]

    def to_json(self) -> dict[str, Any]:
        return {"noise": "retention", "categories": list(self.categories), "epsilon": str(self.law.epsilon)}


Noise: TypeAlias = LaplaceNoise | SquareWaveNoise | RetentionNoise


def noise_of(given: Any) -> Noise:
    """A noise as it is, or a number, which is the scale of Laplace noise.

    >>> noise_of(14.05)
    LaplaceNoise(scale=14.05, bounds=None)
    """
    if isinstance(given, LaplaceNoise | SquareWaveNoise | RetentionNoise):
        return given
    try:
        scale = float(given)
    except (TypeError, ValueError):
        raise ParameterError(
            "this is neither a scale nor a noise",
            value=type(given).__name__,
            allowed="a number > 0, or a noise of perturb",
        ) from None
    return LaplaceNoise(scale)


def laplace_columns(
    given: Any, attributes: int, bounds: Any = None
) -> tuple[NDArray[np.float64], tuple[tuple[float, float], ...] | None]:
    """Scales and bounds of ``attributes`` columns with Laplace noise, from one scale or noise for all or one each.

    Bounds are those of the noises where none are given; None where some are not known.

    >>> laplace_columns([LaplaceNoise(2.0, (0, 9)), LaplaceNoise(1.0, (0, 1))], 2)
    (array([2., 1.]), ((0.0, 9.0), (0.0, 1.0)))
    """
    listed = [given] if isinstance(given, Noise) or np.ndim(given) == 0 else list(given)
    if any(isinstance(each, SquareWaveNoise | RetentionNoise) for each in listed):
        raise ParameterError("a mixture needs Laplace noise", hint="For other noises use iterative_bayes.")
    plain = [each.scale if isinstance(each, LaplaceNoise) else each for each in listed]
    scales = checked_scales(plain[0] if len(plain) == 1 else plain, attributes)
    if bounds is None:
        carried = [each.bounds for each in listed if isinstance(each, LaplaceNoise) and each.bounds is not None]
        return scales, tuple(carried) if len(carried) == attributes else None
    pairs = [bounds] if np.ndim(bounds) == 1 else list(bounds)
    if len(pairs) != attributes:
        raise ParameterError("bounds do not fit the attributes", value=len(pairs), allowed=[attributes])
    return scales, tuple(checked_bounds(pair) for pair in pairs)


def noise_from_json(data: Mapping[str, Any]) -> Noise:
    """The inverse of `to_json`."""
    try:
        match data["noise"]:
            case "laplace":
                bounds = data["bounds"]
                return LaplaceNoise(float(data["scale"]), None if bounds is None else (bounds[0], bounds[1]))
            case "square_wave":
                low, high = data["bounds"]
                return SquareWaveNoise((low, high), SquareWave(int(data["cells"]), exact(data["epsilon"])))
            case "retention":
                categories = tuple(data["categories"])
                return RetentionNoise(categories, RandomisedResponse(len(categories), exact(data["epsilon"])))
    except SudareError:
        raise
    except (KeyError, TypeError, ValueError, IndexError):
        pass
    raise ParameterError("the description of a noise lacks a part or has a wrong one", allowed="what to_json wrote")


def checked_bounds(bounds: Any) -> tuple[float, float]:
    """Two finite numbers, the first below the second."""
    try:
        low, high = (float(end) for end in bounds)
    except (TypeError, ValueError):
        raise ParameterError("bounds are not two numbers", value=bounds, allowed="(low, high)") from None
    if not (np.isfinite(low) and np.isfinite(high) and low < high and np.isfinite(high - low)):
        raise ParameterError("bounds are not in order", value=(low, high), allowed="finite low < high")
    return low, high


def checked_categories(categories: Any) -> tuple[Value, ...]:
    """At least two distinct values."""
    listed = tuple(categories) if not isinstance(categories, str) else ()
    if len(listed) < 2 or twice(listed) is not None:
        raise ParameterError("categories need two values or more, each of them once", value=categories)
    return listed


ONLY = "value"
"""What a single column without a name is called."""


@dataclass(frozen=True)
class NamedColumns:
    """Columns of equal length by name, and the ``form`` they came in: "array", "table" or "names"."""

    names: tuple[str, ...]
    values: tuple[NDArray[Any], ...]
    form: Literal["array", "table", "names"] = "names"

    @property
    def rows(self) -> int:
        return len(self.values[0])

    def each(self, given: Any, what: str) -> tuple[Any, ...]:
        """``given`` for each column, in the form the columns came in; None where a mapping names none."""
        if self.form != "table":
            return (given,) if self.form == "array" else _by_name(given, self.names, what)
        if given is None:
            return (None,) * len(self.names)
        listed = list(given) if isinstance(given, Sequence | np.ndarray) and not isinstance(given, str) else []
        if len(listed) != len(self.names):
            raise ParameterError(
                "{what} does not name every column", allowed="a list of {count}", what=what, count=len(self.names)
            )
        return tuple(listed)

    def shaped(self, columns: Sequence[Any]) -> Any:
        """One thing for each column, in the form the columns came in."""
        if self.form == "array":
            return columns[0]
        return dict(zip(self.names, columns, strict=True)) if self.form == "names" else tuple(columns)


def _by_name(given: Any, names: tuple[str, ...], what: str) -> tuple[Any, ...]:
    if given is None:
        return (None,) * len(names)
    if not isinstance(given, Mapping):
        raise ParameterError("{what} is not given by name", value=type(given).__name__, allowed=names, what=what)
    for name in given:
        if name not in names:
            raise ParameterError(
                "{what} names a column that is not there", value=name, hint=did_you_mean(str(name), names), what=what
            )
    return tuple(given.get(name) for name in names)


def table_of(values: Any) -> NamedColumns:
    """Columns of an array (n,), a table (n, columns), a mapping or a data frame.

    >>> table_of({"age": [30, 41], "sex": ["f", "m"]}).names
    ('age', 'sex')
    """
    if isinstance(values, Mapping):
        named = {str(name): np.asarray(column) for name, column in values.items()}
    elif (listed := getattr(values, "column_names", getattr(values, "columns", None))) is not None:
        named = {str(name): np.asarray(values[name]) for name in listed}
    else:
        array = np.asarray(values)
        if array.ndim not in (1, 2) or not array.size:
            raise ParameterError(
                "the values do not form a table", value=array.shape, allowed="an array (records,) or (records, columns)"
            )
        if array.ndim == 1:
            return NamedColumns((ONLY,), (array,), "array")
        return NamedColumns(tuple(str(place) for place in range(array.shape[1])), tuple(array.T), "table")
    lengths = {len(column) if column.ndim == 1 else -1 for column in named.values()}
    if not named or len(lengths) != 1 or lengths & {-1, 0}:
        raise ParameterError("columns are missing, empty or of different lengths", value=tuple(named))
    return NamedColumns(tuple(named), tuple(named.values()))


@dataclass(frozen=True)
class PerturbedColumns:
    """Perturbed columns with the noise of each and the edges of its bins (None for categories)."""

    table: NamedColumns
    noises: tuple[Noise, ...]
    edges: tuple[Any, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return self.table.names

    @property
    def values(self) -> tuple[NDArray[Any], ...]:
        return self.table.values


def columns_of(values: Any, scale: Any, edges: Any) -> PerturbedColumns:
    """Values, scales (or noises) and edges of one column or of several, brought together."""
    table = table_of(values)
    if table.form != "array" and not isinstance(scale, Mapping | Sequence | np.ndarray):
        scale = dict.fromkeys(table.names, scale) if table.form == "names" else [scale] * len(table.names)
    noises = tuple(noise_of(given) for given in table.each(scale, "scale"))
    return PerturbedColumns(table, noises, table.each(edges, "edges"))
