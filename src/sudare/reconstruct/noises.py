"""The noise of one column, as the analyst has to know it: Laplace of a scale, a square wave, or retention.

A `Noise` says how the perturbed values came about; it is public, and a certificate carries it as JSON. Read on bins
of the true value it becomes an `Axis` (see `axes`), which is what reconstruction works with.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, expm1
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sudare.arrays import Integers
from sudare.domain.text import plain_texts, twice
from sudare.errors import ParameterError, SudareError
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
        """Plain JSON."""
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
        """The width of a cell."""
        return (self.bounds[1] - self.bounds[0]) / self.law.cells

    def to_json(self) -> dict[str, Any]:
        """Plain JSON."""
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
            raise ParameterError("the law is for another number of categories", value=self.law.size)

    @property
    def kept(self) -> float:
        """r with 1 + r V/(1 - r) = e**epsilon: how often a value stays without being drawn."""
        epsilon = float(self.law.epsilon)
        return -expm1(-epsilon) / (1 + (self.law.size - 1) * exp(-epsilon))  # e**epsilon itself may be too large

    def places(self, values: ArrayLike) -> Integers:
        """Where each value stands among the categories; -1 where it is none."""
        listed = plain_texts(np.array([*self.categories, None], dtype=object)[:-1])
        position = {category: place for place, category in enumerate(listed.tolist())}
        given = np.asarray(values)
        given = plain_texts(given) if given.dtype.kind in "OU" else given
        return np.array([position.get(value, -1) for value in given.tolist()], dtype=np.int64)

    def values(self, places: Integers) -> NDArray[Any]:
        """The categories at ``places``."""
        alike = len({type(category) for category in self.categories}) == 1
        return np.array(self.categories, dtype=None if alike else object)[places]

    def to_json(self) -> dict[str, Any]:
        """Plain JSON."""
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
            "neither a scale nor a channel", value=type(given).__name__, allowed="a number > 0, or a noise of perturb"
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
        raise ParameterError("bounds enclose nothing", value=(low, high), allowed="finite low < high")
    return low, high


def checked_categories(categories: Any) -> tuple[Value, ...]:
    """At least two distinct values."""
    listed = tuple(categories) if not isinstance(categories, str) else ()
    if len(listed) < 2 or twice(listed) is not None:
        raise ParameterError("categories are fewer than two, or named twice", value=categories)
    return listed
