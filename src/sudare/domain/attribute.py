"""What every attribute of a domain can do; the kinds differ only in how they read and name values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sudare.arrays import Booleans, Integers
from sudare.domain.columns import same_length, whole_array, within
from sudare.domain.regions import MaskedBox, Region, mask_to_runs
from sudare.domain.sql import NUMBERS, AttributeSql, Dialect, Kind, SourceColumn, called
from sudare.errors import DomainError, Message, did_you_mean, either
from sudare.language.messages import PageMessage
from sudare.registry import ATTRIBUTES

_FILES = ("file", "mask", "within", "code_list")
"""Entries that may name a public file where an attribute is declared."""


class Attribute(ABC):
    """One attribute of a domain: a box of cells with one or two axes, and the region that may hold people.

    Coordinates count from 0 on each axis. A kind of attribute says how raw columns become positions
    (`positions`), what a person reads for a cell (`names`) and how it is declared (`to_json`).
    """

    kind: ClassVar[str]
    """The ``type`` in JSON."""
    spatial: ClassVar[bool]
    """Whether the axes interleave with those of other spatial attributes by default."""
    columns_taken: ClassVar[tuple[int, ...]] = (1,)
    """How many raw columns `locate` takes."""
    columns_example: ClassVar[str] = '"column"'
    """How columns are given, for a message."""
    listed: ClassVar[bool] = False
    """Whether the values are a short declared list, all of which frames and files name."""
    ordered: ClassVar[bool] = False
    """Whether that list has an order, as ranges of a number have."""
    plane: ClassVar[str] = "grid"
    """What rows and columns lie in: "grid", "degrees", "mercator" or "europe"."""
    joining: ClassVar[str] = "pair"
    """See `name_parts`."""
    has_codes: ClassVar[bool] = False
    """Whether a single column holds codes of cells."""
    region: Region

    @abstractmethod
    def positions(self, *columns: Any) -> tuple[tuple[Integers, ...], Booleans]:
        """Raw columns as positions along each axis, possibly outside the box, and which are known."""

    @abstractmethod
    def names(self, *coordinates: Integers) -> NDArray[Any]:
        """What a person reads for cells of the box."""

    @classmethod
    def label_columns(cls, name: str) -> tuple[str, ...]:
        """The columns of frames and files that hold the labels of an attribute of this ``name``."""
        return (name,)

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """The declaration as plain JSON: ``type`` and the arguments that build an equal attribute."""

    @abstractmethod
    def describe(self) -> PageMessage | str:
        """The declaration in a few words; ``str()`` of it is English."""

    def masked(self, description: PageMessage) -> PageMessage:
        """A description, with the number of cells under the mask where there is one."""
        if not isinstance(self.region, MaskedBox):
            return description
        return PageMessage("described.masked", attribute=description, cells=self.size)

    def mask_json(self) -> dict[str, Any]:
        """The run lengths of the mask, if there is one, as an entry of `to_json`."""
        return {"mask": mask_to_runs(self.region.mask)} if isinstance(self.region, MaskedBox) else {}

    def readable(self, columns: int) -> tuple[tuple[Kind, ...], Message]:  # noqa: ARG002 - some differ by it
        """The kinds of columns that the attribute can be read from, given their number, and their name for messages."""
        return NUMBERS, Message("numbers")

    def sql(self, columns: Sequence[SourceColumn], prefix: str, dialect: Dialect) -> AttributeSql:
        """How an engine reads the attribute from these columns; every name in it begins with ``prefix``.

        The default is a function, made of `positions`, that the engine calls for many rows at once.
        """
        return called(self, columns, prefix, dialect)

    @classmethod
    def from_json(cls, arguments: dict[str, Any]) -> Attribute:
        """The attribute that `to_json` described, from its entries without ``type``."""
        return cls(**arguments)

    @property
    def drawable(self) -> bool:
        """Whether cells are drawn as a map or a picture: they have rows and columns, or polygons."""
        return len(self.lengths) == 2

    def name_parts(self, row: Integers, column: Integers) -> tuple[NDArray[Any], NDArray[Any]]:
        """What rows and what columns of a picture are called; ``joining`` says how the name of a cell is made of both.

        "pair": both names; "text": one after the other; "digits": their sum as numbers less the first of them.
        """
        return row.astype(str), column.astype(str)

    @property
    def code_digits(self) -> int:
        """How many digits a code has, if all have as many; else 0."""
        return 0

    @property
    def whole(self) -> bool:
        """Whether values are whole numbers, so that a fraction is a mistake."""
        return False

    @property
    def words(self) -> tuple[str, ...]:
        """The declared values where they are words."""
        return ()

    @property
    def lengths(self) -> tuple[int, ...]:
        """Cells along each axis."""
        return self.region.lengths

    @property
    def size(self) -> int:
        """Logical cells: those of the region."""
        return self.region.size

    def locate(self, *columns: Any) -> tuple[tuple[Integers, ...], Booleans]:
        """Coordinates of raw values, one int64 array per axis, and which values are inside.

        What is missing, unknown, outside the box or masked has ``inside=False`` and coordinate 0.
        """
        positions, inside = self._read(columns)
        for position, length in zip(positions, self.lengths, strict=True):
            inside = inside & (position >= 0) & (position < length)
        return self._inside(positions, inside)

    def clamp(self, *columns: Any) -> tuple[tuple[Integers, ...], Booleans]:
        """Like `locate`, but numbers outside the box move to its nearest cell."""
        positions, known = self._read(columns)
        nearest = tuple(
            np.clip(position, 0, length - 1) for position, length in zip(positions, self.lengths, strict=True)
        )
        return self._inside(nearest, known)

    def labels(self, *coordinates: Any) -> NDArray[Any]:
        """What a person reads for these cells; refuses coordinates outside the box."""
        return self.names(*self._cells(coordinates))

    def allowed(self, *coordinates: Any) -> Booleans:
        """Whether cells may hold people; False outside the box."""
        arrays = self._axes(coordinates)
        inside = np.ones(arrays[0].shape, dtype=bool)
        for array, length in zip(arrays, self.lengths, strict=True):
            inside &= (array >= 0) & (array < length)
        return self._inside(arrays, inside)[1]

    def cell(self, rank: Any) -> tuple[Integers, ...]:
        """Coordinates of the logical cells with these ranks in [0, size)."""
        ranks = whole_array(rank, "a rank")
        if not within(ranks, self.size):
            raise DomainError("a rank is outside the attribute", allowed="0 to {size}", size=self.size - 1)
        return self.region.cell(ranks)

    def block_counts(self, shifts: Sequence[int], *prefixes: Any) -> Integers:
        """Logical cells whose coordinates, shifted right by ``shifts`` bits, equal ``prefixes``."""
        return self.region.block_counts(shifts, *self._axes(prefixes))

    def _read(self, columns: tuple[Any, ...]) -> tuple[tuple[Integers, ...], Booleans]:
        if len(columns) not in self.columns_taken:
            raise DomainError(
                "a {kind} attribute takes another number of columns",
                value=len(columns),
                allowed=either(map(str, self.columns_taken)),
                kind=self.kind,
            )
        return self.positions(*columns)

    def _inside(self, positions: tuple[Integers, ...], inside: Booleans) -> tuple[tuple[Integers, ...], Booleans]:
        """Sets what is outside to 0 and takes the region into account."""
        cells = tuple(np.where(inside, position, 0) for position in positions)
        allowed = inside & self.region.allowed(*cells)
        if allowed.all():
            return cells, allowed
        return tuple(np.where(allowed, cell, 0) for cell in cells), allowed

    def _axes(self, coordinates: tuple[Any, ...]) -> tuple[Integers, ...]:
        if len(coordinates) != len(self.lengths):
            raise DomainError(
                "a {kind} attribute has another number of axes",
                value=len(coordinates),
                allowed=[len(self.lengths)],
                kind=self.kind,
            )
        arrays = tuple(whole_array(axis, "a coordinate") for axis in coordinates)
        same_length(arrays, Message("coordinates"))
        return arrays

    def _cells(self, coordinates: tuple[Any, ...]) -> tuple[Integers, ...]:
        arrays = self._axes(coordinates)
        for array, length in zip(arrays, self.lengths, strict=True):
            if not within(array, length):
                raise DomainError(
                    "a coordinate is outside the {kind}", allowed="0 to {length}", kind=self.kind, length=length - 1
                )
        return arrays


def attribute_from_json(data: Any) -> Attribute:
    """The attribute that its ``to_json()`` described.

    A file is never opened: certificates and surveys are written by strangers, and what they name on this machine is
    none of their business. Recipes, which may name public files, build their attributes themselves.

    >>> attribute_from_json({"type": "categories", "values": ["f", "m"]})
    Categories(values=('f', 'm'))
    """
    if not isinstance(data, dict) or "type" not in data:
        raise DomainError("an attribute is not a JSON object with a type", value=type(data).__name__)
    name = str(data["type"])
    if name not in ATTRIBUTES:
        raise DomainError(
            "there is no such type of attribute",
            value=data["type"],
            allowed=ATTRIBUTES,
            hint=did_you_mean(name, ATTRIBUTES),
        )
    kind: type[Attribute] = ATTRIBUTES[name]
    arguments = {key: value for key, value in data.items() if key != "type"}
    if named := [key for key in _FILES if isinstance(arguments.get(key), str)]:
        raise DomainError("an attribute that is read back cannot name a file", value=named[0])
    try:
        return kind.from_json(arguments)
    except TypeError:
        raise DomainError("these entries do not describe a {kind}", value=sorted(arguments), kind=name) from None
