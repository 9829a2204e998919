"""The catalogue: every sentence of a page by its key, one file per language with the same keys and gaps."""

from __future__ import annotations

import datetime
import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from importlib.resources import files

from sudare.errors import ParameterError, did_you_mean
from sudare.words import dates, numbers

LANGUAGES = ("en", "ja")
_GAP = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Words:
    """The words of one language: ``words(key, gap=value)`` is a message, numbers in it written as the language does.

    >>> Words("en")("area.cells", cells=1234), Words("ja")("area.cells", cells=1234)
    ('1,234 cells', '1,234セル')
    """

    language: str = "en"

    def __post_init__(self) -> None:
        if self.language not in LANGUAGES:
            raise ParameterError("unknown language", value=self.language, allowed=", ".join(LANGUAGES))

    def __call__(self, key: str, /, **gaps: str | float) -> str:
        """The message ``key``; exactly its gaps must be given."""
        messages = catalogue(self.language)
        if key not in messages:
            raise ParameterError("there is no such message", value=key, hint=did_you_mean(key, messages))
        wanted = set(_GAP.findall(messages[key]))
        if gaps.keys() != wanted:
            raise ParameterError(
                f"the message {key!r} has other gaps", value=sorted(gaps), allowed=", ".join(sorted(wanted)) or "none"
            )
        return _filled(messages[key], {name: self._written(value) for name, value in gaps.items()})

    def messages(self, *families: str) -> dict[str, str]:
        """All messages whose keys begin with one of ``families``, gaps and all: for pages that fill them themselves.

        >>> Words("en").messages("area.")["area.cells"]
        '{cells} cells'
        """
        return {key: text for key, text in catalogue(self.language).items() if key.startswith(families)}

    def family(self, name: str) -> dict[str, str]:
        """What pages of a kind name, from English to this language; nothing in English.

        >>> Words("ja").family("weights")["query"], Words("en").family("weights")
        ('問い合わせ', {})
        """
        return kinds(self.language).get(name, {})

    def known(self, family: str, name: str) -> str:
        """The word for one of a list that may grow, such as a method's name; the name itself where there is none.

        What is of a column is known by the first word.

        >>> Words("ja").known("unit", "person"), Words("ja").known("unit", "device-7")
        ('個人', 'device-7')
        >>> Words("ja").known("sample", "ncp of age"), Words("ja").known("weights", "mean of age")
        ('情報損失（NCP）：age', '平均：age')
        """
        names = kinds(self.language).get(family, {})
        found = catalogue(self.language).get(f"{family}.{name}") or names.get(name)
        what, of, column = name.partition(" of ")
        return found or (f"{names[what + of.rstrip()]}{column}" if what + of.rstrip() in names else name)

    def listing(self, items: Sequence[str]) -> str:
        """Several things in a row.

        >>> Words("en").listing(["sex", "age", "town"]), Words("ja").listing(["性別", "年齢"])
        ('sex, age and town', '性別、年齢')
        """
        if self.language == "ja":
            return "、".join(items)
        return " and ".join([", ".join(items[:-1]), items[-1]] if len(items) > 1 else items)

    def number(self, value: float) -> str:
        """See `numbers.number`."""
        return numbers.number(value)

    def percent(self, share: float) -> str:
        """See `numbers.percent`."""
        return numbers.percent(share, self.language)

    def chance(self, share: Decimal, *, up: bool) -> str:
        """See `numbers.chance`."""
        return numbers.chance(share, up=up, language=self.language)

    def moment(self, time: datetime.datetime) -> str:
        """See `dates.moment`."""
        return dates.moment(time, self.language)

    def _written(self, value: str | float) -> str:
        return value if isinstance(value, str) else numbers.number(value)


ENGLISH = Words("en")


def spoken_here() -> Words:
    """The language of notebooks: that of the environment variable ``SUDARE_LANGUAGE``, else English."""
    asked = os.environ.get("SUDARE_LANGUAGE", "")
    return Words(asked) if asked in LANGUAGES else ENGLISH


@cache
def catalogue(language: str) -> dict[str, str]:
    """All messages of one language by their keys: those of pages and charts, and those of the studio."""
    messages: dict[str, str] = {}
    for name in (f"{language}.json", f"studio.{language}.json"):
        messages |= json.loads((files("sudare.words") / "messages" / name).read_text(encoding="utf-8"))
    return messages


@cache
def kinds(language: str) -> dict[str, dict[str, str]]:
    """What pages of the kinds name in English (measures, columns of tables), by family and name; English needs none."""
    if language == "en":
        return {}
    text = (files("sudare.words") / "messages" / f"kinds.{language}.json").read_text(encoding="utf-8")
    names: dict[str, dict[str, str]] = json.loads(text)
    return names


def _filled(message: str, gaps: dict[str, str]) -> str:
    # Not str.format: a value may hold braces.
    return _GAP.sub(lambda gap: gaps[gap[1]], message)
