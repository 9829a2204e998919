"""Top-down refinement, cut in two: the driver refines the top of the binary tree, workers the subtrees.

Nothing goes up again, so that one pass is enough: a subtree needs to know its refined sum, and no more.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sudare.arrays import Cells, Integers
from sudare.noise import Grant, delegate, metered, secret
from sudare.spark.parts import PartFile, ReleaseTarget
from sudare.spark.store import CellStore, Jobs, in_parts
from sudare.tables.descent import Leaves, Visited
from sudare.tables.method import Asked
from sudare.tables.spark_task import Cut, InCluster, in_cluster
from sudare.tables.top_down import Refinement, TopDown, measured_root

if TYPE_CHECKING:
    import pyarrow as pa

_FURTHER_BITS = 4


@in_cluster.register
def _(method: TopDown) -> InCluster | None:
    return None if method.serial else release_top_down


def release_top_down(task: Asked, store: CellStore, cut: Cut, output: ReleaseTarget) -> tuple[PartFile, ...]:
    """The top on the driver, everything below it on the workers."""
    total, shares = measured_root(task)
    refinement = Refinement(task.domain, shares, task.sensitivity)
    generator = np.random.default_rng(secret(task.source, "rounding"))
    visited = Visited(np.zeros(np.count_nonzero(total), dtype=np.int64), total[total > 0])
    bits = level = task.domain.bits
    while (end := _next_level(cut, bits, level, len(visited.node))) < level:
        blocks = store.sums(end, None if level == bits else (level, visited.node))
        leaves = Leaves(*blocks, bits - end)
        visited = refinement.below(visited, range(level, end, -1), leaves, task.source, generator)
        level = end
    for below in range(level, 0, -1):
        delegate(f"level {below} in subtrees", shares[bits - below])
    part = in_parts(visited.total, cut.part_people)
    jobs = Jobs(level, part, visited.node, {"released": visited.total})
    return output.write(store, jobs, RefineSubtrees(refinement, level, task.source.grant("subtrees")))


@dataclass(frozen=True)
class RefineSubtrees:
    """The cells below nodes of ``level``.

    Sensitivity: parts have disjoint cells and follow from refined sums, which are noisy. All differences of a level,
    over all parts together, move by at most max_rows in L1 when a unit comes or goes: each level is paid once.
    """

    refinement: Refinement
    level: int
    grant: Grant

    def __call__(self, jobs: pa.Table, index: Integers, count: Integers, /) -> Iterator[Cells]:
        """See `ReleasedCells`: all of the part's subtrees together, as one vector."""
        start = Visited(jobs.column("node").to_numpy(), jobs.column("released").to_numpy())
        source = self.grant.part("subtrees", start.node, start.total, index, count).source()
        generator = np.random.default_rng(secret(source, f"rounding of subtrees from {start.node[0]} on"))
        leaves = Leaves(index, count, self.refinement.domain.bits)
        with metered() as meter:
            found = self.refinement.below(start, range(self.level, 0, -1), leaves, source, generator)
        shares = self.refinement.shares[self.refinement.domain.bits - self.level :]
        if shares:
            meter.check(sum(shares[1:], shares[0]))
        yield found.node, found.total


def _next_level(cut: Cut, bits: int, level: int, nodes: int) -> int:
    """How far down the driver goes in one step: to the cut at once where it can afford all blocks, else bit by bit."""
    target = min(cut.subtree_bits, max(0, bits - cut.fewest_bits))
    if level <= target or not nodes:
        return level
    if level == bits:
        return max(target, bits - (cut.driver_nodes.bit_length() - 1))
    end = max(target, level - _FURTHER_BITS)
    return end if nodes << (level - end) <= cut.driver_nodes else level
