"""Messages: what is to be said, as a key of the catalogue and the values of its fields; and the progress of long work.

Code passes messages; pages, commands and notebooks make text of them, in their language. ``str()`` is English.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias, Union

from sudare.errors import SudareError
from sudare.language.translation import text

if TYPE_CHECKING:
    from sudare.language.catalogue import Words

Value: TypeAlias = Union[str, int, float, "PageMessage", SudareError, tuple["Value", ...]]
"""What may fill a gap: text that is not translated (names, paths), a number, a message, an error, or several."""


@dataclass(frozen=True, init=False)
class PageMessage:
    """The message ``key`` with its fields; the catalogue is loaded when somebody reads it.

    >>> from sudare.language import Words
    >>> made = PageMessage("amount.of", part=12, whole=PageMessage("amount.rows", rows=1200))
    >>> str(made), made.text(Words("ja"))
    ('12 of 1,200 rows', '1,200 行 のうち 12')
    >>> str(PageMessage("area.cells", cells=1))
    '1 cell'
    """

    key: str
    fields: tuple[tuple[str, Value], ...]

    def __init__(self, key: str, /, **fields: Value) -> None:
        object.__setattr__(self, "key", key)
        object.__setattr__(self, "fields", tuple(sorted(fields.items())))

    def text(self, words: Words) -> str:
        # A number stays one, since the form of a text may depend on it: "1 row", "2 rows".
        gaps = {name: value if isinstance(value, int | float) else said(value, words) for name, value in self.fields}
        return words(self.key, **gaps)

    def __str__(self) -> str:
        return self.text(_english())


def _english() -> Words:
    from sudare.language.catalogue import ENGLISH

    return ENGLISH


def said(value: Value, words: Words | None = None) -> str:
    """A value in words: a message or an error in the language, a number as it writes them, text as it is.

    >>> said(1200), said("people"), said(("sex", "age", "town"))
    ('1,200', 'people', 'sex, age and town')
    """
    words = words or _english()
    if isinstance(value, tuple):
        return words.listing([said(each, words) for each in value])
    if isinstance(value, PageMessage):
        return value.text(words)
    if isinstance(value, SudareError):
        return text(value, words.language)
    return value if isinstance(value, str) else words.number(value)


Lines: TypeAlias = Mapping[str | PageMessage, Value]
"""The headline of a release, a plan or a rehearsal: codes (``line.`` in the catalogue) or messages, and values."""


def lines(facts: Lines, words: Words | None = None) -> dict[str, str]:
    """Each line's name and value in words.

    >>> from sudare.language import Words
    >>> lines({"rows": 1200}, Words("ja"))
    {'行数': '1,200'}
    """
    words = words or _english()
    names = (name.text(words) if isinstance(name, PageMessage) else words.label("line", name) for name in facts)
    return {name: said(value, words) for name, value in zip(names, facts.values(), strict=True)}


class Stage(StrEnum):
    """What is being done."""

    EXAMINING = "examining"
    READING = "reading"
    SPENDING = "spending"
    PROTECTING = "protecting"
    WRITING = "writing"
    DRAWING = "drawing"
    DRAWING_REPORT = "report"
    DRAWING_INTERNAL_REPORT = "internal_report"
    INVENTING = "inventing"
    TRIAL = "trial"
    PLANNING = "planning"
    VERIFYING = "verifying"
    COMPARING = "comparing"
    EXPERIMENT = "experiment"
    FINDING = "finding"


@dataclass(frozen=True)
class Progress:
    """``stage`` is at work now: number ``done`` of ``total`` where there are several; ``detail`` names on what.

    >>> from sudare.language import Words
    >>> str(Progress(Stage.TRIAL, 3, 5)), Progress(Stage.TRIAL, 3, 5).text(Words("ja"))
    ('Trial: 3 of 5', '試行：3 / 5')
    """

    stage: Stage
    done: int = 0
    total: int | None = None
    detail: str = ""

    def text(self, words: Words) -> str:
        said = words(f"stage.{self.stage}", **({"detail": self.detail} if self.detail else {}))
        return said if self.total is None else words("stage.counted", stage=said, done=self.done, total=self.total)

    def __str__(self) -> str:
        return self.text(_english())


OnProgress: TypeAlias = Callable[[Progress], None]
"""A function that is told how far the work is."""


def unheard(_: Progress) -> None:
    """Ignore progress."""
