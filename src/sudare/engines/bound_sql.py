"""At most so many rows of each unit, in two looks at the rows.

Most people have all their rows in one cell, or two rows. The first look groups by unit and settles those; only the
others are looked at again, and a hash is computed only for units over the limit.
"""

# ruff: noqa: S608 - names are ours; the rest are numbers and hexadecimal digits

from __future__ import annotations

from sudare.engines.dialect import Dialect
from sudare.engines.protocol import Bound


def first_look(bound: Bound, refuse: bool, placed: str) -> str:
    """One pass over ``placed`` that groups by unit, and then by cell.

    A unit whose rows share a cell is settled: the cell gets its rows, at most ``max_rows``. So is one with two rows
    of which one is kept. Another stays as a row of its own, ``spread``, to be looked at again. Cell -1 is there if a
    unit is missing or, with ``refuse``, has a row outside the domain.
    """
    low = "min(COALESCE(cell, -1))" if refuse else "min(cell)"
    units = f"SELECT unit, {low} AS low, max(cell) AS high, count(cell) AS inside_rows FROM {placed} GROUP BY unit"
    apart = "low >= 0 AND low <> high"
    settled = "WHEN low = high THEN low"
    if bound.max_rows == 1:
        # Of two rows in two cells, each is its cell's first.
        low_first = f"{_hash(bound, 'low', '1')} < {_hash(bound, 'high', '1')}"
        settled += f" WHEN inside_rows = 2 THEN CASE WHEN {low_first} THEN low ELSE high END"
        apart += " AND inside_rows > 2"
    judged = (
        f"SELECT CASE WHEN unit IS NULL OR low < 0 THEN -1 {settled} END AS cell, "
        f"CASE WHEN {apart} THEN unit END AS spread, inside_rows FROM ({units})"
    )
    kept = "count(*) AS kept"
    if bound.max_rows > 1:
        own = f"least(inside_rows, {bound.max_rows})"
        kept = f"CAST(sum({own}) AS BIGINT) AS kept, max(inside_rows) AS inside_rows"
    return f"SELECT cell, spread, {kept} FROM ({judged}) GROUP BY cell, spread"


def spread_units(bound: Bound, counted: str) -> str:
    """The units that are to be looked at again; with a limit above one, with their numbers of rows."""
    rows = "" if bound.max_rows == 1 else ", inside_rows"
    return f"SELECT spread{rows} FROM {counted} WHERE spread IS NOT NULL"


def second_look(bound: Bound, dialect: Dialect, placed: str, spread_units: str) -> str:
    """The rows of `spread_units`: all of them within the limit, else chosen by hash."""
    spread = f"SELECT spread FROM {spread_units}"
    over = spread if bound.max_rows == 1 else f"{spread} WHERE inside_rows > {bound.max_rows}"
    joined = f"{placed} {dialect.semi_join}"
    pairs = (
        f"SELECT unit, cell, count(cell) AS repeats FROM {joined} ({over}) ON unit = spread "
        "GROUP BY unit, cell HAVING count(cell) > 0"
    )
    rows = f"SELECT unit, cell, {dialect.one_to('repeats')} AS occurrence FROM ({pairs})"
    order = f"{_hash(bound, 'cell', 'occurrence')}, cell, occurrence"
    ranked = f"SELECT cell, row_number() OVER (PARTITION BY unit ORDER BY {order}) AS place FROM ({rows})"
    cells = f"SELECT cell, count(*) AS kept FROM ({ranked}) WHERE place <= {bound.max_rows} GROUP BY cell"
    if bound.max_rows == 1:
        return cells
    within = f"{spread} WHERE inside_rows <= {bound.max_rows}"
    whole = f"SELECT cell, count(cell) AS kept FROM {joined} ({within}) ON unit = spread GROUP BY cell"
    return f"{cells} UNION ALL {whole}"


def _hash(bound: Bound, cell: str, occurrence: str) -> str:
    """The hash that orders the rows of a unit: see `Bound`."""
    return f"md5(concat('{bound.key.hex()}/', {cell}, '/', {occurrence}, '/', unit))"
