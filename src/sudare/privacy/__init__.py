"""Guarantees, units and exact budgets; how they compose; and the ledger that keeps the books.

A `Budget` is what one noisy measurement costs, as an exact rational. A `Guarantee` is what a finished
release promises. The `Ledger` adds guarantees up per data set and refuses what would pass the cap.
"""

from sudare.privacy.budget import Budget, Number, exact, positive, readable
from sudare.privacy.guarantee import Guarantee, Publishable, Unit

__all__ = ["Budget", "Guarantee", "Number", "Publishable", "Unit", "exact", "positive", "readable"]
