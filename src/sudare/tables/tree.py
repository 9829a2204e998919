"""Our own method: a tree with 16 children per node that measures where it pays and projects where it splits.

It joins both papers. From the second it takes the tree, so that areas of every size are right; from the first the
simplex projection, so that a split of a node into its children is the nearest one that could be true. What is new
is where the budget goes: a node too thin to be worth splitting spends all that is left on itself instead, and is
spread evenly. See docs/explanation/tree.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from sudare.arrays import Cells, Integers
from sudare.domain import Domain
from sudare.errors import ParameterError
from sudare.measure.blocks import margin_of
from sudare.noise import measure, noise_variance, secret
from sudare.privacy import Budget, Number, exact, positive, readable
from sudare.tables.method import Asked, Task, replaced_in_sums
from sudare.tables.mix import Margin, Mix, MixMeasurements, kinds, mix_level
from sudare.tables.tree_passes import Start, TreePlan, ascend, cell_sums, descend, released_cells

ROOT_SHARE = Fraction(3, 100)
LEAF_SHARE = Fraction(42, 100)
MARGIN_SHARE = Fraction(2, 100)


@dataclass(frozen=True)
class Tree:
    """A tree of ``children`` (a power of two) per node, measured from the root down, estimated up and down again.

    Sensitivity: a row is counted in one node of each level, so the sums of a level, or of any part of it, move
    by at most max_rows in L1 (and L2) when a unit comes or goes; so do the totals of categories, where it is counted
    once. On the way to a row's cell every level spends its share; a node that is not split spends all the shares below
    it at once and is measured no more. So the margin and a row's path cost together at most epsilon/max_rows per row,
    and a unit epsilon; which nodes are split follows from noisy values alone.

    ``shares`` lists the root and each level down to the cells, in any unit, or "auto": root 3 %, cells 42 %, the
    levels between them alike. With a public total the root is not measured and its share goes to the rest.

    ``margin`` is the share for the totals of categories and bins over all places, taken off before that: where too
    little was measured, people are divided by them. Without such attributes, or with 0, nothing is spent on it.

    ``strength`` in [0, 1) puts paper 0's negative l2 into the final splits: fewer children with people, and more
    in each. It gains nothing on the data sets we know, so it is 0 unless the truth is known to be sparse.
    """

    children: int = 16
    shares: str | Sequence[Number] = "auto"
    strength: Number = 0
    margin: Number = MARGIN_SHARE

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
        for name in ("strength", "margin"):
            value = exact(getattr(self, name), name)
            object.__setattr__(self, name, value)
            if not 0 <= value < 1:
                raise ParameterError("{name} is outside its range", value=value, allowed="0 <= {name} < 1", name=name)

    name = "tree"
    uses_total = True
    gaussian = True
    replaced = staticmethod(replaced_in_sums)

    @property
    def parameters(self) -> dict[str, Any]:
        """The declared parameters."""
        shares = self.shares if isinstance(self.shares, str) else [str(share) for share in self.shares]
        further = {"strength": str(self.strength), "margin": str(self.margin)}
        return {"children": self.children, "shares": shares, **further}

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
                    allowed="{levels} numbers: the root and {second_levels} levels",
                    levels=levels + 1,
                    second_levels=levels,
                )
            return [share / sum(given) for share in given]
        if levels == 0:
            return [Fraction(1)]
        if levels == 1:
            return [ROOT_SHARE, 1 - ROOT_SHARE]
        inner = (1 - ROOT_SHARE - LEAF_SHARE) / (levels - 1)
        return [ROOT_SHARE, *[inner] * (levels - 1), LEAF_SHARE]

    def without_margin(self, domain: Domain, budget: Budget) -> tuple[Budget | None, Budget]:
        """What the margin gets and what is left for the tree.

        Nothing, where no block of whole places can be left unsplit.
        """
        largest = domain.bits - sum(self.branching(domain)[:1])
        if not self.margin or not mix_level(domain) or largest < mix_level(domain):
            return None, budget
        margin, rest = budget.split([self.margin, 1 - Fraction(self.margin)])
        return margin, rest

    def explain(self, domain: Domain, budget: Budget) -> str:
        """How the budget goes through the tree: from the domain and the budget, nothing else."""
        margin, rest = self.without_margin(domain, budget)
        parts = rest.split(self.level_shares(domain))
        sizes = np.cumsum([0, *self.branching(domain)[::-1]])[::-1]
        levels = ", ".join(
            f"{readable(part.amount)} on blocks of {1 << int(bits):,}" for part, bits in zip(parts, sizes, strict=True)
        )
        totals = f"{readable(margin.amount)} on the totals of categories, " if margin else ""
        return f"{budget.currency}: {totals}{levels} cells; a block too thin to be split spends the rest on itself"

    def protect(self, task: Task) -> Cells:
        """Integers > 0; cells at 0 are not listed."""
        generator = np.random.default_rng(secret(task.source, "rounding"))
        index, count = task.table.index, task.table.count.astype(np.int64, copy=False)
        margin = self.measure_margin(task, lambda: margin_of(mix_level(task.domain), index, count))
        total, variance, budgets = self.measure_root(task)
        if not budgets:
            only = np.array([max(0, round(total))], dtype=np.int64)
            return np.flatnonzero(only), only[only > 0]
        plan = self.plan(task, budgets)
        levels = list(descend(plan, Start.root(total, variance), cell_sums(plan, 0, index, count), task.source))
        ascend(levels)
        if variance:
            total = levels[0].joined_root(total, variance)
        people = np.array([max(0, round(total))], dtype=np.int64)
        mix = Mix.learned(task.domain, MixMeasurements.of(task.domain, levels), total, margin)
        return released_cells(plan, levels, people, generator, plan.group(int(people[0])), mix)

    def measure_margin(self, task: Asked, exact_totals: Callable[[], Integers]) -> Margin | None:
        """The totals of categories over all places, where the budget has a share for them."""
        budget, _ = self.without_margin(task.domain, task.budget)
        if budget is None:
            return None
        logical = kinds(task.domain)
        totals = np.zeros(len(logical))
        totals[logical] = measure(exact_totals()[logical], task.sensitivity, budget, task.source, "margin")
        return Margin(totals, noise_variance(task.sensitivity, budget))

    def measure_root(self, task: Asked) -> tuple[float, float, tuple[Budget, ...]]:
        """The total, its variance (0 where it is public), and the budgets of the levels below."""
        shares = self.level_shares(task.domain)
        _, budget = self.without_margin(task.domain, task.budget)
        truth = np.array([task.total], dtype=np.int64)
        if task.public_total:
            if len(shares) == 1:
                # One cell, whose count is the public total: nothing is left to measure, but the promise is as asked.
                measure(truth[:0], task.sensitivity, budget, task.source, "nothing")
                return float(truth[0]), 0.0, ()
            return float(truth[0]), 0.0, budget.split(shares[1:])
        root, *levels = budget.split(shares)
        noisy = measure(truth, task.sensitivity, root, task.source, "root")
        return float(noisy[0]), noise_variance(task.sensitivity, root), tuple(levels)

    def plan(self, task: Asked, budgets: Sequence[Budget]) -> TreePlan:
        """What the passes over the levels, which may spend ``budgets``, need to know."""
        branching = tuple(self.branching(task.domain))
        return TreePlan(task.domain, branching, tuple(budgets), task.sensitivity, 1 - float(self.strength))

    def block_error(self, budget: Budget, sensitivity: int, cells: int, domain: Domain | None = None) -> float | None:
        """It depends on the data."""
