"""Our own method: a tree with 16 children per node that measures where it pays and projects where it splits.

It combines two papers. From the one on top-down refinement it takes the tree, so that areas of every size are exact;
from the one on negative l2 the simplex projection, so that a node is split into the nearest non-negative children that
add up to it. What is new is the allocation of the budget: a node too thin to be worth splitting spends all that is left
on its own sum instead, and is spread evenly. See docs/explanation/tree.md; proof:
docs/explanation/proofs.md, theorem 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from typing import Any

import numpy as np

from sudare.arrays import Cells, Integers
from sudare.domain import Bins, Domain, Line
from sudare.errors import ParameterError, either
from sudare.language.messages import PageMessage
from sudare.measure.blocks import margin_of
from sudare.noise import measure, noise_variance, secret
from sudare.privacy import Budget, Number, exact, positive, readable
from sudare.tables.evenness import grow
from sudare.tables.method import Asked, MeasuredSums, Task
from sudare.tables.mix import Margin, Mix, MixMeasurements, kinds, mix_level
from sudare.tables.tree_passes import Start, TreePlan, ascend, cell_sums, least_people, released_cells

MARGIN_SHARE = Fraction(2, 100)
EMPHASES = ("cells", "areas")


@dataclass(frozen=True)
class Shares:
    """Of the budget: for the root and for the cells; the levels between them share the rest.

    Each of them has ``rise`` times as much as the one above it; or the one next to the cells has ``near``, and those
    above it alike.
    """

    root: Fraction
    cells: Fraction
    rise: Fraction = Fraction(1)
    near: Fraction | None = None

    def of(self, levels: int) -> list[Fraction]:
        """For the root and each of ``levels``, in any unit."""
        if levels < 2:
            return [self.root, 1 - self.root][: levels + 1] if levels else [Fraction(1)]
        inner = levels - 1
        between = 1 - self.root - self.cells
        if self.near is not None and inner > 1:
            return [self.root, *[(between - self.near) / (inner - 1)] * (inner - 1), self.near, self.cells]
        weights = [self.rise**step for step in range(inner)]
        return [self.root, *(between * weight / sum(weights) for weight in weights), self.cells]


USUAL = {
    None: Shares(Fraction("0.03"), Fraction("0.42")),
    "cells": Shares(Fraction("0.02"), Fraction("0.48"), rise=Fraction("1.5")),
    "areas": Shares(Fraction("0.05"), Fraction("0.30")),
}
"""By emphasis. Cells and areas are paid from the same budget: what one gains the other loses."""
EVEN = {
    None: Shares(Fraction("0.03"), Fraction("0.72"), near=Fraction("0.17")),
    "cells": Shares(Fraction("0.02"), Fraction("0.96"), near=Fraction("0.012")),
}
"""Of a table that turns out to be even: see `sudare.tables.evenness`."""
SMALL = 512
"""Cells up to which an emphasis on cells treats any thick table as an even one: noise per cell is nearly best there."""
MOST_LEVELS_LOOKED_AT = 4
"""Deeper trees have more levels than the shares of an even table are made for."""


@dataclass(frozen=True)
class Tree(MeasuredSums):
    """A tree of ``children`` (a power of two) per node, measured from the root down, estimated up and down again.

    Sensitivity: a row is counted in one node of each level, so the sums of a level, or of any part of it, move
    by at most max_rows in L1 (and L2) when a unit comes or goes; so do the totals of categories, where it is counted
    once. On the way to a row's cell every level spends its share; a node that is not split spends all the shares below
    it at once to refine its own measurement (`sudare.noise.refine`: both together cost the sum of their shares), and is
    measured no more. So the margin and a row's path cost together at most epsilon/max_rows per row, and a unit epsilon;
    which nodes are split follows from noisy values alone. The proof is in docs/explanation/tree.md.

    ``shares`` lists the root and each level down to the cells, in any unit, or "auto": root 3 %, cells 42 %, the
    levels between them alike. With a public total the root is not measured and its share goes to the rest. With "auto"
    a table of up to 2**19 cells is looked at first: where it is thick and even, its cells get 72 % (see
    `sudare.tables.evenness`). ``emphasis`` says what matters: "cells" gives them 48 %, and 96 % where the table is
    even, or thick and of at most 512 cells, at the cost of areas; "areas" gives them 30 %, and a remainder of bits a
    level of its own at the top.

    ``margin`` is the share for the totals of categories and bins over all places, taken off before that: where too
    little was measured, people are divided by them. Without such attributes, or with 0, nothing is spent on it.

    ``strength`` in [0, 1) puts the negative l2 of `NegativeL2` into the final splits: fewer children with people, and
    more in each. It gains nothing on the data sets we know, so it is 0 unless the truth is known to be sparse.
    """

    children: int = 16
    shares: str | Sequence[Number] = "auto"
    strength: Number = 0
    margin: Number = MARGIN_SHARE
    emphasis: str | None = None

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
        if self.emphasis is not None and self.emphasis not in EMPHASES:
            raise ParameterError("unknown emphasis", value=self.emphasis, allowed=either(EMPHASES))
        if self.emphasis is not None and self.shares != "auto":
            raise ParameterError("give shares or an emphasis, not both", value=self.emphasis)
        for name in ("strength", "margin"):
            value = exact(getattr(self, name), name)
            object.__setattr__(self, name, value)
            if not 0 <= value < 1:
                raise ParameterError("{name} is outside its range", value=value, allowed="0 <= {name} < 1", name=name)

    name = "tree"

    @property
    def parameters(self) -> dict[str, Any]:
        """The declared parameters."""
        shares = self.shares if isinstance(self.shares, str) else [str(share) for share in self.shares]
        further = {"strength": str(self.strength), "margin": str(self.margin)}
        if self.emphasis is not None:
            further["emphasis"] = self.emphasis
        return {"children": self.children, "shares": shares, **further}

    def branching(self, domain: Domain) -> list[int]:
        """Bits that each level splits, root to cells: the remainder is merged into the top level.

        With an emphasis on areas it is a level of its own, so that the largest areas are measured too; not in a small
        table that has two levels in any case, whose blocks of 16 cells would pay for it.
        """
        step = self.children.bit_length() - 1
        levels, remainder = divmod(domain.bits, step)
        if levels == 0:
            return [remainder] if remainder else []
        if self.emphasis == "areas" and remainder and (levels == 1 or domain.size > SMALL):
            return [remainder] + [step] * levels
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
        return USUAL[self.emphasis].of(levels)

    def even_shares(self, domain: Domain) -> list[Fraction] | None:
        """The shares of a table that turns out to be even; None where that is not looked for."""
        levels = len(self.branching(domain))
        if self.shares != "auto" or self.emphasis not in EVEN or not 2 <= levels <= MOST_LEVELS_LOOKED_AT:
            return None
        usual, even = self.level_shares(domain), EVEN[self.emphasis].of(levels)
        return even if all(less < more for less, more in zip(even[1:-1], usual[1:-1], strict=True)) else None

    def without_margin(self, domain: Domain, budget: Budget) -> tuple[Budget | None, Budget]:
        """What the margin gets and what is left for the tree.

        Nothing, where no block of whole places can be left unsplit.
        """
        largest = domain.bits - sum(self.branching(domain)[:1])
        if not self.margin or not mix_level(domain) or largest < mix_level(domain):
            return None, budget
        margin, rest = budget.split([self.margin, 1 - Fraction(self.margin)])
        return margin, rest

    def explain(self, domain: Domain, budget: Budget) -> PageMessage:
        """How the budget goes through the tree: from the domain and the budget, nothing else."""
        margin, rest = self.without_margin(domain, budget)
        sizes = np.cumsum([0, *self.branching(domain)[::-1]])[::-1]
        parts = [] if margin is None else [PageMessage("explain.on_categories", amount=readable(margin.amount))]
        parts += [
            PageMessage("explain.on_blocks", amount=readable(part.amount), cells=1 << int(bits))
            for part, bits in zip(rest.split(self.level_shares(domain)), sizes, strict=True)
        ]
        made = PageMessage("explain.tree", currency=budget.currency, parts=tuple(parts))
        if even := self.even_shares(domain):
            share = f"{float(even[-1]):.0%}"
            any_dense, even_too = (
                PageMessage("explain.dense", share=share),
                PageMessage("explain.dense_even", share=share),
            )
            more = any_dense if self._takes_any(domain) else even_too
            made = PageMessage("explain.more", first=made, more=more)
        trade = self._trade(domain)
        return made if trade is None else PageMessage("explain.more", first=made, more=trade)

    def _trade(self, domain: Domain) -> PageMessage | None:
        """Of a small table: what cells cost areas. Both are paid from one budget, and no release is best in both."""
        levels = len(self.branching(domain))
        if self.shares != "auto" or levels < 2 or domain.size > SMALL:
            return None
        shares = {emphasis: float(USUAL[emphasis].of(levels)[-1]) for emphasis in USUAL}
        return PageMessage(
            "explain.trade",
            usual=f"{1 / shares[None]:.1f}",
            cells=f"{1 / float(EVEN['cells'].of(levels)[-1]):.2f}",
            areas=f"{1 / shares['areas']:.1f}",
        )

    def _takes_any(self, domain: Domain) -> bool:
        """Whether a thick table counts as even, whatever it looks like."""
        return self.emphasis == "cells" and domain.size <= SMALL

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
        plan, top, below = grow(plan, Start.root(total, variance), cell_sums(plan, 0, index, count), task.source)
        levels = []
        for level in chain(top, below):
            level.expected = None  # only the way down needs it
            levels.append(level)
        ascend(levels)
        if variance:
            total = levels[0].joined_root(total, variance)
        people = np.array([max(0, round(total))], dtype=np.int64)
        mix = Mix.learned(task.domain, MixMeasurements.of(task.domain, levels), total, margin)
        return released_cells(plan, levels, people, generator, plan.group(int(people[0])), mix, whole=True)

    def measure_margin(self, task: Asked, exact_totals: Callable[[], Integers]) -> Margin | None:
        """The totals of categories over all places, where the budget has a share for them."""
        budget, _ = self.without_margin(task.domain, task.budget)
        if budget is None:
            return None
        logical = kinds(task.domain)
        totals = np.zeros(len(logical))
        totals[logical] = measure(exact_totals()[logical], task.sensitivity, budget, task.source, "margin")
        return Margin(totals, noise_variance(task.sensitivity, budget))

    def margin_variance(self, domain: Domain, budget: Budget, sensitivity: int) -> float | None:
        """Of the measured total of each category over all places; None where none is measured."""
        margin, _ = self.without_margin(domain, budget)
        return None if margin is None else noise_variance(sensitivity, margin)

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

    def least_people(
        self, domain: Domain, budget: Budget, sensitivity: int, public_total: bool
    ) -> list[tuple[int, float]]:
        """Levels of blocks that may be left unsplit, from the top, and how many people they need to be split."""
        _, budget = self.without_margin(domain, budget)
        budgets = budget.split(self.level_shares(domain)[int(public_total) :])[0 if public_total else 1 :]
        levels = np.cumsum(self.branching(domain)[::-1])[-2::-1].tolist()
        rest = [sum(budgets[at + 1 :], budgets[at]) for at in range(1, len(budgets))]
        return [(level, least_people(own, sensitivity)) for level, own in zip(levels, rest, strict=True)]

    def plan(self, task: Asked, budgets: Sequence[Budget]) -> TreePlan:
        """What the passes over the levels, which may spend ``budgets``, need to know."""
        branching = tuple(self.branching(task.domain))
        even, shares = None, self.even_shares(task.domain)
        if shares is not None and budgets:
            even = sum(budgets[1:], budgets[0]).split(shares[1:])
        line = all(isinstance(attribute, Line | Bins) for attribute in task.domain.attributes.values())
        smooth = line and len(task.domain.attributes) == 1
        gamma, any_even = 1 - float(self.strength), self._takes_any(task.domain)
        return TreePlan(task.domain, branching, tuple(budgets), task.sensitivity, gamma, even, smooth, any_even)
