"""The three passes of the tree, over all of it or over any part below some nodes.

Down: measure the children of every node worth splitting. Up: join a node's own measurement with its children's. Down
again: split people. Passes take and give levels one by one, so that the top of a large tree can be worked on in one
place and the subtrees below it in others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sudare.arrays import Booleans, Cells, Floats, Integers
from sudare.domain import Domain
from sudare.measure.simplex import project_rows, round_rows
from sudare.noise import Source, measure, noise_variance, refine
from sudare.privacy import Budget
from sudare.tables.kind_totals import KindTotals
from sudare.tables.mix import Mix
from sudare.tables.posterior import WEIGHT, Posterior, Surroundings
from sudare.tables.smoothing import Density, Ends, can_smooth, density
from sudare.tables.spread import spread
from sudare.tables.tree_level import Level, populated_levels

MOST_SPREAD = 2**24
"""Cells over which the people of thin blocks are spread at most; in a larger domain they stand in groups instead."""
WORTH, LINE_WORTH = 9.6, 8.5
"""A node is split if its people are at least this many standard deviations of the noise of all its remaining budget."""

_DENSE = 2
"""Where one of 2**2 cells or more is measured, all cells are written into one array."""
_FEW_CELLS = 4
"""Bits of blocks whose children are cells, or nearly so."""
_SMOOTH_BLOCKS, _SMOOTH_CELLS = (4.0, 0.5, 6.0), (2.0, 0.25, 2.0)
"""The squared coefficient of variation below which siblings are alike, the power of it, and the largest factor."""

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
    even: tuple[Budget, ...] | None = None
    """The budgets of a table that turns out to be even, where that is looked for: see `sudare.tables.evenness`."""
    by_unevenness: bool = False
    """Whether nodes of a smooth table must be thicker to be split: see `worth`."""
    any_even: bool = False
    """Whether every thick table counts as even."""
    in_parts: bool = False
    """Whether the levels below are others' work, who must know how many people are expected where."""

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
    """The sums of populated cells that all lie below nodes of ``depth``, of each level once, from the top."""
    levels = populated_levels(index, count, plan.branching[depth:])
    return lambda _depth, _node: levels.pop(0)


Counted = tuple[Level, Integers]
"""The children of a level, measured for the first time, and their exact sums."""


def count_children(
    plan: TreePlan, depth: int, node: Integers, sums: Sums, budget: Budget, source: Source, label: str
) -> Counted:
    """A first measurement of the children of nodes of this depth."""
    level = Level.of(plan.domain, node, plan.branching[depth], plan.below(depth + 1))
    truth = level.exact(*sums(depth + 1, node))
    logical = truth.reshape(-1) if level.whole else truth[level.logical]
    noisy = measure(logical, plan.sensitivity, budget, source, label, rows=level.all_blocks())
    level.learn(level.logical, noisy, noise_variance(plan.sensitivity, budget))
    return level, truth


def descend(
    plan: TreePlan, start: Start, sums: Sums, source: Source, counted: Counted | None = None
) -> Iterator[Level]:
    """First pass, down: measure the children of every node worth splitting; the others refine their own measurement.

    With Gaussian noise they measure themselves again instead, which is as good: there precisions add up.
    ``counted`` are the children of ``start``, where they were measured before.
    """
    node, people = start.node, np.maximum(start.people, 0.0)
    for depth in range(start.depth, len(plan.branching)):
        budget, label = plan.budgets[depth], f"level {depth + 1}"
        if counted is None:
            counted = count_children(plan, depth, node, sums, budget, source, label)
        level, truth = counted
        counted = None
        if depth == 0 and start.variance:
            people = np.array([max(0.0, level.joined_root(float(start.people[0]), start.variance))])
        if depth < len(plan.branching) - 1:
            rest = sum(plan.budgets[depth + 2 :], plan.budgets[depth + 1])
            expected = level.project(people)
            least = least_people(rest, plan.sensitivity, worth(level, people) if plan.by_unevenness else WORTH)
            np.greater_equal(expected, least, out=level.goes)
            node, people = level.numbers(level.goes), expected[level.goes]
            if plan.in_parts:
                level.expected = expected
            stops = level.logical & ~level.goes
            truth = truth[stops]
            del expected
            sharpen(plan, level, stops, truth, (budget, rest), source, (label, f"rest of {label}"), final=True)
        del truth
        yield level


def least_people(rest: Budget, sensitivity: int, worth: float = WORTH) -> float:
    """How many people a node needs to be split, given the budget that is left below it."""
    return max(worth * math.sqrt(noise_variance(sensitivity, rest)), 0.5)


def worth(level: Level, people: Floats) -> float:
    """`LINE_WORTH`, or more where the children of this level's nodes, thought to have ``people``, are nearly alike.

    Splitting a node replaces an even spread over its children by noisy values. The more even the children of the nodes
    above turned out, the less there is to be gained, and the thicker a node must be: in proportion to one over the
    coefficient of variation among siblings, which is measured and its noise taken off. It says less of single cells,
    which may be uneven in smooth areas: there the square root of it. Chosen on the tuning lines of
    benchmarks/held_out.py.
    """
    number = level.logical.sum(axis=1)
    mean = people / np.maximum(number, 1)
    apart = sum(
        float((np.where(level.logical[piece], value - mean[piece, None], 0.0) ** 2).sum())
        for piece, value in level.rows()
    )
    uneven = (apart - float((number - 1).sum()) * level.variance[0]) / max((number - 1) @ mean**2, 1e-9)
    spread, power, most = _SMOOTH_CELLS if level.below <= _FEW_CELLS else _SMOOTH_BLOCKS
    return LINE_WORTH * float(np.clip((spread / max(uneven, 1e-3)) ** power, 1.0, most))


def sharpen(
    plan: TreePlan,
    level: Level,
    which: Booleans,
    truth: Integers,
    budgets: tuple[Budget, Budget],
    source: Source,
    labels: tuple[str, str],
    *,
    final: bool,
) -> None:
    """Logical children known as well as both budgets buy, where the first is spent: all, or, ``final``, those that end.

    ``truth`` are the exact sums of ``which`` they are.

    Laplace noise is refined; Gaussian noise, whose precisions add up, is drawn a second time and joined.
    """
    (first, more), (of, label), rows = budgets, labels, level.blocks(which)
    if more.epsilon is None:
        noisy = measure(truth, plan.sensitivity, more, source, label, final=final, rows=rows)
        level.learn_again(which, noisy, noise_variance(plan.sensitivity, more), ends=final)
    else:
        coarse = level.noisy[which].astype(np.int64)
        noisy = refine(truth, coarse, plan.sensitivity, first, more, source, label, of=of, final=final, rows=rows)
        level.learn(which, noisy, noise_variance(plan.sensitivity, first + more), ends=final)


def ascend(levels: Sequence[Level]) -> None:
    """Second pass, up: a node's own measurement joined with the sum of its children's."""
    for upper, lower in zip(levels[-2::-1], levels[:0:-1], strict=True):
        upper.join_children(*lower.sums())


def split_down(
    plan: TreePlan,
    levels: list[Level],
    people: Integers,
    generator: np.random.Generator,
    totals: KindTotals | None = None,
    *,
    posterior: bool = False,
) -> Iterator[tuple[Level, Integers]]:
    """Third pass, down: the people of each node of the first level, projected onto its children in whole numbers.

    The list of ``levels`` is emptied on the way. With ``totals``, the people of each kind add up to them (only where
    all of the tree is split at once). With gamma = 1 - strength, the projection of z/gamma onto the total is that of z
    onto gamma times it, over gamma. With ``posterior``, blocks that end at a level, and cells, learn from each other:
    their split is a mean of the projection and of `Posterior`.
    """
    surroundings = Surroundings(plan.domain) if posterior else None
    while levels:
        level = levels.pop(0)
        shift = None if totals is None else totals.shift(level, people)
        learned = None
        if surroundings is not None:
            around = surroundings.means(level, people)
            learned = Posterior.of(level, around, gaussian=plan.budgets[-1].epsilon is None)
        split = np.empty(level.noisy.shape, dtype=np.int64)
        for piece, value in level.rows():
            own = people[piece]
            if shift is not None:
                value += shift[level.places(piece, len(shift).bit_length() - 1)]
            shares = project_rows(value, np.multiply(own, plan.gamma))
            shares /= plan.gamma
            if learned is not None:
                shares *= 1 - WEIGHT
                shares += WEIGHT * learned.rows(level, piece, value, own)
            split[piece] = round_rows(shares, own, generator)
        if totals is not None:
            totals.placed(level, split)
        if surroundings is not None:
            surroundings.placed(level, split)
        yield level, split
        people = split[level.goes]


def released_cells(
    plan: TreePlan,
    levels: list[Level],
    people: Integers,
    generator: np.random.Generator,
    group: int,
    mix: Mix | None,
    *,
    whole: bool = False,
) -> Cells:
    """The third pass to its end: cells above 0, ascending; blocks that were not split are spread over theirs.

    With ``whole``, all of the tree is here: blocks are spread smoothly where places have neighbours, and blocks
    and cells of domains without kinds learn from each other.
    """
    posterior = whole and not plan.domain.place_level and plan.gamma == 1
    smooth, width = whole and can_smooth(plan.domain), levels[-1].noisy.shape[1]
    # Many cells are sorted by writing them into an array of all.
    many = not levels[-1].below and levels[-1].noisy.size << _DENSE >= 1 << plan.domain.bits
    dense = np.zeros((1 << plan.domain.bits) // width if many else 0, dtype=(np.int64, width))
    ends: list[Ends] = []
    found: list[Cells] = []

    def place(below: int, block: Integers, own: Integers, surface: Density | None = None) -> None:
        index, count = spread(plan.domain, block, below, own, generator, group, mix, surface)
        if many:
            dense.reshape(-1)[index] = count
        else:
            found.append((index, count))

    for level, split in split_down(plan, levels, people, generator, KindTotals.of(mix), posterior=posterior):
        if many and not level.below:
            dense[level.node] = split
            if not smooth:
                continue
        here = split > 0
        here &= ~level.goes
        end = level.below, level.numbers(here), split[here]
        if smooth:
            ends.append(end)
        else:
            place(*end)
    surface = density(plan.domain, ends) if smooth else None
    for end in ends:
        if end[0] or not many:
            place(*end, surface)
    if many:
        listed = dense.reshape(-1) > 0
        return np.flatnonzero(listed), dense.reshape(-1)[listed]
    index, count = (np.concatenate([cells[column] for cells in found]) for column in (0, 1))
    found.clear()
    order = np.argsort(index, kind="stable")  # each level's cells ascend already, so this merges a few runs
    return index[order], count[order]
