"""JIS X 0410 in SQL: the arithmetic of `sudare.domain.mesh`, in the same order."""

from __future__ import annotations

from collections.abc import Sequence

from sudare.domain.mesh import BOUNDARY_TOLERANCE, mesh_level
from sudare.domain.sql import (
    AttributeSql,
    Dialect,
    SourceColumn,
    double,
    double_literal,
    floor_of_double,
    parsed,
    whole_of_any,
)


def degrees_sql(
    columns: Sequence[SourceColumn], origin: tuple[int, int], size: str, prefix: str, dialect: Dialect
) -> AttributeSql:
    """Latitude and longitude to rows and columns from ``origin`` on, as `mesh.rows_and_columns_at` does it."""
    level = mesh_level(size)
    latitude, longitude = f"{prefix}latitude", f"{prefix}longitude"
    row, column = f"{prefix}row", f"{prefix}column"
    tolerance = double_literal(BOUNDARY_TOLERANCE)
    north = f"{latitude} * {double_literal(level.rows_per_degree)}"
    east = f"({longitude} - {double_literal(100)}) * {double_literal(level.columns_per_degree)}"
    steps = {f"{row}_steps": f"{north} + {tolerance}", f"{column}_steps": f"{east} + {tolerance}"}
    ends = {
        row: f"{floor_of_double(f'{row}_steps')} - {origin[0]}",
        column: f"{floor_of_double(f'{column}_steps')} - {origin[1]}",
    }
    raw = {latitude: double(columns[0], dialect), longitude: double(columns[1], dialect)}
    return AttributeSql((row, column), raw, (steps, ends))


def codes_sql(
    column: SourceColumn, origin: tuple[int, int], size: str, leading_zeros: bool, prefix: str, dialect: Dialect
) -> AttributeSql:
    """Codes to rows and columns from ``origin`` on, as `mesh_codes.read_codes` does it."""
    level = mesh_level(size)
    code, possible, by = f"{prefix}code", f"{prefix}possible", dialect.quotient
    least = 0 if leading_zeros else 10 ** (level.digits - 1)
    if column.kind in ("text", "untyped"):
        coded = dialect.matches(f"CAST({column.sql} AS {dialect.text})", f"[0-9]{{{level.digits}}}")
        read = f"CASE WHEN {coded} THEN {parsed(column, 'BIGINT', dialect)} END"
        least = 0
    else:
        read = whole_of_any(column, dialect)
    within = f"CASE WHEN {code} >= {least} AND {code} < {10**level.digits} THEN {code} END"
    digit = [f"({possible} {by} {10**place} % 10)" for place in reversed(range(level.digits))]
    row, east = f"({digit[0]} * 10 + {digit[1]})", f"({digit[2]} * 10 + {digit[3]})"
    if level.digits >= 6:
        row, east = f"({row} * 8 + {digit[4]})", f"({east} * 8 + {digit[5]})"
    if level.digits >= 8:
        row, east = f"({row} * 10 + {digit[6]})", f"({east} * 10 + {digit[7]})"
    for quarter in digit[8:]:
        row, east = f"({row} * 2 + ({quarter} - 1) {by} 2)", f"({east} * 2 + ({quarter} - 1) % 2)"
    valid = [f"{each} < 8" for each in digit[4:6]] + [f"{each} BETWEEN 1 AND 4" for each in digit[8:]]
    condition = " AND ".join([f"{possible} IS NOT NULL", *valid])
    ends = {
        f"{prefix}row": f"CASE WHEN {condition} THEN {row} - {origin[0]} END",
        f"{prefix}column": f"CASE WHEN {condition} THEN {east} - {origin[1]} END",
    }
    return AttributeSql(tuple(ends), {code: read}, ({possible: within}, ends))
