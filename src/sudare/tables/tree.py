"""Our own method: a tree with 16 children per node that measures where it pays and projects where it splits.

It combines two papers. From the one on top-down refinement it takes the tree, so that areas of every size are exact;
from the one on negative l2 the simplex projection, so that a node is split into the nearest non-negative children that
add up to it. What is new is the allocation of the budget: a node too thin to be worth splitting spends all that is left
on its own sum instead, and is spread evenly. See docs/explanation/tree.md; proof:
docs/explanation/proofs.md, theorem 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
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
    above it alike. A level of a few large areas, which are well known from their parts, has at most ``few``.
    """

    root: Fraction
    cells: Fraction
    rise: Fraction = Fraction(1)
    near: Fraction | None = None
    few: Fraction | None = None

    def of(self, levels: int, *, few_at_top: bool = False) -> list[Fraction]:
        """For the root and each of ``levels``, in any unit; ``few_at_top`` if the first has a few large areas."""
        if levels < 2:
            return [self.root, 1 - self.root][: levels + 1] if levels else [Fraction(1)]
        inner = levels - 1
        between = 1 - self.root - self.cells
        above = [self.root]
        if few_at_top and self.few is not None and inner > 1:
            above.append(min(self.few, between / inner))
            inner, between = inner - 1, between - above[1]
        if self.near is not None and inner > 1:
            return [*above, *[(between - self.near) / (inner - 1)] * (inner - 1), self.near, self.cells]
        weights = [self.rise**step for step in range(inner)]
        return [*above, *(between * weight / sum(weights) for weight in weights), self.cells]


USUAL = {
    None: Shares(Fraction("0.025"), Fraction("0.40"), few=Fraction("0.053")),
    "cells": Shares(Fraction("0.02"), Fraction("0.48"), rise=Fraction("1.5")),
    "areas": Shares(Fraction("0.05"), Fraction("0.30")),
}
"""By emphasis. Cells and areas are paid from the same budget: what one gains the other loses."""
OTHERS = Shares(Fraction("0.03"), Fraction("0.42"), few=Fraction("0.053"))
"""Of all but maps without kinds: there blocks learn less from those around them (`sudare.tables.posterior`)."""
FEW, FEW_OTHERS = (Shares(Fraction("0.001"), Fraction(cells), few=Fraction("0.089")) for cells in ("0.395", "0.415"))
"""With a few large areas at the top and Laplace noise, of maps without kinds and of others.

The precision of Laplace noise grows with the square of its share, so that a budget buys more in one place than in two:
the areas are measured well, and the total is little more than their sum. Gaussian precisions only add up. Lines look at
the root alone before all else.
"""
THICK_LINE = Fraction("0.50")
"""What the cells of a thick line have of the budget: see `Tree.below_root`."""
THIN, THICK = 500, 8
"""In scales of the noise: a line is thin with fewer people in all, thick with as many for each cell."""
EVEN = {
    None: Shares(Fraction("0.025"), Fraction("0.72"), near=Fraction("0.17"), few=Fraction("0.02")),
    "cells": Shares(Fraction("0.02"), Fraction("0.96"), near=Fraction("0.012")),
}
"""Of a table that turns out to be even: see `sudare.tables.evenness`."""
FEW_EVEN = Shares(FEW.root, Fraction("0.71"), near=Fraction("0.167"), few=Fraction("0.057"))
"""The same, where large areas are known rather than the root."""
SMALL = 512
"""Cells up to which an emphasis on cells treats any thick table as an even one: noise per cell is nearly best there."""
MOST_AT_FIRST = Fraction(99, 100)
"""Of what a level usually has, where it is measured at first to see whether the table is even: the rest refines it."""
MOST_LEVELS_LOOKED_AT = 4
"""Deeper trees have more levels than the shares of an even table are made for; not counting a few large areas."""
LARGE = 16
"""Bits of a domain above which the remainder of bits at the top is a level of its own: areas of 2**16 cells."""


def _is_line(domain: Domain) -> bool:
    """Whether the domain is one line or row of bins."""
    first, *others = domain.attributes.values()
    return not others and isinstance(first, Line | Bins)


def _is_map(domain: Domain) -> bool:
    """Whether the domain has places alone, and they are no line."""
    return all(attribute.spatial for attribute in domain.attributes.values()) and not _is_line(domain)


@dataclass(frozen=True)
class Tree(MeasuredSums):
    """A tree of ``children`` (a power of two) per node, measured from the root down, estimated up and down again.

    Sensitivity: a row is counted in one node of each level, so the sums of a level, or of any part of it, move
    by at most max_rows in L1 (and L2) when a unit comes or goes; so do the totals of categories, where it is counted
    once. On the way to a row's cell every level spends its share; a node that is not split spends all the shares below
    it at once to refine its own measurement (`sudare.noise.refine`: both together cost the sum of their shares), and is
    measured no more. So the margin and a row's path cost together at most epsilon/max_rows per row, and a unit epsilon;
    which nodes are split follows from noisy values alone. The proof is in docs/explanation/tree.md.

    ``shares`` lists the root and each level down to the cells, in any unit, or "auto": on maps root 2.5 % and cells
    40 %, else 3 % and 42 %, the levels between them alike. With more than 2**16 cells a remainder of bits is a level of
    its own at the top: it has 8.9 % and the root 0.1 %, or, on lines and with ``rho``, 5.3 %. With a public total the
    root is not measured and its share goes to the rest. With "auto" a table of up to 2**19 cells is looked at first:
    where it is thick and even, its cells get 72 % (see `sudare.tables.evenness`); lines follow their total (see
    `below_root`). ``emphasis`` says what matters: "cells" gives them 48 %, and 96 % where the table is even, or thick
    and of at most 512 cells, at the cost of areas; "areas" gives them 30 %, and a remainder of bits a level of its own
    at the top in smaller tables too.

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

        In a large table, and with an emphasis on areas, it is a level of its own, so that the largest areas are
        measured too; not in a small table that has two levels in any case, whose blocks of 16 cells would pay for it.
        """
        step = self.children.bit_length() - 1
        levels, remainder = divmod(domain.bits, step)
        if levels == 0:
            return [remainder] if remainder else []
        if self._few_at_top(domain):
            return [remainder] + [step] * levels
        return [step + remainder] + [step] * (levels - 1)

    def _few_at_top(self, domain: Domain) -> bool:
        """Whether the remainder of bits is a level of its own."""
        levels, remainder = divmod(domain.bits, self.children.bit_length() - 1)
        if self.emphasis == "areas":
            return bool(levels and remainder) and (levels == 1 or domain.size > SMALL)
        return bool(remainder) and self.emphasis is None and self.shares == "auto" and domain.bits > LARGE

    def _knows_few(self, domain: Domain, gaussian: bool) -> bool:
        """Whether the few areas at the top are measured well instead of the root."""
        return self.emphasis is None and self._few_at_top(domain) and not gaussian and not _is_line(domain)

    def _looks_at_total(self, domain: Domain) -> bool:
        """Whether a total decides what `below_root` does: on lines of several levels, unless something is declared."""
        declared = self.shares != "auto" or self.emphasis is not None or self.children != type(self).children
        return _is_line(domain) and not declared and len(self.branching(domain)) > 2

    def below_root(
        self, domain: Domain, total: float, scale: float, *, gaussian: bool = False
    ) -> tuple[Tree, list[Fraction]]:
        """The tree that suits a table with this noisy or public total, and the shares of its levels below the root.

        ``scale`` is that of the noise of the whole budget. On a thin line most blocks are not split, so that nodes with
        4 children keep more of it together; on a thick one cells get more. Chosen on the tuning lines of
        benchmarks/held_out.py. It is chosen by a measurement that is paid for, so that it costs nothing.
        """
        shares = self.level_shares(domain, gaussian=gaussian)[1:]
        if self._looks_at_total(domain):
            if total < THIN * scale:
                thin = replace(self, children=4)
                return thin, thin.level_shares(domain)[1:]
            if total >= THICK * domain.size * scale:
                above = (1 - OTHERS.root - THICK_LINE) / sum(shares[:-1])
                return self, [*(share * above for share in shares[:-1]), THICK_LINE]
        return self, shares

    def level_shares(self, domain: Domain, *, gaussian: bool = False) -> list[Fraction]:
        """The share of the root and of each level, with Laplace or Gaussian noise; they add up to 1."""
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
        if self._knows_few(domain, gaussian):
            usual = FEW if _is_map(domain) else FEW_OTHERS
        else:
            usual = USUAL[self.emphasis] if self.emphasis is not None or _is_map(domain) else OTHERS
        return usual.of(levels, few_at_top=self._few_at_top(domain))

    def even_shares(self, domain: Domain, usual: Sequence[Fraction], *, gaussian: bool) -> list[Fraction] | None:
        """The shares of an even table for the levels below the root; None where that is not looked for.

        Together they are the ``usual`` shares, and each level but the cells has less than it: it can be refined to it.
        """
        levels, few = len(self.branching(domain)), self._few_at_top(domain)
        if self.shares != "auto" or self.emphasis not in EVEN or not 2 <= levels - few <= MOST_LEVELS_LOOKED_AT:
            return None
        shares = FEW_EVEN if self._knows_few(domain, gaussian) else EVEN[self.emphasis]
        even = shares.of(levels, few_at_top=few)[1:]
        together = sum(usual, Fraction())
        whole = together / sum(even)
        above = [min(whole * less, MOST_AT_FIRST * own) for less, own in zip(even[:-1], usual[:-1], strict=True)]
        return [*above, together - sum(above)]

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
        gaussian = budget.epsilon is None
        shares = self.level_shares(domain, gaussian=gaussian)
        sizes = np.cumsum([0, *self.branching(domain)[::-1]])[::-1]
        parts = [] if margin is None else [PageMessage("explain.on_categories", amount=readable(margin.amount))]
        parts += [
            PageMessage("explain.on_blocks", amount=readable(part.amount), cells=1 << int(bits))
            for part, bits in zip(rest.split(shares), sizes, strict=True)
        ]
        made = PageMessage("explain.tree", currency=budget.currency, parts=tuple(parts))
        if even := self.even_shares(domain, shares[1:], gaussian=gaussian):
            share = f"{float(even[-1]):.0%}"
            any_dense, even_too = (
                PageMessage("explain.dense", share=share),
                PageMessage("explain.dense_even", share=share),
            )
            more = any_dense if self._takes_any(domain) else even_too
            made = PageMessage("explain.more", first=made, more=more)
        if self._looks_at_total(domain):
            levels = {"few": f"{THIN:,}", "many": f"{THICK}", "share": f"{float(THICK_LINE):.0%}"}
            made = PageMessage("explain.more", first=made, more=PageMessage("explain.line", **levels))
        trade = self._trade(domain)
        return made if trade is None else PageMessage("explain.more", first=made, more=trade)

    def _trade(self, domain: Domain) -> PageMessage | None:
        """Of a small table: what cells cost areas. Both are paid from one budget, and no release is best in both."""
        levels = len(self.branching(domain))
        if self.shares != "auto" or levels < 2 or domain.size > SMALL:
            return None
        shares = {emphasis: float(USUAL[emphasis].of(levels)[-1]) for emphasis in EMPHASES}
        return PageMessage(
            "explain.trade",
            usual=f"{1 / float(replace(self, emphasis=None).level_shares(domain)[-1]):.1f}",
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
        tree, total, variance, budgets = self.measure_root(task)
        if not budgets:
            only = np.array([max(0, round(total))], dtype=np.int64)
            return np.flatnonzero(only), only[only > 0]
        plan = tree.plan(task, budgets)
        plan, top, below = grow(plan, Start.root(total, variance), cell_sums(plan, 0, index, count), task.source)
        levels = [*top, *below]
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

    def measure_root(self, task: Asked) -> tuple[Tree, float, float, tuple[Budget, ...]]:
        """The tree that suits the total, the total, its variance (0 where it is public), and the levels' budgets."""
        gaussian = task.budget.epsilon is None
        first = self.level_shares(task.domain, gaussian=gaussian)[0]
        _, budget = self.without_margin(task.domain, task.budget)
        scale = math.sqrt(noise_variance(task.sensitivity, budget) / 2)
        total, variance = np.array([task.total], dtype=np.int64), 0.0
        if not task.public_total:
            root, budget = budget.split([first, 1 - first]) if first < 1 else (budget, budget)
            total = measure(total, task.sensitivity, root, task.source, "root")
            variance = noise_variance(task.sensitivity, root)
        elif first == 1:
            # One cell, whose count is the public total: nothing is left to measure, but the promise is as asked.
            measure(total[:0], task.sensitivity, budget, task.source, "nothing")
        people: float = total[0].item()  # a public total is whole, however large
        tree, shares = self.below_root(task.domain, people, scale, gaussian=gaussian)
        return tree, people, variance, budget.split(shares) if shares else ()

    def least_people(
        self, domain: Domain, budget: Budget, sensitivity: int, public_total: bool
    ) -> list[tuple[int, float]]:
        """Levels of blocks that may be left unsplit, from the top, and how many people they need to be split."""
        _, budget = self.without_margin(domain, budget)
        shares = self.level_shares(domain, gaussian=budget.epsilon is None)
        budgets = budget.split(shares[int(public_total) :])[0 if public_total else 1 :]
        levels = np.cumsum(self.branching(domain)[::-1])[-2::-1].tolist()
        rest = [sum(budgets[at + 1 :], budgets[at]) for at in range(1, len(budgets))]
        return [(level, least_people(own, sensitivity)) for level, own in zip(levels, rest, strict=True)]

    def plan(self, task: Asked, budgets: Sequence[Budget]) -> TreePlan:
        """What the passes over the levels, which may spend ``budgets``, need to know."""
        branching = tuple(self.branching(task.domain))
        usual = [budget.amount for budget in budgets]
        shares = self.even_shares(task.domain, usual, gaussian=task.budget.epsilon is None)
        even = None if shares is None else sum(budgets[1:], budgets[0]).split(shares)
        smooth = _is_line(task.domain)
        gamma, any_even = 1 - float(self.strength), self._takes_any(task.domain)
        return TreePlan(task.domain, branching, tuple(budgets), task.sensitivity, gamma, even, smooth, any_even)
