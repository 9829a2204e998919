"""The verbs for topics that work on records: distinct tuples of columns with their rows, and columns as they are."""

# ruff: noqa: S608 - names are quoted by `identifier`; the rest are numbers and hexadecimal digits

from __future__ import annotations

from collections.abc import Sequence

from sudare.engines.duckdb_sql import identifier, unit_sql
from sudare.engines.protocol import Bound, Column

_NUMBERS = ("whole", "number", "truth")


def tuples_sql(columns: Sequence[Column], bound: Bound | None) -> str:
    """Each distinct tuple of ``columns`` as text, c0, c1, ..., with its number of rows."""
    names = [f"c{place}" for place in range(len(columns))]
    # Grouped in the columns' own types, which is far faster, and only then written as text.
    own = ", ".join(f"{identifier(column.name)} AS {name}" for column, name in zip(columns, names, strict=True))
    listed = ", ".join(names)
    grouped = f"SELECT {listed}, count(*) AS n FROM ({_bounded(own, bound)}) GROUP BY {listed}"
    texts = ", ".join(f"{_text(column, name)} AS {name}" for column, name in zip(columns, names, strict=True))
    return f"SELECT {texts}, n FROM ({grouped})"


def values_sql(columns: Sequence[Column], bound: Bound | None) -> str:
    """The columns c0, c1, ...: numbers as doubles, all else as text."""
    own = ", ".join(f"{_value(column)} AS c{place}" for place, column in enumerate(columns))
    return f"SELECT {', '.join(f'c{place}' for place in range(len(columns)))} FROM ({_bounded(own, bound)})"


def _text(column: Column, name: str) -> str:
    if column.kind == "number":
        # A whole number in a column of floats is written as one: 39, not 39.0.
        whole = f"{name} = trunc({name}) AND abs({name}) < 1e15"
        return f"CASE WHEN {whole} THEN CAST(CAST({name} AS BIGINT) AS VARCHAR) ELSE CAST({name} AS VARCHAR) END"
    return f"CAST({name} AS VARCHAR)"


def _value(column: Column) -> str:
    kind = "DOUBLE" if column.kind in _NUMBERS else "VARCHAR"
    return f"CAST({identifier(column.name)} AS {kind})"


def _bounded(selected: str, bound: Bound | None) -> str:
    """The rows; with a bound, so many of each unit as it allows, and none without a unit.

    The hash is that of `Bound` with the row's own text behind the unit: rows that agree in all their columns are
    interchangeable, and told apart by their number.
    """
    if bound is None:
        return f"SELECT {selected} FROM source"
    rows = f"SELECT {selected}, {unit_sql(bound.unit)} AS unit, CAST(source AS VARCHAR) AS written FROM source"
    numbered = f"SELECT *, row_number() OVER (PARTITION BY unit, written) AS occurrence FROM ({rows})"
    text = f"concat('{bound.key.hex()}/', occurrence, '/', unit, '/', written)"
    return (
        f"SELECT * FROM ({numbered}) WHERE unit IS NOT NULL QUALIFY row_number() OVER "
        f"(PARTITION BY unit ORDER BY md5({text}), written, occurrence) <= {bound.max_rows}"
    )
