"""SQL that keeps at most ``max_rows`` rows of each unit, and the SQL for topics that work on records.

The rows that are counted are read in one pass, which stores the unit and the cell of each row (`Shell.freeze`). All
further queries read that copy: most people have all their rows in one cell, or two rows, and are settled by grouping
the copy by unit; only the others are read a second time, and a hash is computed only for units over the limit.

Every count is made of frozen rows, each of which passed through `settled` or `chosen`. The two divide the units between
them, by what the same frozen rows say of each, and either keeps at most ``max_rows`` rows of a unit, whatever the
source does meanwhile: see docs/explanation/rows-and-people.md.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sudare.domain.columns import FARTHEST
from sudare.domain.sql import Dialect, SourceColumn, double, whole
from sudare.engines.protocol import RowBound

# ruff: noqa: S608 - columns are named by their engine; the rest are numbers and hexadecimal digits

_NUMBERS = ("whole", "number", "truth")
NOBODY_COLUMN = "nobody"
"""Beside bounded columns: whether the row has no unit. There are such rows only where they are refused."""


def own_rows_sql(columns: Sequence[SourceColumn], bound: RowBound | None, dialect: Dialect, source: str) -> str:
    """The columns c0, c1, ... in their own types, after bounding."""
    own = ", ".join(f"{column.sql} AS c{place}" for place, column in enumerate(columns))
    return _bounded(own, columns, bound, dialect, source)


def tuples_sql(columns: Sequence[SourceColumn], dialect: Dialect, rows: str) -> str:
    """Each distinct tuple of the columns of `own_rows_sql` as text, with its number of rows."""
    names = [f"c{place}" for place in range(len(columns))]
    # Grouped in the columns' own types, which is far faster, and only then written as text.
    listed = ", ".join(names)
    grouped = f"SELECT {listed}, count(*) AS n FROM ({rows}) GROUP BY {listed}"
    texts = ", ".join(f"{_text(column, name, dialect)} AS {name}" for column, name in zip(columns, names, strict=True))
    return f"SELECT {texts}, n FROM ({grouped})"


def values_sql(columns: Sequence[SourceColumn], bound: RowBound | None, dialect: Dialect, source: str) -> str:
    """The columns c0, c1, ...: numbers as doubles, all else as text.

    One pass, and with a bound the last thing done to a row: nothing regroups rows after they were chosen.
    """
    own = ", ".join(f"{_value(column, dialect)} AS c{place}" for place, column in enumerate(columns))
    return _bounded(own, columns, bound, dialect, source)


def _text(column: SourceColumn, name: str, dialect: Dialect) -> str:
    if column.kind == "number":
        # A whole number in a column of floats is written as one: 39, not 39.0. TRY, since DuckDB folds the condition
        # where a Parquet file's smallest and largest value decide it, and these say nothing of a NaN: it is missing.
        whole = f"{name} = floor({name}) AND abs({name}) < 1e15"
        as_whole = f"CAST(TRY_CAST({name} AS BIGINT) AS {dialect.text})"
        return f"CASE WHEN {whole} THEN {as_whole} ELSE CAST({name} AS {dialect.text}) END"
    return f"CAST({name} AS {dialect.text})"


def _value(column: SourceColumn, dialect: Dialect) -> str:
    kind = "DOUBLE" if column.kind in _NUMBERS else dialect.text
    return f"CAST({column.sql} AS {kind})"


def _bounded(
    selected: str, columns: Sequence[SourceColumn], bound: RowBound | None, dialect: Dialect, source: str
) -> str:
    """The rows; with a bound, at most ``max_rows`` of each unit, and `NOBODY_COLUMN`.

    The hash is that of `RowBound` with the row's own text after the unit: rows that agree in all the columns asked
    for are interchangeable, and numbered to tell them apart. Rows without a unit are left out, or, where they are to be
    refused, bounded like those of one more unit: a few of them are enough to notice.
    """
    if bound is None:
        return f"SELECT {selected} FROM {source}"
    unit = unit_sql(bound, dialect)
    rows = f"SELECT {selected}, {unit} AS unit, {_row_text(columns, dialect)} AS written FROM {source}"
    numbered = f"SELECT *, row_number() OVER (PARTITION BY unit, written ORDER BY written) AS occurrence FROM ({rows})"
    text = f"concat('{bound.key.hex()}/', occurrence, '/', COALESCE(CAST(unit AS {dialect.text}), ''), '/', written)"
    somebody = " WHERE unit IS NOT NULL" if bound.missing.action == "drop" else ""
    ranked = (
        f"SELECT *, row_number() OVER (PARTITION BY unit ORDER BY md5({text}), written, occurrence) AS place "
        f"FROM ({numbered}){somebody}"
    )
    listed = ", ".join(f"c{place}" for place in range(len(columns)))
    return f"SELECT {listed}, unit IS NULL AS {NOBODY_COLUMN} FROM ({ranked}) WHERE place <= {bound.max_rows}"


def _row_text(columns: Sequence[SourceColumn], dialect: Dialect) -> str:
    """A row as one text: each column's text is preceded by its length, so that two different rows never share one."""
    texts = [f"CAST({column.sql} AS {dialect.text})" for column in columns]
    parts = [f"CASE WHEN {text} IS NULL THEN '-' ELSE concat(length({text}), ':', {text}) END" for text in texts]
    return f"concat({', '.join(parts)})"


OUTSIDE, NOBODY = -1, -2
"""Used in place of a cell: for rows outside the domain where these are refused, and for rows without a unit."""


def settled(bound: RowBound, refuse: bool, rows: str) -> str:
    """Groups the frozen ``rows`` by unit, and then by cell.

    A unit whose rows share a cell is settled: the cell gets its rows, at most ``max_rows``. So is a unit with two rows
    of which one is kept. Any other unit remains as a row of its own, ``spread``, for `chosen`. The result has a cell
    `OUTSIDE` if a unit has a row outside (with ``refuse``), and a cell `NOBODY` if a unit is missing.
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
    """The units that `settled` left to `chosen`; with a limit above one, with their numbers of rows."""
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


def unit_sql(bound: RowBound, dialect: Dialect) -> str:
    """The unit of a row: a whole number or text; NULL where it is missing, NaN, fractional or declared to be no id."""
    column, name = bound.unit, bound.unit.sql
    if column.kind == "number" and column.type.startswith("DECIMAL"):
        own = f"CASE WHEN {name} = floor({name}) THEN TRY_CAST({name} AS {dialect.wide}) END"
    elif column.kind == "number":
        # Beyond 2**53 two people's numbers can share a double: such a column cannot tell them apart.
        fits = f"abs({name}) <= {2**53} AND {name} = floor({name})"
        own = f"CASE WHEN {fits} THEN TRY_CAST({name} AS BIGINT) END"
    else:
        own = name
    text = column.kind in ("text", "untyped")
    nobody = [each for each in bound.missing.spellings if text or re.fullmatch("-?[0-9]+", each)]
    nobody += [""] if text else []
    if not nobody:
        return own
    listed = ", ".join(dialect.literal(each) for each in nobody)
    written = f"lower({own})" if text else f"CAST({own} AS {dialect.text})"
    return f"CASE WHEN {written} IN ({listed}) THEN NULL ELSE {own} END"


def count_sql(column: SourceColumn, dialect: Dialect) -> str:
    """A count as BIGINT (2**62 + 1 for what is larger) or DOUBLE, unchecked."""
    return whole(column, dialect, FARTHEST + 1) if column.kind == "whole" else double(column, dialect)
