"""A recipe as TOML text: what `tomllib` reads back as the same values."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def to_toml(contents: Mapping[str, Any]) -> str:
    """Tables under headings, everything else in one line each; None is left out, since TOML has no word for it.

    >>> print(to_toml({"kind": "table", "privacy": {"epsilon": Decimal("0.5"), "delta": None}}), end="")
    kind = "table"
    <BLANKLINE>
    [privacy]
    epsilon = 0.5
    """
    return "\n".join(_lines(contents, ())).lstrip("\n") + "\n"


def _lines(contents: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[str]:
    given = {name: value for name, value in contents.items() if value is not None}
    plain = {name: value for name, value in given.items() if not isinstance(value, Mapping)}
    if path and (plain or not given):
        yield f"\n[{'.'.join(map(_key, path))}]"
    for name, value in plain.items():
        yield f"{_key(name)} = {_value(value)}"
    for name, value in given.items():
        if isinstance(value, Mapping):
            yield from _lines(value, (*path, name))


def _key(name: str) -> str:
    return name if _BARE_KEY.fullmatch(name) else _text(name)


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Decimal):
        written = str(value)
        return written if "." in written or "E" in written else f"{written}.0"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, Fraction):
        return f'"{value}"'
    if isinstance(value, Mapping):
        entries = ", ".join(f"{_key(name)} = {_value(each)}" for name, each in value.items() if each is not None)
        return f"{{ {entries} }}" if entries else "{}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    return _text(str(value))
