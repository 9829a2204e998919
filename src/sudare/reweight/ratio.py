"""A ratio of two densities, w(x) = p_numerator(x) / p_denominator(x), as a function of x; nothing here is private."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from sudare.arrays import Floats
from sudare.errors import InputError, Message, ParameterError
from sudare.privacy import Fact, Guarantee

Features: TypeAlias = Callable[[Floats], Floats]
"""A basis: points (rows, columns) -> values (rows, size)."""
Link: TypeAlias = Literal["linear", "exponential"]


@dataclass(frozen=True)
class Gaussian:
    """Kernels exp(-|x - c|^2 / (2 width^2)) at ``centres`` (size, columns).

    >>> Gaussian([0.0, 2.0], 1.0)([0.0]).round(4).tolist()
    [[1.0, 0.1353]]
    """

    centres: ArrayLike
    width: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "centres", points(self.centres))
        if not (np.isfinite(self.width) and self.width > 0):
            raise ParameterError("the width of the kernel is not positive", value=self.width)

    def __call__(self, x: ArrayLike) -> Floats:
        """Values (rows, size)."""
        at, centres = points(x), points(self.centres)
        if at.shape[1] != centres.shape[1]:
            raise InputError("points and centres have different columns", value=(at.shape[1], centres.shape[1]))
        square = (at**2).sum(axis=1)[:, None] + (centres**2).sum(axis=1) - 2 * at @ centres.T
        return np.asarray(np.exp(-np.maximum(square, 0) / (2 * self.width**2)))


@dataclass(frozen=True)
class Ratio:
    """A fitted ratio: ``coefficients`` of the basis, ``offset`` added where the link is exponential."""

    basis: Features
    coefficients: Floats
    method: str
    parameters: dict[str, Any]
    link: Link = "linear"
    offset: float = 0.0

    def __call__(self, x: ArrayLike) -> Floats:
        """w at points (rows, columns), never negative."""
        value = self.basis(points(x)) @ self.coefficients
        return np.maximum(value, 0.0) if self.link == "linear" else np.exp(value + self.offset)

    @property
    def guarantee(self) -> Guarantee:
        """None: the private sample was used as it is."""
        return Guarantee("none", assumptions=(Fact("no_noise"),))

    @property
    def summary(self) -> dict[str, Any]:
        """What was fitted."""
        return {"kind": "ratio", "method": self.method, "parameters": self.parameters, "size": len(self.coefficients)}


def points(x: ArrayLike) -> Floats:
    """Finite numbers (rows, columns); one axis is one column."""
    try:
        array = np.asarray(x, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("points are not numbers") from None
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2:
        raise InputError("points are not rows by columns", value=array.ndim, allowed="1 or 2 axes")
    if not np.isfinite(array).all():
        raise InputError("points hold NaN or infinity", allowed="finite numbers")
    return array


def two_samples(numerator: ArrayLike, denominator: ArrayLike) -> tuple[Floats, Floats]:
    """Both samples, with the same columns and at least two rows each."""
    above, below = points(numerator), points(denominator)
    if above.shape[1] != below.shape[1]:
        raise InputError("the two samples have different columns", value=(above.shape[1], below.shape[1]))
    for name, sample in ((Message("numerator"), above), (Message("denominator"), below)):
        if len(sample) < 2:
            raise InputError("the {name} has too few rows", value=len(sample), allowed="at least 2", name=name)
    return above, below


def checked_regularisation(regularisation: float) -> float:
    """A finite number above zero."""
    number = float(regularisation)
    if not (np.isfinite(number) and number > 0):
        raise ParameterError("regularisation is not positive", value=regularisation, allowed="a finite number > 0")
    return number
