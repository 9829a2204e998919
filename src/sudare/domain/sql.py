"""How an attribute is read inside an engine: SQL expressions over raw columns, or a function that the engine calls.

An attribute turns columns into positions in NumPy (`Attribute.positions`) and in SQL (`Attribute.sql`), bit for bit
alike. A translation is a few layers of named expressions; a layer may use the names of those before it. Declared values
(categories, edges) come in as tables that are joined, so that the text of the SQL holds only identifiers and
numbers. A position is a BIGINT, possibly outside the attribute's box, or NULL where the value is not known. Engines
order NaN above all numbers and ``least`` and ``greatest`` skip NULL: both are removed before anything is compared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sudare.arrays import Integers
from sudare.domain.columns import FARTHEST

if TYPE_CHECKING:
    from sudare.domain.attribute import Attribute

Kind: TypeAlias = Literal["whole", "number", "text", "untyped", "truth", "other"]
"""What a column holds: whole numbers; floats and decimals; text; text of a file without types, from which
numbers may be read; truth values; anything else."""
NUMBERS: tuple[Kind, ...] = ("whole", "number", "untyped")
"""Columns from which numbers are read."""
UNKNOWN = -(2**63)
"""Stands for a position that is missing or cannot be read; no position is so far away."""
Layer: TypeAlias = dict[str, str]
Columns: TypeAlias = dict[str, NDArray[Any]]
"""Rows, column by column; text is objects. What is missing is NaN among floats, and None elsewhere."""
_SHORT_INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "UTINYINT", "USMALLINT", "UINTEGER")


@dataclass(frozen=True)
class SourceColumn:
    """A column of the records: its name, its type in DuckDB's words, what that means here, and what SQL calls it."""

    name: str
    type: str
    kind: Kind
    sql: str
    schema: bool = True
    """Named by a schema, and not by a first line that may be a person's row."""


@dataclass(frozen=True)
class Dialect:
    """How one engine writes SQL."""

    text: str
    """The type of text."""
    wide: str
    """A type of whole numbers that holds all of 38 digits."""
    quotient: str
    """The operator of whole division."""
    semi_join: str
    one_to: Callable[[str], str]
    """A row for each whole number from 1 to a number that is at least 1."""
    matches: Callable[[str, str], str]
    """Whether the whole of a text matches a regular expression without quotes and backslashes."""
    holds: Callable[[str, str], str]
    """Whether some part of a text matches such an expression."""
    ascii_only: Callable[[str], str]
    """Whether a text is ASCII."""
    last: Callable[[str], str]
    """The last character of a text."""
    literal: Callable[[str], str]
    """A text in SQL, whatever characters it has."""
    trimmed: Callable[[str, str], str]
    """A text without those characters of a literal that stand around it."""
    parsed: Callable[[str, str], str]
    """A text as a number of some type, NULL if it is not a number."""
    scientific: Callable[[str], str]
    """A double as text of six digits, alike in all engines."""
    zoned: str
    """The type of moments in a time zone, as a column has it."""
    seconds: Callable[[str], str]
    """A moment, or its text with a zone, in whole seconds since 1970; NULL if it is not a moment."""
    hexadecimal: Callable[[str], str]
    """At most 15 hexadecimal digits as a wide whole number."""
    sorted_text: Callable[[Sequence[str], str], str]
    """Several texts as one, in the order of the alphabet, with a text between them."""


@dataclass(frozen=True)
class Call:
    """A function that an engine calls for many rows at once, on names of the raw layer.

    It takes one array for each argument, float64 (NaN for NULL) where ``numbers`` says so and else objects of text
    (None for NULL), and returns int64 with `UNKNOWN` for NULL. Workers of a cluster get a pickled copy.
    """

    function: Callable[..., Integers]
    arguments: tuple[str, ...]
    numbers: tuple[bool, ...]


@dataclass(frozen=True)
class AttributeSql:
    """How one attribute is read: ``axes`` are names of the last layer, one per axis."""

    axes: tuple[str, ...]
    raw: Layer
    """Expressions over the columns of the source."""
    layers: tuple[Layer, ...] = ()
    joins: dict[str, tuple[str, Columns]] = field(default_factory=dict)
    """Declared tables by name, each with what stands after FROM to join it to the raw layer as {table}."""
    calls: dict[str, Call] = field(default_factory=dict)
    """Functions by the name of their result, which the layers may use; where there are any, masked cells are NULL."""


def called(attribute: Attribute, columns: Sequence[SourceColumn], prefix: str, dialect: Dialect) -> AttributeSql:
    """An attribute that is read by its own ``positions``: the engine calls NumPy for many rows at once.

    All axes come back in one number, each position as its distance from just before the box. Cells that the region
    of the attribute leaves out are not known, so that no engine has to look at the rows again for them.
    """
    raw, numbers = {}, []
    for number, column in enumerate(columns):
        as_number = len(columns) > 1 or column.kind not in ("whole", "text", "untyped")
        text = f"CAST({column.sql} AS {dialect.text})"
        raw[f"{prefix}argument{number}"] = double(column, dialect) if as_number else text
        numbers.append(as_number)
    packed, lengths = f"{prefix}packed", attribute.lengths
    strides = [prod(length + 2 for length in lengths[axis + 1 :]) for axis in range(len(lengths))]
    unpacked = {
        f"{prefix}axis{axis}": f"{packed} {dialect.quotient} {strides[axis]} % {length + 2} - 1"
        for axis, length in enumerate(lengths)
    }
    call = Call(partial(_packed, attribute), tuple(raw), tuple(numbers))
    return AttributeSql(tuple(unpacked), raw, (unpacked,), calls={packed: call})


def joined(value: str, declared: NDArray[Any], positions: Integers, prefix: str) -> AttributeSql:
    """A value that is looked up among ``declared`` ones with their ``positions``; others are not known."""
    position = f"{prefix}position"
    table = {f"{prefix}declared": declared, position: positions.astype(np.int64, copy=False)}
    join = f"LEFT JOIN {{table}} ON {prefix}value = {prefix}declared"
    return AttributeSql((position,), {f"{prefix}value": value}, joins={f"{prefix}values": (join, table)})


def _packed(attribute: Attribute, *columns: Any) -> Integers:
    positions, known = attribute.positions(*columns)
    packed, inside = np.zeros(known.shape, dtype=np.int64), known
    for position, length in zip(positions, attribute.lengths, strict=True):
        inside = inside & (position >= 0) & (position < length)
        packed = packed * (length + 2) + np.clip(position, -1, length) + 1
    cells = tuple(np.where(inside, position, 0) for position in positions)
    return np.where(known & (~inside | attribute.region.allowed(*cells)), packed, UNKNOWN)


def double(column: SourceColumn, dialect: Dialect) -> str:
    """A number as DOUBLE, possibly NaN; NULL for text that is not a number."""
    if column.type.startswith("DECIMAL"):
        return f"CAST(CAST({column.sql} AS {dialect.text}) AS DOUBLE)"  # by its digits: rounded once
    return parsed(column, "DOUBLE", dialect) if column.kind == "untyped" else f"CAST({column.sql} AS DOUBLE)"


def parsed(column: SourceColumn, kind: str, dialect: Dialect) -> str:
    """Text as a number, NULL if it is not a number."""
    return dialect.parsed(f"CAST({column.sql} AS {dialect.text})", kind)


def whole(column: SourceColumn, dialect: Dialect, farthest: int = FARTHEST) -> str:
    """A column of whole numbers as BIGINT within plus and minus ``farthest``."""
    if column.type in _SHORT_INTEGERS:
        return f"CAST({column.sql} AS BIGINT)"
    number = column.sql if column.type == "BIGINT" else f"TRY_CAST({column.sql} AS {dialect.wide})"
    return clipped(number, farthest)


def whole_of_any(column: SourceColumn, dialect: Dialect) -> str:
    """A column of numbers as BIGINT, NULL where there is a fraction."""
    if column.kind == "whole":
        return whole(column, dialect)
    return whole_of_double(f"({double(column, dialect)})")


def clipped(number: str, farthest: int = FARTHEST) -> str:
    """A whole number as BIGINT within plus and minus ``farthest``."""
    within = f"greatest({-farthest}, least({farthest}, {number}))"
    return f"CASE WHEN {number} IS NOT NULL THEN TRY_CAST({within} AS BIGINT) END"


def whole_of_double(number: str) -> str:
    """A DOUBLE as BIGINT within plus and minus 2**62; NULL for NaN and for a fraction."""
    within = _double_within(number)
    return f"CASE WHEN {is_number(number)} AND {within} = floor({within}) THEN TRY_CAST({within} AS BIGINT) END"


def floor_of_double(number: str) -> str:
    """The whole number below a DOUBLE as BIGINT within plus and minus 2**62; NULL for NaN."""
    return f"CASE WHEN {is_number(number)} THEN TRY_CAST(floor({_double_within(number)}) AS BIGINT) END"


def is_number(number: str) -> str:
    """Whether a DOUBLE is neither NULL nor NaN."""
    return f"{number} IS NOT NULL AND NOT isnan({number})"


def double_literal(value: float) -> str:
    """A double in SQL, exactly."""
    return f"CAST('{float(value)!r}' AS DOUBLE)"


def _double_within(number: str) -> str:
    farthest = double_literal(FARTHEST)
    return f"greatest(-{farthest}, least({farthest}, {number}))"
