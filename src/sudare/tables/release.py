"""`release`: one private table in, one protected table out, with what it promises."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sudare.domain import CountTable
from sudare.errors import ParameterError
from sudare.noise import Source, metered
from sudare.privacy import Budget, Guarantee, Number, Unit, positive
from sudare.tables.method import Method, Task
from sudare.tables.simplex import Simplex

TOTALS = ("noisy", "public")


@dataclass(frozen=True)
class Release:
    """A protected table and its guarantee. ``summary`` holds plain facts that may be public."""

    table: CountTable
    guarantee: Guarantee
    method: Method
    budget: Budget

    @property
    def summary(self) -> dict[str, Any]:
        """Facts from the released table alone."""
        return {
            "kind": "table",
            "method": self.method.name,
            "parameters": self.method.parameters,
            "cells": self.table.domain.size,
            "nonzero_cells": len(self.table),
            "total": self.table.total,
            "smallest": min(0, self.table.count.min().item()) if len(self.table) else 0,
            "integers": self.table.count.dtype.kind == "i",
        }

    def __repr__(self) -> str:
        return f"Release({self.method.name}, {self.table!r}, {self.guarantee})"


def release(
    table: CountTable,
    method: Method | None = None,
    epsilon: Number | None = None,
    *,
    total: str = "noisy",
    seed: int | None = None,
    source: Source | None = None,
) -> Release:
    """Protect ``table`` with ``method`` (default `Simplex`) at a cost of ``epsilon``.

    ``total="public"`` keeps the exact total: then nothing holds for adding or removing a unit, and replacing
    one record, which changes two cells, costs 2 epsilon. ``seed`` is for experiments: such a release promises
    nothing and says so. The measurements must cost exactly epsilon; this is checked on every call.

    >>> import sudare as sd
    >>> table = sd.CountTable.from_array([0, 0, 9, 0, 120, 0, 0, 3])
    >>> made = sd.release(table, sd.Simplex(), epsilon=1, seed=7)
    >>> made.guarantee.notion
    'none: seeded'
    """
    if epsilon is None:
        raise ParameterError("epsilon is missing", allowed="a finite number > 0")
    if total not in TOTALS:
        raise ParameterError("unknown way to treat the total", value=total, allowed=" or ".join(TOTALS))
    if not getattr(table, "private", False):
        raise ParameterError("release takes a private CountTable", value=type(table).__name__)
    if seed is not None and source is not None:
        raise ParameterError("give a seed or a source, not both")
    method = Simplex() if method is None else method
    if not isinstance(method, Method):
        raise ParameterError("not a method", value=method, hint="For instance sudare.Simplex().")
    budget = Budget(epsilon=positive(epsilon, "epsilon"))
    if source is None:
        source = Source.system() if seed is None else Source.from_seed(seed)
    public_total = total == "public" and method.uses_total
    with metered() as meter:
        index, value = method.protect(Task(table, budget, public_total, source))
    meter.check(budget)
    guarantee = guarantee_of(table.unit, budget, public_total)
    if source.seeded:
        guarantee = guarantee.without_protection()
    return Release(CountTable.released(table.domain, index, value), guarantee, method, budget)


def guarantee_of(unit: Unit, budget: Budget, public_total: bool) -> Guarantee:
    """What a table release promises, from public things alone."""
    if not public_total:
        return Guarantee.of(budget, unit, public=("the domain",))
    swaps = () if unit.max_rows == 1 else ("holds for swaps between units with equal row counts",)
    return Guarantee(
        "epsilon-DP",
        unit,
        adjacency="replace one record",
        epsilon=2 * Fraction(budget.amount),
        public=("the domain", "the total is public"),
        assumptions=swaps,
    )
