"""A domain as a box with one axis for each attribute, and the sums of a table over it.

Masks belong to attributes, so that logical cells are all combinations of the attributes' logical values: numbered by
rank along each axis they fill a box, without padding and without holes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, combinations
from typing import Self

import numpy as np

from sudare.arrays import Floats, Integers
from sudare.domain import Domain
from sudare.domain.attribute import Attribute

Axes = tuple[int, ...]
"""Some axes of the box, ascending."""


@dataclass(frozen=True)
class Box:
    """The logical cells of a domain as a box of ``sizes``; ``names`` are those of the attributes."""

    domain: Domain

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Logical values of each attribute."""
        return tuple(attribute.size for attribute in self.domain.attributes.values())

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The attributes, in declared order."""
        return tuple(self.domain.attributes)

    def cells(self, axes: Axes) -> int:
        """Entries of the marginal over ``axes``."""
        return math.prod(self.sizes[axis] for axis in axes)

    def shape(self, axes: Axes) -> tuple[int, ...]:
        """Of the marginal over ``axes``."""
        return tuple(self.sizes[axis] for axis in axes)

    def title(self, axes: Axes) -> str:
        """The names joined, as in "age x sex"."""
        return " x ".join(self.names[axis] for axis in axes)

    def ranks(self, index: Integers) -> list[Integers]:
        """For each axis, where along it the cells of ``index`` lie."""
        coordinates = iter(self.domain.coordinates(index))
        own = [[next(coordinates) for _ in attribute.lengths] for attribute in self.domain.attributes.values()]
        return [_ranks(attribute, axes) for attribute, axes in zip(self.domain.attributes.values(), own, strict=True)]

    def sums(self, axes: Axes, ranks: Sequence[Integers], count: Integers) -> Integers:
        """The exact marginal over ``axes``, flat, of cells with these ranks: summed as whole numbers, so that one more
        person changes one sum by exactly one however large it is."""
        if not axes:
            return np.array([count.sum()], dtype=np.int64)
        key = np.ravel_multi_index([ranks[axis] for axis in axes], self.shape(axes))
        sums = np.zeros(self.cells(axes), dtype=np.int64)
        np.add.at(sums, key, count)
        return sums

    def subsets(self, most: int) -> list[Axes]:
        """All sets of up to ``most`` axes, the empty one first."""
        return list(subsets(range(len(self.sizes)), most))


def _ranks(attribute: Attribute, axes: Sequence[Integers]) -> Integers:
    key = np.ravel_multi_index(tuple(axes), attribute.lengths).astype(np.int64)
    if attribute.size == math.prod(attribute.lengths):
        return key
    listed = np.ravel_multi_index(attribute.cell(np.arange(attribute.size)), attribute.lengths)
    order = np.argsort(listed, kind="stable")
    return np.asarray(order[np.searchsorted(listed[order], key)])


def subsets(axes: Iterable[int], most: int | None = None) -> Iterable[Axes]:
    """All subsets of up to ``most`` elements, smaller ones first.

    >>> list(subsets((0, 2)))
    [(), (0,), (2,), (0, 2)]
    """
    every = tuple(axes)
    return chain.from_iterable(
        combinations(every, size) for size in range(min(len(every), len(every) if most is None else most) + 1)
    )


@dataclass(frozen=True)
class Summing:
    """Sums of a dense array over all but some axes, for many sets of axes at once, and the way back.

    Axis by axis from the first, an array is summed or kept, and what several sets begin with is computed once.
    """

    sets: tuple[Axes, ...]
    dimensions: int

    @classmethod
    def of(cls, sets: Iterable[Axes], dimensions: int) -> Self:
        """Sets that lie in another one may be left out: their sums follow from its."""
        return cls(tuple(sorted(set(sets))), dimensions)

    def marginals(self, array: Floats) -> dict[Axes, Floats]:
        """The sums over all but each set's axes, with lengths of 1 in place of what was summed."""
        found: dict[Axes, Floats] = {}
        self._down(array, self.sets, 0, found)
        return found

    def _down(self, array: Floats, sets: Sequence[Axes], axis: int, found: dict[Axes, Floats]) -> None:
        if axis == self.dimensions:
            found[sets[0]] = array
            return
        kept = [one for one in sets if axis in one]
        summed = [one for one in sets if axis not in one]
        if kept:
            self._down(array, kept, axis + 1, found)
        if summed:
            self._down(array.sum(axis=axis, keepdims=True), summed, axis + 1, found)

    def spread(self, parts: Mapping[Axes, Floats]) -> Floats:
        """The transpose: each part is added to every cell that it sums."""
        return self._up(parts, self.sets, 0)

    def _up(self, parts: Mapping[Axes, Floats], sets: Sequence[Axes], axis: int) -> Floats:
        if axis == self.dimensions:
            return parts[sets[0]]
        kept = [one for one in sets if axis in one]
        summed = [one for one in sets if axis not in one]
        if not kept:
            return self._up(parts, summed, axis + 1)
        if not summed:
            return self._up(parts, kept, axis + 1)
        return self._up(parts, kept, axis + 1) + self._up(parts, summed, axis + 1)
