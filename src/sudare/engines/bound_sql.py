"""At most so many rows of each unit, in two looks at the rows.

Most people have all their rows in one cell, or fewer than the limit. The first look groups by unit and
settles those; only the others are looked at again, and a hash is computed only for units over the limit.
"""

# ruff: noqa: S608 - names are ours; the rest are numbers and hexadecimal digits

from __future__ import annotations

from sudare.engines.dialect import Dialect
from sudare.engines.protocol import Bound


def first_look(bound: Bound, refuse: bool, placed: str) -> str:
    """One pass over ``placed`` that groups by unit, and then by cell.

    A unit whose rows share a cell is settled: the cell gets its rows, at most ``max_rows``. Another stays as a
    row of its own, ``spread``, to be looked at again. Cell -1 is there if a unit is missing or, with
    ``refuse``, has a row outside the domain.
    """
    low = "min(COALESCE(cell, -1))" if refuse else "min(cell)"
    units = f"SELECT unit, {low} AS low, max(cell) AS high, count(cell) AS inside_rows FROM {placed} GROUP BY unit"
    judged = (
        "SELECT CASE WHEN unit IS NULL OR low < 0 THEN -1 WHEN low = high THEN low END AS cell, "
        f"CASE WHEN low >= 0 AND low <> high THEN unit END AS spread, inside_rows FROM ({units})"
    )
    # With a limit of one row no number of rows is needed, and DuckDB leaves out what is not asked for.
    kept = "count(*) AS kept"
    if bound.max_rows > 1:
        own = f"least(inside_rows, {bound.max_rows})"
        kept = f"CAST(sum({own}) AS BIGINT) AS kept, max(inside_rows) AS inside_rows"
    return f"SELECT cell, spread, {kept} FROM ({judged}) GROUP BY cell, spread"


def second_look(bound: Bound, dialect: Dialect, placed: str, counted: str) -> str:
    """The rows of units that are spread over cells: all of them within the limit, else chosen by hash."""
    spread = f"SELECT spread FROM {counted} WHERE spread IS NOT NULL"
    over = spread if bound.max_rows == 1 else f"{spread} AND inside_rows > {bound.max_rows}"
    joined = f"{placed} {dialect.semi_join}"
    pairs = (
        f"SELECT unit, cell, count(cell) AS repeats FROM {joined} ({over}) ON unit = spread "
        "GROUP BY unit, cell HAVING count(cell) > 0"
    )
    rows = f"SELECT unit, cell, {dialect.one_to('repeats')} AS occurrence FROM ({pairs})"
    text = f"concat('{bound.key.hex()}/', cell, '/', occurrence, '/', unit)"
    ranked = (
        f"SELECT cell, row_number() OVER (PARTITION BY unit ORDER BY md5({text}), cell, occurrence) AS place "
        f"FROM ({rows})"
    )
    cells = f"SELECT cell, count(*) AS kept FROM ({ranked}) WHERE place <= {bound.max_rows} GROUP BY cell"
    if bound.max_rows == 1:
        return cells
    within = f"{spread} AND inside_rows <= {bound.max_rows}"
    whole = f"SELECT cell, count(cell) AS kept FROM {joined} ({within}) ON unit = spread GROUP BY cell"
    return f"{cells} UNION ALL {whole}"
