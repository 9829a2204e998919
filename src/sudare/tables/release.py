"""`release`: one private table in, one protected table out, with what it promises."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from sudare.domain import CountTable
from sudare.errors import ParameterError, either
from sudare.noise import Source, metered, secret
from sudare.privacy import Adjacency, Budget, Fact, Guarantee, Number, Unit, asked_delta, epsilon_for, positive, rho_for
from sudare.privacy.guarantee import warn_of
from sudare.tables.error_bars import (
    AreaErrorBars,
    BlockErrorBars,
    CodeErrorBars,
    ErrorBars,
    ErrorModel,
    checked_coverage,
)
from sudare.tables.method import Method, Task, cost_of_replacing
from sudare.tables.public_totals import PublicTotals
from sudare.tables.strength import Reference
from sudare.tables.tree import Tree

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

    def error(
        self, *, cells: Any = None, block_level: int | None = None, codes: Any = None, level: float = 0.9
    ) -> ErrorBars | BlockErrorBars | CodeErrorBars:
        """How far sums of the released table may be off, without the truth: give one of the three selectors.

        ``cells`` is one set of domain indices whose sum is meant; ``block_level`` all blocks of 2**block_level
        neighbours; ``codes`` mesh codes of the domain's level or coarser, each summed over everything else. The
        interval from ``low`` to ``high`` holds the truth with probability ``level``. The first call costs up to 36
        releases, a dozen for a large table; its noise comes from a fixed seed, so a table always has the same bars.

        Measured by benchmarks/coverage.py on data that nothing was tuned on: bars of `Tree` and `TopDown` hold in
        every class of value (`TopDown`'s less where nearly everything is lost in noise: zeros then hide more people
        than they say). Those of `Simplex`, `NegativeL2` and `NonnegativeLasso` do too, but are longer than needed
        for large areas: these methods lose thin people without a trace. Those of `Laplace` are its exact law, for
        blocks widened where a value may have been picked for being large (up to 2**22 cells). Public totals of
        areas are not known to the bars.

        >>> import sudare as sd
        >>> made = sd.release(sd.CountTable.from_array([0, 0, 9, 0, 120, 0, 0, 3]), sd.Laplace(), epsilon=1, seed=7)
        >>> bars = made.error(cells=[4, 5])
        >>> bars.value.tolist(), bars.low.tolist(), bars.high.tolist()
        ([123], [120.0], [126.0])
        """
        selectors = {"cells": cells, "block_level": block_level, "codes": codes}
        given = [name for name, selector in selectors.items() if selector is not None]
        if len(given) != 1:
            raise ParameterError("error takes exactly one selector", value=given, allowed="cells, block_level or codes")
        coverage = checked_coverage(level)
        if cells is not None:
            return self._errors.of_cells(cells, coverage)
        if codes is not None:
            return self._errors.of_codes(codes, coverage)
        return self._errors.at_level(block_level, coverage)

    def aggregate(self, mapping: Any, level: float = 0.9) -> AreaErrorBars:
        """The table rolled up to named areas (municipalities, age groups), with errors as in `error`.

        ``mapping`` goes from codes to area names: a dictionary, a frame (Arrow, pandas, Polars) of two columns, or
        {attribute: either}, for several attributes every combination. Codes of a mesh may be coarser than its
        cells. Cells that no code names make up a last area "".
        """
        return self._errors.of_mapping(mapping, checked_coverage(level))

    @cached_property
    def _errors(self) -> ErrorModel:
        public_total = Fact("total") in self.guarantee.public
        return ErrorModel.of(self.table, self.method, self.budget, self.guarantee.unit, public_total)

    def _repr_html_(self) -> str:
        from sudare.language.catalogue import current_language
        from sudare.tables.pages import release_card

        return release_card(self, current_language())

    def __repr__(self) -> str:
        return f"Release({self.method.name}, {self.table!r}, {self.guarantee})"


def release(
    table: CountTable,
    method: Method | None = None,
    epsilon: Number | None = None,
    *,
    total: str = "noisy",
    rho: Number | None = None,
    delta: Number | None = None,
    public_totals: Sequence[tuple[Any, int]] = (),
    seed: int | None = None,
    source: Source | None = None,
) -> Release:
    """Protect ``table`` with ``method`` (default `Tree`) at a cost of ``epsilon``.

    With ``rho``, or with ``epsilon`` and ``delta`` together, the noise is discrete Gaussian: zCDP, or
    the largest zCDP budget that is certainly (epsilon, delta)-DP.

    ``public_totals`` lists ``(cells, number)`` of areas whose totals are public already, cells as indices or as
    {attribute: values}; they are exactly kept, and the guarantee names them. The numbers come from the caller and
    are never read off the table.

    ``total="public"`` keeps the exact total: then nothing holds for adding or removing a unit, and replacing
    one record by another of the domain, which changes two cells, costs 2 epsilon, or 2 rho (`TopDown` a little more).
    ``seed`` is for experiments: such a release promises nothing and says so. No ledger knows of this call, and the
    guarantee says that too: what is given away is made by `sudare.publish`. The measurements must cost exactly
    epsilon; this is checked on every call.

    >>> import sudare as sd
    >>> table = sd.CountTable.from_array([0, 0, 9, 0, 120, 0, 0, 3])
    >>> made = sd.release(table, sd.Simplex(), epsilon=1, seed=7)
    >>> made.guarantee.notion
    'none: seeded'
    """
    if total not in TOTALS:
        raise ParameterError("unknown way to treat the total", value=total, allowed=either(TOTALS))
    if not getattr(table, "private", False):
        raise ParameterError("release takes a private CountTable", value=type(table).__name__)
    if seed is not None and source is not None:
        raise ParameterError("give a seed or a source, not both")
    method = Tree() if method is None else method
    if not isinstance(method, Method):
        raise ParameterError("not a method", value=method, hint="For instance sudare.Simplex().")
    budget = budget_of(epsilon, rho, delta)
    require_noise(method, budget)
    if source is None:
        source = Source.system() if seed is None else Source.from_seed(seed)
    if table.unit.counted_elsewhere and table.unit.name == Unit().name and not source.seeded:
        raise ParameterError(
            "a table of counts does not say what one count is",
            hint='Give unit=Unit("person"), or household, where it is read.',
        )
    public_total = total == "public" and method.uses_total
    known = PublicTotals.of(table.domain, public_totals)
    if known.areas and not method.uses_total:
        raise ParameterError("this method cannot keep public totals", value=method.name)
    if public_total:
        known.agree_with(table.domain, int(table.total))
    strength = getattr(method, "strength", None)
    if isinstance(strength, Reference) and not source.seeded:  # a seeded release promises nothing
        strength.refuse_private(table)
    with metered() as meter:
        index, value = method.protect(Task(table, budget, public_total, source))
    meter.check(budget)
    if known.areas:
        generator = np.random.default_rng(secret(source, "public totals"))
        whole = int(table.total) if public_total else None
        index, value = known.keep(table.domain, (index, value), generator, whole)
    replaced = cost_of_replacing(method, table.domain, budget)
    unit = replace(table.unit, counted_elsewhere=True) if table.handed_in else table.unit
    guarantee = promise(unit, budget, replaced, delta, public_total=public_total, areas=len(known.areas))
    if source.seeded:
        guarantee = guarantee.without_protection()
    warn_of(guarantee, int(table.total) if public_total else None)
    return Release(CountTable.released(table.domain, index, value), guarantee.unbooked(), method, budget)


def budget_of(epsilon: Number | None, rho: Number | None = None, delta: Number | None = None) -> Budget:
    """What the measurements cost in all, given epsilon, or rho, or epsilon and delta."""
    if rho is not None:
        if epsilon is not None or delta is not None:
            raise ParameterError("give rho, or epsilon with or without delta, not both")
        return Budget(rho=positive(rho, "rho"))
    if epsilon is None:
        raise ParameterError("epsilon is missing", allowed="a finite number > 0")
    if delta is None:
        return Budget(epsilon=positive(epsilon, "epsilon"))
    return Budget(rho=rho_for(epsilon, asked_delta(delta)))


def require_noise(method: Method, budget: Budget) -> None:
    """Refuse a budget in rho for a method that has no Gaussian noise."""
    if budget.rho is not None and not getattr(method, "gaussian", False):
        raise ParameterError(
            "this method has no Gaussian noise", value=method.name, hint="Give epsilon alone, or use Tree()."
        )


def promise(
    unit: Unit,
    budget: Budget,
    replaced: Fraction | None = None,
    delta: Number | None = None,
    *,
    public_total: bool = False,
    areas: int = 0,
) -> Guarantee:
    """What a table release promises, from public things alone; with ``delta``, rho is read as (epsilon, delta).

    The noise is Gaussian then, and the guarantee keeps its rho: that is how the ledger adds it to others.

    ``replaced`` says by which factor replacing a record costs more than adding one (`cost_of_replacing`; if absent,
    that of any two steps). It is what the guarantee is about where the total is public, and a fact for the ledger
    where it is not. With a public total nothing holds where one of the two records is not counted. ``areas`` is the
    number of areas whose totals the caller declared public.
    """
    public: tuple[Fact, ...] = (Fact("domain"),)
    adjacency = Adjacency.ADDED
    assumptions: tuple[Fact, ...] = ()
    if replaced is None:
        replaced = Fraction(2 if budget.rho is None else 4)
    replace_rho = None if budget.rho is None or public_total else budget.rho * replaced
    if public_total:
        budget = budget.times(replaced)
        public, adjacency = (*public, Fact("total")), Adjacency.REPLACED
        # A record that is not counted, dropped since it lies outside, would change the total that is published.
        assumptions = (Fact("inside"),)
        if unit.max_rows > 1:
            assumptions = (*assumptions, Fact("swaps"))
    if unit.counted_elsewhere:
        once = unit.max_rows == 1
        counted = Fact("counted_once", unit=unit.name) if once else Fact("counted", unit=unit.name, rows=unit.max_rows)
        assumptions = (*assumptions, counted)
    if areas:
        public = (*public, Fact("areas", areas=areas))
    facts: dict[str, Any] = {
        "adjacency": adjacency, "public": public, "assumptions": assumptions, "replace_rho": replace_rho
    }  # fmt: skip
    if budget.rho is None or delta is None:
        return Guarantee.of(budget, unit, **facts)
    exact_delta = positive(delta, "delta")
    epsilon = epsilon_for(budget.rho, exact_delta)
    return Guarantee("(epsilon, delta)-DP", unit, epsilon=epsilon, delta=exact_delta, rho=budget.rho, **facts)
