"""One level of the tree: the children of the nodes that were split, and what is known of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from sudare.arrays import Booleans, Floats, Integers, Numbers
from sudare.domain import Domain
from sudare.measure.simplex import pieces, project_rows
from sudare.noise import Blocks

_NOWHERE = -(2.0**60)
"""The value of a child without logical cells: no projection ever gives it anybody."""


def populated_levels(index: Integers, count: Integers, branching: Sequence[int]) -> list[tuple[Integers, Integers]]:
    """Populated blocks and their exact sums, for the children of each level from the top down.

    ``index`` and ``count`` are the populated cells below it, ascending. The sums are for `measure` only.
    """
    block, total = index, count
    levels = [(block, total)]
    for bits in branching[:0:-1]:
        block = block >> bits
        first = np.flatnonzero(np.diff(block, prepend=-1))
        block, total = block[first], np.add.reduceat(total, first) if len(first) else total
        levels.append((block, total))
    return levels[::-1]


@dataclass
class Level:
    """``node`` (P,) ascending, each with 2**``bits`` children; ``logical``, ``goes`` and ``noisy`` are (P, 2**bits).

    ``below`` is how many bits a child has below it. ``goes`` marks children that are split further, whose order is the
    order of the next level's nodes. All levels of a tree are in memory at once, so only what was measured is kept: the
    last ``noisy`` values (0 without logical cells) in the narrowest type, one ``variance`` of children that end here
    and one of those that go on, and of these, (2, nodes of the next level), what they are once ``joined`` with their
    own children, and its variance. ``expected`` is how many people each child is thought to have on the way down,
    unless this level is the last.
    """

    node: Integers
    bits: int
    below: int
    logical: Booleans
    goes: Booleans
    noisy: Numbers
    variance: tuple[float, float] = (0.0, 0.0)
    joined: Floats | None = None
    expected: Floats | None = None

    @classmethod
    def of(cls, domain: Domain, node: Integers, bits: int, below: int) -> Self:
        """The children of ``node``, of which nothing is known yet but which have logical cells."""
        shape = len(node), 1 << bits
        logical: Booleans = np.broadcast_to(np.ones(1, dtype=np.bool_), shape)
        if domain.size < 1 << domain.bits:
            children = (node[:, None] << bits) + np.arange(1 << bits)
            logical = domain.block_sizes(children.ravel(), below).reshape(shape) > 0
        return cls(node, bits, below, logical, np.zeros(shape, dtype=np.bool_), np.zeros(shape, dtype=np.int32))

    def numbers(self, which: Booleans) -> Integers:
        """The numbers of some children among all of their size, ascending."""
        place = np.flatnonzero(which)
        number: Integers = self.node.take(place >> self.bits)
        number <<= self.bits
        place &= (1 << self.bits) - 1
        number |= place
        return number

    def places(self, piece: slice, bits: int) -> Integers:
        """The last ``bits`` bits of the numbers of the children of some nodes."""
        return ((self.node[piece, None] << self.bits) + np.arange(1 << self.bits)) & ((1 << bits) - 1)

    def blocks(self, which: Booleans) -> Blocks:
        """Some children as the blocks of cells whose rows they count."""
        return Blocks(self.numbers(which), self.below)

    def all_blocks(self) -> Blocks:
        """All logical children."""
        if self.whole:
            return Blocks(self.node, self.bits + self.below, 1 << self.bits)
        return self.blocks(self.logical)

    def exact(self, block: Integers, total: Integers) -> Integers:
        """Exact sums of the children, from the populated ``block`` (ascending) and ``total`` of their level."""
        if len(self.node) and (self.node[-1] - self.node[0] + 1) << self.bits <= 2 * len(block):
            # Nearly all blocks from the first node to the last are populated: laid out side by side, nodes are rows.
            begin, end = self.node[0] << self.bits, (self.node[-1] + 1) << self.bits
            inside = slice(*np.searchsorted(block, [begin, end]))
            every = np.zeros(end - begin, dtype=np.int64)
            every[block[inside] - begin] = total[inside]
            sums: Integers = every.reshape(-1, 1 << self.bits)[self.node - self.node[0]]
            return sums
        sums = np.zeros(self.noisy.shape, dtype=np.int64)
        first = np.searchsorted(block, self.node << self.bits)
        length = np.searchsorted(block, (self.node + 1) << self.bits) - first
        before = np.cumsum(length) - length
        if length.sum() < len(block):
            source = np.arange(length.sum()) + np.repeat(first - before, length)
            block, total = block[source], total[source]
        place = block - np.repeat((self.node - np.arange(len(self.node))) << self.bits, length)
        sums.reshape(-1)[place] = total
        return sums

    @property
    def whole(self) -> bool:
        """Whether all children are logical, because the domain has no padding."""
        return self.logical.strides[0] == 0

    def learn(self, which: Booleans, noisy: Numbers, variance: float, *, ends: bool = False) -> None:
        """What is known of all logical children, or only of those that end here, in place of what was known before."""
        if len(noisy) and (noisy.dtype.kind == "f" or max(-int(noisy.min()), int(noisy.max())) >= 2**31):
            self.noisy = self.noisy.astype(np.promote_types(self.noisy.dtype, noisy.dtype), copy=False)
        if self.whole and not ends:
            self.noisy.reshape(-1)[...] = noisy
        else:
            self.noisy[which] = noisy
        self.variance = variance, self.variance[1] if ends else variance

    def learn_again(self, which: Booleans, noisy: Integers, variance: float, *, ends: bool = False) -> None:
        """A second measurement of the same, joined with the first."""
        weight = self.variance[0] / max(self.variance[0] + variance, 1e-300)
        first = self.noisy[which].astype(np.float64)
        self.learn(which, first + weight * (noisy - first), weight * variance, ends=ends)

    def rows(self, absent: float = _NOWHERE) -> Iterator[tuple[slice, Floats]]:
        """The best estimates, of some nodes at a time; ``absent`` for children without logical cells."""
        split = 0
        for piece in pieces(self.noisy):
            value = self.noisy[piece].astype(np.float64)
            if self.joined is not None:
                goes = np.flatnonzero(self.goes[piece])
                value.reshape(-1)[goes] = self.joined[0, split : split + len(goes)]
                split += len(goes)
            if not self.whole:
                value[~self.logical[piece]] = absent
            yield piece, value

    def project(self, people: Floats) -> Floats:
        """The people of each node (P,) divided among its children."""
        found = np.empty(self.noisy.shape)
        for piece, value in self.rows():
            found[piece] = project_rows(value, people[piece])
        return found

    def sums(self) -> tuple[Floats, Floats]:
        """The sum over each node's children and its variance."""
        total = np.empty(len(self.node))
        for piece, value in self.rows(0.0):
            value.sum(axis=1, out=total[piece])
        number = 1 << self.bits if self.whole else self.logical.sum(axis=1)
        spread = np.full(len(self.node), number * self.variance[0])
        goes = np.flatnonzero(self.goes) >> self.bits
        if len(goes):
            more = self.variance[1] if self.joined is None else self.joined[1]
            spread += np.bincount(goes, np.broadcast_to(more - self.variance[0], goes.shape), len(self.node))
        return total, spread

    def joined_root(self, value: float, variance: float) -> float:
        """The root's own measurement joined with the sum of its children's; of the top level only."""
        total, spread = (float(column[0]) for column in self.sums())
        return value + variance / max(variance + spread, 1e-300) * (total - value)

    def join_children(self, total: Floats, spread: Floats) -> None:
        """The children that are split, joined with the sums of their own children and the variances of these."""
        own, first = self.variance[1], self.noisy[self.goes].astype(np.float64)
        weight = own / np.maximum(own + spread, 1e-300)
        self.joined = np.array([first + weight * (total - first), weight * spread])
