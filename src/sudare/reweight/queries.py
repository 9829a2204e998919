"""Queries to a weighted public data set: functions at its rows, and what is known of them elsewhere.

A function that is given at the public rows is unknown where there are none. A declared number is known there too, and
so is a function of one column of categories: these are combinations of the hats, whose private means were measured. Of
any other function only its bounds are known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sudare.arrays import Floats
from sudare.errors import InputError, ParameterError, did_you_mean
from sudare.reweight.basis import Basis
from sudare.reweight.hats import Hats
from sudare.reweight.space import STEPS, Categorical, Codes, Numeric, Space


@dataclass(frozen=True)
class Queries:
    """``functions`` (rows, q) at the public rows, nowhere outside ``low`` to ``high`` (q,), if that is ``certain``.

    ``known`` (size, q) are the coefficients of a function that is a combination of hats: NaN where unknown, all
    of them for any other function. ``names`` (q,) label the answers.
    """

    functions: Floats
    low: Floats
    high: Floats
    known: Floats
    names: tuple[str, ...]
    certain: bool

    @cached_property
    def conditions(self) -> NDArray[np.bool_]:
        """Which functions (q,) are true or false, so that they may jump anywhere."""
        return np.asarray(((self.functions == 0) | (self.functions == 1)).all(axis=0))

    def clipped(self, answer: Floats) -> Floats:
        """Answers (q,) clipped to the bounds of their functions, where these are certain."""
        sure = self.conditions | self.certain
        return np.asarray(np.where(sure, np.clip(answer, self.low, self.high), answer))


@dataclass(frozen=True)
class Public:
    """The public rows as they were given, by column, and as ``codes`` (rows, attributes) of the declared space."""

    space: Space
    basis: Basis
    codes: Codes
    columns: Mapping[str, NDArray[Any]]

    def queries(self, values: str | ArrayLike, extremes: ArrayLike | None = None) -> Queries:
        """Of a column, or of functions given at the rows: (rows,) or (rows, q).

        ``extremes`` (2,) or (2, q) is what the functions may be anywhere. Otherwise that is what is declared of the
        column, 0 and 1 for conditions, and what the rows show for the rest.
        """
        name = values if isinstance(values, str) else None
        functions = self._functions(self.numbers(name) if name is not None else np.asarray(values))
        low, high = functions.min(axis=0), functions.max(axis=0)
        if extremes is not None:
            low, high = _extremes(extremes, low, high)
        elif name is not None:
            low, high = np.array([self.bounds(name)]).T
        else:
            conditions = ((functions == 0) | (functions == 1)).all(axis=0)
            low, high = np.where(conditions, 0.0, low), np.where(conditions, 1.0, high)
        certain = extremes is not None or (name is not None and name in self.space.names)
        names = (name,) if name is not None else tuple(f"query {k}" for k in range(functions.shape[1]))
        known = [self._coefficients(function) for function in functions.T]
        return Queries(functions, low, high, np.stack(known, axis=1), names, certain)

    def column(self, name: str) -> NDArray[Any]:
        """A column of the public data, declared or not."""
        if name not in self.columns:
            raise InputError("the public data have no such column", value=name, hint=did_you_mean(name, self.columns))
        return self.columns[name]

    def numbers(self, name: str) -> Floats:
        try:
            return self.column(name).astype(np.float64)
        except (TypeError, ValueError):
            raise InputError("the column is not a column of numbers", value=name) from None

    def bounds(self, name: str) -> tuple[float, float]:
        """What a column of numbers may be: as its rows show, or as declared where that is wider."""
        values = self.numbers(name)
        low, high = float(values.min()), float(values.max())
        for attribute in self.space.attributes:
            if isinstance(attribute, Numeric) and attribute.name == name:
                low, high = min(low, attribute.low), max(high, attribute.high)
        return low, high

    def _functions(self, array: NDArray[Any]) -> Floats:
        if array.ndim == 1:
            array = array[:, None]
        if array.ndim != 2 or len(array) != len(self.codes) or array.dtype.kind not in "biuf":
            raise InputError(
                "a query is not numbers, one for each public row",
                value=array.shape,
                allowed="({count},)",
                count=len(self.codes),
            )
        functions = array.astype(np.float64)
        if not np.isfinite(functions).all():
            raise InputError("a query holds NaN or infinity at a public row")
        return functions

    def _coefficients(self, function: Floats) -> Floats:
        """Those (size,) of a function that is, at every row, a declared number or decided by one category."""
        unknown = np.full(self.basis.size, np.nan)
        if not isinstance(self.basis, Hats) or np.ptp(function) == 0:
            return unknown
        for place, attribute in enumerate(self.space.attributes):
            own = self.codes[:, place]
            if isinstance(attribute, Categorical):
                values = _by_category(function, own.astype(np.int64), attribute.size)
                if values is not None:
                    return self.basis.combination(place, values)
            elif np.abs(function - attribute.decode(own)).max() <= (attribute.high - attribute.low) / STEPS:
                return self.basis.combination(place, attribute.decode(self.basis.knots(place)))
        return unknown


def _by_category(function: Floats, codes: NDArray[np.int64], size: int) -> Floats | None:
    """The value (size,) at each category, NaN where there are no rows; None where rows of one category differ."""
    values = np.full(size, np.nan)
    values[codes] = function
    return values if (values[codes] == function).all() else None


def _extremes(extremes: ArrayLike, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    try:
        least, most = np.broadcast_to(np.asarray(extremes, dtype=np.float64).T, (len(low), 2)).T
    except (TypeError, ValueError):
        raise ParameterError("extremes are not two numbers for each query", allowed="(low, high)") from None
    if not (np.isfinite(least).all() and np.isfinite(most).all() and (least <= low).all() and (most >= high).all()):
        raise ParameterError("a query is outside its extremes at a public row", value=np.asarray(extremes).tolist())
    return least, most
