"""A table of a paper with our numbers in it: printed, written as CSV, and given to machines.

Names of columns and rows are English in code and files. For readers they are looked up in the domain ``papers`` of
gettext, whose msgids they are; its catalogues are edited like the others.
"""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from sudare.errors import OutputError, ParameterError
from sudare.language.catalogue import ENGLISH, Words
from sudare.language.messages import PageMessage
from sudare.language.translation import UnknownTemplateError, translations

Entry: TypeAlias = str | int | float | None


@dataclass(frozen=True)
class Sheet:
    """``rows`` under a ``header``; ``name`` is its file's. None and NaN are empty.

    >>> Sheet("t", ("method", "error"), (("Tree", 12345.678), ("none", None))).text_rows()
    [('Tree', '12,345.7'), ('none', '')]
    """

    name: str
    header: tuple[str, ...]
    rows: tuple[tuple[Entry, ...], ...]

    def __post_init__(self) -> None:
        if any(len(row) != len(self.header) for row in self.rows):
            raise ParameterError("a row of a sheet has another length than its header", value=self.name)

    def title(self, paper: str, words: Words) -> str:
        return words.label("paper_sheet", f"{paper}.{self.name}")

    def text_header(self, words: Words = ENGLISH) -> tuple[str, ...]:
        return tuple(in_words(name, words) for name in self.header)

    def text_rows(self, words: Words = ENGLISH) -> list[tuple[str, ...]]:
        """The rows as a person reads them."""
        return [tuple(_text(entry, words) for entry in row) for row in self.rows]

    def write(self, folder: Path) -> Path:
        """Write ``name``.csv with all digits into ``folder``."""
        path = folder / f"{self.name}.csv"
        with (
            OutputError.from_system("a table cannot be written: {reason}", value=str(path)),
            path.open("w", encoding="utf-8", newline="") as file,
        ):
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(self.header)
            writer.writerows([["" if _is_empty(entry) else entry for entry in row] for row in self.rows])
        return path

    def to_json(self) -> list[dict[str, Any]]:
        return [
            {name: None if _is_empty(entry) else entry for name, entry in zip(self.header, row, strict=True)}
            for row in self.rows
        ]


def in_words(name: str, words: Words) -> str:
    """The name of a column or a row in a language; as it is where the language has none.

    >>> in_words("epsilon", Words("ja")), in_words("epsilon", Words("en")), in_words("device-7", Words("ja"))
    ('ε', 'epsilon', 'device-7')
    """
    if isinstance(name, Phrase):
        return name.text(words)
    try:
        return translations(words.language, "papers").gettext(name)
    except UnknownTemplateError:
        return name


class Phrase(str):
    """A text of a figure with gaps: English where it is written as it is, and in a language by its template.

    >>> str(Phrase("epsilon {epsilon:g}", epsilon=0.5))
    'epsilon 0.5'
    """

    template: str
    gaps: dict[str, Any]

    def __new__(cls, template: str, **gaps: Any) -> Phrase:
        made = super().__new__(cls, template.format(**gaps))
        made.template, made.gaps = template, gaps
        return made

    def text(self, words: Words) -> str:
        """In the language of ``words``, the gaps too."""
        return in_words(self.template, words).format(**{name: _gap(value, words) for name, value in self.gaps.items()})


def _gap(value: Any, words: Words) -> Any:
    if isinstance(value, PageMessage):
        return value.text(words)
    return in_words(value, words) if isinstance(value, str) else value


NOT_TEXT = (
    "$schema", "anchor", "config", "description", "direction", "field", "filter", "frame", "kind", "labelExpr", "mark",
    "name", "orient", "resolve", "symbolType", "test", "type", "url",
)  # fmt: skip
"""Keys of a figure under which nothing is written that people read."""


def spec_in_words(spec: Any, words: Words) -> Any:
    """A figure in a language: its titles, and the names in its data."""
    if isinstance(spec, dict):
        return {key: part if key in NOT_TEXT else spec_in_words(part, words) for key, part in spec.items()}
    if isinstance(spec, list):
        return [spec_in_words(part, words) for part in spec]
    return _gap(spec, words)


def _is_empty(entry: Entry) -> bool:
    return entry is None or (isinstance(entry, float) and math.isnan(entry))


def _text(entry: Entry, words: Words) -> str:
    if _is_empty(entry):
        return ""
    if isinstance(entry, float):
        size = abs(entry)
        if size < 1e-12:  # what rounding leaves of 0
            return "0"
        return f"{entry:,.1f}" if size >= 1000 else f"{entry:.2f}" if size >= 10 else f"{entry:.4g}"
    return f"{entry:,}" if isinstance(entry, int) else in_words(str(entry), words)
