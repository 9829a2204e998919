"""Attributes in SQL: raw columns to positions, bit for bit as ``Attribute.positions`` in NumPy.

A translation is a few layers of named expressions; a layer may use the names of those before it. Declared
values (categories, edges) come in as Arrow tables that are joined, so that the text of the SQL holds only
identifiers and numbers. A position is a BIGINT, possibly outside the attribute's box, or NULL where the
value is not known. Engines order NaN above all numbers and ``least`` and ``greatest`` skip NULL: both are
taken out before anything is compared.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import TYPE_CHECKING, Any, TypeAlias

from sudare.domain import Attribute, Bins, Categories, Mesh
from sudare.domain.columns import FARTHEST
from sudare.domain.mesh import MeshLevel, mesh_level
from sudare.domain.text import plain
from sudare.engines.dialect import Dialect, text_literal
from sudare.engines.protocol import RowBound, SourceColumn

if TYPE_CHECKING:
    import pyarrow

Layer: TypeAlias = dict[str, str]

_BOUNDARY_TOLERANCE = 1e-9
"""That of ``mesh.rows_and_columns_at``."""
_SHORT_INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "UTINYINT", "USMALLINT", "UINTEGER")


@dataclass(frozen=True)
class AttributeSql:
    """How one attribute is read: ``axes`` are names of the last layer, one per axis."""

    axes: tuple[str, ...]
    raw: Layer
    """Expressions over the columns of the source."""
    layers: tuple[Layer, ...] = ()
    joins: dict[str, tuple[str, pyarrow.Table]] = field(default_factory=dict)
    """Declared tables by name, each with what stands after FROM to join it to the raw layer as {table}."""


def translate(attribute: Attribute, columns: Sequence[SourceColumn], prefix: str, dialect: Dialect) -> AttributeSql:
    """The SQL of an attribute read from these columns; every name in it begins with ``prefix``."""
    if isinstance(attribute, Categories):
        return _categories(attribute, columns[0], prefix, dialect)
    if isinstance(attribute, Bins):
        return _bins(attribute, columns[0], prefix, dialect)
    if isinstance(attribute, Mesh):
        level = mesh_level(attribute.cell_size)
        if len(columns) == 2:
            return _degrees(attribute, level, columns, prefix, dialect)
        return _codes(attribute, level, columns[0], prefix, dialect)
    return _positions(columns, prefix, dialect)


def unit_sql(bound: RowBound, dialect: Dialect) -> str:
    """Whose row it is: a whole number or text; NULL where it is missing, NaN, has a fraction or means nobody."""
    column, name = bound.unit, bound.unit.sql
    if column.kind == "number" and column.type.startswith("DECIMAL"):
        own = f"CASE WHEN {name} = floor({name}) THEN TRY_CAST({name} AS {dialect.wide}) END"
    elif column.kind == "number":
        # Beyond 2**53 two people's numbers can share a double: such a column cannot tell them apart.
        whole = f"abs({name}) <= {2**53} AND {name} = floor({name})"
        own = f"CASE WHEN {whole} THEN TRY_CAST({name} AS BIGINT) END"
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
    """A count as BIGINT (2**62 + 1 for what is larger) or DOUBLE, as it stands: right or wrong."""
    return _whole(column, dialect, FARTHEST + 1) if column.kind == "whole" else _double(column, dialect)


def _positions(columns: Sequence[SourceColumn], prefix: str, dialect: Dialect) -> AttributeSql:
    """Lines and grids: the columns are positions."""
    axes = tuple(f"{prefix}axis{number}" for number in range(len(columns)))
    raw: Layer = {}
    layer: Layer = {}
    for axis, column in zip(axes, columns, strict=True):
        if column.kind == "whole":
            raw[axis] = _whole(column, dialect)
            continue
        number = f"{axis}_number"
        raw[number] = _double(column, dialect)
        layer[axis] = _whole_of_double(number)
        if column.kind == "untyped":
            # A double holds whole numbers up to 2**53; beyond it the digits are read as they stand.
            raw[f"{axis}_digits"] = _clipped(_parsed(column, dialect.wide, dialect))
            exact = f"COALESCE({axis}_digits, {layer[axis]})"
            layer[axis] = f"CASE WHEN abs({number}) < {2**53} THEN {layer[axis]} ELSE {exact} END"
    return AttributeSql(axes, raw, (layer,) if layer else ())


def _categories(attribute: Categories, column: SourceColumn, prefix: str, dialect: Dialect) -> AttributeSql:
    """By joining the declared values with their positions."""
    import pyarrow

    words = isinstance(attribute.values[0], str)
    value, position = f"{prefix}value", f"{prefix}position"
    declared_values = [plain(each) if isinstance(each, str) else each for each in attribute.values]
    declared = pyarrow.table(
        {
            f"{prefix}declared": pyarrow.array(declared_values, pyarrow.string() if words else pyarrow.int64()),
            position: pyarrow.array(range(len(attribute.values)), pyarrow.int64()),
        }
    )
    if words:
        read = f"CAST({column.sql} AS {dialect.text})"
    elif column.kind == "truth":
        read = f"CAST({column.sql} AS BIGINT)"
    else:
        read = _whole_of_any(column, dialect)
    join = f"LEFT JOIN {{table}} ON {value} = {prefix}declared"
    return AttributeSql((position,), {value: read}, joins={f"{prefix}categories": (join, declared)})


def _bins(attribute: Bins, column: SourceColumn, prefix: str, dialect: Dialect) -> AttributeSql:
    """By bisection: one layer for each bit of the number of edges that the value has reached."""
    import pyarrow

    whole = column.kind == "whole"
    finite = [edge for edge in attribute.edges if edge is not None]
    # A whole number reaches an edge exactly when it reaches the next whole number above the edge.
    edges: list[Any] = [ceil(edge) if whole else float(edge) for edge in finite]
    bits = len(edges).bit_length()
    edges += [None] * ((1 << bits) - 1 - len(edges))  # no value reaches NULL
    value, declared = f"{prefix}value", f"{prefix}edges"
    list_type = pyarrow.list_(pyarrow.int64() if whole else pyarrow.float64())
    raw = {value: _whole(column, dialect) if whole else _double(column, dialect)}
    known = f"{value} IS NOT NULL" if whole else f"{value} IS NOT NULL AND NOT isnan({value})"
    layers: list[Layer] = []
    reached = "CAST(0 AS BIGINT)"
    for bit in reversed(range(bits)):
        further = f"{reached} + {1 << bit}"
        name = f"{prefix}reached{bit}"
        edge = dialect.element(declared, further)
        layers.append({name: f"CASE WHEN {value} >= {edge} THEN {further} ELSE {reached} END"})
        reached = name
    below = 0 if attribute.edges[0] is None else 1
    layers.append({f"{prefix}axis": f"CASE WHEN {known} THEN {reached} - {below} END"})
    axes, steps = (f"{prefix}axis",), tuple(layers)
    if dialect.written_lists:
        return AttributeSql(axes, {**raw, declared: _list(edges, "BIGINT" if whole else "DOUBLE")}, steps)
    one_row = pyarrow.table({declared: pyarrow.array([edges], list_type)})
    return AttributeSql(axes, raw, steps, {f"{prefix}bins": ("CROSS JOIN {table}", one_row)})


def _list(numbers: Sequence[int | float | None], kind: str) -> str:
    written = ["NULL" if number is None else text_literal(repr(number)) for number in numbers]
    return f"array({', '.join(f'CAST({number} AS {kind})' for number in written)})"


def _degrees(
    attribute: Mesh, level: MeshLevel, columns: Sequence[SourceColumn], prefix: str, dialect: Dialect
) -> AttributeSql:
    """Latitude and longitude: the arithmetic of ``mesh.rows_and_columns_at``, in the same order."""
    latitude, longitude = f"{prefix}latitude", f"{prefix}longitude"
    row, column = f"{prefix}row", f"{prefix}column"
    tolerance = _number(_BOUNDARY_TOLERANCE)
    north = f"{latitude} * {_number(level.rows_per_degree)}"
    east = f"({longitude} - {_number(100)}) * {_number(level.columns_per_degree)}"
    steps = {f"{row}_steps": f"{north} + {tolerance}", f"{column}_steps": f"{east} + {tolerance}"}
    ends = {
        row: f"{_floor_of_double(f'{row}_steps')} - {attribute.rows[0]}",
        column: f"{_floor_of_double(f'{column}_steps')} - {attribute.columns[0]}",
    }
    raw = {latitude: _double(columns[0], dialect), longitude: _double(columns[1], dialect)}
    return AttributeSql((row, column), raw, (steps, ends))


def _codes(attribute: Mesh, level: MeshLevel, column: SourceColumn, prefix: str, dialect: Dialect) -> AttributeSql:
    """Mesh codes: digits to rows and columns, as in ``mesh.rows_and_columns``."""
    code, possible, by = f"{prefix}code", f"{prefix}possible", dialect.quotient
    # A whole number has no leading zeros, unless the domain reaches so far south that codes begin with one.
    least = 0 if attribute.rows[0] < 10 * level.cells else 10 ** (level.digits - 1)
    if column.kind in ("text", "untyped"):
        coded = dialect.matches(f"CAST({column.sql} AS {dialect.text})", f"[0-9]{{{level.digits}}}")
        read = f"CASE WHEN {coded} THEN {_parsed(column, 'BIGINT', dialect)} END"
        least = 0
    else:
        read = _whole_of_any(column, dialect)
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
        f"{prefix}row": f"CASE WHEN {condition} THEN {row} - {attribute.rows[0]} END",
        f"{prefix}column": f"CASE WHEN {condition} THEN {east} - {attribute.columns[0]} END",
    }
    return AttributeSql(tuple(ends), {code: read}, ({possible: within}, ends))


def _double(column: SourceColumn, dialect: Dialect) -> str:
    """A number as DOUBLE, possibly NaN; NULL for text that is none."""
    if column.type.startswith("DECIMAL"):
        return f"CAST(CAST({column.sql} AS {dialect.text}) AS DOUBLE)"  # by its digits: rounded once
    return _parsed(column, "DOUBLE", dialect) if column.kind == "untyped" else f"CAST({column.sql} AS DOUBLE)"


def _parsed(column: SourceColumn, kind: str, dialect: Dialect) -> str:
    """Text as a number, NULL if it is none."""
    return dialect.parsed(f"CAST({column.sql} AS {dialect.text})", kind)


def _whole(column: SourceColumn, dialect: Dialect, farthest: int = FARTHEST) -> str:
    """A column of whole numbers as BIGINT within plus and minus ``farthest``."""
    if column.type in _SHORT_INTEGERS:
        return f"CAST({column.sql} AS BIGINT)"
    number = column.sql if column.type == "BIGINT" else f"TRY_CAST({column.sql} AS {dialect.wide})"
    return _clipped(number, farthest)


def _whole_of_any(column: SourceColumn, dialect: Dialect) -> str:
    """A column of numbers as BIGINT, NULL where there is a fraction."""
    if column.kind == "whole":
        return _whole(column, dialect)
    return _whole_of_double(f"({_double(column, dialect)})")


def _clipped(number: str, farthest: int = FARTHEST) -> str:
    within = f"greatest({-farthest}, least({farthest}, {number}))"
    return f"CASE WHEN {number} IS NOT NULL THEN TRY_CAST({within} AS BIGINT) END"


def _whole_of_double(number: str) -> str:
    """A DOUBLE as BIGINT within plus and minus 2**62; NULL for NaN and for a fraction."""
    within = _double_within(number)
    return f"CASE WHEN {_is_number(number)} AND {within} = floor({within}) THEN TRY_CAST({within} AS BIGINT) END"


def _floor_of_double(number: str) -> str:
    """The whole number below a DOUBLE as BIGINT within plus and minus 2**62; NULL for NaN."""
    return f"CASE WHEN {_is_number(number)} THEN TRY_CAST(floor({_double_within(number)}) AS BIGINT) END"


def _is_number(number: str) -> str:
    return f"{number} IS NOT NULL AND NOT isnan({number})"


def _double_within(number: str) -> str:
    farthest = _number(FARTHEST)
    return f"greatest(-{farthest}, least({farthest}, {number}))"


def _number(value: float) -> str:
    """A double in SQL, exactly."""
    return f"CAST('{float(value)!r}' AS DOUBLE)"
