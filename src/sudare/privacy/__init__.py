"""Guarantees, units and exact budgets; how they compose; and the ledger that keeps the books.

A `Budget` is what one noisy measurement costs, as an exact rational. A `Guarantee` is what a finished
release promises; `sequential` and `parallel` say what several promise together, and `epsilon_for` reads
zero-concentrated DP as (epsilon, delta). The `Ledger` adds guarantees up per data set, holds each sum
against its `Cap`, and refuses what would pass it; a `Balance` is what it answers.
"""

from typing import TYPE_CHECKING, Any

from sudare.privacy.balance import Balance
from sudare.privacy.budget import Budget, Number, asked_delta, exact, positive, readable
from sudare.privacy.cap import Amounts, Cap
from sudare.privacy.chain import Entry
from sudare.privacy.composition import parallel, sequential
from sudare.privacy.fact import Fact
from sudare.privacy.guarantee import Adjacency, Guarantee, Notion, Publishable, Unit
from sudare.privacy.zcdp import epsilon_for, rho_for, rho_of_pure

if TYPE_CHECKING:
    from sudare.privacy.ledger import Ledger

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
]


def __getattr__(name: str) -> Any:
    # Only the ledger needs SQLite, and only publishing needs the ledger.
    if name == "Ledger":
        from sudare.privacy.ledger import Ledger

        return Ledger
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
