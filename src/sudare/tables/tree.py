"""Our own method: a tree with 16 children per node that measures where it pays and projects where it splits.

It joins both papers. From the second it takes the tree, so that areas of every size are right; from the first the
simplex projection, so that a split of a node into its children is the nearest one that could be true. What is new
is where the budget goes: a node too thin to be worth splitting spends all that is left on itself instead, and is
spread evenly. See docs/explanation/tree.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.domain import Domain
from sudare.errors import ParameterError
from sudare.estimate import project_rows, round_rows
from sudare.noise import measure, noise_variance, secret
from sudare.privacy import Budget, Number, exact, positive, readable
from sudare.tables.method import Cells, Task
from sudare.tables.spread import spread
from sudare.tables.tree_level import Level, populated_levels

ROOT_SHARE = Fraction(3, 100)
LEAF_SHARE = Fraction(42, 100)
MOST_SPREAD = 2**24
"""Cells over which the people of thin blocks are spread at most; in a larger domain they stand in groups instead."""
WORTH = 12 / 2**0.5
"""A node is split while its people are at least so many standard deviations of the noise its whole rest would buy."""


@dataclass(frozen=True)
class Tree:
    """A tree of ``children`` (a power of two) per node, measured from the root down, estimated up and down again.

    Sensitivity: a row is counted in one node of each level, so the sums of a level, or of any part of it, move
    by at most max_rows in L1 (and L2) when a unit comes or goes. On the way to a row's cell every level spends
    its share; a node that is not split spends all the shares below it at once and is measured no more. So each
    row's path costs at most epsilon/max_rows per row, and a unit epsilon; which nodes are split follows from
    noisy values alone.

    ``shares`` lists the root and each level down to the cells, in any unit, or "auto": root 3 %, cells 42 %, the
    levels between them alike. With a public total the root is not measured and its share goes to the rest.

    ``strength`` in [0, 1) puts paper 0's negative l2 into the final splits: fewer children with people, and more
    in each. It gains nothing on the data sets we know, so it is 0 unless the truth is known to be sparse.
    """

    children: int = 16
    shares: str | Sequence[Number] = "auto"
    strength: Number = 0

    def __post_init__(self) -> None:
        bits = self.children.bit_length() - 1 if type(self.children) is int else 0
        if bits < 1 or bits > 12 or self.children != 1 << bits:
            raise ParameterError(
                "children is not a power of two", value=self.children, allowed="2, 4, 8, ... 4096", hint="16 is good."
            )
        if isinstance(self.shares, str):
            if self.shares != "auto":
                raise ParameterError("unknown shares", value=self.shares, allowed='"auto" or a list of numbers')
        else:
            object.__setattr__(self, "shares", tuple(positive(share, "share") for share in self.shares))
        object.__setattr__(self, "strength", exact(self.strength, "strength"))
        if not 0 <= Fraction(self.strength) < 1:
            raise ParameterError("strength is outside its range", value=self.strength, allowed="0 <= strength < 1")

    name = "tree"
    uses_total = True
    gaussian = True

    @property
    def parameters(self) -> dict[str, Any]:
        """The declared parameters."""
        shares = self.shares if isinstance(self.shares, str) else [str(share) for share in self.shares]
        return {"children": self.children, "shares": shares, "strength": str(self.strength)}

    def branching(self, domain: Domain) -> list[int]:
        """Bits that each level splits, root to cells: the remainder is merged into the top level."""
        step = self.children.bit_length() - 1
        levels, remainder = divmod(domain.bits, step)
        if levels == 0:
            return [remainder] if remainder else []
        return [step + remainder] + [step] * (levels - 1)

    def level_shares(self, domain: Domain) -> list[Fraction]:
        """The share of the root and of each level; they add up to 1."""
        levels = len(self.branching(domain))
        if not isinstance(self.shares, str):
            given = [Fraction(share) for share in self.shares]
            if len(given) != levels + 1:
                raise ParameterError(
                    "the shares do not fit the tree",
                    value=len(given),
                    allowed=f"{levels + 1} numbers: the root and {levels} levels",
                )
            return [share / sum(given) for share in given]
        if levels == 0:
            return [Fraction(1)]
        if levels == 1:
            return [ROOT_SHARE, 1 - ROOT_SHARE]
        inner = (1 - ROOT_SHARE - LEAF_SHARE) / (levels - 1)
        return [ROOT_SHARE, *[inner] * (levels - 1), LEAF_SHARE]

    def explain(self, domain: Domain, budget: Budget) -> str:
        """How the budget goes through the tree: from the domain and the budget, nothing else."""
        parts = budget.split(self.level_shares(domain))
        sizes = np.cumsum([0, *self.branching(domain)[::-1]])[::-1]
        levels = ", ".join(
            f"{readable(part.amount)} on blocks of {1 << int(bits):,}" for part, bits in zip(parts, sizes, strict=True)
        )
        return f"{budget.currency}: {levels} cells; a block too thin to be split spends the rest on itself"

    def protect(self, task: Task) -> Cells:
        """Integers > 0; cells at 0 are not listed."""
        domain = task.table.domain
        branching, shares = self.branching(domain), self.level_shares(domain)
        if task.public_total:
            shares = [Fraction(0), *shares[1:]] if branching else [Fraction(1)]
        generator = np.random.default_rng(secret(task.source, "rounding"))
        total, variance, budgets = _measure_root(task, shares)
        if not branching:
            only = np.array([max(0, round(total))], dtype=np.int64)
            return np.flatnonzero(only), only[only > 0]
        levels = _descend(task, branching, budgets, total, variance)
        _ascend(levels)
        if variance:
            total = levels[0].joined_root(total, variance)
        return _split(domain, levels, max(0, round(total)), 1 - float(self.strength), generator)

    def block_error(self, budget: Budget, sensitivity: int, cells: int, domain: Domain | None = None) -> float | None:
        """It depends on the data."""


def _measure_root(task: Task, shares: list[Fraction]) -> tuple[float, float, tuple[Budget, ...]]:
    """The total, its variance (0 where it is public), and the budgets of the levels below."""
    truth = np.array([task.table.total], dtype=np.int64)
    if task.public_total:
        if len(shares) == 1:
            # One cell, whose count is the public total: nothing is left to measure, but the promise is as asked.
            measure(truth[:0], task.sensitivity, task.budget, task.source, "nothing")
            return float(truth[0]), 0.0, ()
        return float(truth[0]), 0.0, task.budget.split(shares[1:])
    root, *levels = task.budget.split(shares)
    noisy = measure(truth, task.sensitivity, root, task.source, "root")
    return float(noisy[0]), noise_variance(task.sensitivity, root), tuple(levels)


def _descend(
    task: Task, branching: list[int], budgets: tuple[Budget, ...], total: float, variance: float
) -> list[Level]:
    """First pass, down: measure the children of every node worth splitting; the others measure themselves again."""
    domain = task.table.domain
    populated = populated_levels(task.table, branching)
    node, people = np.zeros(1, dtype=np.int64), np.array([max(0.0, total)])
    levels: list[Level] = []
    below = domain.bits
    for depth, (bits, budget) in enumerate(zip(branching, budgets, strict=True)):
        below -= bits
        level = Level.of(domain, node, bits, below)
        truth = level.exact(*populated[depth])
        noisy = measure(truth[level.logical], task.sensitivity, budget, task.source, f"level {depth + 1}")
        level.learn(noisy, noise_variance(task.sensitivity, budget))
        if depth == 0 and variance:
            people = np.array([max(0.0, level.joined_root(total, variance))])
        if depth < len(branching) - 1:
            rest = sum(budgets[depth + 2 :], budgets[depth + 1])
            rest_variance = noise_variance(task.sensitivity, rest)
            expected = project_rows(level.value, people)
            level.goes[...] = expected >= max(WORTH * rest_variance**0.5, 0.5)
            stops = level.logical & ~level.goes
            again = measure(truth[stops], task.sensitivity, rest, task.source, f"rest of level {depth + 1}", final=True)
            level.learn_again(stops, again, rest_variance)
            node, people = level.children[level.goes], expected[level.goes]
        levels.append(level)
    return levels


def _ascend(levels: list[Level]) -> None:
    """Second pass, up: a node's own measurement joined with the sum of its children's."""
    for upper, lower in zip(levels[-2::-1], levels[:0:-1], strict=True):
        upper.join_children(lower)


def _split(domain: Domain, levels: list[Level], total: int, gamma: float, generator: np.random.Generator) -> Cells:
    """Third pass, down: each node's people projected onto its children, in whole numbers.

    With gamma = 1 - strength, the projection of z/gamma onto the total is that of z onto gamma times it, over gamma.
    """
    people = np.array([total], dtype=np.int64)
    group = 1 if domain.size <= MOST_SPREAD else -(-total // MOST_SPREAD)
    index, count = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
    for level in levels:
        split = round_rows(project_rows(level.value, np.multiply(people, gamma)) / gamma, people, generator)
        ends = ~level.goes & (split > 0)
        cells = spread(domain, level.children[ends], level.below, split[ends], generator, group)
        index.append(cells[0])
        count.append(cells[1])
        people = split[level.goes]
    return _listed(np.concatenate(index), np.concatenate(count))


def _listed(index: NDArray[np.int64], count: NDArray[np.int64]) -> Cells:
    """Ascending; each level's cells are already, so this merges a few runs."""
    order = np.argsort(index, kind="stable")
    return index[order], count[order]
