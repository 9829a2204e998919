"""What a method for count tables is; a researcher may write one outside the package."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol, runtime_checkable

import numpy as np

from sudare.arrays import Cells
from sudare.domain import CountTable, Domain
from sudare.noise import Source, Sparse
from sudare.privacy import Budget

TOTAL_SHARE = Fraction(1, 20)
"""Of epsilon, what a method without a measured root spends on a noisy total."""


class Asked(Protocol):
    """The task of a method, wherever the table's cells are: its domain and total, the budget, the noise."""

    @property
    def domain(self) -> Domain:
        """The declared domain."""

    @property
    def total(self) -> int:
        """The exact total: private, unless ``public_total``."""

    @property
    def sensitivity(self) -> int:
        """Rows of one unit at most."""

    @property
    def budget(self) -> Budget:
        """What all measurements cost together."""

    @property
    def public_total(self) -> bool:
        """Whether the exact total enters the result."""

    @property
    def source(self) -> Source:
        """Where noise comes from."""


@dataclass(frozen=True)
class Task:
    """All that a method may see: the private table, its budget, how to treat the total, and its noise.

    ``sensitivity`` is the largest number of rows of one unit: adding or removing a unit changes the counts by
    at most that much in L1, whatever cells its rows fall into.
    """

    table: CountTable
    budget: Budget
    public_total: bool
    source: Source

    @property
    def domain(self) -> Domain:
        """The table's domain."""
        return self.table.domain

    @property
    def total(self) -> int:
        """The exact total."""
        return int(self.table.total)

    @property
    def sensitivity(self) -> int:
        """Rows of one unit at most."""
        return self.table.unit.max_rows

    def sparse(self) -> Sparse:
        """The counts as a sparse vector over the logical cells of the domain."""
        domain = self.table.domain
        place = None if domain.size == 1 << domain.bits else domain.cells
        return Sparse(self.table.index, self.table.count.astype(np.int64, copy=False), domain.size, place)


def replaced_in_sums(_domain: Domain) -> Fraction:
    """How many times rho it costs to replace a row, where only sums over disjoint cells are measured: twice.

    Let a and b be what the two units add to the sums of one measurement. Counts cannot be negative, so a.b >= 0 and
    |a - b|^2 <= |a|^2 + |b|^2: what the two cost together, rho each, when they come or go alone. It holds for every
    measurement, so for all of them together, along whatever path noisy values choose. (Without the sign, only
    |a - b| <= |a| + |b| is known, which makes it four times.)
    """
    return Fraction(2)


class MeasuredSums:
    """What methods share that measure sums over disjoint cells, with a total, and whose error depends on the data."""

    uses_total = True
    gaussian = True
    replaced = staticmethod(replaced_in_sums)

    def block_error(self, budget: Budget, sensitivity: int, cells: int, domain: Domain | None = None) -> float | None:
        """See `Method`: None."""


def cost_of_replacing(method: Method, domain: Domain, budget: Budget) -> Fraction:
    """By which factor the cost grows when a row is replaced instead of added, the total being public.

    In L1 a replacement is at most as far as both steps: twice epsilon. In L2 it depends on what is measured, and a
    method says so by ``replaced(domain)``; one that does not costs four times rho, which is always true.
    """
    if budget.rho is None:
        return Fraction(2)
    replaced = getattr(method, "replaced", None)
    return Fraction(4) if replaced is None else Fraction(replaced(domain))


@runtime_checkable
class Method(Protocol):
    """How a table is protected. ``protect`` must measure exactly ``task.budget`` in all; it is checked."""

    @property
    def name(self) -> str:
        """The name in recipes and reports."""

    @property
    def uses_total(self) -> bool:
        """Whether a public total would enter the result, which changes the guarantee."""

    @property
    def parameters(self) -> dict[str, Any]:
        """The declared parameters, plain values."""

    def protect(self, task: Task) -> Cells:
        """Measure, then estimate: the released cells."""

    def block_error(self, budget: Budget, sensitivity: int, cells: int, domain: Domain | None = None) -> float | None:
        """The exact RMSE of the sum of a block of ``cells`` cells, where it does not depend on the data; else None."""


def resolved(method: Method, domain: Domain, *, in_cluster: bool = False) -> Method:
    """What a method that chooses another by the domain (`Auto`) chooses; any other method itself."""
    choose = getattr(method, "choose", None)
    chosen: Method = method if choose is None else choose(domain, in_cluster=in_cluster).method
    return chosen
