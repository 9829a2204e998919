"""The tree, cut in two: the driver has its top, workers the subtrees.

Pass 1: workers measure their subtrees, join them upwards, and answer with two numbers each: the subtree's sum by its
children, and its variance. The driver finishes the way up, then splits people down to a whole number for each subtree.
Pass 2: workers make the very same measurements again (see `Grant`) and split on, down to cells.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sudare.cluster.cut import Cut
from sudare.cluster.parts import Output, PartFile
from sudare.cluster.store import Integers, Jobs, Store, answers_by_node, in_parts, slices
from sudare.errors import AccountingError
from sudare.noise import Grant, Part, delegate, metered, secret
from sudare.tables.method import Asked, Cells
from sudare.tables.spread import spread
from sudare.tables.tree import Tree
from sudare.tables.tree_level import Level, populated_levels
from sudare.tables.tree_passes import Start, TreePlan, ascend, cell_sums, descend, released_cells, split_down

if TYPE_CHECKING:
    import pyarrow as pa

Work: TypeAlias = NDArray[np.void]
_WORK = np.dtype([(name, np.int64) for name in ("node", "block_level", "released", "seal")] + [("people", np.float64)])
_NONE = -1


def release_tree(method: Tree, task: Asked, store: Store, cut: Cut, output: Output) -> tuple[PartFile, ...]:
    """Both passes, between the driver and its workers."""
    total, variance, budgets = method.measure_root(task)
    plan = method.plan(task, budgets)
    top = _top(plan, Start.root(total, variance), store, cut, task) if budgets else []
    subtrees = Subtrees(plan, len(top), task.source.grant("subtrees"))
    for depth in range(len(top), len(budgets)):
        delegate(f"level {depth + 1} in subtrees", budgets[depth])
    inner = _joined_upwards(subtrees, top, store, cut)
    if top and variance:
        total = top[0].joined_root(total, variance)
    whole = max(0, round(total))
    generator = np.random.default_rng(secret(task.source, "rounding"))
    work = np.concatenate(list(_split_top(subtrees, top, whole, inner, generator)))
    return output.write(store, _jobs(subtrees, work, cut), ReleaseSubtrees(subtrees, plan.group(whole)))


@dataclass(frozen=True)
class Subtrees:
    """The subtrees below nodes of ``depth``."""

    plan: TreePlan
    depth: int
    grant: Grant

    @property
    def level(self) -> int:
        """Bits of a subtree."""
        return self.plan.below(self.depth)

    def measured(self, node: int, people: float, index: Integers, count: Integers) -> tuple[Part, list[Level]]:
        """The first two passes over one subtree, at exactly the cost of its levels."""
        start = Start(self.depth, np.array([node], dtype=np.int64), np.array([people]))
        part = self.grant.part(f"subtree {node}", index, count, start.people)
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
        """See `Kernel`: the sum of a subtree's children, its variance, and the seal of what was measured."""
        import pyarrow as pa

        numbers = [("sum", pa.float64()), ("variance", pa.float64())]
        return pa.schema([("node", pa.int64()), *numbers, ("seal", pa.int64())])

    def __call__(self, jobs: pa.Table, index: Integers, count: Integers, /) -> pa.Table:
        """See `Kernel`."""
        import pyarrow as pa

        rows = []
        for job, own in zip(jobs.to_pylist(), slices(jobs, self.subtrees.level, index), strict=True):
            part, levels = self.subtrees.measured(job["node"], job["people"], index[own], count[own])
            total, variance = levels[0].sums()
            rows.append({"node": job["node"], "sum": total[0], "variance": variance[0], "seal": part.seal})
        return pa.Table.from_pylist(rows, self.gives)


@dataclass(frozen=True)
class ReleaseSubtrees:
    """The cells of pass 2: subtrees as they were measured, and blocks of the top that were not split."""

    subtrees: Subtrees
    group: int

    def __call__(self, jobs: pa.Table, index: Integers, count: Integers, /) -> Iterator[Cells]:
        """See `ReleasedCells`."""
        for job, own in zip(jobs.to_pylist(), slices(jobs, self.subtrees.level, index), strict=True):
            yield self._block(job) if job["seal"] == _NONE else self._subtree(job, index[own], count[own])

    def _block(self, job: dict[str, Any]) -> Cells:
        level, people = job["block_level"], np.array([job["released"]], dtype=np.int64)
        block = job["node"] >> (level - self.subtrees.level)
        label = f"block {block} of level {level}"
        generator = np.random.default_rng(secret(self.subtrees.grant.part(label).source(), f"rounding of {label}"))
        return spread(self.subtrees.plan.domain, np.array([block]), level, people, generator, self.group)

    def _subtree(self, job: dict[str, Any], index: Integers, count: Integers) -> Cells:
        part, levels = self.subtrees.measured(job["node"], job["people"], index, count)
        if part.seal != job["seal"]:
            raise AccountingError("the cells of a subtree changed between two passes", value=job["node"])
        generator = np.random.default_rng(secret(part.source(), f"rounding of subtree {job['node']}"))
        people = np.array([job["released"]], dtype=np.int64)
        return released_cells(self.subtrees.plan, levels, people, generator, self.group)


@dataclass
class TopSums:
    """Exact sums for the driver's levels: all that it can afford in one question, deeper ones where it goes."""

    plan: TreePlan
    store: Store
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


def _top(plan: TreePlan, start: Start, store: Store, cut: Cut, task: Asked) -> list[Level]:
    """The driver's levels on the way down: at least one, and as many as the cut says."""
    top: list[Level] = []
    for level in descend(plan, start, TopSums(plan, store, cut), task.source):
        top.append(level)
        if len(top) == len(plan.branching) or cut.enough(plan.domain.bits, level.below):
            break
        if len(level.going) << plan.branching[len(top)] > cut.driver_nodes:
            break
    return top


def _joined_upwards(subtrees: Subtrees, top: list[Level], store: Store, cut: Cut) -> Work:
    """Pass 1: the top joined with what its subtrees measured; these, with the seals of what they measured."""
    if not top:
        return _work(np.empty(0, dtype=np.int64), subtrees.level, subtrees.level)
    last = top[-1]
    work = _work(last.children[last.goes], subtrees.level, subtrees.level)
    work["people"] = last.going
    if len(work):
        jobs = Jobs(subtrees.level, in_parts(last.going, cut.part_people), work["node"], {"people": last.going})
        found = answers_by_node(store.each(jobs, MeasureSubtrees(subtrees)), work["node"])
        last.join_children(found["sum"].to_numpy(), found["variance"].to_numpy())
        work["seal"] = found["seal"].to_numpy()
    ascend(top)
    return work


def _split_top(
    subtrees: Subtrees, top: list[Level], total: int, inner: Work, generator: np.random.Generator
) -> Iterator[Work]:
    """Everybody: in a subtree, or in a block that was not split."""
    if not top:  # a domain of one cell
        only = _work(np.zeros(1, dtype=np.int64), 0, 0)
        only["released"] = total
        yield only
        return
    for level, split in split_down(subtrees.plan, top, np.array([total], dtype=np.int64), generator):
        ends = ~level.goes
        work = _work(level.children[ends], level.below, subtrees.level)
        work["released"] = split[ends]
        yield work
        last = split[level.goes]
    inner["released"] = last
    yield inner


def _work(block: Integers, block_level: int, level: int) -> Work:
    """Rows for blocks of 2**block_level cells, numbered by their first subtree; a seal marks subtrees."""
    work = np.zeros(len(block), dtype=_WORK)
    work["node"], work["block_level"], work["seal"] = block << (block_level - level), block_level, _NONE
    return work


def _jobs(subtrees: Subtrees, work: Work, cut: Cut) -> Jobs:
    """Pass 2, in the order of cells, without what has nobody."""
    work = work[work["released"] > 0]
    work = work[np.argsort(work["node"], kind="stable")]
    columns = {name: np.ascontiguousarray(work[name]) for name in ("block_level", "released", "people", "seal")}
    part = in_parts(columns["released"], cut.part_people)
    return Jobs(subtrees.level, part, np.ascontiguousarray(work["node"]), columns, columns["seal"] != _NONE)
