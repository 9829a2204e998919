"""One level of the tree: the children of the nodes that were split, and what is known of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from sudare.arrays import Booleans, Floats, Integers
from sudare.domain import Domain
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
    """``node`` (P,) ascending, each with ``children`` (P, 2**bits), and so are all other arrays.

    ``below`` is how many bits a child has below it. ``value`` is the best estimate so far with ``variance``;
    ``goes`` marks children that are split further, whose order is the order of the next level's nodes; ``expected`` is
    how many people each is thought to have on the way down, unless this level is the last.
    """

    node: Integers
    below: int
    value: Floats
    variance: Floats
    goes: Booleans
    logical: Booleans
    expected: Floats

    @classmethod
    def of(cls, domain: Domain, node: Integers, bits: int, below: int) -> Self:
        """The children of ``node``, of which nothing is known yet but which have logical cells."""
        children = (node[:, None] << bits) + np.arange(1 << bits)
        logical = np.ones(children.shape, dtype=np.bool_)
        if domain.size < 1 << domain.bits:
            logical = domain.block_sizes(children.ravel(), below).reshape(children.shape) > 0
        value = np.full(children.shape, _NOWHERE)
        variance, expected = np.zeros(children.shape), np.zeros(children.shape)
        return cls(node, below, value, variance, np.zeros_like(logical), logical, expected)

    @property
    def children(self) -> Integers:
        """Their numbers: made anew, since all levels of a tree are in memory at once."""
        width = self.value.shape[1]
        children: Integers = (self.node * width)[:, None] + np.arange(width)
        return children

    def passed(self) -> Self:
        """Without what only the way down needs."""
        self.expected = np.empty((0, 0))
        return self

    def blocks(self, which: Booleans) -> Blocks:
        """Some children as the blocks of cells whose rows they count."""
        return Blocks(self.children[which], self.below)

    def exact(self, block: Integers, total: Integers) -> Integers:
        """Exact sums of the children, from the populated ``block`` (ascending) and ``total`` of their level."""
        sums = np.zeros(self.value.shape, dtype=np.int64)
        width = self.value.shape[1]
        first = np.searchsorted(block, self.node * width)
        length = np.searchsorted(block, (self.node + 1) * width) - first
        before = np.cumsum(length) - length
        source = np.arange(length.sum()) + np.repeat(first - before, length)
        place = block[source] - np.repeat((self.node - np.arange(len(self.node))) * width, length)
        sums.reshape(-1)[place] = total[source]
        return sums

    def learn(self, which: Booleans, noisy: Integers, variance: float) -> None:
        """All that is known of some children: a first measurement, or one that takes its place."""
        self.value[which] = noisy
        self.variance[which] = variance

    def learn_again(self, which: Booleans, noisy: Integers, variance: float) -> None:
        """A second measurement of some children, joined with the first."""
        first = self.variance[which]
        weight = first / np.maximum(first + variance, 1e-300)
        self.value[which] += weight * (noisy - self.value[which])
        self.variance[which] = weight * variance

    def sums(self) -> tuple[Floats, Floats]:
        """The sum over each node's children and its variance."""
        return np.where(self.logical, self.value, 0.0).sum(axis=1), self.variance.sum(axis=1)

    def joined_root(self, value: float, variance: float) -> float:
        """The root's own measurement joined with the sum of its children's; of the top level only."""
        total, spread = (float(column[0]) for column in self.sums())
        return value + variance / max(variance + spread, 1e-300) * (total - value)

    def join_children(self, total: Floats, spread: Floats) -> None:
        """The children that are split, joined with the sums of their own children and the variances of these."""
        own = self.variance[self.goes]
        weight = own / np.maximum(own + spread, 1e-300)
        self.value[self.goes] += weight * (total - self.value[self.goes])
        self.variance[self.goes] = weight * spread
