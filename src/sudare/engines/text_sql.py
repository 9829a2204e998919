"""The source as every question sees it: text in its plain form, by the rule of `sudare.domain.text`."""

# ruff: noqa: S608 - columns are named by their engine; the texts are constants of ours

from __future__ import annotations

from collections.abc import Sequence

from sudare.domain.text import FOLDED, SPACES, UNTRIMMED, WHOLE
from sudare.engines.dialect import Dialect
from sudare.engines.protocol import SourceColumn

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
