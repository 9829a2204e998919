"""Categories: a declared list of words or whole numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sudare.arrays import Booleans, Integers
from sudare.domain.attribute import Attribute
from sudare.domain.columns import read_column
from sudare.domain.regions import Box
from sudare.domain.sql import NUMBERS, AttributeSql, Dialect, Kind, SourceColumn, joined, whole_of_any
from sudare.domain.text import number, plain, plain_texts, twice
from sudare.errors import DomainError, Message
from sudare.language.messages import PageMessage

MOST_VALUES = 2**20


@dataclass(frozen=True)
class Categories(Attribute):
    """Distinct values, all words or all whole numbers, in the order given.

    Words are compared in their plain form (`sudare.domain.text`): " f" is "f", "１" is "1". Where whole numbers are
    declared, text is the number it says: "01" and "1e0" are 1, in all kinds of release.

    >>> coordinates, inside = Categories(["f", "m"]).locate(["m", "x", None])
    >>> coordinates[0].tolist(), inside.tolist()
    ([1, 0, 0], [True, False, False])
    """

    kind: ClassVar[str] = "categories"
    spatial: ClassVar[bool] = False
    listed: ClassVar[bool] = True

    values: tuple[str, ...] | tuple[int, ...]
    region: Box = field(init=False, repr=False, compare=False)

    def __init__(self, values: Iterable[str] | Iterable[int]) -> None:
        declared = _declared(values)
        object.__setattr__(self, "values", declared)
        object.__setattr__(self, "region", Box((len(declared),)))

    def positions(self, *columns: Any) -> tuple[tuple[Integers, ...], Booleans]:
        """One column; a value that is not declared is not known."""
        array, masked = read_column(columns[0])
        if array.dtype.kind == "O":
            position = _look_up_objects(array, self._ranks, self.whole)
        elif array.dtype.kind == "U" and self.whole:
            position = _look_up_objects(array.astype(object), self._ranks, whole=True)
        elif array.dtype.kind in ("biuf" if self.whole else "U"):
            position = self._look_up(array)
        else:
            position = np.full(array.shape, -1, dtype=np.int64)
        known = position >= 0
        return (np.maximum(position, 0),), known if masked is None else known & ~masked

    def names(self, *coordinates: Integers) -> NDArray[Any]:
        return np.asarray(self._array[coordinates[0]])

    def to_json(self) -> dict[str, Any]:
        return {"type": self.kind, "values": list(self.values)}

    def describe(self) -> PageMessage:
        return PageMessage("described.categories", categories=len(self.values))

    def readable(self, columns: int) -> tuple[tuple[Kind, ...], Message]:  # noqa: ARG002 - always one
        return ((*NUMBERS, "truth"), Message("whole numbers")) if self.whole else (("text", "untyped"), Message("text"))

    def sql(self, columns: Sequence[SourceColumn], prefix: str, dialect: Dialect) -> AttributeSql:
        """See `Attribute`: by joining the declared values with their positions."""
        column = columns[0]
        if not self.whole:
            read = f"CAST({column.sql} AS {dialect.text})"
        elif column.kind == "truth":
            read = f"CAST({column.sql} AS BIGINT)"
        else:
            read = whole_of_any(column, dialect)
        declared = np.array(list(self._ranks), dtype=np.int64 if self.whole else object)
        return joined(read, declared, np.arange(len(self.values)), prefix)

    @property
    def whole(self) -> bool:
        return isinstance(self.values[0], int)

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(map(str, self.values)) if not self.whole else ()

    @cached_property
    def _ranks(self) -> dict[Any, int]:
        return {plain(value) if isinstance(value, str) else value: rank for rank, value in enumerate(self.values)}

    @cached_property
    def _array(self) -> NDArray[Any]:
        return np.array(self.values)

    @cached_property
    def _sorted(self) -> tuple[NDArray[Any], Integers]:
        """The values as they are compared, in ascending order, and the rank of each as declared."""
        compared = np.array(list(self._ranks))
        ranks = np.argsort(compared, kind="stable").astype(np.int64)
        return compared[ranks], ranks

    def _look_up(self, array: NDArray[Any]) -> Integers:
        """Ranks of an array of the values' own kind; -1 for what is not declared."""
        values, ranks = self._sorted
        place = np.minimum(np.searchsorted(values, array), values.size - 1)
        found = np.where(values[place] == array, ranks[place], -1)
        unknown = np.flatnonzero(found < 0)
        if not self.whole and unknown.size:
            found[unknown] = _look_up_objects(array[unknown].astype(object), self._ranks, whole=False)
        return found


def _look_up_objects(array: NDArray[Any], ranks: dict[Any, int], whole: bool) -> Integers:
    """Ranks of Python objects; -1 for what is not declared. Where ``whole`` numbers are, text is the number it says."""
    values = [_said(value) for value in array.tolist()] if whole else plain_texts(array).tolist()
    try:
        return np.array([ranks.get(value, -1) for value in values], dtype=np.int64)
    except TypeError:  # something in the column, a list perhaps, is not hashable: each value by itself
        return np.array([_rank(value, ranks) for value in values], dtype=np.int64)


def _said(value: Any) -> Any:
    """What is compared with whole numbers: 1 for "1", "01" and "1e0", as engines read it; NaN equals none."""
    return number(value) if isinstance(value, str) else value


def _rank(value: Any, ranks: dict[Any, int]) -> int:
    try:
        return ranks.get(value, -1)
    except TypeError:
        return -1


def _declared(values: Iterable[Any]) -> tuple[Any, ...]:
    """The values as plain str or int, or the reason why they cannot be categories."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise DomainError("categories are not a list", value=values, hint="Write the values in brackets.")
    listed = tuple(value.item() if isinstance(value, np.generic) else value for value in values)
    if not listed:
        raise DomainError("there are no categories", allowed="at least one value")
    if len(listed) > MOST_VALUES:
        raise DomainError("there are too many categories", value=len(listed), allowed="at most 2**20")
    kinds = {type(value) for value in listed}
    if not kinds <= {str} and not kinds <= {int}:
        raise DomainError(
            "categories are not all of one kind",
            value=sorted(kind.__name__ for kind in kinds),
            allowed="all str or all int",
        )
    repeated = twice(listed)
    if repeated is not None:
        raise DomainError("a category is declared twice", value=repeated)
    for value in listed:
        if isinstance(value, str) and "\0" in value:
            raise DomainError("a category holds the character NUL", value=value)
        if isinstance(value, int) and abs(value) >= 2**53:
            raise DomainError("a category is too large", value=value, allowed="less than 2**53 in size")
    return listed
