"""What came of a publication, in the words of the page: it is kept as it was made, for readers of any language."""

from __future__ import annotations

from typing import Any

from sudare.registry import KINDS
from sudare.words import Words, phrase


def reworded_result(result: dict[str, Any], words: Words) -> dict[str, Any]:
    """A job's result for a reader: what its headline says, and what was left out; a rehearsal's has neither.

    >>> made = {"headline": [{"name": "cells listed", "value": "12 of 64"}], "left_out": []}
    >>> reworded_result(made, Words("ja"))["headline"]
    [{'name': '載っているセル', 'value': '64 のうち 12'}]
    """
    if "headline" not in result:
        return result
    left_out = [phrase(text, words) for text in result["left_out"]]
    return {**result, "headline": reworded_facts(result["headline"], words), "left_out": left_out}


def reworded_facts(facts: list[dict[str, str]], words: Words) -> list[dict[str, str]]:
    """Lines of a headline, as the pages of the kinds call them."""
    return [{"name": _named(line["name"], words), "value": phrase(line["value"], words)} for line in facts]


def _named(name: str, words: Words) -> str:
    found = (words.known(kind, name) for kind in KINDS)
    return next((word for word in found if word != name), phrase(name, words))
