"""Areas: named sets of cells of a domain, and sums over them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sudare.arrays import Integers, Numbers
from sudare.domain import Domain
from sudare.domain.columns import whole_array
from sudare.errors import ParameterError
from sudare.tables.pyramid import at_blocks

Blocks = tuple[Integers, Integers, NDArray[np.bool_]]


class Areas(Protocol):
    """What error bars need to know of areas."""

    @property
    def names(self) -> NDArray[Any]:
        """The name of each area."""

    @property
    def sizes(self) -> Integers:
        """Logical cells of each."""

    def sums(self, domain: Domain, index: Integers, value: Numbers) -> Numbers:
        """The sum over each, of cells ``index`` with ``value``."""

    def blocks(self, domain: Domain) -> Blocks:
        """The smallest block around each, its level, and whether the area is all of it."""


@dataclass(frozen=True)
class CellSet:
    """One area: a set of cells, by ascending index."""

    cells: Integers

    @classmethod
    def of(cls, domain: Domain, cells: Any) -> CellSet:
        """Cells of the domain in any order; naming one twice changes nothing."""
        index = np.unique(whole_array(np.atleast_1d(np.asarray(cells)).reshape(-1), "a cell", ParameterError))
        if not len(index):
            raise ParameterError("there are no cells to sum over", allowed="at least one cell")
        if not domain.contains(index).all():
            raise ParameterError("a cell is not in the domain", hint="Domain.index gives cells that are.")
        return cls(index)

    @property
    def names(self) -> NDArray[Any]:
        """Empty: a single area needs no name."""
        return np.array([""])

    @property
    def sizes(self) -> Integers:
        """How many cells."""
        return np.array([len(self.cells)])

    def sums(self, domain: Domain, index: Integers, value: Numbers) -> Numbers:  # noqa: ARG002 - as `Areas` says
        """Over the cells."""
        inside = at_blocks(index, self.cells, np.ones(len(self.cells), dtype=np.bool_), absent=False)
        return np.asarray(value[inside].sum(keepdims=True))

    def blocks(self, domain: Domain) -> Blocks:
        """Around the cells."""
        return _blocks(domain, self.cells[:1], self.cells[-1:], self.sizes)


@dataclass(frozen=True, eq=False)
class Layer:
    """Squares of ``side`` cells of one attribute, by ascending ``key`` of their place, and the area of each."""

    axes: tuple[int, ...]
    origin: tuple[int, ...]
    side: int
    key: Integers
    area: Integers

    def find(self, coordinates: Sequence[Integers]) -> Integers:
        """The area of each cell, given coordinates along every axis of the domain; -1 for none."""
        own = [(coordinates[axis] + start) // self.side for axis, start in zip(self.axes, self.origin, strict=True)]
        return np.asarray(at_blocks(place_key(own), self.key, self.area, absent=-1))


@dataclass(frozen=True, eq=False)
class Parts:
    """Areas made of places of one attribute, with everything in all other attributes.

    ``cells`` (areas,) counts the attribute's own cells; ``low`` and ``high`` (areas, axes) bound its coordinates.
    """

    names: NDArray[Any]
    layers: tuple[Layer, ...]
    cells: Integers
    low: Integers
    high: Integers
    others: int

    @property
    def sizes(self) -> Integers:
        """Logical cells of each area."""
        return self.cells * self.others

    def owner(self, coordinates: Sequence[Integers]) -> Integers:
        """The area of each cell, where areas do not overlap; -1 for none."""
        own = np.full(len(coordinates[0]), -1, dtype=np.int64)
        for layer in self.layers:
            own = np.maximum(own, layer.find(coordinates))
        return own

    def sums(self, domain: Domain, index: Integers, value: Numbers) -> Numbers:
        """Over each area; areas of different layers may overlap."""
        coordinates = domain.coordinates(index)
        sums = np.zeros(len(self.names), dtype=value.dtype)
        for layer in self.layers:
            area = layer.find(coordinates)
            np.add.at(sums, area[area >= 0], value[area >= 0])
        return sums

    def blocks(self, domain: Domain) -> Blocks:
        """Around each area: an index grows with every coordinate, so corners hold the first and the last cell."""
        ends = []
        for own, others in ((self.low, [0] * len(domain.shape)), (self.high, [n - 1 for n in domain.shape])):
            corner = [np.full(len(self.names), other, dtype=np.int64) for other in others]
            for position, axis in enumerate(self.layers[0].axes):
                corner[axis] = own[:, position]
            ends.append(domain.index(*corner))
        return _blocks(domain, ends[0], ends[1], self.sizes)


@dataclass(frozen=True, eq=False)
class Crossed:
    """Every combination of areas of several attributes, and one more for all other cells, named "".

    Within each of ``parts`` areas must not overlap. With one attribute the names are its own, with several they are
    joined by " / ". The last area is left out where the others cover the domain.
    """

    parts: tuple[Parts, ...]
    domain_size: int

    @property
    def names(self) -> NDArray[Any]:
        """Those of the combinations, the last attribute changing first."""
        names = [" / ".join(map(str, names)) for names in product(*(part.names for part in self.parts))]
        if len(self.parts) == 1:
            names = self.parts[0].names.tolist()
        return np.array([*names, ""][: len(self.sizes)], dtype=object)

    @property
    def sizes(self) -> Integers:
        """Logical cells of each."""
        own = np.ones(1, dtype=np.int64)
        free = self.domain_size
        for part in self.parts:
            own = np.multiply.outer(own, part.cells).reshape(-1)
            free = free * part.others // self.domain_size
        own = own * free
        rest = self.domain_size - int(own.sum())
        return np.append(own, rest) if rest else own

    def sums(self, domain: Domain, index: Integers, value: Numbers) -> Numbers:
        """Over each combination, and over what is in none."""
        coordinates = domain.coordinates(index)
        number, known = np.zeros(len(index), dtype=np.int64), np.ones(len(index), dtype=np.bool_)
        for part in self.parts:
            own = part.owner(coordinates)
            number = number * len(part.names) + own
            known &= own >= 0
        everything = int(np.prod([len(part.names) for part in self.parts]))
        sums = np.zeros(everything + 1, dtype=value.dtype)
        np.add.at(sums, np.where(known, number, everything), value)
        return sums[: len(self.sizes)]

    def blocks(self, domain: Domain) -> Blocks:
        """Of one attribute's areas those that are blocks; combinations and the rest count as no block."""
        number = len(self.sizes)
        block, level, whole = np.zeros(number, np.int64), np.zeros(number, np.int64), np.zeros(number, np.bool_)
        if len(self.parts) == 1:
            found = self.parts[0].blocks(domain)
            for column, own in zip((block, level, whole), found, strict=True):
                column[: len(own)] = own
        return block, level, whole


def place_key(position: Sequence[Integers]) -> Integers:
    """One number for a place on one or two axes."""
    return position[0] if len(position) == 1 else (position[0] << 31) + position[1]


def _blocks(domain: Domain, first: Integers, last: Integers, sizes: Integers) -> Blocks:
    """The smallest block that holds ``first`` and ``last``, and whether it has no more logical cells than that."""
    level = np.array([int(apart).bit_length() for apart in first ^ last], dtype=np.int64)
    block = first >> level
    held = np.zeros(len(first), dtype=np.int64)
    for number in np.unique(level).tolist():
        held[level == number] = domain.block_sizes(block[level == number], number)
    return block, level, held == sizes
