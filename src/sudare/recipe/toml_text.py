"""TOML files of recipes and surveys: read, with the first mistake as one sentence of ours, and written."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError

from sudare.errors import Message, SudareError, did_you_mean
from sudare.language.translation import pydantic_reason, toml_reason


def declared_text(path: Path, what: Message, error: type[SudareError]) -> str:
    """A declared file as text, without the mark that some editors begin UTF-8 with; raises FileNotFoundError too.

    Bytes that are no UTF-8 are refused and never guessed: a name of the data set read wrongly is another budget.
    """
    try:
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise
    except UnicodeDecodeError:
        raise error("{what} is not text in UTF-8", value=path.name, hint="Save it in UTF-8.", what=what) from None
    except OSError:
        raise error("{what} cannot be opened", value=str(path), hint="Give the path of a file.", what=what) from None


def declared_contents(text: str, what: Message, error: type[SudareError]) -> dict[str, Any]:
    """What the TOML text of ``what`` says; decimals are kept as they are written."""
    try:
        contents = tomllib.loads(text.replace("\r\n", "\n").replace("\r", "\n"), parse_float=Decimal)
        shown = json.dumps(contents, default=str)  # a number of 5,000 hexadecimal digits is read, but never shown
    except tomllib.TOMLDecodeError as problem:
        raise error("{what} is not TOML: {reason}", what=what, reason=toml_reason(problem)) from None
    except (ValueError, ArithmeticError, RecursionError):
        raise error("{what} is not TOML: a number is too long, or brackets are too deep", what=what) from None
    if "\\u0000" in shown.replace("\\\\", ""):
        raise error("{what} contains a NUL character, which no path and no text may have", what=what)
    return contents


def first_problem(
    problem: ValidationError, model: type[BaseModel], what: Message, error: type[SudareError]
) -> SudareError:
    """The first mistake in ``what`` as one sentence, with the nearest known key where one is misspelt.

    Its field ``place`` holds the names that lead to the value; a validator of several says which by a field ``key``.
    """
    # A misspelt key is the cause of the one that then seems to be missing.
    first = min(problem.errors(), key=lambda error: error["type"] != "extra_forbidden")
    unknown = first["type"] == "extra_forbidden"
    words, models = _walk(model, first["loc"][:-1] if unknown else first["loc"])
    if unknown:
        key = str(first["loc"][-1])
        known = {field.alias or name for each in models for name, field in each.model_fields.items()}
        return error(
            "unknown key {words} in {what}",
            allowed=sorted(known),
            hint=did_you_mean(key, known),
            words=".".join([*words, key]),
            what=what,
        )
    where = ".".join(words)
    if first["type"] == "missing":
        return error("{what} lacks {where}", what=what, where=where, place=words)
    reason = pydantic_reason(first)
    place = [*words, str(reason.fields["key"])] if "key" in reason.fields else words
    return error("{where}: {reason}", where=where or what, reason=reason, place=place)


def _walk(model: type[BaseModel], steps: tuple[int | str, ...]) -> tuple[list[str], list[type[BaseModel]]]:
    """Follow Pydantic's place of a mistake: the words a person would name it by, and the models it lies in.

    Between names of fields and keys stand places of lists and the names of the alternatives that were tried.
    """
    words: list[str] = []
    models, keyed = [model], False
    for step in steps:
        if keyed:
            words, keyed = [*words, str(step)], False
            continue
        tagged = [m for m in models if "type" in m.model_fields and step in get_args(_type_of(m))]
        fields = [f for m in models for name, f in m.model_fields.items() if step in (f.alias or name, name)]
        if tagged and len(models) > 1:
            models = tagged
        elif fields:
            words.append(str(step))
            models = [found for field in fields for found in models_in(field.annotation)]
            keyed = any(get_origin(field.annotation) is dict for field in fields)
        elif isinstance(step, int):
            words.append(str(step))
    return words, models


def _type_of(model: type[BaseModel]) -> Any:
    return model.model_fields["type"].annotation


def models_in(annotation: Any) -> list[type[BaseModel]]:
    """The models within an annotation."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [found for part in get_args(annotation) for found in models_in(part)]


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
