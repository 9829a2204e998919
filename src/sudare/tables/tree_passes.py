"""The three passes of the tree, over all of it or over any part below some nodes.

Down: measure the children of every node worth splitting. Up: join a node's own measurement with its children's. Down
again: split people. Passes take and give levels one by one, so that the top of a large tree can be worked on in one
place and the subtrees below it in others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sudare.arrays import Cells, Floats, Integers
from sudare.domain import Domain
from sudare.measure.simplex import project_rows, round_rows
from sudare.noise import Source, measure, noise_variance
from sudare.privacy import Budget
from sudare.tables.mix import Mix
from sudare.tables.spread import spread
from sudare.tables.tree_level import Level, populated_levels

MOST_SPREAD = 2**24
"""Cells over which the people of thin blocks are spread at most; in a larger domain they stand in groups instead."""
WORTH = 12 / 2**0.5
"""A node is split while its people are at least so many standard deviations of the noise its whole rest would buy."""

Sums = Callable[[int, Integers], tuple[Integers, Integers]]
"""Of a depth and nodes one level above it: the populated blocks (ascending) below these, and their exact sums."""


@dataclass(frozen=True)
class TreePlan:
    """What the passes need to know, all of it public: ``branching`` and ``budgets`` list the levels from the top."""

    domain: Domain
    branching: tuple[int, ...]
    budgets: tuple[Budget, ...]
    sensitivity: int
    gamma: float

    def below(self, depth: int) -> int:
        """Bits below a node of this depth; the root has depth 0."""
        return sum(self.branching[depth:])

    def group(self, total: int) -> int:
        """How many people of thin blocks stand together."""
        return 1 if self.domain.size <= MOST_SPREAD else -(-total // MOST_SPREAD)


@dataclass(frozen=True)
class Start:
    """Nodes of one depth, ascending, and how many people they are thought to have: where a way down begins.

    At the root, ``variance`` is that of the measured total, 0 if the total is public.
    """

    depth: int
    node: Integers
    people: Floats
    variance: float = 0.0

    @classmethod
    def root(cls, total: float, variance: float) -> Start:
        """All of the tree."""
        return cls(0, np.zeros(1, dtype=np.int64), np.array([total]), variance)


def cell_sums(plan: TreePlan, depth: int, index: Integers, count: Integers) -> Sums:
    """The sums of populated cells that all lie below nodes of ``depth``."""
    levels = populated_levels(index, count, plan.branching[depth:])
    return lambda wanted, _: levels[wanted - depth - 1]


def descend(plan: TreePlan, start: Start, sums: Sums, source: Source) -> Iterator[Level]:
    """First pass, down: measure the children of every node worth splitting; the others measure themselves again."""
    node, people = start.node, np.maximum(start.people, 0.0)
    for depth in range(start.depth, len(plan.branching)):
        budget = plan.budgets[depth]
        level = Level.of(plan.domain, node, plan.branching[depth], plan.below(depth + 1))
        truth = level.exact(*sums(depth + 1, node))
        own = level.blocks(level.logical)
        noisy = measure(truth[level.logical], plan.sensitivity, budget, source, f"level {depth + 1}", rows=own)
        level.learn(noisy, noise_variance(plan.sensitivity, budget))
        if depth == 0 and start.variance:
            people = np.array([max(0.0, level.joined_root(float(start.people[0]), start.variance))])
        if depth < len(plan.branching) - 1:
            rest = sum(plan.budgets[depth + 2 :], plan.budgets[depth + 1])
            rest_variance = noise_variance(plan.sensitivity, rest)
            level.expected = project_rows(level.value, people)
            level.goes[...] = level.expected >= max(WORTH * rest_variance**0.5, 0.5)
            stops = level.logical & ~level.goes
            label, last = f"rest of level {depth + 1}", level.blocks(stops)
            again = measure(truth[stops], plan.sensitivity, rest, source, label, final=True, rows=last)
            level.learn_again(stops, again, rest_variance)
            node, people = level.children[level.goes], level.expected[level.goes]
        yield level


def ascend(levels: Sequence[Level]) -> None:
    """Second pass, up: a node's own measurement joined with the sum of its children's."""
    for upper, lower in zip(levels[-2::-1], levels[:0:-1], strict=True):
        upper.join_children(*lower.sums())


def split_down(
    plan: TreePlan, levels: Sequence[Level], people: Integers, generator: np.random.Generator
) -> Iterator[tuple[Level, Integers]]:
    """Third pass, down: the people of each node of the first level, projected onto its children in whole numbers.

    With gamma = 1 - strength, the projection of z/gamma onto the total is that of z onto gamma times it, over gamma.
    """
    for level in levels:
        shares = project_rows(level.value, np.multiply(people, plan.gamma)) / plan.gamma
        split = round_rows(shares, people, generator)
        yield level, split
        people = split[level.goes]


def released_cells(
    plan: TreePlan,
    levels: Sequence[Level],
    people: Integers,
    generator: np.random.Generator,
    group: int,
    mix: Mix | None,
) -> Cells:
    """The third pass to its end: cells above 0, ascending; blocks that were not split are spread over theirs."""
    index, count = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
    for level, split in split_down(plan, levels, people, generator):
        ends = ~level.goes & (split > 0)
        cells = spread(plan.domain, level.children[ends], level.below, split[ends], generator, group, mix)
        index.append(cells[0])
        count.append(cells[1])
    merged = np.concatenate(index)
    order = np.argsort(merged, kind="stable")  # each level's cells ascend already, so this merges a few runs
    return merged[order], np.concatenate(count)[order]
