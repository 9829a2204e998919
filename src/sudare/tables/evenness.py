"""Whether a table is even, learned from the upper levels of its tree before these are paid for.

Where every cell has many people and all areas of a size have about as many, the upper levels of a tree add nothing to
the cells, and the cells should get the budget. So each level is measured with a small share at first. If all levels
down to blocks of a few cells look even, this is all that they get, and the cells get the rest. If one does not, the
levels measured so far are refined to their usual shares (`sudare.noise.refine`), and the tree continues as any other:
the test has cost nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from sudare.arrays import Integers
from sudare.noise import Source, noise_variance
from sudare.tables.tree_level import Level
from sudare.tables.tree_passes import Counted, Start, Sums, TreePlan, count_children, descend, sharpen

_SPREAD = 0.02
"""The largest squared coefficient of variation of the people in blocks of one size that is even."""
_THICK = 3.0
"""People in a cell, in standard deviations of its noise, below which a table is not thick."""
_DOUBT = 4.0
"""Standard deviations of noise by which the measured variation may exceed the limit."""


def grow(plan: TreePlan, start: Start, sums: Sums, source: Source) -> tuple[TreePlan, list[Level], Iterator[Level]]:
    """The plan that the table calls for, the levels that it was learned from, and those that follow.

    ``start`` is the root. A plan without budgets for an even table is taken as it is.
    """
    if plan.even is None:
        return plan, [], descend(plan, start, sums, source)
    looked: list[Counted] = []
    node, seems_even = start.node, True
    while seems_even and len(looked) < len(plan.branching) - 1:
        depth = len(looked)
        counted = count_children(plan, depth, node, sums, plan.even[depth], source, f"level {depth + 1}, at first")
        looked.append(counted)
        level, _ = counted
        seems_even = _is_even(plan, level, depth)
        level.goes[...] = level.logical
        node = level.numbers(level.goes)
    if seems_even:
        plan, last = replace(plan, budgets=plan.even, even=None), None
    else:
        for depth, counted in enumerate(looked):
            _sharpen(plan, *counted, depth, source)
        plan, last = replace(plan, even=None), looked.pop()
    if not looked:
        return plan, [], descend(plan, start, sums, source, last)
    people = np.maximum(start.people, 0.0)
    if start.variance:
        people = np.array([max(0.0, looked[0][0].joined_root(float(start.people[0]), start.variance))])
    for level, _ in looked:
        level.expected = level.project(people)
        node, people = level.numbers(level.goes), level.expected[level.goes]
    below = descend(plan, Start(len(looked), node, people), sums, source, last)
    return plan, [level for level, _ in looked], below


def _is_even(plan: TreePlan, level: Level, depth: int) -> bool:
    """Whether blocks have about as many people for each logical cell, and these are many."""
    assert plan.even is not None  # noqa: S101 - asked only where it is looked for
    cells: Integers = plan.domain.block_sizes(level.numbers(level.logical), level.below)
    noisy = level.noisy[level.logical].astype(np.float64)
    each = float(noisy.sum()) / float(cells.sum())
    if each < _THICK * noise_variance(plan.sensitivity, plan.even[-1]) ** 0.5:
        return False
    if plan.any_even:
        return True
    expected, noise = each * cells, noise_variance(plan.sensitivity, plan.even[depth])
    scale = float(expected @ expected)
    spread = float(((noisy - expected) ** 2).sum()) - len(cells) * noise
    # The square of Laplace noise of variance v has the variance 5 v**2.
    doubt = noise * (5 * len(cells)) ** 0.5
    return bool(spread <= _SPREAD * scale + _DOUBT * doubt)


def _sharpen(plan: TreePlan, level: Level, truth: Integers, depth: int, source: Source) -> None:
    """Refine a level that was measured with a small share to its usual share."""
    assert plan.even is not None  # noqa: S101 - asked only where it was looked for
    first, usual = plan.even[depth], plan.budgets[depth]
    more = usual.times(1 - first.amount / usual.amount)
    labels = f"level {depth + 1}, at first", f"level {depth + 1}"
    sharpen(plan, level, level.logical, truth[level.logical], (first, more), source, labels, final=False)
