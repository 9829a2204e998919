"""Answers of a weighted public data set to linear queries, with intervals that cover what the weights cannot follow.

`doubt` describes the parts of an interval, `queries` what is known of a query where there are no public rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sudare.arrays import Floats
from sudare.errors import ParameterError
from sudare.language.messages import PageMessage, Value
from sudare.reweight.doubt import Doubt, ErrorLaw
from sudare.reweight.queries import Public, Queries

_MOST_CELLS = 10_000
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
    def half_width(self) -> Floats:
        """How far the truth may be off, one way."""
        return (self.high - self.low) / 2

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
class WeightedRows:
    """Answers queries from the weighted public rows."""

    doubt: Doubt
    public: Public

    def mean(
        self,
        values: str | ArrayLike,
        level: float,
        labels: Sequence[str | PageMessage] = (),
        extremes: ArrayLike | None = None,
    ) -> Answers:
        """Means of functions given at the public rows, which are nowhere outside ``extremes``."""
        queries = self.public.queries(values, extremes)
        return self._answers(queries, level, labels or queries.names)

    def count(self, condition: ArrayLike, level: float, labels: Sequence[str] = ()) -> Answers:
        """Shares times the published number of units."""
        queries = self.public.queries(condition)
        if not queries.conditions.all():
            raise ParameterError(
                "a condition has to be true or false at every row", hint="For other values, ask for a mean."
            )
        measured = self.doubt.measured
        doubt = measured.people_variance / measured.people**2
        shares = self._answers(queries, level, labels or queries.names, doubt)
        value, low, high = (number * measured.people for number in (shares.value, shares.low, shares.high))
        return Answers(value, low, high, level, shares.labels, shares.flags)

    def histogram(self, column: str, edges: ArrayLike, level: float) -> Answers:
        """Counts in half-open bins, the last one closed."""
        bounds = np.asarray(edges, dtype=np.float64)
        if bounds.ndim != 1 or len(bounds) < 2 or not (np.diff(bounds) > 0).all():
            raise ParameterError("edges are not ascending numbers", allowed="at least two")
        values = self.public.numbers(column)
        place = np.searchsorted(bounds, values, side="right") - 1
        place[values == bounds[-1]] = len(bounds) - 2
        inside = place[:, None] == np.arange(len(bounds) - 1)
        pairs = zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)
        return self.count(inside, level, [f"{column} {low:g} to {high:g}" for low, high in pairs])

    def table(self, columns: Sequence[str], level: float) -> Answers:
        """Counts of every combination of the values that columns take in the public data."""
        if not columns:
            raise ParameterError("a table needs a column", allowed=self.public.columns)
        found = [np.unique(self.public.column(name), return_inverse=True) for name in columns]
        if np.prod([len(values) for values, _ in found]) > _MOST_CELLS:
            raise ParameterError(
                "the table has too many cells", allowed="at most {most_cells:,}", most_cells=_MOST_CELLS
            )
        names, cells = [], []
        for combination in product(*(range(len(values)) for values, _ in found)):
            members = zip(columns, found, combination, strict=True)
            names.append(", ".join(f"{name} {values[code]}" for name, (values, _), code in members))
            cells.append(np.logical_and.reduce([codes == c for (_, codes), c in zip(found, combination, strict=True)]))
        return self.count(np.stack(cells, axis=1), level, names)

    def moments(self, columns: Sequence[str], level: float) -> Answers:
        """Means of all products of two of 1 and the columns, row by row of their matrix."""
        names = ["1", *columns]
        rows = len(self.public.codes)
        values = [np.ones(rows), *(self.public.numbers(name) for name in columns)]
        bounds = np.array([(1.0, 1.0), *(self.public.bounds(name) for name in columns)])
        pairs = list(product(range(len(names)), repeat=2))
        functions = np.stack([values[a] * values[b] for a, b in pairs], axis=1)
        corners = np.array([np.outer(bounds[a], bounds[b]).ravel() for a, b in pairs])
        square = np.array([a == b and bounds[a].min() < 0 < bounds[a].max() for a, b in pairs])
        extremes = np.where(square, 0.0, corners.min(axis=1)), corners.max(axis=1)
        return self.mean(functions, level, [f"{names[a]} {names[b]}" for a, b in pairs], np.array(extremes))

    def _answers(
        self, queries: Queries, level: float, labels: Sequence[str | PageMessage], doubt: float = 0.0
    ) -> Answers:
        """``doubt`` is the relative variance of what the shares will be multiplied by."""
        if not 0 < level < 1:
            raise ParameterError("level is not a probability", value=level, allowed="0 < level < 1")
        if len(labels) != queries.functions.shape[1]:
            raise ParameterError(
                "labels are not one for each query", value=len(labels), allowed=[queries.functions.shape[1]]
            )
        law = self.doubt.law(queries)
        more = doubt * law.value**2
        low, high = law.interval(level, more)
        width, supported, formed = (_width(part, level, more) for part in (law, law.supported, law.formed))
        assumed = np.where(formed < (1 - ASSUMED) * width, "assumed", "")
        named = np.where(supported < (1 - UNSEEN) * width, "unseen", assumed)
        if not self.doubt.shows_gaps:
            named[:] = "blind"
        low = queries.clipped(low)
        if not doubt:  # a share of a number that is itself in doubt may be all of a larger one
            high = queries.clipped(high)
        return Answers(law.value, low, high, level, tuple(labels), tuple(named.tolist()))


def _width(law: ErrorLaw, level: float, more: Floats) -> Floats:
    low, high = law.interval(level, more)
    return high - low
