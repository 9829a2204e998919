"""Which cells of an attribute's box may hold people: all of them, those of a public mask, or listed ones.

A region is what the size of an attribute, its enumeration and the number of cells in a block rest on. It is
declared, never read off private data. (A further kind, meshes under coarse codes, is in `mesh_region`.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from math import prod
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sudare.arrays import Booleans, Integers
from sudare.domain.columns import whole_array
from sudare.errors import DomainError


class Region(Protocol):
    """A non-empty set of cells in a box."""

    @property
    def lengths(self) -> tuple[int, ...]:
        """Cells of the box along each axis."""

    @property
    def size(self) -> int:
        """Cells of the region."""

    def allowed(self, *coordinates: Integers) -> Booleans:
        """Whether cells of the box belong to the region."""

    def cell(self, rank: Integers) -> tuple[Integers, ...]:
        """The coordinates of the cells with these ranks in [0, size)."""

    def block_counts(self, shifts: Sequence[int], *prefixes: Integers) -> Integers:
        """Cells of the region whose coordinates, shifted right by ``shifts``, equal ``prefixes``."""


@dataclass(frozen=True)
class Box:
    """Every cell of the box.

    >>> Box((5, 3)).block_counts((1, 1), np.array([0, 2]), np.array([0, 1])).tolist()
    [4, 1]
    """

    lengths: tuple[int, ...]

    @classmethod
    def over(cls, *ranges: tuple[int, int]) -> Box:
        """The box over half-open ranges, one for each axis."""
        return cls(tuple(end - begin for begin, end in ranges))

    @property
    def size(self) -> int:
        """Cells of the box."""
        return prod(self.lengths)

    def allowed(self, *coordinates: Integers) -> Booleans:
        """True everywhere."""
        return np.ones(coordinates[0].shape, dtype=bool)

    def cell(self, rank: Integers) -> tuple[Integers, ...]:
        """Row-major."""
        return tuple(np.asarray(axis, dtype=np.int64) for axis in np.unravel_index(rank, self.lengths))

    def block_counts(self, shifts: Sequence[int], *prefixes: Integers) -> Integers:
        """The product over the axes of what the block and the box share."""
        counts = np.ones(prefixes[0].shape, dtype=np.int64)
        for length, shift, prefix in zip(self.lengths, shifts, prefixes, strict=True):
            low, high = _ends(prefix, shift, length)
            counts *= high - low
        return counts


@dataclass(frozen=True, eq=False)
class MaskedBox:
    """The cells where a public boolean array is True.

    >>> region = MaskedBox(np.array([True, False, True, True]))
    >>> region.size, region.cell(np.array([1]))[0].tolist()
    (3, [2])
    """

    mask: Booleans = field(repr=False)

    def __post_init__(self) -> None:
        if not self.mask.any():
            raise DomainError("the mask leaves out every cell", allowed="a mask with at least one True")
        frozen = np.array(self.mask, dtype=bool)
        frozen.flags.writeable = False
        object.__setattr__(self, "mask", frozen)

    @property
    def lengths(self) -> tuple[int, ...]:
        """The shape of the mask."""
        return self.mask.shape

    @cached_property
    def size(self) -> int:
        """How many cells are True."""
        return int(np.count_nonzero(self.mask))

    def allowed(self, *coordinates: Integers) -> Booleans:
        """The mask at these coordinates."""
        return np.asarray(self.mask[coordinates], dtype=bool)

    def cell(self, rank: Integers) -> tuple[Integers, ...]:
        """Row-major among the cells that are True."""
        return Box(self.lengths).cell(self._positions[rank])

    def block_counts(self, shifts: Sequence[int], *prefixes: Integers) -> Integers:
        """By inclusion and exclusion over the corners of each block in the summed-area table."""
        ends = [
            _ends(prefix, shift, length) for length, shift, prefix in zip(self.lengths, shifts, prefixes, strict=True)
        ]
        counts = np.zeros(prefixes[0].shape, dtype=np.int64)
        for corner in product((0, 1), repeat=len(ends)):
            sign = -1 if (len(ends) - sum(corner)) % 2 else 1
            counts += sign * self._sums[tuple(end[side] for end, side in zip(ends, corner, strict=True))]
        return counts

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MaskedBox) and np.array_equal(self.mask, other.mask)

    def __hash__(self) -> int:
        return hash((self.lengths, self.size))

    @cached_property
    def _positions(self) -> Integers:
        return np.flatnonzero(self.mask)

    @cached_property
    def _sums(self) -> NDArray[np.integer[Any]]:
        """Entry (i, j): how many cells are True below row i and left of column j; int32 where it fits."""
        kind = np.int32 if self.mask.size < 2**31 else np.int64
        sums: NDArray[np.integer[Any]] = np.zeros([length + 1 for length in self.lengths], dtype=kind)
        inner = sums[(slice(1, None),) * self.mask.ndim]
        inner[...] = self.mask
        for axis in range(self.mask.ndim):
            np.cumsum(inner, axis=axis, out=inner)
        return sums


@dataclass(frozen=True, eq=False)
class Listed:
    """Listed positions of one axis: sorted and distinct.

    >>> region = Listed(9, np.array([1, 2, 8]))
    >>> region.size, region.block_counts((2,), np.array([0, 1, 2])).tolist()
    (3, [2, 0, 1])
    """

    length: int
    positions: Integers = field(repr=False)

    def __post_init__(self) -> None:
        if not self.positions.size:
            raise DomainError("the mask leaves out every cell", allowed="a mask with at least one True")
        self.positions.flags.writeable = False

    @property
    def lengths(self) -> tuple[int, ...]:
        """One axis."""
        return (self.length,)

    @property
    def size(self) -> int:
        """How many are listed."""
        return int(self.positions.size)

    def allowed(self, *coordinates: Integers) -> Booleans:
        """Whether positions are listed."""
        place = np.minimum(np.searchsorted(self.positions, coordinates[0]), self.size - 1)
        return np.asarray(self.positions[place] == coordinates[0])

    def cell(self, rank: Integers) -> tuple[Integers, ...]:
        """In their order."""
        return (self.positions[rank],)

    def block_counts(self, shifts: Sequence[int], *prefixes: Integers) -> Integers:
        """By looking up the ends of each block."""
        ends = [np.searchsorted(self.positions, (prefixes[0] + side) << shifts[0]) for side in (0, 1)]
        return np.asarray(ends[1] - ends[0], dtype=np.int64)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Listed) and np.array_equal(self.positions, other.positions)

    def __hash__(self) -> int:
        return hash((self.length, self.size))


def region_of(lengths: tuple[int, ...], mask: Any) -> Box | MaskedBox:
    """The region of a box with an optional public mask; a mask that is True everywhere is no mask."""
    if mask is None:
        return Box(lengths)
    array = np.asarray(mask)
    if array.dtype != np.bool_:
        raise DomainError("the mask is not boolean", value=array.dtype.name, allowed="True and False")
    if array.shape != lengths:
        raise DomainError("the mask has another shape than its attribute", value=array.shape, allowed=[lengths])
    return Box(lengths) if array.all() else MaskedBox(array)


def mask_to_runs(mask: Booleans) -> list[int]:
    """Run lengths of a mask in row-major order, beginning with a (possibly empty) run of False.

    >>> mask_to_runs(np.array([True, True, False, True]))
    [0, 2, 1, 1]
    """
    flat = mask.reshape(-1)
    ends = np.concatenate([np.flatnonzero(flat[1:] != flat[:-1]) + 1, [flat.size]])
    runs = np.diff(ends, prepend=0).tolist()
    return [0, *runs] if flat[0] else runs


def mask_from_runs(runs: Any, lengths: tuple[int, ...]) -> Booleans:
    """The inverse of `mask_to_runs`."""
    counts = whole_array(runs, "a run of the mask")
    if counts.ndim != 1 or (counts < 0).any() or int(counts.sum()) != prod(lengths):
        raise DomainError("the runs of the mask do not fill it", allowed="runs that add to {prod}", prod=prod(lengths))
    values = np.arange(counts.size) % 2 == 1
    return np.repeat(values, counts).reshape(lengths)


def _ends(prefix: Integers, shift: int, length: int) -> tuple[Integers, Integers]:
    """First cell of each block along an axis and the one after its last, both within [0, length]."""
    return np.clip(prefix << shift, 0, length), np.clip((prefix + 1) << shift, 0, length)
