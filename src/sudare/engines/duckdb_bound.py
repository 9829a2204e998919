"""At most so many rows of each unit, in two looks at the rows.

Most people have all their rows in one cell, or fewer than the limit. The first look groups by unit and
settles those; only the others are looked at again, and a hash is computed only for units over the limit.
"""

# ruff: noqa: S608 - names are quoted by `identifier`, texts by `text_literal`; the rest are numbers

from __future__ import annotations

from sudare.engines.protocol import Bound


def first_look(bound: Bound) -> str:
    """One pass that groups by unit. A unit whose rows share a cell is settled: the cell gets its rows, at
    most ``max_rows``. Another is ``spread`` and looked at again; these stay one row each.

    ``outside`` is true where a unit is missing or has a row outside the domain.
    """
    units = (
        "SELECT unit, min(cell) AS low, max(cell) AS high, count(cell) AS inside_rows, count(*) AS all_rows "
        "FROM placed GROUP BY unit"
    )
    judged = (
        "SELECT CASE WHEN unit IS NOT NULL AND low = high THEN low END AS cell, "
        "CASE WHEN low <> high THEN unit END AS spread, inside_rows, "
        f"least(inside_rows, {bound.max_rows}) AS own, unit IS NULL OR inside_rows < all_rows AS outside "
        f"FROM ({units})"
    )
    return (
        "SELECT cell, spread, bool_or(outside) AS outside, CAST(sum(own) AS BIGINT) AS kept, "
        f"max(inside_rows) AS inside_rows FROM ({judged}) GROUP BY cell, spread"
    )


def second_look(bound: Bound) -> str:
    """The rows of units that are spread over cells: all of them within the limit, else chosen by hash."""
    spread = "SELECT spread FROM counted WHERE spread IS NOT NULL AND inside_rows"
    within = (
        "SELECT cell, count(cell) AS kept FROM placed "
        f"SEMI JOIN ({spread} <= {bound.max_rows}) ON unit = spread GROUP BY cell"
    )
    # A row outside has cell NULL, so that it counts as none of ``repeats`` and vanishes in the range.
    pairs = (
        "SELECT unit, cell, count(cell) AS repeats FROM placed "
        f"SEMI JOIN ({spread} > {bound.max_rows}) ON unit = spread GROUP BY unit, cell"
    )
    rows = f"SELECT unit, cell, unnest(range(1, repeats + 1)) AS occurrence FROM ({pairs})"
    text = f"concat('{bound.key.hex()}/', cell, '/', occurrence, '/', unit)"
    chosen = (
        f"SELECT cell FROM ({rows}) QUALIFY row_number() OVER "
        f"(PARTITION BY unit ORDER BY md5({text}), cell, occurrence) <= {bound.max_rows}"
    )
    over = f"SELECT cell, count(*) AS kept FROM ({chosen}) GROUP BY cell"
    return over if bound.max_rows == 1 else f"{over} UNION ALL {within}"
