"""Sentences of errors in the language of the reader.

An error is raised in English, at hundreds of places. ``errors.<language>.json`` has each text as the code writes it,
by the folder that raises it and its part of the sentence (what, allowed, hint), with gaps ``{0}``, ``{1}`` where values
stand, and what a reader sees. Values stay as they are; a gap that is written ``{0:text}`` holds words, which the file
has under ``text``, or a whole sentence. Under ``page`` is what pages show and is no error.

A sentence of which one part is not known is said in English as a whole: never half in one language and half in the
other.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from sudare.errors import SudareError, one_line
from sudare.words.catalogue import Words

GAP = re.compile(r"\{(\d+)(:text)?\}")
ROLES = ("what", "allowed", "hint", "text", "page")
# "what (got value; allowed: these)", as `SudareError` writes it; a hint follows after a full stop.
_SENTENCE = re.compile(
    r"(?P<what>.+?)(?: \((?:got (?P<given>.+?)(?:; allowed: (?P<allowed>.+?))?|allowed: (?P<only>.+?))\))?", re.DOTALL
)
_DEEPEST = 4
_LONGEST = 2000
"""Characters: whoever writes more into a recipe has the sentence in English, and at once."""


class Known(NamedTuple):
    """Texts without gaps, and patterns of those with gaps."""

    plain: dict[str, str]
    patterns: tuple[tuple[re.Pattern[str], str], ...]


def sentence(problem: SudareError, words: Words) -> str:
    """The sentence of an error.

    >>> from sudare.errors import ParameterError
    >>> wrong = ParameterError("epsilon is not positive", value=-1, allowed="a finite number > 0")
    >>> print(sentence(wrong, Words("ja")))
    epsilon が正の数ではありません（値：-1、許容：0 より大きい有限の数）。
    """
    if words.language == "en":
        return str(problem)
    made = _composed(problem.what, problem.given, problem.allowed, problem.hint, words.language)
    return str(problem) if made is None else one_line(made)


def reworded(text: str, words: Words) -> str:
    """A sentence of an error that was kept as English text; as it is where it is not known.

    >>> reworded("the request is too large (allowed: 1,000 bytes)", Words("ja"))
    'リクエストが大きすぎます（許容：1,000 バイト以内）。'
    """
    made = None if words.language == "en" else _whole(text, words.language, 0)
    return text if made is None else one_line(made)


def phrase(text: str, words: Words) -> str:
    """Words that the package writes in English and that are no error, such as what `verify` checked; or as they are.

    >>> phrase("counts.parquet: SHA-256 agrees", Words("ja"))
    'counts.parquet：SHA-256 が一致しました'
    """
    if words.language == "en":
        return text
    known = _text(text, "page", words.language, 0) or _text(text, "text", words.language, 0)
    return text if known is None else one_line(known)


def _whole(text: str, language: str, depth: int) -> str | None:
    """A whole sentence."""
    for parts in _splits(text) if len(text) <= _LONGEST else ():
        made = _composed(*parts, language, depth)
        if made is not None:
            return made
    return None


def _splits(text: str) -> Iterator[tuple[str, str | None, str | None, str | None]]:
    """The ways to read a sentence as its parts: a full stop ends one of them, or stands inside of it."""
    for end in (*(found.start() for found in re.finditer(r"\. ", text)), len(text)):
        if found := _SENTENCE.fullmatch(text[:end]):
            yield found["what"], found["given"], found["allowed"] or found["only"], text[end + 2 :] or None


def _composed(
    what: str, given: str | None, allowed: str | None, hint: str | None, language: str, depth: int = 0
) -> str | None:
    """The parts as one sentence; None where one of them is not known."""
    said = _text(what, "what", language, depth)
    advice = _advice(hint, language, depth) if hint else ""
    if said is None or advice is None:
        return None
    form = _texts(language)["form"]
    details = [] if given is None else [form["given"].replace("{0}", given)]
    if allowed is not None:
        # What is not known here is a list of names: the texts of the package itself are all known.
        shown = _text(allowed, "allowed", language, depth) or _listed(allowed, form["or"])
        details.append(form["allowed"].replace("{0}", shown))
    beside = form["details"].replace("{0}", form["between"].join(details)) if details else ""
    return f"{said}{beside}{form['end']}{advice}"


def _listed(names: str, last: str) -> str:
    """Names as they are, and the word between them where each is one word."""
    alternatives = names.split(" or ")
    return names if any(" " in name for name in alternatives) else last.join(alternatives)


def _advice(hint: str, language: str, depth: int) -> str | None:
    """What to do: a text of its own, a whole sentence, or words that a validator wrote."""
    known = _text(hint, "hint", language, depth) or _whole(hint, language, depth + 1)
    if known is None and (words := _text(hint.removesuffix("."), "text", language, depth)):
        known = words + _texts(language)["form"]["end"]
    return known


def _text(text: str, role: str, language: str, depth: int) -> str | None:
    """One text, its gaps filled; None where it is not known."""
    plain, patterns = _known(language)[role]
    if text in plain:
        return plain[text]
    if depth > _DEEPEST or len(text) > _LONGEST:
        return None
    filled = (_filled(said, found, language, depth) for pattern, said in patterns if (found := pattern.fullmatch(text)))
    made = next((each for each in filled if each is not None), None)
    # The same words may begin a sentence here, and follow a colon there.
    return _text(text[0].lower() + text[1:], role, language, depth) if made is None and text[:1].isupper() else made


def _filled(said: str, found: re.Match[str], language: str, depth: int) -> str | None:
    gaps = {}
    for gap in GAP.finditer(said):
        value: str | None = found[f"gap{gap[1]}"]
        if gap[2] and value:
            known = (_text(value, role, language, depth + 1) for role in ("text", "hint"))
            value = next(filter(None, known), None) or _inner(value, language, depth)
        if value is None:
            return None
        gaps[gap[0]] = value
    return GAP.sub(lambda gap: gaps[gap[0]], said)


def _inner(text: str, language: str, depth: int) -> str | None:
    """A sentence that ends another one, which has its own full stop."""
    made = _whole(text, language, depth + 1) or _whole(f"{text}.", language, depth + 1)
    return made and made.removesuffix(_texts(language)["form"]["end"])


@cache
def _known(language: str) -> dict[str, Known]:
    """Texts by their part of a sentence. Of the patterns, those that say the most of their own come first."""
    folders = [folder for name, folder in _texts(language).items() if name != "form"]
    known = {}
    for role in ROLES:
        texts = {text: said for folder in folders for text, said in folder.get(role, {}).items()}
        gapped = sorted((text for text in texts if GAP.search(text)), key=lambda text: -len(GAP.sub("", text)))
        plain = {text: said for text, said in texts.items() if text not in gapped}
        known[role] = Known(plain, tuple((_pattern(text), texts[text]) for text in gapped))
    return known


def _pattern(text: str) -> re.Pattern[str]:
    parts = re.split(r"\{(\d+)\}", text)
    return re.compile(
        "".join(f"(?P<gap{part}>.*?)" if place % 2 else re.escape(part) for place, part in enumerate(parts)), re.DOTALL
    )


@cache
def _texts(language: str) -> dict[str, dict[str, Any]]:
    """The file of a language: folders to parts of a sentence to texts; ``form`` says how parts make a sentence."""
    read: dict[str, dict[str, Any]] = json.loads(
        (files("sudare.words") / "messages" / f"errors.{language}.json").read_text(encoding="utf-8")
    )
    return read
