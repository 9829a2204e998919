"""What the page about protection shows: the promise in words, errors by size of area, and the budget.

All of it comes from the recipe, the ledger and rehearsals on public or invented people; no private value is read.
`window` is the part of a mesh between latitudes and longitudes, as a recipe declares it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from sudare.domain import Domain
from sudare.domain.mesh import mesh_level
from sudare.errors import NoCapError
from sudare.language.catalogue import Words
from sudare.language.messages import Lines, PageMessage, lines, said
from sudare.measure.blocks import GOOD, logical_blocks, square_km
from sudare.privacy import Balance, Cap, Guarantee, readable
from sudare.privacy.notebook import amounts_text, headline, remaining_text, spent_share
from sudare.render.promise import guarantee_sections
from sudare.render.sections import Lead, Table, Text
from sudare.studio.models import (
    Area,
    AreaError,
    Bounds,
    BudgetOutlook,
    Promise,
    ProtectPage,
    PublishPage,
    TableOfTexts,
    Window,
)
from sudare.studio.refusals import RequestError
from sudare.tables.forecast import smallest_areas
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
            elif isinstance(part, Lead):
                said.headline = part.text
    return said


def budget_outlook(
    balance: Balance, after: Balance | None, guarantee: Guarantee, words: Words, declared: Cap | None = None
) -> BudgetOutlook:
    """Where the data set stands, what the release would cost, and what would be left.

    ``declared`` is the recipe's cap, which holds from the first release on.
    """
    cap = balance.cap or declared
    return BudgetOutlook(
        cap=None if cap is None else amounts_text(cap),
        left=None if balance.remaining is None else remaining_text(balance, words),
        cost=cost_text(guarantee),
        after=None if after is None else remaining_text(after, words),
        enough=after is not None,
        spent_share=spent_share(balance) if balance.cap else 0.0 if cap else None,
        after_share=None if after is None else spent_share(after),
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


def listed_facts(facts: Lines, words: Words) -> list[dict[str, str]]:
    """Lines in words, in their order."""
    return [{"name": name, "value": value} for name, value in lines(facts, words).items()]


def said_rows(rows: Sequence[Mapping[str, Any]], words: Words) -> list[dict[str, Any]]:
    """Rows of errors: numbers as numbers, everything else in words."""
    plain = (int, float, type(None))
    return [
        {name: value if isinstance(value, plain) else said(value, words) for name, value in row.items()} for row in rows
    ]


def error_by_area(plan: Plan, job: Job) -> list[AreaError]:
    """Expected error by size of area; empty for other kinds."""
    if plan.kind != "table":
        return []
    return [
        AreaError(
            cells=row["cells"],
            areas=logical_blocks(job.kind.domain, row["block_level"]),  # type: ignore[attr-defined]  # a table's
            square_km=row["square_km"],
            with_people=_ends(row, "populated_error"),
            empty=_ends(row, "empty_error"),
            people=_ends(row, "people_each"),
            relative=_ends(row, "relative_error"),
        )
        for row in plan.errors
    ]


def _ends(row: Mapping[str, Any], name: str) -> tuple[float | None, float | None]:
    one = row.get(name)
    return (one, one) if name in row else (row.get(f"{name}_low"), row.get(f"{name}_high"))


def place_cells(job: Job) -> int | None:
    """Cells of one place with everything in it; None where areas have no size on the ground."""
    domain = getattr(job.kind, "domain", None)
    if not isinstance(domain, Domain):
        return None
    return next((1 << level for level in range(domain.bits + 1) if square_km(domain, level) is not None), None)


def with_smallest_areas(page: ProtectPage, plan: Plan, place: int | None = None) -> None:
    """Say from which size of area on the error is small: only where every scenario agrees, else from where to where.

    ``place`` is how many cells one place has: what is smaller has no size on the ground.
    """
    low, high, agree = smallest_areas(plan.errors)
    found = tuple(None if cells is None else _area(cells, page.error_by_area[-1], place) for cells in (low, high))
    if agree:
        page.smallest_area_10_percent = found[1]
    elif low is not None:
        page.smallest_areas = (found[0], found[1])


def _area(cells: float, whole: AreaError, place: int | None) -> Area:
    ground = None
    if place is not None and cells >= place and whole.square_km is not None:
        ground = cells * whole.square_km / whole.cells
    return Area(cells=cells, square_km=ground, relative=GOOD)


_HAIR = 1e-6
"""As a share of a cell: an edge this close to a border counts as on it."""


def window(level: str, south: float, west: float, north: float, east: float) -> Window:
    """All cells of ``level`` that a box in degrees touches: half-open rows and columns, and their own bounds.

    >>> found = window("500m", 35.675, 139.7625, 35.68, 139.77)
    >>> found.rows, found.columns, found.cells
    ((8562, 8564), (6362, 6364), 4)
    """
    size = mesh_level(level)
    if not all(map(math.isfinite, (south, west, north, east))) or not (south < north and west < east):
        raise RequestError(422, "the box has no area", allowed="south < north and west < east, in degrees")
    per_degree = size.rows_per_degree, size.columns_per_degree
    low = _whole(math.floor, south * per_degree[0] + _HAIR), _whole(math.floor, (west - 100) * per_degree[1] + _HAIR)
    high = _whole(math.ceil, north * per_degree[0] - _HAIR), _whole(math.ceil, (east - 100) * per_degree[1] - _HAIR)
    rows, columns = zip(low, high, strict=True)
    if any(first < 0 or last > size.limit for first, last in (rows, columns)):
        raise RequestError(
            422,
            "the box lies outside the mesh",
            allowed="latitudes 0 to 66.6, longitudes 100 to 200",
            hint="The mesh is that of Japan. Elsewhere, declare a grid in degrees, tiles, hexagons or regions.",
        )
    bounds = Bounds(
        south=rows[0] / per_degree[0],
        west=100 + columns[0] / per_degree[1],
        north=rows[1] / per_degree[0],
        east=100 + columns[1] / per_degree[1],
    )
    cells = (rows[1] - rows[0]) * (columns[1] - columns[0])
    return Window(level=level, rows=rows, columns=columns, cells=cells, bounds=bounds)


def _whole(rounded: Any, position: float) -> int:
    return int(rounded(min(max(position, -1e9), 1e9)))
