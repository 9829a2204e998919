"""What the page about protection shows: the promise in words, errors by size of area, and the books.

All of it comes from the recipe, the ledger and a rehearsal on synthetic people; no private value is looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from sudare.domain import Domain
from sudare.errors import NoCapError
from sudare.language.catalogue import Words
from sudare.language.messages import PageMessage, said
from sudare.measure.blocks import logical_blocks
from sudare.measure.ground import GOOD, smallest_publishable, square_km
from sudare.privacy import Balance, Guarantee, readable
from sudare.privacy.notebook import amounts_text, balance_facts, headline, remaining_text, spent_share
from sudare.render.promise import guarantee_sections
from sudare.render.sections import Facts, Lead, Points, Table, Text
from sudare.studio.models import (
    Area,
    AreaError,
    BudgetOutlook,
    Fact,
    PointList,
    Promise,
    ProtectPage,
    PublishPage,
    TableOfTexts,
)
from sudare.workflow.job import Job
from sudare.workflow.plan import Plan, Remark

Page = TypeVar("Page", ProtectPage, PublishPage)


def promise_texts(guarantee: Guarantee, words: Words) -> Promise:
    """A guarantee in words, odds and terms, as the public report says it."""
    said = Promise(headline=headline(guarantee, words))
    for section in guarantee_sections(guarantee, words):
        for part in section.parts:
            if isinstance(part, Text):
                said.paragraphs += part.paragraphs
            elif isinstance(part, Table):
                rows = [list(row) for row in part.rows]
                said.odds = TableOfTexts(caption=part.caption, header=list(part.header), rows=rows)
            elif isinstance(part, Points):
                said.points.append(PointList(title=part.title, items=list(part.items), sign=part.sign))
            elif isinstance(part, Facts):
                said.facts += Fact.listed(part.rows)
            elif isinstance(part, Lead):
                said.headline = part.text
    return said


def budget_outlook(balance: Balance, after: Balance | None, guarantee: Guarantee, words: Words) -> BudgetOutlook:
    """Where the data set stands, what the release would cost, and what would be left."""
    cap = balance.cap or (after.cap if after else None)
    return BudgetOutlook(
        cap=None if cap is None else amounts_text(cap),
        spent=amounts_text(balance.spent),
        left=None if balance.remaining is None else remaining_text(balance, words),
        cost=cost_text(guarantee),
        after=None if after is None else remaining_text(after, words),
        enough=after is not None,
        spent_share=spent_share(balance) if balance.cap else 0.0 if cap else None,
        after_share=None if after is None else spent_share(after),
        releases=balance.releases,
        facts=Fact.listed(balance_facts(balance, words)),
    )


def cost_text(guarantee: Guarantee) -> str:
    """What a guarantee costs, under the signs of its numbers.

    >>> from fractions import Fraction
    >>> cost_text(Guarantee("epsilon-DP", epsilon=Fraction(1, 2)))
    'ε = 0.5'
    """
    signs = {"epsilon": "ε", "delta": "δ"} if guarantee.epsilon is not None else {"rho": "ρ"}
    given = [(sign, getattr(guarantee, name)) for name, sign in signs.items()]
    return ", ".join(f"{sign} = {readable(value)}" for sign, value in given if value is not None) or "–"


def with_remarks(page: Page, remarks: Sequence[Remark], words: Words) -> Page:
    """The page with remarks: in English for machines, in the language of the page, and by what they are about."""
    page.remarks = [str(remark) for remark in remarks]
    page.remarks_shown = [said(_in_full(remark), words) for remark in remarks]
    page.remarks_about = [_about(remark) for remark in remarks]
    return page


def _in_full(remark: Remark) -> Remark:
    """A page has room for what to do about it."""
    about = _about(remark)
    if isinstance(remark, PageMessage) and about in ("folder", "data"):
        return PageMessage(f"studio.remark.{about}", **dict(remark.fields))
    return remark


def _about(remark: Remark) -> str:
    if isinstance(remark, PageMessage):
        return remark.key.rpartition(".")[2]
    return "no_cap" if isinstance(remark, NoCapError) else "budget"


def error_by_area(plan: Plan, job: Job) -> list[AreaError]:
    """Expected error by size of area, beside what an average area of that size holds; empty for other kinds.

    ``relative`` is the expected sum of errors over all areas of a size, as a share of all people.
    """
    if plan.kind != "table":
        return []
    people = job.recipe.rehearsal.people
    rows = []
    for row in plan.errors:
        blocks = logical_blocks(job.kind.domain, row["block_level"])  # type: ignore[attr-defined]  # a table's
        absolute = row.get("mean_absolute_error")
        expected = row["root_mean_square_error"] if absolute is None else absolute
        rows.append(
            AreaError(
                cells=row["cells"],
                areas=blocks,
                square_km=row["square_km"],
                expected=expected,
                root_mean_square=row["root_mean_square_error"],
                people=people / blocks,
                relative=expected * blocks / people,
            )
        )
    return rows


def place_cells(job: Job) -> int | None:
    """Cells of one place with everything in it; None where areas have no size on the ground."""
    domain = getattr(job.kind, "domain", None)
    if not isinstance(domain, Domain):
        return None
    return next((1 << level for level in range(domain.bits + 1) if square_km(domain, level) is not None), None)


def smallest_area(rows: Sequence[AreaError | Area], place: int | None = None, good: float = GOOD) -> Area | None:
    """The size of area from which on the relative error stays at most ``good``; None where no size has it.

    Between two sizes it is read off a straight line in logarithms. ``place`` is how many cells one place has: what is
    smaller has no size on the ground.

    >>> rows = [Area(cells=c, square_km=None, relative=r) for c, r in ((1, 1.0), (100, 0.01))]
    >>> smallest_area(rows).cells
    10.0
    """
    found = smallest_publishable([row.cells for row in rows], [row.relative for row in rows], good)
    if found is None:
        return None
    cells, whole = found[1], rows[-1]
    ground = None
    if place is not None and cells >= place and whole.square_km is not None:
        ground = cells * whole.square_km / whole.cells
    return Area(cells=cells, square_km=ground, relative=good)
