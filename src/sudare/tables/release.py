"""`release`: one private table in, one protected table out, with what it promises."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.domain import CountTable
from sudare.domain.frames import Framed
from sudare.errors import ParameterError, either
from sudare.noise import Source, metered, secret
from sudare.privacy import Adjacency, Budget, Fact, Guarantee, Number, Unit, asked_delta, epsilon_for, positive, rho_for
from sudare.privacy.guarantee import warn_of
from sudare.tables.method import Method, Task, cost_of_replacing, resolved
from sudare.tables.public_totals import PublicTotals

if TYPE_CHECKING:
    import geopandas
    import pyarrow as pa

    from sudare.render.charts import Picture
    from sudare.render.map_pages import MapPage
    from sudare.tables.agreement import KnownTotals
    from sudare.tables.error_bars import AreaErrorBars, BlockErrorBars, CodeErrorBars, ErrorBars, ErrorModel

TOTALS = ("noisy", "public")
INTERVAL = 0.9
"""Frames and files have intervals of this coverage."""
_LATEST: dict[bytes, ErrorModel] = {}
"""The last error model: a function of released things alone, which a publication needs for its files and its page."""
_MOST_KEPT = 1 << 20
"""Listed cells of a table whose error model is kept."""


@dataclass(frozen=True)
class Release(Framed):
    """A protected table and its guarantee. ``summary`` holds plain facts that may be public."""

    table: CountTable
    guarantee: Guarantee
    method: Method
    budget: Budget

    def __post_init__(self) -> None:
        object.__setattr__(self, "table", self.table.with_intervals(self._intervals))

    def _intervals(self) -> BlockErrorBars:
        """Error bars of the listed cells, for frames."""
        return self._errors.at_level(0, INTERVAL)

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

    def to_arrow(self) -> pa.Table:
        """The listed cells: labels, count, ``low``, ``high`` and ``expected_error``; see `sudare.CountTable`."""
        return self.table.to_arrow()

    def to_geopandas(self) -> geopandas.GeoDataFrame:
        """The same with a polygon for each row, where the domain has a place."""
        return self.table.to_geopandas()

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
        from sudare.tables.error_bars import checked_coverage

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
        from sudare.tables.error_bars import checked_coverage

        return self._errors.of_mapping(mapping, checked_coverage(level))

    @cached_property
    def _errors(self) -> ErrorModel:
        from sudare.tables.error_bars import ErrorModel

        public_total = Fact("total") in self.guarantee.public
        facts = (self.method, self.budget, self.guarantee.unit, public_total)
        if len(self.table) > _MOST_KEPT:
            return ErrorModel.of(self.table, *facts)
        table, (method, *others) = self.table, facts
        digest = hashlib.sha256(repr((table.domain.to_json(), method.name, method.parameters, others)).encode())
        digest.update(table.index.tobytes() + table.count.tobytes())
        if (key := digest.digest()) not in _LATEST:
            made = ErrorModel.of(table.plain, *facts)
            _LATEST.clear()
            _LATEST[key] = made
        return _LATEST[key]

    def plot(self, attribute: str | None = None, width: int = 620) -> Picture:
        """A picture of the released counts over one attribute, summed over all others; without one, the map.

        A notebook shows it; ``save`` writes it as PNG or SVG. The release itself, as the last value of a cell, shows a
        map that can be moved.
        """
        from sudare.tables.pages import picture_of

        return picture_of(self, attribute, width)

    def map(self, height: int = 560) -> MapPage:
        """The released counts on a map that can be moved: a notebook shows it, ``save`` writes it as a page.

        For a domain with a place, or with a grid.
        """
        from sudare.tables.pages import map_of

        return map_of(self, height)

    def _repr_html_(self) -> str:
        from sudare.language.catalogue import current_language
        from sudare.tables.pages import release_card

        return release_card(self, current_language())

    def __repr__(self) -> str:
        return f"Release({self.method.name}, {self.table!r}, {self.guarantee})"


def release(
    table: CountTable,
    method: Method | str | None = "auto",
    epsilon: Number | None = None,
    *,
    total: str = "noisy",
    emphasis: str | None = None,
    rho: Number | None = None,
    delta: Number | None = None,
    public_totals: Sequence[tuple[Any, int]] = (),
    agree_with: KnownTotals | Release | None = None,
    seed: int | None = None,
    source: Source | None = None,
) -> Release:
    """Protect ``table`` with ``method`` at a cost of ``epsilon``.

    ``method`` is an object such as ``sudare.Tree()``, or "auto": `Tree` for a domain with places, `Marginals` for one
    without, chosen by the declared domain alone; ``release.method`` says which. With "auto", ``emphasis`` may say that
    "cells" matter most, or "areas".

    With ``rho``, or with ``epsilon`` and ``delta`` together, the noise is discrete Gaussian: zCDP, or
    the largest zCDP budget that is certainly (epsilon, delta)-DP.

    ``public_totals`` lists ``(cells, number)`` of areas whose totals are public already, cells as indices or as
    {attribute: values}; they are exactly kept, and the guarantee names them. The numbers come from the caller and
    are never read off the table. ``agree_with`` is an earlier release of the same people, or `KnownTotals` of areas
    that are out: the release adds up to them exactly, or as nearly as their own errors say (`sudare.tables.agreement`).

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
    source = Source.chosen(source, seed)
    if method is None or method == "auto":
        from sudare.tables.auto import Auto

        method = Auto(emphasis)
    elif emphasis is not None:
        raise ParameterError("emphasis is for the automatic choice of a method", value=emphasis)
    if not isinstance(method, Method):
        raise ParameterError("not a method", value=method, hint="For instance sudare.Simplex().")
    method = resolved(method, table.domain)
    budget = budget_of(epsilon, rho, delta)
    require_noise(method, budget)
    if table.unit.counted_elsewhere and table.unit.name == Unit().name and not source.seeded:
        raise ParameterError(
            "a table of counts does not say what one count is",
            hint='Give unit=Unit("person"), or household, where it is read.',
        )
    public_total = total == "public" and method.uses_total
    known = PublicTotals.of(table.domain, public_totals)
    out = _known(agree_with, table)
    if out is not None and (known.areas or total == "public"):
        raise ParameterError("agree_with goes neither with public_totals nor with a public total")
    if (known.areas or out is not None) and not method.uses_total:
        raise ParameterError("this method cannot keep public totals", value=method.name)
    if public_total:
        known.agree_with(table.domain, int(table.total))
    refuse_private = getattr(getattr(method, "strength", None), "refuse_private", None)
    if refuse_private is not None and not source.seeded:  # a seeded release promises nothing
        refuse_private(table)
    with metered() as meter:
        index, value = method.protect(Task(table, budget, public_total, source))
    meter.check(budget)
    if known.areas:
        generator = np.random.default_rng(secret(source, "public totals"))
        whole = int(table.total) if public_total else None
        index, value = known.keep(table.domain, (index, value), generator, whole)
    replaced = cost_of_replacing(method, table.domain, budget)
    areas = named_areas(len(known.areas), out)
    unit = replace(table.unit, counted_elsewhere=True) if table.handed_in else table.unit
    guarantee = promise(unit, budget, replaced, delta, public_total=public_total, areas=areas)
    if source.seeded:
        guarantee = guarantee.without_protection()
    warn_of(guarantee, int(table.total) if public_total else None)
    made = Release(CountTable.released(table.domain, index, value), guarantee.unbooked(), method, budget)
    if out is None:
        return made
    cells = out.kept(made, np.random.default_rng(secret(source, "public totals")))
    return replace(made, table=CountTable.released(table.domain, *cells))


def _known(agree_with: KnownTotals | Release | None, table: CountTable) -> KnownTotals | None:
    """Totals of areas of the table's domain, checked before anything is measured."""
    if agree_with is None:
        return None
    from sudare.tables.agreement import KnownTotals

    known = KnownTotals.of_release(agree_with, table.domain) if isinstance(agree_with, Release) else agree_with
    known.parts(table.domain)
    return known


def named_areas(exact: int, known: KnownTotals | None) -> tuple[Fact, ...]:
    """How the guarantee names totals of areas that are out."""
    if known is not None:
        return (Fact("agreed" if known.released else "areas", areas=len(known.areas)),)
    return (Fact("areas", areas=exact),) if exact else ()


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
    areas: tuple[Fact, ...] = (),
) -> Guarantee:
    """What a table release promises, from public things alone; with ``delta``, rho is read as (epsilon, delta).

    The noise is Gaussian then, and the guarantee keeps its rho: that is how the ledger adds it to others.

    ``replaced`` says by which factor replacing a record costs more than adding one (`cost_of_replacing`; if absent,
    that of any two steps). It is what the guarantee is about where the total is public, and a fact for the ledger
    where it is not. With a public total nothing holds where one of the two records is not counted. ``areas`` are
    the totals of areas that the caller declared to be out.
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
    public = (*public, *areas)
    facts: dict[str, Any] = {
        "adjacency": adjacency, "public": public, "assumptions": assumptions, "replace_rho": replace_rho
    }  # fmt: skip
    if budget.rho is None or delta is None:
        return Guarantee.of(budget, unit, **facts)
    exact_delta = positive(delta, "delta")
    epsilon = epsilon_for(budget.rho, exact_delta)
    return Guarantee("(epsilon, delta)-DP", unit, epsilon=epsilon, delta=exact_delta, rho=budget.rho, **facts)
