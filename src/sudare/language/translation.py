"""Errors and messages in the language of the reader, and refusals of Pydantic and tomllib as messages of ours.

``locale/<language>/LC_MESSAGES/errors.po`` has each English template of the code and its translation, with the same
fields; ``make messages`` compiles ``errors.mo`` from it. If one part of a sentence is not translated, the whole
sentence is English, never a mixture.

Pydantic names each kind of mistake by a type and gives the numbers in it. tomllib gives nothing but its text before
Python 3.14, so this is the only place where the text of an error is read; a text that is not known stays as it is.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from gettext import GNUTranslations, NullTranslations
from importlib.resources import files
from typing import Any

from sudare.errors import Message, SudareError, either, one_line


def text(thing: Message | SudareError, language: str) -> str:
    """An error or a message in a language.

    >>> from sudare.errors import ParameterError
    >>> wrong = ParameterError("{name} is not positive", name="epsilon", value=-1, allowed="a finite number > 0")
    >>> print(text(wrong, "ja"))
    epsilon が正の数ではありません（値：-1、許容：0 より大きい有限の数）。
    """
    if language == "en":
        return str(thing)
    try:
        return one_line(thing.said(translations(language).gettext))
    except UnknownTemplateError:
        return str(thing)


class UnknownTemplateError(LookupError):
    """A catalogue does not have a template."""


class _Unknown(NullTranslations):
    def gettext(self, message: str) -> str:
        raise UnknownTemplateError(message)


@cache
def translations(language: str, domain: str = "errors") -> NullTranslations:
    """The compiled catalogue of a language; one that knows nothing where there is none."""
    path = files("sudare.language") / "locale" / language / "LC_MESSAGES" / f"{domain}.mo"
    if not path.is_file():
        return _Unknown()
    with path.open("rb") as file:
        found = GNUTranslations(file)
    found.add_fallback(_Unknown())
    return found


_PYDANTIC = {
    "string_type": Message("input should be a valid string"),
    "int_type": Message("input should be a valid integer"),
    "int_from_float": Message("input should be a valid integer, got a number with a fractional part"),
    "int_parsing": Message("input should be a valid integer"),
    "float_type": Message("input should be a valid number"),
    "float_parsing": Message("input should be a valid number"),
    "finite_number": Message("input should be a finite number"),
    "bool_type": Message("input should be a valid boolean"),
    "bool_parsing": Message("input should be a valid boolean"),
    "decimal_type": Message("input should be a valid decimal"),
    "decimal_parsing": Message("input should be a valid decimal"),
    "list_type": Message("input should be a valid list"),
    "tuple_type": Message("input should be a valid list"),
    "dict_type": Message("input should be a table of keys and values"),
    "model_type": Message("input should be a table of keys and values"),
    "greater_than": Message("input should be greater than {gt}"),
    "greater_than_equal": Message("input should be greater than or equal to {ge}"),
    "less_than": Message("input should be less than {lt}"),
    "less_than_equal": Message("input should be less than or equal to {le}"),
    "none_required": Message("input should be None"),
    "string_too_short": Message("string should have at least {min_length} characters"),
    "string_too_long": Message("string should have at most {max_length} characters"),
    "too_short": Message("input should have at least {min_length} items, not {actual_length}"),
    "too_long": Message("input should have at most {max_length} items, not {actual_length}"),
    "missing": Message("field required"),
    "extra_forbidden": Message("extra inputs are not permitted"),
    "union_tag_not_found": Message("unable to extract tag using discriminator {discriminator}"),
    "union_tag_invalid": Message(
        "input tag '{tag}' found using {discriminator} does not match any of the expected tags: {expected_tags}"
    ),
}
_TOML = (
    Message("Invalid statement"),
    Message("Expected newline or end of document after a statement"),
    Message("Cannot overwrite a value"),
    Message("Expected ']' at the end of a table declaration"),
    Message("Expected ']]' at the end of an array declaration"),
    Message("Expected '=' after a key in a key/value pair"),
    Message("Invalid initial character for a key part"),
    Message("Unclosed array"),
    Message("Unclosed inline table"),
    Message("Unescaped '\\' in a string"),
    Message("Invalid hex value"),
    Message("Escaped character is not a Unicode scalar value"),
    Message("Unterminated string"),
    Message("Invalid date or datetime"),
    Message("Invalid value"),
    Message("Found invalid character {found}"),
    Message("Cannot declare {found} twice"),
    Message("Cannot mutate immutable namespace {found}"),
    Message("Cannot redefine namespace {found}"),
    Message("Duplicate inline table key {found}"),
    Message("Illegal character {found}"),
    Message("Expected {found}"),
)
_PLACE = re.compile(r"(.*) \(at (?:line (\d+), column (\d+)|end of document)\)", re.DOTALL)


def pydantic_reason(error: Any) -> Message | SudareError:
    """One of the errors that a `ValidationError` lists; one of ours that a validator raised is itself.

    >>> print(pydantic_reason({"type": "greater_than", "ctx": {"gt": 0}, "msg": "Input should be greater than 0"}))
    input should be greater than 0
    """
    found = error.get("ctx", {})
    raised = found.get("error")
    if isinstance(raised, SudareError):
        return raised
    if raised is not None and isinstance(raised.args[0], Message):
        return raised.args[0]
    if error["type"] == "literal_error":
        return Message("input should be {expected}", expected=either(found["expected"].rsplit(" or ", 1)))
    if error["type"] in _PYDANTIC:
        return Message(_PYDANTIC[error["type"]].template, **found)
    text = error["msg"].removeprefix("Value error, ")
    return _verbatim(text[:1].lower() + text[1:])


def toml_reason(problem: tomllib.TOMLDecodeError) -> Message:
    """Why a text is not TOML, and where.

    >>> try:
    ...     tomllib.loads("a = ")
    ... except tomllib.TOMLDecodeError as problem:
    ...     print(toml_reason(problem))
    Invalid value (at end of document)
    """
    placed = _PLACE.fullmatch(str(problem))
    if placed is None:
        return _verbatim(str(problem))
    text, line, column = placed.groups()
    reason = next((made for each in _TOML if (made := _recognised(each.template, text)) is not None), _verbatim(text))
    if line is None:
        return Message("{reason} (at end of document)", reason=reason)
    return Message("{reason} (at line {line}, column {column})", reason=reason, line=line, column=column)


def _recognised(template: str, text: str) -> Message | None:
    before, gap, after = template.partition("{found}")
    if not gap:
        return Message(template) if text == template else None
    if text.startswith(before) and text.endswith(after):
        return Message(template, found=text[len(before) : len(text) - len(after)])
    return None


def _verbatim(text: str) -> Message:
    """A text that no catalogue has: the whole sentence around it stays English."""
    return Message(text.replace("{", "{{").replace("}", "}}"))
