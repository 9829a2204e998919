"""What came of publications and rehearsals, kept as facts: a reader of any language has them in words.

A message is kept as its key and fields, an error as its parts. Rows and files of an older studio hold English text in
their place, which is shown as it is.
"""

from __future__ import annotations

from typing import Any

from sudare.errors import SudareError
from sudare.studio.refusals import kept as kept_error
from sudare.studio.refusals import retold
from sudare.words import Lines, PageMessage, Value, Words, said


def kept(value: Value) -> Any:
    """A value as JSON.

    >>> kept(PageMessage("amount.rows", rows=12))
    {'key': 'amount.rows', 'fields': {'rows': 12}}
    """
    if isinstance(value, PageMessage):
        return {"key": value.key, "fields": {name: kept(each) for name, each in value.fields}}
    return {"error": kept_error(value)} if isinstance(value, SudareError) else value


def kept_lines(facts: Lines) -> list[dict[str, Any]]:
    """Lines as JSON, in their order."""
    names = (name if isinstance(name, PageMessage) else PageMessage(f"line.{name}") for name in facts)
    return [{"name": kept(name), "value": kept(value)} for name, value in zip(names, facts.values(), strict=True)]


def shown(value: Any, words: Words) -> str:
    """What was kept, in words.

    >>> shown({"key": "amount.rows", "fields": {"rows": 12}}, Words("ja")), shown("12 rows", Words("ja"))
    ('12 行', '12 rows')
    """
    if not isinstance(value, dict):
        return said(value, words)
    if "error" in value:
        return retold(value["error"], words).message
    return words(value["key"], **{name: shown(each, words) for name, each in value["fields"].items()})


def shown_lines(facts: list[dict[str, Any]], words: Words) -> list[dict[str, str]]:
    """Lines that were kept, in words."""
    return [{name: shown(line[name], words) for name in ("name", "value")} for line in facts]


def shown_result(result: dict[str, Any], words: Words) -> dict[str, Any]:
    """A job's result for a reader: what its headline says, and what was left out; a rehearsal's has neither."""
    if "headline" not in result:
        return result
    left_out = [shown(each, words) for each in result["left_out"]]
    return {**result, "headline": shown_lines(result["headline"], words), "left_out": left_out}
