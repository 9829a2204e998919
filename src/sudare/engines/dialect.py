"""Where the SQL of engines differs: the few words that DuckDB and Spark spell in their own way.

Everything else an engine asks is one text for both, so that a position or a choice of rows has one source.
Spark's ``isnan(NULL)`` is false and its ``floor`` gives a whole number, 0 for NaN; the shared SQL asks for NULL
first and never floors what may be NaN or beyond 2**62.

What the shared SQL needs from an engine: named views over one source, and answers in Arrow.

The source as every question sees it: text in its plain form, by the rule of `sudare.domain.text`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from sudare.domain.text import FOLDED, NUMBER, SPACES, UNTRIMMED, WHOLE
from sudare.engines.protocol import SourceColumn

if TYPE_CHECKING:
    import pyarrow


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
    written_lists: bool
    """Whether a list of numbers is written out, which Spark folds into its code, or joined as a table of one row."""
    element: Callable[[str, str], str]
    """An element of a list, by a place that counts from 1."""
    one_to: Callable[[str], str]
    """A row for each whole number from 1 to a number that is at least 1."""
    matches: Callable[[str, str], str]
    """Whether the whole of a text matches a regular expression without quotes and backslashes."""
    holds: Callable[[str, str], str]
    """Whether some part of a text matches such an expression."""
    literal: Callable[[str], str]
    """A text in SQL, whatever characters it has."""
    trimmed: Callable[[str, str], str]
    """A text without those characters of a literal that stand around it."""
    parsed: Callable[[str, str], str]
    """A text as a number of some type, NULL if it is none."""
    scientific: Callable[[str], str]
    """A double as text of six digits, alike in all engines."""
    zoned: str
    """The type of moments in a time zone, as a column has it."""
    seconds: Callable[[str], str]
    """A moment, or its text with a zone, in whole seconds since 1970; NULL if it is none."""
    hexadecimal: Callable[[str], str]
    """At most 15 hexadecimal digits as a wide whole number."""
    sorted_text: Callable[[Sequence[str], str], str]
    """Several texts as one, in the order of the alphabet, with a text between them."""


def text_literal(text: str) -> str:
    """A text in SQL.

    >>> text_literal("it's")
    "'it''s'"
    """
    return "'" + text.replace("'", "''") + "'"


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
    written_lists=False,
    element=lambda values, place: f"{values}[{place}]",
    one_to=lambda number: f"unnest(range(1, {number} + 1))",
    matches=lambda text, pattern: f"regexp_full_match({text}, '{pattern}')",
    holds=lambda text, pattern: f"regexp_matches({text}, '{pattern}')",
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
    written_lists=True,
    element=lambda values, place: f"get({values}, CAST({place} - 1 AS INT))",
    one_to=lambda number: f"explode(sequence(1L, {number}))",
    matches=_spark_matches,
    holds=lambda text, pattern: f"{text} RLIKE '{pattern}'",
    literal=_spark_literal,
    trimmed=lambda text, signs: f"trim(BOTH {signs} FROM {text})",
    parsed=_spark_parsed,
    hexadecimal=lambda digits: f"CAST(conv({digits}, 16, 10) AS DECIMAL(38, 0))",
    scientific=lambda number: f"format_string('%.5e', {number})",
    zoned="TIMESTAMP",
    seconds=lambda moment: f"unix_seconds(try_cast({moment} AS TIMESTAMP))",
    sorted_text=lambda texts, between: f"array_join(array_sort(array({', '.join(texts)})), {between})",
)


class Shell(Protocol):
    """An engine opened on its records: the view ``source`` has the columns asked for, under their `Column.sql`.

    Views have short names here and whatever ``name`` makes of them in SQL. All end with the shell.
    """

    @property
    def dialect(self) -> Dialect:
        """How SQL is written here."""

    def name(self, view: str) -> str:
        """What SQL calls a view or a registered table."""

    def register(self, view: str, table: pyarrow.Table) -> None:
        """A small declared table."""

    def view(self, view: str, sql: str, *, few: bool = False) -> None:
        """A view, computed whenever it is asked; ``few`` says that it has few rows, to be joined with many."""

    def freeze(self, view: str, sql: str) -> None:
        """The rows of a query, looked at once: whatever becomes of the source, they stay, or the question fails."""

    def keep(self, view: str, sql: str) -> None:
        """The rows of a query, computed once where that is possible; for what is made of frozen rows."""

    def ask(self, sql: str) -> pyarrow.Table:
        """The rows of a query."""


# ruff: noqa: S608 - columns are named by their engine; the texts are constants of ours


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
    # Folding and trimming cost fifty times what the quick look does, which most text passes.
    return f"CASE WHEN {dialect.holds(text, UNTRIMMED)} THEN {trimmed} ELSE {text} END AS {column.sql}"


def _without_zeros(column: SourceColumn, dialect: Dialect) -> str:
    if column.kind not in TEXTS:
        return column.sql
    whole = f"contains({column.sql}, '.') AND {dialect.matches(column.sql, WHOLE)}"
    plain = f"CASE WHEN {whole} THEN split_part({column.sql}, '.', 1) ELSE {column.sql} END"
    return f"{f'''NULLIF({plain}, '')''' if column.kind == 'untyped' else plain} AS {column.sql}"
