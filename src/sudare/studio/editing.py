"""Changes of single keys of a recipe, written so that comments and order stay as they were."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from sudare.errors import Message, MissingExtraError, RecipeError
from sudare.recipe.model import contents_of_text
from sudare.studio.refusals import RequestError

_DEEPEST = 12


def edited(text: str, changes: Mapping[str, Any]) -> str:
    """``text`` with each dotted key set to its value, or removed where that is None.

    >>> print(edited('a = 1  # one\\n[b]\\nc = 2\\n', {"b.c": [3, 4], "a": None, "b.d": "x"}))
    [b]
    c = [3, 4]
    d = "x"
    <BLANKLINE>
    """
    try:
        import tomlkit
        from tomlkit.exceptions import TOMLKitError
    except ImportError:
        raise MissingExtraError.of(Message("The studio"), "studio") from None
    wanted = contents_of(text)
    steps = {key: key_parts(key) for key in changes}
    for key, value in changes.items():
        _refuse_empty(value, key)
        _set(wanted, steps[key], value, key)
    try:
        document = tomlkit.parse(text)
        for key, value in changes.items():
            _set(document, steps[key], value, key)
        made = tomlkit.dumps(document)
        right = contents_of(made) == wanted
    except (TOMLKitError, RecipeError, ValueError, TypeError, KeyError, RecursionError):
        right = False
    # The editor keeps comments and may stumble over unusual layouts; what it made is believed only if it says the same.
    if not right:
        raise RequestError(422, "this change cannot be written into the recipe", hint="Change the text itself.")
    return made


def contents_of(text: str) -> dict[str, Any]:
    """What a recipe's text says, with floats as JSON has them."""
    found: dict[str, Any] = _with_floats(contents_of_text(text))
    return found


def _with_floats(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _with_floats(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_with_floats(each) for each in value]
    return float(value) if isinstance(value, Decimal) else value


def key_parts(key: str) -> list[str]:
    """The names that a dotted key is made of, as TOML reads them.

    >>> key_parts('domain."home town".type')
    ['domain', 'home town', 'type']
    """
    parts: list[str] = []
    try:
        found: Any = tomllib.loads(f"{key} = 0") if "\n" not in key and "=" not in key and "#" not in key else {}
    except (tomllib.TOMLDecodeError, RecursionError):
        found = {}
    while isinstance(found, dict) and found:
        (name, found), *_ = found.items()
        parts.append(name)
    if not parts or len(parts) > _DEEPEST:
        raise RequestError(422, "this is not a key of a recipe", value=key[:100], allowed="names with dots between")
    return parts


_OF_PARTS = ("domain", "columns", "hierarchies")
"""Tables that hold one table for each declared part."""


def _set(document: Any, steps: list[str], value: Any, key: str) -> None:
    """Set or remove one key of nested tables, of plain dictionaries and of an editor's document alike."""
    table = document
    for step in steps[:-1]:
        if step not in table:
            if value is None:
                return
            table[step] = {}
        table = table[step]
        if not isinstance(table, dict):
            raise RequestError(422, "a part of the key is not a table", value=key[:100])
    if value is None:
        table.pop(steps[-1], None)
        # A table above tables is not written itself: without the last of them, it is not there.
        if len(steps) == 2 and steps[0] in _OF_PARTS and not table:
            document.pop(steps[0])
    else:
        table[steps[-1]] = value


def _refuse_empty(value: Any, key: str, inside: bool = False) -> None:
    """TOML has no null; and no text that UTF-8 cannot write."""
    if value is None and inside:
        raise RequestError(422, "a value inside a list or table is missing", value=key[:100])
    if isinstance(value, str) and any(0xD800 <= ord(character) < 0xE000 for character in value):
        raise RequestError(422, "text contains invalid Unicode (lone surrogates)", value=key[:100])
    if isinstance(value, dict):
        for name, each in value.items():
            _refuse_empty(name, key, inside=True)
            _refuse_empty(each, key, inside=True)
    elif isinstance(value, list):
        for each in value:
            _refuse_empty(each, key, inside=True)
