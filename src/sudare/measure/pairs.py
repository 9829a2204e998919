"""Two sparse tables laid side by side: one entry per cell that either of them stores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sudare.errors import ParameterError

Integers = NDArray[np.int64]
Values = NDArray[Any]  # int64 counts, or float64 where a method gives out floats


class Attribute(Protocol):
    """What measuring needs to know of an attribute."""

    @property
    def lengths(self) -> tuple[int, ...]:
        """Axis lengths."""

    @property
    def size(self) -> int:
        """Logical cells."""

    def block_counts(self, shifts: Any, *prefixes: Any) -> Integers:
        """Allowed cells per aligned block of 2**shift coordinates along each axis."""


class Domain(Protocol):
    """What measuring needs to know of a domain."""

    @property
    def size(self) -> int:
        """Logical cells."""

    @property
    def bits(self) -> int:
        """Levels of the tree."""

    @property
    def attributes(self) -> Mapping[str, Any]:
        """Attributes by name."""

    def coordinates(self, index: Any) -> tuple[Integers, ...]:
        """Coordinates per axis."""


class Table(Protocol):
    """What measuring needs to know of a table: sorted ``index`` and the ``count`` there."""

    @property
    def domain(self) -> Any:
        """The declared cells."""

    @property
    def index(self) -> Integers:
        """Stored cells, ascending."""

    @property
    def count(self) -> Values:
        """Their values."""


@dataclass(frozen=True)
class Pairs:
    """Cells that at least one table stores: ``index`` (k,), ``truth`` (k,) and ``released`` (k,)."""

    index: Integers
    truth: Values
    released: Values

    @property
    def error(self) -> Values:
        """Released minus true: int64 while both are whole, else float64."""
        return np.asarray(self.released - self.truth)


def pair(truth: Table, released: Table) -> Pairs:
    """Lay two tables over the same domain side by side; a cell that one does not store is 0 there."""
    if truth.domain != released.domain:
        raise ParameterError("the two tables are over different domains", hint="Measure tables of one domain.")
    # A stable sort merges two ascending runs in one pass; NumPy's own union hashes, a hundred times slower.
    index = np.sort(np.concatenate([truth.index, released.index]), kind="stable")
    index = index[np.diff(index, prepend=-1) > 0]
    return Pairs(index, _spread(truth, index), _spread(released, index))


def _spread(table: Table, index: Integers) -> Values:
    values = np.zeros(len(index), dtype=table.count.dtype)
    values[np.searchsorted(index, table.index)] = table.count
    return values
