"""Lines and grids: positions that are numbers already, with an optional public mask."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from sudare.arrays import Booleans, Integers
from sudare.domain.attribute import Attribute
from sudare.domain.columns import read_positions, same_length, whole_number
from sudare.domain.regions import MaskedBox, Region, mask_from_runs, mask_to_runs, region_of
from sudare.domain.sql import (
    NUMBERS,
    AttributeSql,
    Dialect,
    Kind,
    Layer,
    SourceColumn,
    clipped,
    double,
    parsed,
    whole,
    whole_of_double,
)
from sudare.errors import Message
from sudare.language.messages import PageMessage


@dataclass(frozen=True)
class Line(Attribute):
    """``length`` positions 0, 1, ... in a row. ``mask``: boolean, True where people may be.

    >>> coordinates, inside = Line(4).locate([3, 4, None])
    >>> coordinates[0].tolist(), inside.tolist()
    ([3, 0, 0], [True, False, False])
    """

    kind: ClassVar[str] = "line"
    spatial: ClassVar[bool] = True

    length: int
    mask: Booleans | None = field(default=None, compare=False, repr=False)
    region: Region = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "length", whole_number(self.length, Message("the length of a line"), 1))
        _settle(self, (self.length,))

    def positions(self, *columns: Any) -> tuple[tuple[Integers, ...], Booleans]:
        """One column of whole numbers."""
        position, known = read_positions(columns[0], "a position on a line")
        return (position,), known

    def names(self, *coordinates: Integers) -> NDArray[Any]:
        """The positions themselves."""
        return coordinates[0]

    def to_json(self) -> dict[str, Any]:
        """``length``, and the run lengths of the mask if there is one."""
        return {"type": self.kind, "length": self.length, **_mask_json(self.region)}

    @classmethod
    def from_json(cls, arguments: dict[str, Any]) -> Line:
        """The inverse of `to_json`."""
        return _with_mask(cls, arguments)

    def sql(self, columns: Sequence[SourceColumn], prefix: str, dialect: Dialect) -> AttributeSql:
        """See `Attribute`: the column holds positions."""
        return _positions_sql(columns, prefix, dialect)

    def describe(self) -> PageMessage:
        """The number of positions."""
        return self.masked(PageMessage("described.line", length=self.length))


@dataclass(frozen=True)
class Grid(Attribute):
    """``rows`` by ``columns`` cells, row 0 in the south. ``mask``: boolean, True where people may be.

    >>> Grid(2, 3).size, Grid(2, 3, mask=[[True, True, False], [True, False, False]]).size
    (6, 3)
    """

    kind: ClassVar[str] = "grid"
    spatial: ClassVar[bool] = True
    columns_taken: ClassVar[tuple[int, ...]] = (2,)
    columns_example: ClassVar[str] = '("row", "column")'

    rows: int
    columns: int
    mask: Booleans | None = field(default=None, compare=False, repr=False)
    region: Region = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", whole_number(self.rows, Message("the rows of a grid"), 1))
        object.__setattr__(self, "columns", whole_number(self.columns, Message("the columns of a grid"), 1))
        _settle(self, (self.rows, self.columns))

    def positions(self, *columns: Any) -> tuple[tuple[Integers, ...], Booleans]:
        """Two columns of whole numbers: row and column."""
        row, row_known = read_positions(columns[0], "a row of a grid")
        column, column_known = read_positions(columns[1], "a column of a grid")
        same_length((row, column), Message("the row and the column of a grid"))
        return (row, column), row_known & column_known

    def names(self, *coordinates: Integers) -> NDArray[Any]:
        """Row and column side by side: shape (cells, 2)."""
        return np.stack(coordinates, axis=-1)

    @classmethod
    def label_columns(cls, name: str) -> tuple[str, ...]:
        """Two: the row and the column."""
        return f"{name}_row", f"{name}_column"

    def to_json(self) -> dict[str, Any]:
        """``rows``, ``columns``, and the run lengths of the mask if there is one."""
        return {"type": self.kind, "rows": self.rows, "columns": self.columns, **_mask_json(self.region)}

    @classmethod
    def from_json(cls, arguments: dict[str, Any]) -> Grid:
        """The inverse of `to_json`."""
        return _with_mask(cls, arguments)

    def readable(self, columns: int) -> tuple[tuple[Kind, ...], Message]:  # noqa: ARG002 - always two
        """See `Attribute`."""
        return NUMBERS, Message("whole numbers")

    def sql(self, columns: Sequence[SourceColumn], prefix: str, dialect: Dialect) -> AttributeSql:
        """See `Attribute`: the columns hold positions."""
        return _positions_sql(columns, prefix, dialect)

    def describe(self) -> PageMessage:
        """Rows by columns."""
        return self.masked(PageMessage("described.grid", rows=self.rows, columns=self.columns))


def _positions_sql(columns: Sequence[SourceColumn], prefix: str, dialect: Dialect) -> AttributeSql:
    axes = tuple(f"{prefix}axis{number}" for number in range(len(columns)))
    raw: Layer = {}
    layer: Layer = {}
    for axis, column in zip(axes, columns, strict=True):
        if column.kind == "whole":
            raw[axis] = whole(column, dialect)
            continue
        number = f"{axis}_number"
        raw[number] = double(column, dialect)
        layer[axis] = whole_of_double(number)
        if column.kind == "untyped":
            # A double holds whole numbers up to 2**53; beyond it the digits are read exactly.
            raw[f"{axis}_digits"] = clipped(parsed(column, dialect.wide, dialect))
            exact = f"COALESCE({axis}_digits, {layer[axis]})"
            layer[axis] = f"CASE WHEN abs({number}) < {2**53} THEN {layer[axis]} ELSE {exact} END"
    return AttributeSql(axes, raw, (layer,) if layer else ())


Masked = TypeVar("Masked", Line, Grid)


def _settle(attribute: Line | Grid, lengths: tuple[int, ...]) -> None:
    """Gives a new attribute its region, and the mask in its frozen form (None if it masks nothing)."""
    region = region_of(lengths, attribute.mask)
    object.__setattr__(attribute, "region", region)
    object.__setattr__(attribute, "mask", region.mask if isinstance(region, MaskedBox) else None)


def _mask_json(region: Region) -> dict[str, Any]:
    return {"mask": mask_to_runs(region.mask)} if isinstance(region, MaskedBox) else {}


def _with_mask(cls: type[Masked], arguments: dict[str, Any]) -> Masked:
    """The attribute of a declaration in JSON, where a mask is a list of run lengths."""
    unmasked = cls(**{name: value for name, value in arguments.items() if name != "mask"})
    if arguments.get("mask") is None:
        return unmasked
    return replace(unmasked, mask=mask_from_runs(arguments["mask"], unmasked.lengths))
