"""At most so many rows of each unit, chosen from rows that were looked at once.

The rows that are counted are looked at in one pass, which freezes whose each row is and its cell (`Shell.freeze`). All
that follows reads that copy: most people have all their rows in one cell, or two rows, and are settled by grouping the
copy by unit; only the others are read a second time, and a hash is computed only for units over the limit.

Why the bound holds whatever the source does: every count is made of frozen rows, each of which passed through
`settled` or `chosen`. The two divide the units between them, by what the same frozen rows say of each, and either
keeps at most ``max_rows`` rows of a unit. A file that is replaced or appended to, or a view that draws at random, can
change which rows are frozen, and never how many of one unit are counted.

Where cells of the domain are masked, `place_sql` looks at the source once before, for the masked cells that occur. No
row is counted from that look. If the source changed in between, a frozen row can lie in a masked cell that it did not
find, and the table is then refused.
"""

# ruff: noqa: S608 - names are ours; the rest are numbers and hexadecimal digits

from __future__ import annotations

from sudare.engines.dialect import Dialect
from sudare.engines.protocol import RowBound

OUTSIDE, NOBODY = -1, -2
"""In place of a cell: a unit has a row outside the domain and such rows are refused; rows have no unit."""


def settled(bound: RowBound, refuse: bool, rows: str) -> str:
    """Groups the frozen ``rows`` by unit, and then by cell.

    A unit whose rows share a cell is settled: the cell gets its rows, at most ``max_rows``. So is one with two rows
    of which one is kept. Another stays as a row of its own, ``spread``, to be chosen from. Cells `OUTSIDE` and `NOBODY`
    are there if a unit has a row outside (with ``refuse``), and if a unit is missing.
    """
    low = f"min(COALESCE(cell, {OUTSIDE}))" if refuse else "min(cell)"
    units = f"SELECT unit, {low} AS low, max(cell) AS high, count(cell) AS inside_rows FROM {rows} GROUP BY unit"
    apart = "unit IS NOT NULL AND low >= 0 AND low <> high"
    alike = "WHEN low = high THEN low"
    if bound.max_rows == 1:
        # Of two rows in two cells, each is its cell's first.
        low_first = f"{_hash(bound, 'low', '1')} < {_hash(bound, 'high', '1')}"
        alike += f" WHEN inside_rows = 2 THEN CASE WHEN {low_first} THEN low ELSE high END"
        apart += " AND inside_rows > 2"
    judged = (
        f"SELECT CASE WHEN unit IS NULL THEN {NOBODY} WHEN low < 0 THEN {OUTSIDE} {alike} END AS cell, "
        f"CASE WHEN {apart} THEN unit END AS spread, inside_rows FROM ({units})"
    )
    kept = "count(*) AS kept"
    if bound.max_rows > 1:
        own = f"least(inside_rows, {bound.max_rows})"
        kept = f"CAST(sum({own}) AS BIGINT) AS kept, max(inside_rows) AS inside_rows"
    return f"SELECT cell, spread, {kept} FROM ({judged}) GROUP BY cell, spread"


def spread_units(bound: RowBound, counted: str) -> str:
    """The units that are to be chosen from; with a limit above one, with their numbers of rows."""
    rows = "" if bound.max_rows == 1 else ", inside_rows"
    return f"SELECT spread{rows} FROM {counted} WHERE spread IS NOT NULL"


def chosen(bound: RowBound, dialect: Dialect, rows: str, spread_units: str) -> str:
    """The frozen ``rows`` of `spread_units`: all of them within the limit, else chosen by hash."""
    spread = f"SELECT spread FROM {spread_units}"
    over = spread if bound.max_rows == 1 else f"{spread} WHERE inside_rows > {bound.max_rows}"
    joined = f"{rows} {dialect.semi_join}"
    pairs = (
        f"SELECT unit, cell, count(cell) AS repeats FROM {joined} ({over}) ON unit = spread "
        "GROUP BY unit, cell HAVING count(cell) > 0"
    )
    single = f"SELECT unit, cell, {dialect.one_to('repeats')} AS occurrence FROM ({pairs})"
    order = f"{_hash(bound, 'cell', 'occurrence')}, cell, occurrence"
    ranked = f"SELECT cell, row_number() OVER (PARTITION BY unit ORDER BY {order}) AS place FROM ({single})"
    cells = f"SELECT cell, count(*) AS kept FROM ({ranked}) WHERE place <= {bound.max_rows} GROUP BY cell"
    if bound.max_rows == 1:
        return cells
    within = f"{spread} WHERE inside_rows <= {bound.max_rows}"
    whole = f"SELECT cell, count(cell) AS kept FROM {joined} ({within}) ON unit = spread GROUP BY cell"
    return f"{cells} UNION ALL {whole}"


def _hash(bound: RowBound, cell: str, occurrence: str) -> str:
    """The hash that orders the rows of a unit: see `RowBound`."""
    return f"md5(concat('{bound.key.hex()}/', {cell}, '/', {occurrence}, '/', unit))"
