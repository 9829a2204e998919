"""Noisy cells in a cluster: drawn by blocks, empty cells too, and only above the lowest level that is asked for.

Workers draw the noise of their block and keep what is above a level; these cells are held where they are. Looking
further down draws the same numbers again and extends them by their conditional law: no cell ever has two noises.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from sudare.arrays import Integers
from sudare.domain import Domain
from sudare.noise import Added, Grant, Sparse, measure, metered
from sudare.noise.discrete import added
from sudare.noise.sparse import DENSE_LIMIT
from sudare.privacy import Budget
from sudare.spark.store import CellStore, Jobs, slices
from sudare.tables.spark_histogram import ValueCounts
from sudare.tables.spark_task import Cut

if TYPE_CHECKING:
    import pyarrow as pa

_MOST_BLOCK_BITS = 12


@dataclass(frozen=True)
class LogicalBlocks:
    """The blocks of 2**level cells that have logical ones."""

    domain: Domain
    level: int
    node: Integers

    @classmethod
    def of(cls, domain: Domain, cut: Cut) -> LogicalBlocks:
        """As many as the cut asks for, at most 2**12, so that an empty domain does not take long."""
        level = min(cut.subtree_bits, max(0, domain.bits - cut.fewest_bits))
        level = max(level, domain.bits - _MOST_BLOCK_BITS)
        node = np.arange(1 << (domain.bits - level), dtype=np.int64)
        return cls(domain, level, node[domain.block_sizes(node, level) > 0])

    def jobs(self) -> Jobs:
        """A part for each block."""
        return Jobs(self.level, np.arange(len(self.node)), self.node)

    def sparse(self, node: int, index: Integers, count: Integers) -> Sparse:
        """One block's cells as a sparse vector over its logical ones."""
        size = int(self.domain.block_sizes([node], self.level)[0])
        if size == 1 << self.level:
            return Sparse(index, count, size, lambda rank: rank + (node << self.level))
        return Sparse(index, count, size, lambda rank: self.cell(node, rank))

    def cell(self, node: int, rank: Integers) -> Integers:
        """The logical cells of a block by their rank in index order."""
        place, rest = np.full(len(rank), node, dtype=np.int64), rank.astype(np.int64)
        for level in range(self.level - 1, -1, -1):
            place = place << 1
            left = self.domain.block_sizes(place, level)
            right = rest >= left
            place, rest = place + right, rest - np.where(right, left, 0)
        return place


@dataclass(frozen=True)
class NoisyCells:
    """The kernel that measures blocks: cells whose noisy value is above the last of ``levels``.

    Sensitivity: blocks have disjoint cells, and a unit with at most max_rows rows moves all cells of all blocks
    together by at most max_rows in L1, and in L2; every cell gets noise for all of it, so all blocks cost the budget
    once. Levels only fall. Each attempt goes through all of them, so that what was drawn for one is drawn again and
    then extended by its conditional law, never drawn afresh.
    """

    blocks: LogicalBlocks
    budget: Budget
    sensitivity: int
    grant: Grant
    levels: tuple[int, ...] = ()

    @property
    def gives(self) -> pa.Schema:
        """See `Kernel`: noisy cells."""
        import pyarrow as pa

        return pa.schema([("index", pa.int64()), ("count", pa.int64())])

    def __call__(self, jobs: pa.Table, index: Integers, count: Integers, /) -> pa.Table:
        """See `Kernel`."""
        import pyarrow as pa

        answers = [self.gives.empty_table()]
        for node, own in zip(jobs.column("node").to_pylist(), slices(jobs, self.blocks.level, index), strict=True):
            exact = self.blocks.sparse(node, index[own], count[own])
            part = self.grant.part(f"block {node}", exact.index, exact.value)
            with metered() as meter:
                noisy = measure(exact, self.sensitivity, self.budget, part.source(), "cells")
            meter.check(self.budget)
            for level in self.levels:
                shown = noisy.above(level)
            answers.append(pa.table(list(shown), schema=self.gives))
        return pa.concat_tables(answers)


class NoisyTable:
    """The noisy cells of all blocks, held by the workers: what `SparseNoise` is in one process."""

    def __init__(self, noise: NoisyCells, store: CellStore) -> None:
        self.blocks = noise.blocks
        self.law = added(Fraction(noise.sensitivity), noise.budget)
        self.cells: CellStore = store
        """Those above the lowest level asked for so far; before that, the exact ones."""
        self._noise, self._exact = noise, store
        self._seen = ValueCounts(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))

    @property
    def size(self) -> int:
        """Cells in all."""
        return self.blocks.domain.size

    def above(self, level: int) -> ValueCounts:
        """The cells whose noisy value is above ``level``."""
        levels = self._noise.levels
        if not levels or (level < levels[-1] and self._seen.cells < self.size):
            self._noise = replace(self._noise, levels=(*levels, level))
            self.cells = self._exact.derive(self.blocks.jobs(), self._noise)
            self._seen = ValueCounts(*self.cells.histogram())
        return self._seen.above(level)

    def active(self, total: int | Fraction) -> ValueCounts:
        """The cells above the simplex threshold for ``total`` > 0: the search of `sudare.tables.simplex.active_cells`.

        In a domain too large to be listed it ends at 0, and there may be none.
        """
        level = expected_level(self.size, total, self.law)
        while True:
            lowest = level <= 0 and self.size > DENSE_LIMIT
            seen = self.above(0 if lowest else level)
            lowered = level - 1 - level // 8 if level > 0 else 2 * level - 1
            threshold = seen.simplex_level(total) if seen.cells else lowered
            if threshold >= level or lowest or seen.cells == self.size:
                return seen.above(threshold)
            level = max(threshold, lowered) if level > 0 else threshold


def expected_level(size: int, total: int | Fraction, law: Added) -> int:
    """A level below the threshold of any table with this ``size`` whose excess over it adds up to ``total``.

    In an empty table every cell has an excess of E max(Z - t, 0) over t >= 0; people only add to that. A guess all the
    same, because noise may turn out smaller: every choice gives the same law of the result.
    """
    scale, wanted = float(law.scale), float(total) / size
    if law.rise(0) <= wanted:
        return -1
    low, high = 0.0, max(1.0, scale)
    while law.rise(high) > wanted:
        low, high = high, 2 * high
    while high - low > 0.5:
        middle = (low + high) / 2
        low, high = (middle, high) if law.rise(middle) > wanted else (low, middle)
    return math.floor(low - scale / 4 - 1)
