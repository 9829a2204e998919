"""Which cells of an attribute's box may hold people: all of them, those of a public mask, or listed ones.

A region is what the size of an attribute, its enumeration and the number of cells in a block rest on. It is
declared, never read off private data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from math import prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sudare.arrays import Booleans, Integers
from sudare.domain.columns import whole_array
from sudare.errors import DomainError


@dataclass(frozen=True)
class Box:
    """Every cell of the box. What a region answers, all kinds alike:

    ``lengths`` of the box along each axis; ``size``, its cells; whether coordinates in the box are ``allowed``; the
    ``cell`` with a rank in [0, size), as coordinates; and ``block_counts``, its cells whose coordinates, shifted right
    by ``shifts``, equal ``prefixes``.

    >>> Box((5, 3)).block_counts((1, 1), np.array([0, 2]), np.array([0, 1])).tolist()
    [4, 1]
    """

    lengths: tuple[int, ...]

    @classmethod
    def over(cls, *ranges: tuple[int, int]) -> Box:
        return cls(tuple(end - begin for begin, end in ranges))

    @property
    def size(self) -> int:
        return prod(self.lengths)

    def allowed(self, *coordinates: Integers) -> Booleans:
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
    """The cells where a public boolean array is True; each of its entries stands for ``side`` cells along every axis.

    >>> region = MaskedBox(np.array([True, False, True, True]))
    >>> region.size, region.cell(np.array([1]))[0].tolist()
    (3, [2])
    """

    mask: Booleans = field(repr=False)
    side: int = 1

    def __post_init__(self) -> None:
        if not self.mask.any():
            raise DomainError("the mask leaves out every cell", allowed="a mask with at least one True")
        frozen = np.array(self.mask, dtype=bool)
        frozen.flags.writeable = False
        object.__setattr__(self, "mask", frozen)

    @property
    def lengths(self) -> tuple[int, ...]:
        return tuple(length * self.side for length in self.mask.shape)

    @cached_property
    def size(self) -> int:
        return int(np.count_nonzero(self.mask)) * int(self.side**self.mask.ndim)

    def allowed(self, *coordinates: Integers) -> Booleans:
        return np.asarray(self.mask[tuple(axis // self.side for axis in coordinates)], dtype=bool)

    def cell(self, rank: Integers) -> tuple[Integers, ...]:
        """Entry by entry in row-major order, and row-major inside each."""
        entry, inside = np.divmod(rank, self.side**self.mask.ndim)
        begin = Box(self.mask.shape).cell(self._positions[entry])
        within = Box((self.side,) * self.mask.ndim).cell(inside)
        return tuple(axis * self.side + own for axis, own in zip(begin, within, strict=True))

    def block_counts(self, shifts: Sequence[int], *prefixes: Integers) -> Integers:
        """By inclusion and exclusion over the corners of each block in the summed-area table."""
        ends = [
            _ends(prefix, shift, length) for length, shift, prefix in zip(self.lengths, shifts, prefixes, strict=True)
        ]
        counts = np.zeros(prefixes[0].shape, dtype=np.int64)
        for corner in product((0, 1), repeat=len(ends)):
            sign = -1 if (len(ends) - sum(corner)) % 2 else 1
            counts += sign * self._below([end[each] for end, each in zip(ends, corner, strict=True)])
        return counts

    def _below(self, ends: Sequence[Integers]) -> Integers:
        """Cells of the region before ``ends`` on every axis: linear along each axis between entries of the table."""
        if self.side == 1:
            return np.asarray(self._sums[tuple(ends)], dtype=np.int64)
        parts = [np.divmod(end, self.side) for end in ends]
        total = np.zeros(ends[0].shape, dtype=np.int64)
        for corner in product((0, 1), repeat=len(ends)):
            places, weight = [], np.ones_like(total)
            for (entry, rest), further, length in zip(parts, corner, self.mask.shape, strict=True):
                places.append(np.minimum(entry + further, length))
                weight *= rest if further else self.side - rest
            total += weight * self._sums[tuple(places)]
        return total

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MaskedBox) and self.side == other.side and np.array_equal(self.mask, other.mask)

    def __hash__(self) -> int:
        return hash((self.lengths, self.size))

    @cached_property
    def _positions(self) -> Integers:
        return np.flatnonzero(self.mask)

    @cached_property
    def _sums(self) -> NDArray[np.integer[Any]]:
        """Entry (i, j): how many entries are True below row i and left of column j; int32 where it fits."""
        kind = np.int32 if self.mask.size < 2**31 else np.int64
        sums: NDArray[np.integer[Any]] = np.zeros([length + 1 for length in self.mask.shape], dtype=kind)
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
        return (self.length,)

    @property
    def size(self) -> int:
        return int(self.positions.size)

    def allowed(self, *coordinates: Integers) -> Booleans:
        place = np.minimum(np.searchsorted(self.positions, coordinates[0]), self.size - 1)
        return np.asarray(self.positions[place] == coordinates[0])

    def cell(self, rank: Integers) -> tuple[Integers, ...]:
        return (self.positions[rank],)

    def block_counts(self, shifts: Sequence[int], *prefixes: Integers) -> Integers:
        """By looking up the ends of each block."""
        ends = [np.searchsorted(self.positions, (prefixes[0] + side) << shifts[0]) for side in (0, 1)]
        return np.asarray(ends[1] - ends[0], dtype=np.int64)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Listed) and np.array_equal(self.positions, other.positions)

    def __hash__(self) -> int:
        return hash((self.length, self.size))


Region: TypeAlias = Box | MaskedBox | Listed
"""A non-empty set of cells in a box."""


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
