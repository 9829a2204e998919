"""Areas of a domain by mesh codes, categories or lists of cells: which cells they hold, and sums over them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sudare.domain import Domain, Mesh
from sudare.domain.attribute import Attribute
from sudare.domain.columns import whole_array
from sudare.domain.mesh import LEVELS, mesh_level
from sudare.domain.mesh_codes import read_codes
from sudare.errors import DomainError, ParameterError, did_you_mean
from sudare.tables.pyramid import Numbers, at_blocks

Integers = NDArray[np.int64]
_STRIDE = 1 << 31


class Areas(Protocol):
    """Named sets of cells."""

    @property
    def names(self) -> NDArray[Any]:
        """One name each."""

    @property
    def sizes(self) -> Integers:
        """Logical cells of each."""

    def sums(self, domain: Domain, index: Integers, value: Numbers) -> Numbers:
        """The sum over each, of cells ``index`` with ``value``."""

    def blocks(self, domain: Domain) -> tuple[Integers, Integers, NDArray[np.bool_]]:
        """The smallest block around each and its level, and whether the area is all of it."""


@dataclass(frozen=True)
class CellSet:
    """One area: a set of cell indices."""

    cells: Integers

    @classmethod
    def of(cls, domain: Domain, cells: Any) -> CellSet:
        """Cells of the domain, each once, in any order."""
        index = np.unique(whole_array(np.atleast_1d(np.asarray(cells)).reshape(-1), "a cell", ParameterError))
        if not len(index):
            raise ParameterError("there are no cells to sum over", allowed="at least one cell")
        if not domain.contains(index).all():
            raise ParameterError("a cell is not in the domain", hint="Domain.index gives cells that are.")
        return cls(index)

    @property
    def names(self) -> NDArray[Any]:
        """No name."""
        return np.array([""])

    @property
    def sizes(self) -> Integers:
        """How many cells."""
        return np.array([len(self.cells)])

    def sums(self, domain: Domain, index: Integers, value: Numbers) -> Numbers:  # noqa: ARG002 - as `Areas` says
        """Over the cells."""
        inside = at_blocks(index, self.cells, np.ones(len(self.cells), dtype=np.bool_), absent=False)
        return value[inside].sum(keepdims=True)

    def blocks(self, domain: Domain) -> tuple[Integers, Integers, NDArray[np.bool_]]:
        """Around the cells."""
        return _blocks(domain, self.cells[:1], self.cells[-1:], self.sizes)


@dataclass(frozen=True, eq=False)
class Layer:
    """Places of one attribute at one resolution: squares of ``side`` cells, by ascending ``key``, and their area."""

    axes: tuple[int, ...]
    origin: tuple[int, ...]
    side: int
    key: Integers
    area: Integers

    def find(self, coordinates: Sequence[Integers]) -> Integers:
        """The area of each cell, -1 for none."""
        places = [
            (coordinates[axis] + start) // self.side for axis, start in zip(self.axes, self.origin, strict=True)
        ]
        return at_blocks(_key(places), self.key, self.area, absent=-1)


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

    def sums(self, domain: Domain, index: Integers, value: Numbers) -> Numbers:
        """Over each area; areas of one layer do not overlap, those of different layers may."""
        coordinates = domain.coordinates(index)
        sums = np.zeros(len(self.names), dtype=value.dtype)
        for layer in self.layers:
            area = layer.find(coordinates)
            np.add.at(sums, area[area >= 0], value[area >= 0])
        return sums

    def blocks(self, domain: Domain) -> tuple[Integers, Integers, NDArray[np.bool_]]:
        """Around each area: indices grow with every coordinate, so its corners hold its first and last cell."""
        axes = self.layers[0].axes
        ends = []
        for own, others in ((self.low, [0] * len(domain.shape)), (self.high, [n - 1 for n in domain.shape])):
            corner = [np.full(len(self.names), other, dtype=np.int64) for other in others]
            for position, axis in enumerate(axes):
                corner[axis] = own[:, position]
            ends.append(domain.index(*corner))
        return _blocks(domain, ends[0], ends[1], self.sizes)


def by_codes(domain: Domain, codes: Any) -> Parts:
    """One area per mesh code, of the domain's mesh or coarser; the domain must have one mesh."""
    meshes = [name for name, attribute in domain.attributes.items() if isinstance(attribute, Mesh)]
    if len(meshes) != 1:
        raise ParameterError(
            "codes need a domain with one mesh", value=len(meshes), hint="Name the attribute: aggregate({name: {...}})."
        )
    listed = [codes] if isinstance(codes, str | int | np.generic) else list(codes)
    return by_places(domain, meshes[0], listed, np.arange(len(listed)), np.array(listed, dtype=object))


def by_places(domain: Domain, name: str, places: Sequence[Any], area: Integers, names: NDArray[Any]) -> Parts:
    """Areas ``names`` that hold the ``places`` (codes, categories) of attribute ``name``, by number ``area``."""
    attribute = domain.attributes[name]
    axes = tuple(number for number, axis in enumerate(domain.axes) if axis.name == name)
    squares = _squares(attribute, places)
    layers: list[Layer] = []
    cells = np.zeros(len(names), dtype=np.int64)
    low = np.full((len(names), len(axes)), np.iinfo(np.int64).max)
    high = np.full((len(names), len(axes)), -1)
    for side, origin, which, position in squares:
        own = area[which]
        begin = [np.maximum(axis * side - start, 0) for axis, start in zip(position, origin, strict=True)]
        end = [
            np.minimum((axis + 1) * side - start, length)
            for axis, start, length in zip(position, origin, attribute.lengths, strict=True)
        ]
        number = _logical_cells(attribute, begin, end)
        if not number.all():
            raise DomainError(
                "a code is not in the domain", value=places[int(which[np.argmin(number > 0)])], allowed=name
            )
        key, first = np.unique(_key(position), return_index=True)
        for repeat in _once(_key(position), key, first):
            layers.append(Layer(axes, origin, side, *_sorted(_key(position)[repeat], own[repeat])))
        np.add.at(cells, own, number)
        for axis in range(len(axes)):
            np.minimum.at(low[:, axis], own, begin[axis])
            np.maximum.at(high[:, axis], own, end[axis] - 1)
    return Parts(names, tuple(layers), cells, low, high, domain.size // attribute.size)


def attribute_for(domain: Domain, name: str | None = None) -> str:
    """The attribute that a mapping without a name is about: the only mesh, or the only attribute."""
    if name is not None:
        if name not in domain.attributes:
            raise ParameterError(
                "there is no such attribute", value=name, hint=did_you_mean(str(name), domain.attributes)
            )
        return name
    meshes = [own for own, attribute in domain.attributes.items() if isinstance(attribute, Mesh)]
    candidates = meshes or list(domain.attributes)
    if len(candidates) != 1:
        raise ParameterError(
            "a mapping does not say which attribute it is about",
            allowed=f"{{attribute: mapping}} for one of {', '.join(domain.attributes)}",
        )
    return candidates[0]
