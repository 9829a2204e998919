"""The SQL for topics that work on records: distinct tuples of columns with their rows, and columns as they are."""

# ruff: noqa: S608 - columns are named by their engine; the rest are numbers and hexadecimal digits

from __future__ import annotations

from collections.abc import Sequence

from sudare.engines.attribute_sql import unit_sql
from sudare.engines.dialect import Dialect
from sudare.engines.protocol import RowBound, SourceColumn

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
    """The rows; with a bound, so many of each unit as it allows, and `NOBODY_COLUMN`.

    The hash is that of `RowBound` with the row's own text behind the unit: rows that agree in all the columns asked
    for are interchangeable, and told apart by their number. Rows without a unit are left out, or, where they are to be
    refused, bounded like those of one more unit, so that a few of them tell.
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
    """A row as one text: the length of each column's own before it, so that two rows never share one."""
    texts = [f"CAST({column.sql} AS {dialect.text})" for column in columns]
    parts = [f"CASE WHEN {text} IS NULL THEN '-' ELSE concat(length({text}), ':', {text}) END" for text in texts]
    return f"concat({', '.join(parts)})"
