"""Morton order: the order of attributes from root to leaf, and where the bits of each axis go in an index.

A bit plan lists, from the most significant bit of the index to the least, the axis that the bit belongs to;
the bits of one axis keep their own order. Moving bits is a gather from tables of at most 4,096 entries (12
bits of input each, so that a table stays in the first-level cache) and never a loop over bits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from sudare.arrays import Integers
from sudare.domain.attribute import Attribute
from sudare.errors import DomainError, did_you_mean

Groups: TypeAlias = tuple[tuple[str, ...], ...]
"""Names root to leaf; the axes of one group interleave."""


def default_groups(attributes: Mapping[str, Attribute]) -> Groups:
    """All spatial attributes as one group, then every other one by itself, in declared order."""
    spatial = tuple(name for name, attribute in attributes.items() if attribute.spatial)
    others = tuple((name,) for name, attribute in attributes.items() if not attribute.spatial)
    return ((spatial,) if spatial else ()) + others


def groups_of(order: Any, attributes: Mapping[str, Attribute]) -> Groups:
    """The groups that ``order`` lists: names or tuples of names, each attribute once.

    >>> from sudare.domain import Line
    >>> groups_of(["sex", ("age", "cell")], {"cell": Line(4), "sex": Line(2), "age": Line(3)})
    (('sex',), ('age', 'cell'))
    """
    if order is None:
        return default_groups(attributes)
    if isinstance(order, str) or not isinstance(order, list | tuple):
        raise DomainError(
            "the order is not a list of names",
            value=order if isinstance(order, str) else type(order).__name__,
            hint='Write order=["sex", ("row", "column")] and give attributes by name.',
        )
    groups = tuple((item,) if isinstance(item, str) else _group(item) for item in order)
    seen: set[str] = set()
    for name in (name for group in groups for name in group):
        if name not in attributes:
            raise DomainError(
                "the order names an attribute that does not exist",
                value=name,
                allowed=attributes,
                hint=did_you_mean(str(name), attributes),
            )
        if name in seen:
            raise DomainError("the order names an attribute twice", value=name)
        seen.add(name)
    missing = [name for name in attributes if name not in seen]
    if missing:
        raise DomainError("the order leaves attributes out", value=missing, allowed="every attribute once")
    return groups


def _group(item: Any) -> tuple[str, ...]:
    if not isinstance(item, list | tuple) or not item or not all(isinstance(name, str) for name in item):
        raise DomainError("an item of the order is not a name or a tuple of names", value=item)
    return tuple(item)


CHUNK_BITS = 12
_ELEMENTS_AT_ONCE = 1 << 16
"""Arrays are worked through in pieces whose scratch arrays stay in the second-level cache."""


def interleave(groups: Sequence[Sequence[int]], widths: Sequence[int]) -> tuple[int, ...]:
    """The axis of each index bit, most significant first.

    ``groups`` lists axes root to leaf; the axes of one group interleave from their most significant bits,
    so that a longer axis gives its extra bits first. ``widths`` is the number of bits of each axis.

    >>> interleave([[0, 1], [2]], widths=[3, 2, 1])
    (0, 0, 1, 0, 1, 2)
    """
    order: list[int] = []
    for group in groups:
        for level in reversed(range(max((widths[axis] for axis in group), default=0))):
            order += [axis for axis in group if widths[axis] > level]
    return tuple(order)


@dataclass(frozen=True)
class BitPlan:
    """The order of an index's bits: ``order[k]`` is the axis of bit k, counted from the most significant.

    ``axes`` is the number of axes; one that ``order`` never names has the single coordinate 0.

    >>> plan = BitPlan(interleave([[0, 1]], widths=[2, 2]), axes=2)
    >>> plan.encode([np.array([0, 1, 1, 2]), np.array([1, 0, 1, 0])]).tolist()
    [1, 2, 3, 8]
    """

    order: tuple[int, ...]
    axes: int

    @property
    def bits(self) -> int:
        return len(self.order)

    @cached_property
    def widths(self) -> tuple[int, ...]:
        return tuple(self.order.count(axis) for axis in range(self.axes))

    def shifts(self, level: int) -> tuple[int, ...]:
        """How many low bits of each axis a block of 2**level neighbouring indices spans."""
        last = self.order[max(0, self.bits - level) :]
        return tuple(last.count(axis) for axis in range(self.axes))

    def encode(self, coordinates: Sequence[Integers]) -> Integers:
        """Indices of flat coordinate arrays, one per axis, all of one length and within their widths."""
        index = np.zeros(len(coordinates[0]), dtype=np.int64)
        scratch = _scratch(index.size)
        for start in range(0, index.size, _ELEMENTS_AT_ONCE):
            piece = slice(start, start + _ELEMENTS_AT_ONCE)
            for axis, tables in enumerate(self._encoding):
                _scatter(coordinates[axis][piece], tables, index[piece], scratch)
        return index

    def decode(self, index: Integers) -> tuple[Integers, ...]:
        """Coordinates of a flat array of indices in [0, 2**bits), one array per axis."""
        coordinates = tuple(np.zeros(index.size, dtype=np.int64) for _ in range(self.axes))
        scratch = _scratch(index.size)
        side_by_side = np.zeros(min(index.size, _ELEMENTS_AT_ONCE), dtype=np.int64)
        for start in range(0, index.size, _ELEMENTS_AT_ONCE):
            piece = slice(start, start + _ELEMENTS_AT_ONCE)
            packed = side_by_side[: index[piece].size]
            packed[:] = 0
            _scatter(index[piece], self._decoding, packed, scratch)
            for axis, width in enumerate(self.widths):
                out = coordinates[axis][piece]
                np.right_shift(packed, self._offsets[axis], out=out)
                np.bitwise_and(out, (1 << width) - 1, out=out)
        return coordinates

    @cached_property
    def _places(self) -> tuple[tuple[int, ...], ...]:
        """Per axis, the index bit of each of its bits, least significant first."""
        places: list[list[int]] = [[] for _ in range(self.axes)]
        for place, axis in enumerate(reversed(self.order)):
            places[axis].append(place)
        return tuple(map(tuple, places))

    @cached_property
    def _offsets(self) -> tuple[int, ...]:
        """Where each axis begins when the coordinates are written side by side in one word."""
        return tuple(sum(self.widths[:axis]) for axis in range(self.axes))

    @cached_property
    def _encoding(self) -> tuple[tuple[Integers, ...], ...]:
        return tuple(_tables(places) for places in self._places)

    @cached_property
    def _decoding(self) -> tuple[Integers, ...]:
        # All axes come out of one gather per chunk of the index: their bits fit side by side in one word.
        targets = [0] * self.bits
        for axis, places in enumerate(self._places):
            for bit, place in enumerate(places):
                targets[place] = self._offsets[axis] + bit
        return _tables(targets)


def _tables(targets: Sequence[int]) -> tuple[Integers, ...]:
    """Tables that send bit k of a word to bit ``targets[k]``: one per chunk of the word."""
    tables = []
    for start in range(0, len(targets), CHUNK_BITS):
        chunk = targets[start : start + CHUNK_BITS]
        values = np.arange(1 << len(chunk), dtype=np.int64)
        table = np.zeros_like(values)
        for bit, target in enumerate(chunk):
            table |= ((values >> bit) & 1) << target
        table.flags.writeable = False
        tables.append(table)
    return tuple(tables)


def _scratch(elements: int) -> tuple[Integers, Integers]:
    """Two work arrays of one piece each."""
    length = min(elements, _ELEMENTS_AT_ONCE)
    return np.empty(length, dtype=np.int64), np.empty(length, dtype=np.int64)


def _scatter(words: Integers, tables: Sequence[Integers], out: Integers, scratch: tuple[Integers, Integers]) -> None:
    """Moves the bits of ``words`` as ``tables`` say and adds them to ``out``."""
    chunk, moved = (work[: words.size] for work in scratch)
    for position, table in enumerate(tables):
        source = words
        if position:
            source = np.right_shift(words, position * CHUNK_BITS, out=chunk)
        if position + 1 < len(tables):
            source = np.bitwise_and(source, (1 << CHUNK_BITS) - 1, out=chunk)
        # All words are in range: mode "clip" spares NumPy the check of each.
        np.take(table, source, out=moved, mode="clip")
        np.bitwise_or(out, moved, out=out)
