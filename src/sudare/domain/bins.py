"""Bins: half-open intervals of numbers, exact with decimals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from math import ceil, lcm
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sudare.arrays import Booleans, Floats, Integers
from sudare.domain.attribute import Attribute
from sudare.domain.columns import read_numbers
from sudare.domain.regions import Box
from sudare.domain.sql import (
    AttributeSql,
    Dialect,
    SourceColumn,
    called,
    double,
    double_literal,
    is_number,
    joined,
    whole,
)
from sudare.errors import DomainError, Message
from sudare.language.messages import PageMessage
from sudare.privacy import Number, exact, positive

MOST_BINS = 2**20
MOST_LOOKED_UP = 2**16
"""Whole numbers from the first edge to the last that an engine looks up in a table."""
MOST_COMPARED = 512
"""Edges that an engine compares in SQL."""
LARGEST_EDGE = 2**53
"""Up to here every whole number is a double, so that an edge means the same to both."""


@dataclass(frozen=True)
class Bins(Attribute):
    """Intervals [low, high): ``Bins(0, 100, step=5)``, or ``Bins(edges=[0, 15, 65, None])``.

    None as the last edge means open above, as the first open below. Decimals are read as written and each
    edge is the double nearest to it: ``Bins(0, 1, step=0.1)`` has ten bins and the fourth begins at 0.3.

    >>> ages = Bins(edges=[0, 15, 65, None])
    >>> ages.labels([0, 1, 2]).tolist()
    ['0-14', '15-64', '65+']
    >>> ages.locate([14.5, 99, -1])[1].tolist()
    [True, True, False]
    """

    kind: ClassVar[str] = "bins"
    spatial: ClassVar[bool] = False
    listed: ClassVar[bool] = True
    ordered: ClassVar[bool] = True

    edges: tuple[int | float | None, ...]
    region: Box = field(init=False, repr=False, compare=False)

    def __init__(
        self,
        start: Number | None = None,
        stop: Number | None = None,
        step: Number | None = None,
        *,
        edges: Iterable[Number | None] | None = None,
    ) -> None:
        if edges is not None and (start, stop, step) == (None, None, None):
            declared = _declared(edges)
        elif edges is None and start is not None and stop is not None and step is not None:
            declared = _evenly(start, stop, step)
        else:
            raise DomainError(
                "declare bins by start, stop and step, or by edges",
                allowed="start, stop and step, or edges",
                hint="Write Bins(0, 100, step=5) or Bins(edges=[0, 15, 65, None]).",
            )
        object.__setattr__(self, "edges", declared)
        object.__setattr__(self, "region", Box((len(declared) - 1,)))

    def positions(self, *columns: Any) -> tuple[tuple[Integers, ...], Booleans]:
        values, known = read_numbers(columns[0], "a value to be binned")
        edges = self._whole_edges if values.dtype == np.int64 else self._finite_edges
        below = 0 if self.edges[0] is None else -1
        return (np.searchsorted(edges, values, side="right").astype(np.int64) + below,), known

    def names(self, *coordinates: Integers) -> NDArray[Any]:
        """``"0-14"`` and ``"65+"`` where all edges are whole, ``"[0, 0.1)"`` elsewhere."""
        return np.asarray(self._names[coordinates[0]])

    def to_json(self) -> dict[str, Any]:
        return {"type": self.kind, "edges": list(self.edges)}

    def describe(self) -> PageMessage:
        return PageMessage("described.bins", bins=len(self.edges) - 1)

    def sql(self, columns: Sequence[SourceColumn], prefix: str, dialect: Dialect) -> AttributeSql:
        """See `Attribute`: whole numbers are looked up if they are few, else edges are compared, else NumPy is called.

        Comparing is a tree of CASE: as deep as the edges have bits, and as long as there are edges.
        """
        whole_numbers = columns[0].kind == "whole"
        # A whole number reaches an edge exactly when it reaches the next whole number above the edge.
        edges = self._whole_edges if whole_numbers else self._finite_edges
        below = 0 if self.edges[0] is None else -1
        if whole_numbers and edges[-1] - edges[0] < MOST_LOOKED_UP:
            every = np.arange(edges[0] - 1, edges[-1] + 1)
            read = f"({whole(columns[0], dialect)})"
            nearest = f"greatest({every[0]}, least({every[-1]}, {read}))"
            positions = np.searchsorted(edges, every, side="right") + below
            value = f"CASE WHEN {read} IS NOT NULL THEN {nearest} END"
            return joined(value, every, positions, prefix)
        if edges.size > MOST_COMPARED:
            return called(self, columns, prefix, dialect)
        value, axis = f"{prefix}value", f"{prefix}axis"
        raw = {value: whole(columns[0], dialect) if whole_numbers else double(columns[0], dialect)}
        known = f"{value} IS NOT NULL" if whole_numbers else is_number(value)
        return AttributeSql((axis,), raw, ({axis: f"CASE WHEN {known} THEN {_compared(value, edges, below)} END"},))

    @cached_property
    def _finite_edges(self) -> Floats:
        return np.array([edge for edge in self.edges if edge is not None], dtype=np.float64)

    @cached_property
    def _whole_edges(self) -> Integers:
        # A whole number reaches an edge exactly when it reaches the next whole number above the edge.
        return np.array([ceil(edge) for edge in self.edges if edge is not None], dtype=np.int64)

    @cached_property
    def _names(self) -> NDArray[np.str_]:
        whole = all(edge is None or isinstance(edge, int) for edge in self.edges)
        name = _whole_name if whole else _interval_name
        return np.array([name(low, high) for low, high in pairwise(self.edges)])


def _compared(value: str, edges: Integers | Floats, reached: int) -> str:
    """How many of the edges a value has reached, more than ``reached``, by bisection."""
    if not edges.size:
        return f"CAST({reached} AS BIGINT)"
    middle = edges.size // 2
    edge = str(int(edges[middle])) if edges.dtype == np.int64 else double_literal(float(edges[middle]))
    above = _compared(value, edges[middle + 1 :], reached + middle + 1)
    return f"CASE WHEN {value} >= {edge} THEN {above} ELSE {_compared(value, edges[:middle], reached)} END"


def _whole_name(low: Any, high: Any) -> str:
    if low is None:
        return f"under {high}"
    if high is None:
        return f"{low}+"
    if high - low == 1:
        return f"{low}"
    return f"{low}-{high - 1}" if low >= 0 else f"{low} to {high - 1}"


def _interval_name(low: Any, high: Any) -> str:
    begin = "(-inf" if low is None else f"[{low}"
    return f"{begin}, {'inf' if high is None else high})"


def _evenly(start: Number, stop: Number, step: Number) -> tuple[int | float | None, ...]:
    """The edges start, start + step, ..., stop, each rounded once from its exact value."""
    first, last = exact(start, "start"), exact(stop, "stop")
    width = positive(step, "step")
    count = (last - first) / width
    if count < 1 or count.denominator != 1:
        raise DomainError(
            "the step does not divide the range from start to stop",
            value=(start, stop, step),
            allowed="stop = start + a whole number of steps",
            hint="Other bins can be given by their edges.",
        )
    if count > MOST_BINS:
        raise DomainError("there are too many bins", value=int(count), allowed="at most 2**20")
    scale = lcm(first.denominator, width.denominator)
    begin, stride = int(first * scale), int(width * scale)
    return _checked([_edge(begin + position * stride, scale) for position in range(int(count) + 1)])


def _declared(edges: Iterable[Number | None]) -> tuple[int | float | None, ...]:
    if isinstance(edges, str) or not isinstance(edges, Iterable):
        raise DomainError("edges are not a list", value=edges)
    given = list(edges)
    if len(given) > MOST_BINS + 1:
        raise DomainError("there are too many bins", value=len(given) - 1, allowed="at most 2**20")
    if None in given[1:-1] or all(edge is None for edge in given) or len(given) < 2:
        raise DomainError(
            "edges do not make bins",
            value=given,
            allowed="two or more numbers in ascending order; None only as first or last",
        )
    numbers = [None if edge is None else exact(edge, Message("an edge")) for edge in given]
    return _checked([None if edge is None else _edge(edge.numerator, edge.denominator) for edge in numbers])


def _edge(numerator: int, denominator: int) -> int | float:
    """The rational as an int if it is whole, else as the nearest double (Python's division is exact)."""
    return numerator // denominator if numerator % denominator == 0 else numerator / denominator


def _checked(edges: list[int | float | None]) -> tuple[int | float | None, ...]:
    finite = [edge for edge in edges if edge is not None]
    for low, high in pairwise(finite):
        if not float(low) < float(high):
            raise DomainError("edges are not in ascending order", value=(low, high))
    if max(abs(finite[0]), abs(finite[-1])) > LARGEST_EDGE:
        raise DomainError("an edge is too large", value=(finite[0], finite[-1]), allowed="at most 2**53")
    return tuple(edges)
