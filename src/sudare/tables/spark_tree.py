"""The tree, cut in two: the driver has its top, workers the subtrees.

Pass 1: workers measure their subtrees, join them upwards, and answer with two numbers each: the subtree's sum by its
children, and its variance; and with what they tallied of categories (`MixMeasurements`). The driver finishes the way
up, then splits people down to a whole number for each subtree.
Pass 2: workers make the very same measurements again (see `Grant`) and split on, down to cells.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sudare.arrays import Booleans, Cells, Integers
from sudare.errors import AccountingError
from sudare.noise import Grant, Part, delegate, metered, secret
from sudare.spark.parts import PartFile, ReleaseTarget
from sudare.spark.store import CellStore, Jobs, answers_by_node, in_parts
from sudare.tables.evenness import grow
from sudare.tables.method import Asked
from sudare.tables.mix import Mix, MixMeasurements, mix_level
from sudare.tables.spark_task import Cut, InCluster, in_cluster
from sudare.tables.spread import spread
from sudare.tables.tree import Tree
from sudare.tables.tree_level import Level, populated_levels
from sudare.tables.tree_passes import Start, TreePlan, ascend, cell_sums, descend, released_cells, split_down

if TYPE_CHECKING:
    import pyarrow as pa

Work: TypeAlias = NDArray[np.void]
_WORK = np.dtype(
    [(name, np.int64) for name in ("part", "node", "block_level", "released", "seal")] + [("people", np.float64)]
)
_NONE = -1


@in_cluster.register
def _(method: Tree) -> InCluster:
    return partial(release_tree, method)


def release_tree(method: Tree, task: Asked, store: CellStore, cut: Cut, output: ReleaseTarget) -> tuple[PartFile, ...]:
    """Both passes, between the driver and its workers."""
    margin = method.measure_margin(task, lambda: store.margin(mix_level(task.domain)))
    tree, total, variance, budgets = method.measure_root(task)
    plan = replace(tree.plan(task, budgets), in_parts=True)
    plan, top = _top(plan, Start.root(total, variance), store, cut, task) if budgets else (plan, [])
    budgets = plan.budgets
    # Below the driver's levels, how uneven siblings are would depend on the partition.
    plan = replace(plan, by_unevenness=False, in_parts=False)
    subtrees = Subtrees(plan, len(top), task.source.grant("subtrees"))
    for depth in range(len(top), len(budgets)):
        delegate(f"level {depth + 1} in subtrees", budgets[depth], top[-1].blocks(top[-1].goes))
    work = _work(subtrees, top, cut)
    tally = _join_upwards(subtrees, top, work, store)
    if top and variance:
        total = top[0].joined_root(total, variance)
    whole = max(0, round(total))
    mix = Mix.learned(plan.domain, tally, total, margin)
    if mix is not None:
        # No part of the tree sees all others, so that totals of kinds agree with those measured only roughly.
        mix = replace(mix, totals=None)
    generator = np.random.default_rng(secret(task.source, "rounding"))
    work["released"] = _split_top(plan, top, whole, generator)
    return output.write(store, _jobs(subtrees, work, cut), ReleaseSubtrees(subtrees, plan.group(whole), mix))


@dataclass(frozen=True)
class Subtrees:
    """The subtrees below nodes of ``depth``. Those of one part are measured together, as one vector.

    Sensitivity: parts have disjoint cells, and which subtrees a part has follows from noisy sums. So the sums of a
    level over all parts together are one vector, which a unit moves by at most max_rows in L1 (and L2): each level
    is paid once, whatever the number of parts. A second attempt on the same cells draws the same noise (`Grant`).
    """

    plan: TreePlan
    depth: int
    grant: Grant

    @property
    def level(self) -> int:
        """Bits of a subtree."""
        return self.plan.below(self.depth)

    @property
    def mixed_bits(self) -> list[int]:
        """Of the subtrees' levels within a place, from the top: see `MixMeasurements`."""
        below = [self.plan.below(depth + 1) for depth in range(self.depth, len(self.plan.branching))]
        return [mix_level(self.plan.domain) - own for own in below if own < mix_level(self.plan.domain)]

    def measured(self, jobs: pa.Table, index: Integers, count: Integers) -> tuple[Part, list[Level]]:
        """The first two passes over the subtrees of one part, at exactly the cost of their levels."""
        start = Start(self.depth, jobs.column("node").to_numpy(), jobs.column("people").to_numpy())
        part = self.grant.part("subtrees", start.node, start.people, index, count)
        with metered() as meter:
            sums = cell_sums(self.plan, self.depth, index, count)
            levels = list(descend(self.plan, start, sums, part.source()))
        first, *others = self.plan.budgets[self.depth :]
        meter.check(sum(others, first))
        ascend(levels)
        return part, levels


@dataclass(frozen=True)
class MeasureSubtrees:
    """The kernel of pass 1."""

    subtrees: Subtrees

    @property
    def gives(self) -> pa.Schema:
        """See `Kernel`: the sum of a subtree's children, its variance, and the seal of what was measured.

        The part's ``tally`` stands with its first subtree.
        """
        import pyarrow as pa

        numbers = [("sum", pa.float64()), ("variance", pa.float64())]
        return pa.schema([("node", pa.int64()), *numbers, ("seal", pa.int64()), ("tally", pa.binary())])

    def __call__(self, jobs: pa.Table, index: Integers, count: Integers, /) -> pa.Table:
        """See `Kernel`."""
        import pyarrow as pa

        part, levels = self.subtrees.measured(jobs, index, count)
        total, variance = levels[0].sums()
        tally = [MixMeasurements.of(self.subtrees.plan.domain, levels).flat().tobytes(), *([b""] * (len(total) - 1))]
        return pa.table([levels[0].node, total, variance, np.full(len(total), part.seal), tally], schema=self.gives)


@dataclass(frozen=True)
class ReleaseSubtrees:
    """The cells of pass 2: subtrees as they were measured, and blocks of the top that were not split."""

    subtrees: Subtrees
    group: int
    mix: Mix | None

    def __call__(self, jobs: pa.Table, index: Integers, count: Integers, /) -> Iterator[Cells]:
        """See `ReleasedCells`."""
        inner = np.not_equal(jobs.column("seal").to_numpy(), _NONE)
        found = [] if inner.all() else list(self._blocks(jobs.filter(~inner)))
        if inner.any():
            found.append(self._subtrees(jobs.filter(inner), index, count))
        cells, people = (np.concatenate([own[axis] for own in found]) for axis in (0, 1))
        order = np.argsort(cells, kind="stable")
        yield cells[order], people[order]

    def _blocks(self, jobs: pa.Table) -> Iterator[Cells]:
        """All numbers here are released ones: blocks are spread at random, and no noise is drawn."""
        node, levels, people = (jobs.column(name).to_numpy() for name in ("node", "block_level", "released"))
        source = self.subtrees.grant.part("blocks", node, levels, people).source()
        generator = np.random.default_rng(secret(source, f"rounding of blocks from {node[0]} on"))
        for level in np.unique(levels).tolist():
            own = levels == level
            block = node[own] >> (level - self.subtrees.level)
            yield spread(self.subtrees.plan.domain, block, level, people[own], generator, self.group, self.mix)

    def _subtrees(self, jobs: pa.Table, index: Integers, count: Integers) -> Cells:
        part, levels = self.subtrees.measured(jobs, index, count)
        if not np.equal(jobs.column("seal").to_numpy(), part.seal).all():
            raise AccountingError("the cells of a subtree changed between two passes")
        generator = np.random.default_rng(secret(part.source(), f"rounding of subtrees from {levels[0].node[0]} on"))
        people = jobs.column("released").to_numpy()
        return released_cells(self.subtrees.plan, levels, people, generator, self.group, self.mix)


@dataclass
class TopSums:
    """Exact sums for the driver's levels: all that it can afford in one question, deeper ones where it goes."""

    plan: TreePlan
    store: CellStore
    cut: Cut
    levels: list[tuple[Integers, Integers]] = field(default_factory=list)

    def __call__(self, depth: int, node: Integers) -> tuple[Integers, Integers]:
        """See `Sums`."""
        if not self.levels:
            last = self._last_at_once()
            blocks = self.store.sums(self.plan.below(last))
            self.levels = populated_levels(*blocks, self.plan.branching[:last])
        if depth <= len(self.levels):
            return self.levels[depth - 1]
        return self.store.sums(self.plan.below(depth), (self.plan.below(depth - 1), node))

    def _last_at_once(self) -> int:
        bits, last = self.plan.domain.bits, 1
        while last < len(self.plan.branching) and not self.cut.enough(bits, self.plan.below(last)):
            if not self.cut.affordable(bits, self.plan.below(last + 1)):
                break
            last += 1
        return last


def _top(plan: TreePlan, start: Start, store: CellStore, cut: Cut, task: Asked) -> tuple[TreePlan, list[Level]]:
    """The driver's levels on the way down: at least one, and as many as the cut says, or as showed an even table."""
    plan, top, below = grow(plan, start, TopSums(plan, store, cut), task.source)
    for level in below:
        top.append(level)
        if len(top) == len(plan.branching) or cut.enough(plan.domain.bits, level.below):
            break
        if np.count_nonzero(level.goes) << plan.branching[len(top)] > cut.driver_nodes:
            break
    return plan, top


def _work(subtrees: Subtrees, top: list[Level], cut: Cut) -> Work:
    """What the top leads to, level by level: the blocks that it does not split, then the subtrees.

    Each is numbered by its first subtree, and in a part with its neighbours. A seal, still unknown, marks subtrees.
    """
    if not top:  # a domain of one cell
        only = np.zeros(1, dtype=_WORK)
        only["seal"] = _NONE
        return only
    pieces = [_rows(level, ~level.goes, level.below - subtrees.level) for level in top]
    inner = _rows(top[-1], top[-1].goes, 0)
    inner["seal"] = 0
    work = np.concatenate([*pieces, inner])
    order = np.argsort(work["node"], kind="stable")
    work["part"][order] = in_parts(work["people"][order], cut.part_people)
    return work


def _rows(level: Level, which: Booleans, bits: int) -> Work:
    """Some children of a level, of 2**bits subtrees each."""
    rows = np.zeros(np.count_nonzero(which), dtype=_WORK)
    rows["node"], rows["block_level"], rows["seal"] = level.numbers(which) << bits, level.below, _NONE
    rows["people"] = 0.0 if level.expected is None else level.expected[which]
    return rows


def _join_upwards(subtrees: Subtrees, top: list[Level], work: Work, store: CellStore) -> MixMeasurements:
    """Pass 1: the top joined with what its subtrees measured, which leave the seals of that with the work."""
    inner = work["seal"] != _NONE
    parts: list[bytes] = []
    if inner.any():
        own = work[inner]
        people = {"people": np.ascontiguousarray(own["people"])}
        jobs = Jobs(subtrees.level, np.ascontiguousarray(own["part"]), np.ascontiguousarray(own["node"]), people)
        found = answers_by_node(store.each(jobs, MeasureSubtrees(subtrees)), jobs.node)
        top[-1].join_children(found["sum"].to_numpy(), found["variance"].to_numpy())
        work["seal"][inner] = found["seal"].to_numpy()
        parts = found["tally"].to_pylist()
    ascend(top)
    return MixMeasurements.of(subtrees.plan.domain, top).joined(
        subtrees.mixed_bits, (np.frombuffer(own) for own in parts if own)
    )


def _split_top(plan: TreePlan, top: list[Level], total: int, generator: np.random.Generator) -> Integers:
    """Everybody, in the order of the work."""
    last = np.array([total], dtype=np.int64)
    ends = []
    for level, split in split_down(plan, top, last, generator):
        ends.append(split[~level.goes])
        last = split[level.goes]
    return np.concatenate([*ends, last])


def _jobs(subtrees: Subtrees, work: Work, cut: Cut) -> Jobs:
    """Pass 2, in the order of cells, without parts that have nobody; subtrees stay where they were measured."""
    inner = work["seal"] != _NONE
    if not inner.any():  # nothing was measured in parts, so that they can follow what is released
        order = np.argsort(work["node"], kind="stable")
        work["part"][order] = in_parts(work["released"][order], cut.part_people)
    somebody = np.bincount(work["part"], work["released"])[work["part"]] > 0
    work = work[somebody & (inner | (work["released"] > 0))]
    work = work[np.argsort(work["node"], kind="stable")]
    part = np.unique(work["part"], return_inverse=True)[1].astype(np.int64)
    columns = {name: np.ascontiguousarray(work[name]) for name in ("block_level", "released", "people", "seal")}
    return Jobs(subtrees.level, part, np.ascontiguousarray(work["node"]), columns, columns["seal"] != _NONE)
