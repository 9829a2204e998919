"""Answers of a weighted public data set to linear queries, with intervals that cover what the weights cannot follow.

A function that is given at the public rows is unknown where there are none. A declared number is known there too, and
so is a function of one column of categories: these are combinations of the hats, whose private means were measured. Of
any other function only its bounds are known. `doubt` describes the parts of an interval.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sudare.arrays import Floats
from sudare.errors import InputError, ParameterError, did_you_mean
from sudare.language.messages import PageMessage, Value
from sudare.reweight.basis import Basis
from sudare.reweight.hats import Hats
from sudare.reweight.space import STEPS, Categorical, Codes, Numeric, Space

if TYPE_CHECKING:
    from sudare.reweight.doubt import Doubt

_NAMED = 3
UNSEEN, ASSUMED = 0.5, 0.3
"""An answer is flagged where more than this share of its interval's width is due to what was not measured."""
FLAGS = ("unseen", "assumed", "blind")
"""Why an interval is wide, or may be too short; explained under ``weights.flag_`` in the catalogue."""


@dataclass(frozen=True)
class Answers:
    """``value`` (q,) with an interval from ``low`` to ``high`` that holds the truth with probability ``level``.

    ``flags`` (q) has a word of `FLAGS` where the public rows support the answer badly, and is empty elsewhere.
    """

    value: Floats
    low: Floats
    high: Floats
    level: float
    labels: tuple[str | PageMessage, ...]
    flags: tuple[str, ...]

    @property
    def notes(self) -> tuple[PageMessage, ...]:
        """A sentence for every kind of flag, with the answers that have it."""
        found = []
        for flag in FLAGS:
            labels = [label for label, own in zip(self.labels, self.flags, strict=True) if own == flag]
            if labels:
                named: tuple[Value, ...] = tuple(labels[:_NAMED])
                if len(labels) > _NAMED:
                    named = (*named, PageMessage("weights.more", answers=len(labels) - _NAMED))
                found.append(PageMessage("weights.flagged", answers=named, note=PageMessage(f"weights.flag_{flag}")))
        return tuple(found)

    def to_json(self) -> list[dict[str, Any]]:
        """One object per query."""
        numbers = (column.tolist() for column in (self.value, self.low, self.high))
        names = ("query", "value", "low", "high", "flag")
        rows = zip(map(str, self.labels), *numbers, self.flags, strict=True)
        return [dict(zip(names, row, strict=True)) for row in rows]


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


def answer(
    doubt: Doubt, queries: Queries, level: float, labels: Sequence[str | PageMessage] = (), relative: float = 0.0
) -> Answers:
    """Answers with intervals; ``relative`` is the relative variance of what the shares will be multiplied by."""
    if not 0 < level < 1:
        raise ParameterError("level is not a probability", value=level, allowed="0 < level < 1")
    names = labels or queries.names
    if len(names) != queries.functions.shape[1]:
        raise ParameterError(
            "labels are not one for each query", value=len(names), allowed=[queries.functions.shape[1]]
        )
    law = doubt.law(queries)
    more = relative * law.value**2
    (low, high), *narrower = (part.interval(level, more) for part in (law, law.supported, law.formed))
    width, (supported, formed) = high - low, (above - below for below, above in narrower)
    assumed = np.where(formed < (1 - ASSUMED) * width, "assumed", "")
    named = np.where(supported < (1 - UNSEEN) * width, "unseen", assumed)
    if not doubt.shows_gaps:
        named[:] = "blind"
    low = queries.clipped(low)
    if not relative:  # a share of a number that is itself in doubt may be all of a larger one
        high = queries.clipped(high)
    return Answers(law.value, low, high, level, tuple(names), tuple(named.tolist()))
