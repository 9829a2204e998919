"""Phrases of pages that the package still writes in English and that are no error, such as what `verify` checked.

``phrases.<language>.json`` has each with gaps ``{0}``, ``{1}`` where values stand, and what a reader sees; a gap
that is written ``{0:text}`` holds words that the file, or the catalogue of errors, has too.
"""

from __future__ import annotations

import json
import re
from functools import cache
from importlib.resources import files

from sudare.errors import one_line
from sudare.words.catalogue import Words
from sudare.words.translation import UnknownTemplateError, translations

_GAP = re.compile(r"\{(\d+)(:text)?\}")
_LONGEST = 2000


def phrase(text: str, words: Words) -> str:
    """A phrase in the language of the reader, or as it is.

    >>> phrase("counts.parquet: SHA-256 agrees", Words("ja"))
    'counts.parquet：SHA-256 が一致しました'
    """
    known = None if words.language == "en" or len(text) > _LONGEST else _known(text, words.language)
    return text if known is None else one_line(known)


def _known(text: str, language: str) -> str | None:
    for pattern, said in _patterns(language):
        if found := pattern.fullmatch(text):
            gaps = {gap[0]: _inner(found[f"gap{gap[1]}"], language, bool(gap[2])) for gap in _GAP.finditer(said)}
            if None not in gaps.values():
                return _GAP.sub(lambda gap, gaps=gaps: str(gaps[gap[0]]), said)  # type: ignore[misc]  # a bound default
    return None


def _inner(value: str, language: str, is_text: bool) -> str | None:
    if not is_text:
        return value
    try:
        return _known(value, language) or translations(language).gettext(value)
    except UnknownTemplateError:
        return None


@cache
def _patterns(language: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    """Those that say the most of their own come first."""
    path = files("sudare.words") / "messages" / f"phrases.{language}.json"
    texts: dict[str, str] = json.loads(path.read_text(encoding="utf-8"))
    ordered = sorted(texts, key=lambda text: -len(_GAP.sub("", text)))
    return tuple((_pattern(text), texts[text]) for text in ordered)


def _pattern(text: str) -> re.Pattern[str]:
    parts = re.split(r"\{(\d+)\}", text)
    return re.compile(
        "".join(f"(?P<gap{part}>.*?)" if place % 2 else re.escape(part) for place, part in enumerate(parts)), re.DOTALL
    )
