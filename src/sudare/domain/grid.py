"""Lines and grids: positions that are numbers already, with an optional public mask."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from sudare.arrays import Booleans, Integers
from sudare.domain.attribute import Attribute
from sudare.domain.columns import read_positions, same_length, whole_number
from sudare.domain.regions import MaskedBox, Region, mask_from_runs, region_of
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


class Positions(Attribute):
    """Whole numbers that are positions along each axis, with an optional public mask, True where people may be."""

    spatial: ClassVar[bool] = True
    sides: ClassVar[dict[str, Message]]
    """The fields that are the lengths of the axes, and what a message calls them."""
    mask: Booleans | None

    def __post_init__(self) -> None:
        lengths = tuple(whole_number(getattr(self, name), what, 1) for name, what in self.sides.items())
        region = region_of(lengths, self.mask)
        mask = region.mask if isinstance(region, MaskedBox) else None
        for name, value in [*zip(self.sides, lengths, strict=True), ("region", region), ("mask", mask)]:
            object.__setattr__(self, name, value)

    @property
    def whole(self) -> bool:
        return True

    def positions(self, *columns: Any) -> tuple[tuple[Integers, ...], Booleans]:
        what = f"a position on a {self.kind}"
        axes, known = zip(*(read_positions(column, what) for column in columns), strict=True)
        same_length(axes, Message("coordinates"))
        return axes, np.logical_and.reduce(known)

    def to_json(self) -> dict[str, Any]:
        return {"type": self.kind, **{name: getattr(self, name) for name in self.sides}, **self.mask_json()}

    @classmethod
    def from_json(cls, arguments: dict[str, Any]) -> Self:
        unmasked = cls(**{name: value for name, value in arguments.items() if name != "mask"})
        if arguments.get("mask") is None:
            return unmasked
        return cls(**{**arguments, "mask": mask_from_runs(arguments["mask"], unmasked.lengths)})

    def readable(self, columns: int) -> tuple[tuple[Kind, ...], Message]:  # noqa: ARG002 - one for each axis
        return NUMBERS, Message("whole numbers")

    def sql(self, columns: Sequence[SourceColumn], prefix: str, dialect: Dialect) -> AttributeSql:
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


@dataclass(frozen=True)
class Line(Positions):
    """``length`` positions 0, 1, ... in a row. ``mask``: boolean, True where people may be.

    >>> coordinates, inside = Line(4).locate([3, 4, None])
    >>> coordinates[0].tolist(), inside.tolist()
    ([3, 0, 0], [True, False, False])
    """

    kind: ClassVar[str] = "line"
    sides: ClassVar[dict[str, Message]] = {"length": Message("the length of a line")}

    length: int
    mask: Booleans | None = field(default=None, compare=False, repr=False)
    region: Region = field(init=False, repr=False)

    def names(self, *coordinates: Integers) -> NDArray[Any]:
        return coordinates[0]

    def describe(self) -> PageMessage:
        return self.masked(PageMessage("described.line", length=self.length))


@dataclass(frozen=True)
class Grid(Positions):
    """``rows`` by ``columns`` cells, row 0 in the south. ``mask``: boolean, True where people may be.

    >>> Grid(2, 3).size, Grid(2, 3, mask=[[True, True, False], [True, False, False]]).size
    (6, 3)
    """

    kind: ClassVar[str] = "grid"
    columns_taken: ClassVar[tuple[int, ...]] = (2,)
    columns_example: ClassVar[str] = '("row", "column")'
    sides: ClassVar[dict[str, Message]] = {
        "rows": Message("the rows of a grid"),
        "columns": Message("the columns of a grid"),
    }

    rows: int
    columns: int
    mask: Booleans | None = field(default=None, compare=False, repr=False)
    region: Region = field(init=False, repr=False)

    def names(self, *coordinates: Integers) -> NDArray[Any]:
        """Row and column side by side: shape (cells, 2)."""
        return np.stack(coordinates, axis=-1)

    @classmethod
    def label_columns(cls, name: str) -> tuple[str, ...]:
        return f"{name}_row", f"{name}_column"

    def describe(self) -> PageMessage:
        return self.masked(PageMessage("described.grid", rows=self.rows, columns=self.columns))
