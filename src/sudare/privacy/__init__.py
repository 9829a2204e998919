"""Guarantees, units and exact budgets; how they compose; and the ledger that records what was spent.

A `Budget` is what one noisy measurement costs, as an exact rational. A `Guarantee` is what a finished
release promises; `sequential` and `parallel` say what several promise together, and `epsilon_for` reads
zero-concentrated DP as (epsilon, delta). The `Ledger` adds guarantees up per data set, compares each sum
with its `Cap`, and refuses what would exceed it; a `Balance` is its answer.
"""

from typing import TYPE_CHECKING

from sudare.lazy import exports

if TYPE_CHECKING:
    from sudare.privacy.balance import Balance
    from sudare.privacy.budget import Budget, Number, asked_delta, exact, positive, readable, whole
    from sudare.privacy.cap import Amounts, Cap
    from sudare.privacy.chain import Entry
    from sudare.privacy.composition import parallel, sequential
    from sudare.privacy.fact import Fact
    from sudare.privacy.guarantee import Adjacency, Guarantee, Notion, Publishable, Unit
    from sudare.privacy.ledger import Ledger, SpendTerms
    from sudare.privacy.zcdp import epsilon_for, rho_for, rho_of_pure


__all__ = [
    "Adjacency",
    "Amounts",
    "Balance",
    "Budget",
    "Cap",
    "Entry",
    "Fact",
    "Guarantee",
    "Ledger",
    "Notion",
    "Number",
    "Publishable",
    "SpendTerms",
    "Unit",
    "asked_delta",
    "epsilon_for",
    "exact",
    "parallel",
    "positive",
    "readable",
    "rho_for",
    "rho_of_pure",
    "sequential",
    "whole",
]

__getattr__ = exports(
    __name__,
    {
        "balance": ("Balance",),
        "budget": ("Budget", "Number", "asked_delta", "exact", "positive", "readable", "whole"),
        "cap": ("Amounts", "Cap"),
        "chain": ("Entry",),
        "composition": ("parallel", "sequential"),
        "fact": ("Fact",),
        "guarantee": ("Adjacency", "Guarantee", "Notion", "Publishable", "Unit"),
        "ledger": ("Ledger", "SpendTerms"),
        "zcdp": ("epsilon_for", "rho_for", "rho_of_pure"),
    },
)
