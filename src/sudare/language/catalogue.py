"""The catalogue: every sentence of a page, a chart, a notebook or a command by its key, in each language.

Each folder of ``locale`` is a language, with gettext's files of the domain ``pages``: ``pages.po``, which translators
edit, and ``pages.mo``, compiled from it. A msgid is a key of the code; a msgstr may hold gaps such as ``{cells}``.
Where the form of a text depends on a count, its msgid_plural names the gap that holds the count.
"""

from __future__ import annotations

import datetime
import os
import re
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache
from gettext import GNUTranslations
from pathlib import Path
from typing import NamedTuple

from babel.lists import format_list

from sudare.errors import ParameterError, did_you_mean
from sudare.language import writing as dates
from sudare.language import writing as numbers
from sudare.language.writing import locale

LOCALE = Path(__file__).parent / "locale"
LANGUAGES = tuple(
    sorted((path.parts[-3] for path in LOCALE.glob("*/LC_MESSAGES/pages.mo")), key=lambda name: (name != "en", name))
)
"""Every language that has a catalogue, English first."""
_GAP = re.compile(r"\{(\w+)\}")
_CHOSEN: ContextVar[str] = ContextVar("language", default="")


class Entry(NamedTuple):
    """A text in its forms, of which there are several where it depends on ``counted``, the name of a gap."""

    forms: tuple[str, ...]
    counted: str = ""


@dataclass(frozen=True)
class Words:
    """The words of one language: ``words(key, gap=value)`` is a message, numbers in it written as the language does.

    >>> Words("en")("area.cells", cells=1234), Words("ja")("area.cells", cells=1234), Words("en")("area.cells", cells=1)
    ('1,234 cells', '1,234セル', '1 cell')
    """

    language: str = "en"
    counted: str = ""
    """The unit that is counted, where it is not people: messages about people then name it instead."""

    def __post_init__(self) -> None:
        if self.language not in LANGUAGES:
            raise ParameterError("unknown language", value=self.language, allowed=LANGUAGES)

    def __call__(self, key: str, /, **gaps: str | float) -> str:
        """The message ``key``; exactly its gaps must be given, the one that its plural form depends on as a number."""
        messages = catalogue(self.language)
        if self.counted and f"units.{key}" in messages:
            key, gaps = f"units.{key}", {**gaps, "unit": self.counted}
        if key not in messages:
            raise ParameterError("there is no such message", value=key, hint=did_you_mean(key, messages))
        message = messages[key]
        wanted = set(_GAP.findall(message.forms[-1]))
        if gaps.keys() != wanted:
            raise ParameterError(
                "the message {key!r} has other gaps", value=sorted(gaps), allowed=sorted(wanted) or "none", key=key
            )
        count = gaps.get(message.counted)
        chosen = message.forms[-1]
        if count is not None and not isinstance(count, str) and float(count).is_integer():
            chosen = _translations(self.language).ngettext(key, key, int(count))
        return _filled(chosen, {name: self._written(value) for name, value in gaps.items()})

    def counting(self, unit: str) -> Words:
        """The same words for a table that counts ``unit`` instead of people.

        >>> Words("en").counting("accident")("table.total"), Words("en").counting("person")("table.total")
        ('in all, as released (accident)', 'people in all, as released')
        """
        return self if unit in ("person", "row") else replace(self, counted=self.label("unit", unit))

    def messages(self, *families: str) -> dict[str, str | tuple[str, ...]]:
        """All messages whose keys begin with one of ``families``, gaps and all: for pages that fill them themselves.

        One that depends on a count is given in all its forms, after the name of the gap.

        >>> Words("en").messages("area.")["area.cells"]
        ('cells', '{cells} cell', '{cells} cells')
        """
        found = {key: message for key, message in catalogue(self.language).items() if key.startswith(families)}
        return {key: (one.counted, *one.forms) if one.counted else one.forms[0] for key, one in found.items()}

    def label(self, family: str, name: str) -> str:
        """The message ``family.name``, for names of a list that may grow; the name itself where there is none.

        >>> Words("ja").label("unit", "person"), Words("ja").label("unit", "device-7")
        ('個人', 'device-7')
        """
        message = catalogue(self.language).get(f"{family}.{name}")
        return name if message is None else message.forms[-1]

    def listing(self, items: Sequence[str]) -> str:
        """Several items as a list in a sentence.

        >>> Words("en").listing(["sex", "age", "town"]), Words("ja").listing(["性別", "年齢"])
        ('sex, age and town', '性別、年齢')
        """
        return format_list(items, locale=locale(self.language))

    def number(self, value: float) -> str:
        return numbers.number(value, self.language)

    def percent(self, share: float) -> str:
        return numbers.percent(share, self.language)

    def chance(self, share: Decimal, *, up: bool) -> str:
        return numbers.chance(share, up=up, language=self.language)

    def moment(self, time: datetime.datetime) -> str:
        """A day and the time of day, in UTC: a page may be read anywhere.

        >>> time = datetime.datetime.fromisoformat("2026-07-05T18:41:12+09:00")
        >>> Words("en").moment(time), Words("ja").moment(time)
        ('5 July 2026, 09:41 UTC', '2026年7月5日 9:41（UTC）')
        """
        time = time.astimezone(datetime.UTC)
        day, hour = dates.date(time, self.language), dates.time_of_day(time, self.language)
        return self("page.moment", date=day, time=hour)

    def _written(self, value: str | float) -> str:
        return value if isinstance(value, str) else numbers.number(value, self.language)


ENGLISH = Words("en")


def current_language() -> Words:
    """The language of commands and notebooks: the chosen one, else that of ``SUDARE_LANGUAGE``, else English."""
    asked = _CHOSEN.get() or os.environ.get("SUDARE_LANGUAGE", "")
    return Words(asked) if asked in LANGUAGES else ENGLISH


@contextmanager
def choose_language(language: str) -> Iterator[None]:
    """Make ``language`` the current one inside of a ``with`` block."""
    before = _CHOSEN.set(language)
    try:
        yield
    finally:
        _CHOSEN.reset(before)


@cache
def catalogue(language: str) -> dict[str, Entry]:
    """All messages of one language by their keys, which `make messages` writes in little-endian order.

    gettext's own reader drops the plural msgids, which name gaps here; Babel's takes 20 ms at the start of a command.
    """
    data = _file(language).read_bytes()
    count, *tables = struct.unpack_from("<3I", data, 8)
    places = zip(*(struct.iter_unpack("<2I", data[table : table + 8 * count]) for table in tables), strict=True)
    found = {}
    for key, message in places:
        (name, *counted), forms = (data[at : at + length].decode().split("\0") for length, at in (key, message))
        found[name] = Entry(tuple(forms), *counted)
    del found[""]
    return found


@cache
def _translations(language: str) -> GNUTranslations:
    with _file(language).open("rb") as file:
        return GNUTranslations(file)


def _file(language: str) -> Path:
    return LOCALE / language / "LC_MESSAGES" / "pages.mo"


def _filled(message: str, gaps: dict[str, str]) -> str:
    # Not str.format: a value may hold braces.
    return _GAP.sub(lambda gap: gaps[gap[1]], message)
