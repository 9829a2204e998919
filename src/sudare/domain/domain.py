"""Domains: the declared cells of a table, and their positions in Morton order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from math import prod
from types import MappingProxyType
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from sudare.arrays import Booleans, Integers
from sudare.domain.attribute import Attribute, attribute_from_json
from sudare.domain.columns import same_length, whole_array, whole_number, within
from sudare.domain.morton import BitPlan, Groups, default_groups, groups_of, interleave
from sudare.errors import DomainError, Message, did_you_mean
from sudare.language.messages import PageMessage

MOST_BITS = 62
_CELLS_AT_ONCE = 1 << 20
"""Large tables are checked piece by piece, so that coordinates of all their cells never exist at once."""


class Axis(NamedTuple):
    """One axis of a domain: the attribute's name, and which of its axes it is (0, or 1 for a column)."""

    name: str
    position: int


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Domain:
    """Attributes by name. A cell is one combination of their cells and has a position, its index.

    The index is the Morton position in the padded domain: every axis is padded to a power of two. By
    default the axes of all lines, grids and meshes interleave on the root side and each category or bin
    attribute follows on the leaf side; ``order`` lists names (or tuples of names that interleave) root to
    leaf instead. At most 62 bits.

    >>> from sudare.domain import Categories, Grid
    >>> domain = Domain(cell=Grid(3, 5), sex=Categories(["f", "m"]))
    >>> domain.size, domain.bits
    (30, 6)
    >>> index = domain.index([0, 2], [1, 4], [0, 1])
    >>> index.tolist(), [axis.tolist() for axis in domain.coordinates(index)]
    ([2, 49], [[0, 2], [1, 4], [0, 1]])
    """

    attributes: Mapping[str, Attribute]
    groups: Groups
    plan: BitPlan = field(repr=False)

    def __init__(self, order: Sequence[str | Sequence[str]] | None = None, **attributes: Attribute) -> None:
        if not attributes:
            raise DomainError("a domain has no attributes", hint="Write Domain(cell=Line(4096)).")
        for name, attribute in attributes.items():
            if not isinstance(attribute, Attribute):
                raise DomainError(
                    "{name} is not an attribute",
                    value=type(attribute).__name__,
                    allowed="Line, Grid, Categories, Bins or Mesh",
                    name=name,
                )
        groups = groups_of(order, attributes)
        lengths = [length for attribute in attributes.values() for length in attribute.lengths]
        widths = [(length - 1).bit_length() for length in lengths]
        if sum(widths) > MOST_BITS:
            raise DomainError(
                "the domain is too large",
                value=f"{sum(widths)} bits",
                allowed="at most {most_bits} bits",
                hint="Every axis is padded to a power of two; use coarser cells or fewer attributes.",
                most_bits=MOST_BITS,
            )
        object.__setattr__(self, "attributes", MappingProxyType(dict(attributes)))
        object.__setattr__(self, "groups", groups)
        axes: dict[str, list[int]] = {}
        for number, axis in enumerate(self.axes):
            axes.setdefault(axis.name, []).append(number)
        grouped = [[number for name in group for number in axes[name]] for group in groups]
        object.__setattr__(self, "plan", BitPlan(interleave(grouped, widths), len(widths)))

    @cached_property
    def size(self) -> int:
        """Logical cells: padding and masked cells do not count."""
        return prod(attribute.size for attribute in self.attributes.values())

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """Lengths of all axes in declared order."""
        return tuple(length for attribute in self.attributes.values() for length in attribute.lengths)

    @property
    def bits(self) -> int:
        """Bits of an index: the padded domain has 2**bits cells."""
        return self.plan.bits

    @cached_property
    def axes(self) -> tuple[Axis, ...]:
        """What each axis of `shape` belongs to."""
        return tuple(
            Axis(name, position)
            for name, attribute in self.attributes.items()
            for position in range(len(attribute.lengths))
        )

    @cached_property
    def place_level(self) -> int:
        """The level of a block that is one place with its categories and bins; 0 where none end the order.

        Nothing spatial is below it, and no attribute is cut by it, so that all places have the same logical cells.

        >>> from sudare.domain import Categories, Grid
        >>> Domain(cell=Grid(3, 5), sex=Categories(["f", "m"]), age=Categories(["0-14", "15-64", "65-"])).place_level
        3
        """
        level = 0
        for group in reversed(self.groups):
            if any(self.attributes[name].spatial for name in group):
                return level
            level += sum((length - 1).bit_length() for name in group for length in self.attributes[name].lengths)
        return 0

    def index(self, *coordinates: Any) -> Integers:
        """Indices of cells, given one array per axis of `shape` (all of one shape, which is kept)."""
        if len(coordinates) != len(self.shape):
            raise DomainError(
                "coordinates do not match the axes",
                value=len(coordinates),
                allowed="{count} arrays",
                count=len(self.shape),
            )
        arrays = [whole_array(axis, "a coordinate") for axis in coordinates]
        same_length(arrays, Message("coordinates"))
        for array, length, axis in zip(arrays, self.shape, self.axes, strict=True):
            if not within(array, length):
                raise DomainError(
                    "a coordinate of {name} is outside the domain",
                    allowed="0 to {length}",
                    name=axis.name,
                    length=length - 1,
                )
        return self.plan.encode([array.reshape(-1) for array in arrays]).reshape(arrays[0].shape)

    def coordinates(self, index: Any) -> tuple[Integers, ...]:
        """Coordinates of indices in [0, 2**bits), one array per axis; padding lies beyond `shape`."""
        array = whole_array(index, "an index")
        if not within(array, 1 << self.bits):
            raise DomainError("an index is outside the padded domain", allowed="0 to 2**{bits} - 1", bits=self.bits)
        return tuple(axis.reshape(array.shape) for axis in self.plan.decode(array.reshape(-1)))

    def locate(self, columns: Mapping[str, Any]) -> tuple[Integers, Booleans]:
        """Indices of raw values, and which rows are inside; index 0 where a row is not.

        ``columns`` has one entry per attribute: a column, or a tuple of columns (latitude and longitude of
        a mesh, row and column of a grid).
        """
        return self._read(columns, clamp=False)

    def clamp(self, columns: Mapping[str, Any]) -> tuple[Integers, Booleans]:
        """Like `locate`, but numbers outside move to the nearest cell of their attribute's box."""
        return self._read(columns, clamp=True)

    def labels(self, index: Any) -> dict[str, NDArray[Any]]:
        """What a person reads for each cell, by attribute; refuses padding."""
        coordinates = self.coordinates(index)
        return {name: attribute.labels(*own) for name, attribute, own in self._by_attribute(coordinates)}

    def contains(self, index: Any) -> Booleans:
        """Whether indices are logical cells; False for padding, masked cells and what is out of range."""
        array = whole_array(index, "an index")
        flat = array.reshape(-1)
        if within(flat, 1 << self.bits):
            inside = np.ones(flat.size, dtype=np.bool_)
        else:
            inside = (flat >= 0) & (flat >> self.bits == 0)
        if self.size < 1 << self.bits:
            for start in range(0, flat.size, _CELLS_AT_ONCE):
                piece = slice(start, start + _CELLS_AT_ONCE)
                coordinates = self.plan.decode(np.where(inside[piece], flat[piece], 0))
                for _, attribute, own in self._by_attribute(coordinates):
                    inside[piece] &= attribute.allowed(*own)
        return np.asarray(inside.reshape(array.shape), dtype=bool)

    def cells(self, rank: Any) -> Integers:
        """Indices of the logical cells with these ranks in [0, size): row-major over the attributes.

        Each cell has one rank. Ranks do not follow the order of indices.
        """
        rest = whole_array(rank, "a rank")
        if not within(rest, self.size):
            raise DomainError("a rank is outside the domain", allowed="0 to {size}", size=self.size - 1)
        own_ranks = []
        for attribute in reversed(list(self.attributes.values())):
            before = rest // attribute.size
            own_ranks.append(rest - before * attribute.size)
            rest = before
        pairs = zip(self.attributes.values(), reversed(own_ranks), strict=True)
        return self.index(*(axis for attribute, own in pairs for axis in attribute.cell(own)))

    def block_sizes(self, block: Any, level: int) -> Integers:
        """Logical cells in blocks of 2**level neighbours in index order; 0 for a block outside.

        >>> from sudare.domain import Line
        >>> Domain(cell=Line(5)).block_sizes([0, 1, 2], level=2).tolist()
        [4, 1, 0]
        """
        level = min(whole_number(level, Message("the level of a block")), self.bits)
        blocks = whole_array(block, "a block")
        inside = (blocks >= 0) & (blocks >> (self.bits - level) == 0)
        coordinates = self.coordinates(np.where(inside, blocks, 0) << level)
        shifts = self.plan.shifts(level)
        prefixes = tuple(axis >> shift for axis, shift in zip(coordinates, shifts, strict=True))
        sizes = np.asarray(inside, dtype=np.int64)
        numbers = iter(shifts)
        for _, attribute, own in self._by_attribute(prefixes):
            sizes = sizes * attribute.block_counts([next(numbers) for _ in own], *own)
        return sizes

    def to_json(self) -> dict[str, Any]:
        """The declaration as plain JSON: attributes as a list, because their order counts, and the order."""
        return {
            "attributes": [{"name": name, **attribute.to_json()} for name, attribute in self.attributes.items()],
            "order": [list(group) for group in self.groups],
        }

    @classmethod
    def from_json(cls, data: Any) -> Self:
        if not isinstance(data, dict) or not isinstance(data.get("attributes"), list):
            raise DomainError("a domain is not a JSON object with a list of attributes")
        attributes = {}
        for entry in data["attributes"]:
            if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
                raise DomainError("an attribute of a domain has no name")
            arguments = {key: value for key, value in entry.items() if key != "name"}
            if entry["name"] in attributes:
                raise DomainError("an attribute is declared twice", value=entry["name"])
            if entry["name"] in ("order", "self"):
                raise DomainError("an attribute cannot have this name", value=entry["name"])
            attributes[entry["name"]] = attribute_from_json(arguments)
        return cls(data.get("order"), **attributes)

    def describe(self) -> PageMessage:
        """One line: the attributes, and how large the domain is; ``str()`` of it is English.

        >>> from sudare.domain import Categories, Grid
        >>> print(Domain(cell=Grid(512, 512), sex=Categories(["f", "m"])).describe())
        cell: grid of 512 x 512; sex: 2 categories (524,288 cells, 19 bits)
        """
        parts = [
            PageMessage("domain.attribute", name=name, attribute=attribute.describe())
            for name, attribute in self.attributes.items()
        ]
        joined = reduce(lambda first, then: PageMessage("domain.attributes", first=first, then=then), parts)
        return PageMessage("domain.size", attributes=joined, cells=self.size, bits=self.bits)

    def __repr__(self) -> str:
        parts = [f"{name}={attribute!r}" for name, attribute in self.attributes.items()]
        if self.groups != default_groups(self.attributes):
            parts.append(f"order={[group[0] if len(group) == 1 else group for group in self.groups]}")
        return f"Domain({', '.join(parts)})"

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Domain)
            and self.groups == other.groups
            and list(self.attributes.items()) == list(other.attributes.items())
        )

    def __hash__(self) -> int:
        return hash((self.groups, tuple(self.attributes.items())))

    def __reduce__(self) -> tuple[Any, ...]:
        # A read-only view of a dict cannot be pickled; workers get the declaration and build it again.
        return _rebuild, (self.groups, dict(self.attributes))

    def _read(self, columns: Mapping[str, Any], clamp: bool) -> tuple[Integers, Booleans]:
        for name in columns:
            if name not in self.attributes:
                raise DomainError(
                    "there is no such attribute",
                    value=name,
                    allowed=self.attributes,
                    hint=did_you_mean(name, self.attributes),
                )
        coordinates: list[Integers] = []
        insides: list[Booleans] = []
        for name, attribute in self.attributes.items():
            if name not in columns:
                raise DomainError("an attribute has no column", value=name)
            given = columns[name] if isinstance(columns[name], tuple) else (columns[name],)
            own, inside = attribute.clamp(*given) if clamp else attribute.locate(*given)
            coordinates += own
            insides.append(inside)
        same_length(insides, Message("the columns of a domain"))
        all_inside = np.logical_and.reduce(insides)
        return np.where(all_inside, self.index(*coordinates), 0), all_inside

    def _by_attribute(self, axes: Sequence[Integers]) -> list[tuple[str, Attribute, tuple[Integers, ...]]]:
        """Per-axis arrays dealt out to the attributes they belong to."""
        dealt, start = [], 0
        for name, attribute in self.attributes.items():
            stop = start + len(attribute.lengths)
            dealt.append((name, attribute, tuple(axes[start:stop])))
            start = stop
        return dealt


def _rebuild(groups: Groups, attributes: dict[str, Attribute]) -> Domain:
    return Domain(groups, **attributes)
