"""Where the SQL of the engines differs, and what the shared SQL needs of an engine.

`DUCKDB` and `SPARK` spell the few expressions that the two write differently. Everything else is one text for both, so
that a position or a choice of rows has one definition. Spark's ``isnan(NULL)`` is false and its ``floor`` gives a whole
number, 0 for NaN; the shared SQL asks for NULL first and never floors what may be NaN or beyond 2**62. `Shell` is an
engine opened for one question; `source_sql` brings text into its plain form, by the rule of `sudare.domain.text`.
"""

# ruff: noqa: S608 - columns are named by their engine; the texts are constants of ours

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import Parameter, Signature
from typing import Any, Protocol

import numpy as np

from sudare.domain.frames import arrow
from sudare.domain.parquet import text_literal
from sudare.domain.sql import UNKNOWN, Call, Columns, Dialect, SourceColumn
from sudare.domain.text import FOLDED, NUMBER, SPACES, UNTRIMMED, WHOLE


def _duckdb_parsed(text: str, kind: str) -> str:
    # DuckDB reads '1_000' as a number too. Never a bare TRY_CAST: DuckDB 2.0 hands one to its CSV reader as a CAST,
    # which fails (duckdb issue 23818).
    return f"CASE WHEN regexp_full_match({text}, '{NUMBER}') THEN TRY_CAST({text} AS {kind}) END"


def _spark_literal(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _spark_matches(text: str, pattern: str) -> str:
    return f"{text} RLIKE r'^({pattern})\\z'"  # r'' keeps the backslash


def _spark_parsed(text: str, kind: str) -> str:
    # Java reads '1f' and '0x1p3' as numbers too; DuckDB and people do not.
    return f"CASE WHEN {_spark_matches(text, NUMBER)} THEN try_cast({text} AS {kind}) END"


DUCKDB = Dialect(
    text="VARCHAR",
    wide="HUGEINT",
    quotient="//",
    semi_join="SEMI JOIN",
    one_to=lambda number: f"unnest(range(1, {number} + 1))",
    matches=lambda text, pattern: f"regexp_full_match({text}, '{pattern}')",
    holds=lambda text, pattern: f"regexp_matches({text}, '{pattern}')",
    ascii_only=lambda text: f"strlen({text}) = length({text})",
    last=lambda text: f"({text})[-1]",
    literal=text_literal,
    trimmed=lambda text, signs: f"trim({text}, {signs})",
    parsed=_duckdb_parsed,
    hexadecimal=lambda digits: f"CAST('0x' || {digits} AS HUGEINT)",
    scientific=lambda number: f"printf('%.5e', {number})",
    zoned="TIMESTAMP WITH TIME ZONE",
    seconds=lambda moment: f"epoch_us(TRY_CAST({moment} AS TIMESTAMPTZ)) // 1000000",
    sorted_text=lambda texts, between: f"array_to_string(list_sort([{', '.join(texts)}]), {between})",
)

SPARK = Dialect(
    text="STRING",
    wide="DECIMAL(38, 0)",
    quotient="DIV",
    semi_join="LEFT SEMI JOIN",
    one_to=lambda number: f"explode(sequence(1L, {number}))",
    matches=_spark_matches,
    holds=lambda text, pattern: f"{text} RLIKE '{pattern}'",
    ascii_only=lambda text: f"octet_length({text}) = length({text})",
    last=lambda text: f"right({text}, 1)",
    literal=_spark_literal,
    trimmed=lambda text, signs: f"trim(BOTH {signs} FROM {text})",
    parsed=_spark_parsed,
    hexadecimal=lambda digits: f"CAST(conv({digits}, 16, 10) AS DECIMAL(38, 0))",
    scientific=lambda number: f"format_string('%.5e', {number})",
    zoned="TIMESTAMP",
    seconds=lambda moment: f"unix_seconds(try_cast({moment} AS TIMESTAMP))",
    sorted_text=lambda texts, between: f"array_join(array_sort(array({', '.join(texts)})), {between})",
)


def arrow_function(call: Call) -> Callable[..., Any]:
    """The function of a call for columns of Arrow."""
    pyarrow = arrow()

    def computed(*columns: Any) -> Any:
        arrays = [
            column.cast(pyarrow.float64()).to_numpy(zero_copy_only=False)
            if number
            else np.array([*column.to_pylist(), None], dtype=object)[:-1]
            for column, number in zip(columns, call.numbers, strict=True)
        ]
        found = call.function(*arrays)
        return pyarrow.array(found, pyarrow.int64(), mask=found == UNKNOWN)

    # From the annotations Spark infers the kind of function, from the signature DuckDB the number of columns.
    computed.__annotations__ = {"columns": pyarrow.Array, "return": pyarrow.Array}
    kind, names = Parameter.POSITIONAL_ONLY, range(len(call.numbers))
    parameters = [Parameter(f"column{place}", kind, annotation=pyarrow.Array) for place in names]
    vars(computed)["__signature__"] = Signature(parameters, return_annotation=pyarrow.Array)
    return computed


class Shell(Protocol):
    """An engine opened on its records: the view ``source`` has the columns asked for, under their `SourceColumn.sql`.

    Views have short names here; ``name`` gives their names in SQL. All are dropped with the shell.
    """

    @property
    def dialect(self) -> Dialect:
        """How SQL is written here."""

    def name(self, view: str) -> str:
        """What SQL calls a view or a registered table."""

    def register(self, view: str, table: Columns) -> None:
        """A small declared table."""

    def define(self, name: str, call: Call) -> None:
        """A function under a name, to be called in SQL."""

    def view(self, view: str, sql: str, *, few: bool = False) -> None:
        """A view, computed whenever it is asked; ``few`` says that it has few rows, to be joined with many."""

    def freeze(self, view: str, sql: str) -> None:
        """The rows of a query, read once and stored: they stay the same when the source changes, or the query fails."""

    def keep(self, view: str, sql: str) -> None:
        """The rows of a query over frozen rows, computed once where that is possible."""

    def ask(self, sql: str) -> Columns:
        """The rows of a query."""


def only_row(found: Columns) -> dict[str, Any]:
    """The one row of an answer, by column."""
    return {name: column.tolist()[0] for name, column in found.items()}


TEXTS = ("text", "untyped")


def source_sql(columns: Sequence[SourceColumn], relation: str, dialect: Dialect) -> str:
    """The columns of a relation under their own names; those of text in their plain form.

    In a file without types, text of which nothing is left is missing, as an empty field is.
    """
    trimmed = ", ".join(_trimmed(column, dialect) for column in columns)
    plain = ", ".join(_without_zeros(column, dialect) for column in columns)
    return f"SELECT {plain} FROM (SELECT {trimmed} FROM {relation})"


def _trimmed(column: SourceColumn, dialect: Dialect) -> str:
    if column.kind not in TEXTS:
        return column.sql
    text = f"CAST({column.sql} AS {dialect.text})"
    folded = f"translate({text}, {dialect.literal(FOLDED[0])}, {dialect.literal(FOLDED[1])})"
    trimmed = dialect.trimmed(folded, dialect.literal(SPACES))
    # Most text passes the first test, which costs a sixth of the second, and this a fiftieth of folding and trimming.
    usual = f"{dialect.ascii_only(text)} AND {text} >= '!' AND {dialect.last(text)} >= '!'"
    cases = f"WHEN {usual} THEN {text} WHEN {dialect.holds(text, UNTRIMMED)} THEN {trimmed} ELSE {text}"
    return f"CASE {cases} END AS {column.sql}"


def _without_zeros(column: SourceColumn, dialect: Dialect) -> str:
    if column.kind not in TEXTS:
        return column.sql
    whole = f"contains({column.sql}, '.') AND {dialect.matches(column.sql, WHOLE)}"
    plain = f"CASE WHEN {whole} THEN split_part({column.sql}, '.', 1) ELSE {column.sql} END"
    return f"{f'''NULLIF({plain}, '')''' if column.kind == 'untyped' else plain} AS {column.sql}"
