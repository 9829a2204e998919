"""Walking down the binary tree of a sparse table, at a cost in proportion to the nodes that are visited.

Two lists are kept. The *visited* nodes are those with a refined sum above 0; they come from noisy values alone. The
*populated* ones among them have people in truth: `Leaves` keeps their exact sums, which are used in `measure` only.
Nothing is ever searched or sorted twice, because the paths of two neighbouring leaves separate at exactly one level:
these m - 1 separations, grouped by level, are the whole sparse tree.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from sudare.arrays import Integers
from sudare.domain import Domain
from sudare.tables.haar import left_halves

AT_ONCE = 1 << 15
"""Nodes refined at once: their scratch arrays stay in the second-level cache."""


@dataclass(frozen=True)
class Populated:
    """Populated nodes of one level, ascending: their ``place`` among the visited, first leaf and true sum."""

    place: Integers
    first: Integers
    total: Integers

    def at(self, place: Integers) -> Self:
        """The same nodes at other places; those at place -1 are left behind."""
        kept = np.flatnonzero(place >= 0)
        return type(self)(place[kept], self.first[kept], self.total[kept])


class Leaves:
    """The populated cells of a table, ready to be summed over any node of its tree.

    ``index`` (m,) ascends strictly, ``count`` (m,) > 0, both int64; indices have ``bits`` bits.
    """

    def __init__(self, index: Integers, count: Integers, bits: int) -> None:
        self._index = index
        self._before = np.zeros(len(index) + 1, dtype=np.int64)
        np.cumsum(count, out=self._before[1:])
        apart = index[1:] ^ index[:-1]
        apart &= ~(apart >> 1)  # the second-highest bit is 0: a double cannot round up to the next power of two
        level = np.frexp(apart)[1].astype(np.uint8)
        self._partings = np.argsort(level, kind="stable") + 1  # of bytes: a radix sort
        self._ends = np.cumsum(np.bincount(level, minlength=bits + 1))

    def under(self, node: Integers, level: int) -> Populated:
        """The populated ones among ``node``, ascending numbers of nodes of ``level``; other leaves are left out."""
        own = self._index >> level
        first = np.flatnonzero(np.diff(own, prepend=-1))
        total = np.diff(self._before.take(np.append(first, len(own)))) if len(first) else first
        if not len(node):
            return Populated(first[:0], first[:0], first[:0])
        place = np.minimum(np.searchsorted(node, own.take(first)), len(node) - 1)
        return Populated(place, first, total).at(np.where(node.take(place) == own.take(first), place, -1))

    def halve(self, nodes: Populated, level: int) -> tuple[Integers, Populated]:
        """Exact differences (left minus right half) of populated nodes of ``level``, and their populated halves.

        The half of a node at place p has the place 2p on the left and 2p + 1 on the right.
        """
        side = self._index.take(nodes.first)
        side >>= level - 1
        side &= 1
        parent, right_first = self._parted(nodes, level)
        left = self._before.take(right_first) - self._before.take(nodes.first.take(parent))
        right = nodes.total.take(parent) - left

        side[parent] = 0  # of a node with two populated halves, this row becomes the left one
        total = nodes.total.copy()
        total[parent] = left
        place = 2 * nodes.place
        place += side
        side *= -2
        side += 1
        side *= total
        difference = side
        difference[parent] -= right
        halves = _insert(parent, (place, place.take(parent) + 1), (nodes.first, right_first), (total, right))
        return difference, Populated(*halves)

    def _parted(self, nodes: Populated, level: int) -> tuple[Integers, Integers]:
        """Rows of the nodes with two populated halves, and the first leaf of each one's right half."""
        parting = self._partings[self._ends[level - 1] : self._ends[level]]
        if not len(nodes.first):
            return parting[:0], parting[:0]
        row = np.searchsorted(nodes.first, parting, side="right") - 1
        np.maximum(row, 0, out=row)
        # A parting below a node that was pruned finds a visited neighbour: they differ above this level.
        apart = self._index.take(parting) ^ self._index.take(nodes.first.take(row))
        visited = np.flatnonzero(apart >> level == 0)
        return row[visited], parting[visited]


def _insert(after: Integers, *columns: tuple[Integers, Integers]) -> list[Integers]:
    """Each column with new entries behind the rows ``after``, ascending."""
    if not len(after):
        return [old for old, _ in columns]
    fresh = np.zeros(len(columns[0][0]) + len(after), dtype=np.bool_)
    fresh[after + np.arange(1, len(after) + 1)] = True
    new_rows, old_rows = np.flatnonzero(fresh), np.flatnonzero(~fresh)
    inserted = []
    for old, new in columns:
        column = np.empty(len(fresh), dtype=np.int64)
        column[old_rows] = old
        column[new_rows] = new
        inserted.append(column)
    return inserted


@dataclass(frozen=True)
class Visited:
    """Nodes of one level with a refined sum above 0: numbers ``node``, ascending, and ``total``."""

    node: Integers
    total: Integers

    def halve(self, noisy: Integers, generator: np.random.Generator, places: Integers) -> tuple[Visited, Integers]:
        """The halves with a sum above 0 after a split by ``noisy`` differences, one per node.

        ``places`` are some halves by twice their node's place (plus 1 on the right), ascending; returned is
        where each one now stands, or -1 if its sum is 0.
        """
        most = len(self.node)
        node, total = np.empty(2 * most, dtype=np.int64), np.empty(2 * most, dtype=np.int64)
        standing = np.empty(len(places), dtype=np.int64)
        cuts = np.searchsorted(places, np.arange(0, 2 * (most + AT_ONCE), 2 * AT_ONCE))
        scratch = np.empty(min(most, AT_ONCE), dtype=np.int64)
        both = np.empty((min(most, AT_ONCE), 2), dtype=np.int64)
        count = 0
        for number, start in enumerate(range(0, most, AT_ONCE)):
            sums = self.total[start : start + AT_ONCE]
            tossed = coins(generator, len(sums))
            left = left_halves(sums, noisy[start : start + AT_ONCE], tossed, out=scratch[: len(sums)])
            halves = both[: len(sums)]
            halves[:, 0] = left
            np.subtract(sums, left, out=halves[:, 1])
            flat = halves.reshape(-1)
            stays = flat != 0
            kept = np.flatnonzero(stays)  # of booleans: several times faster than of integers
            new = slice(count, count + len(kept))
            # All positions are in range: mode "clip" spares NumPy the check of each.
            flat.take(kept, out=total[new], mode="clip")
            asked = slice(cuts[number], cuts[number + 1])
            if asked.start < asked.stop:
                own = places[asked] - 2 * start
                standing[asked] = np.where(stays.take(own), np.cumsum(stays).take(own) + (count - 1), -1)
            child = node[new]
            self.node[start : start + AT_ONCE].take(kept >> 1, out=child, mode="clip")
            child <<= 1
            kept &= 1
            child |= kept
            count += len(kept)
        return Visited(node[:count], total[:count]), standing


def coins(generator: np.random.Generator, size: int) -> NDArray[np.uint8]:
    """``size`` fair coins, 0 or 1."""
    return np.unpackbits(np.frombuffer(generator.bytes((size + 7) // 8), dtype=np.uint8), count=size)


def lone_halves(domain: Domain, node: Integers, level: int) -> NDArray[np.int8] | None:
    """Which nodes of ``level`` have one half without logical cells: 1 if it is the right, -1 if the left, else 0.

    None where padding and masks cannot matter at this level. Halving a node halves one axis of one attribute, so
    only that attribute is examined.

    >>> from sudare.domain import Line
    >>> lone_halves(Domain(cell=Line(5)), np.array([0, 1]), level=2).tolist()
    [0, 1]
    """
    halved = domain.plan.order[domain.bits - level]
    name = domain.axes[halved].name
    own = [axis for axis, other in enumerate(domain.axes) if other.name == name]
    attribute = domain.attributes[name]
    if attribute.size == 1 << sum(domain.plan.widths[axis] for axis in own):
        return None
    shifts = domain.plan.shifts(level - 1)
    own_shifts = [shifts[axis] for axis in own]
    lone = np.empty(len(node), dtype=np.int8)
    for start in range(0, len(node), AT_ONCE):
        piece = slice(start, start + AT_ONCE)
        corner = domain.plan.decode(node[piece] << level)
        left = [corner[axis] >> shifts[axis] for axis in own]
        right = [prefix + (axis == halved) for axis, prefix in zip(own, left, strict=True)]
        np.subtract(
            attribute.block_counts(own_shifts, *right) == 0,
            attribute.block_counts(own_shifts, *left) == 0,
            out=lone[piece],
            dtype=np.int8,
        )
    return lone
