"""`propose_recipe`: a commented recipe for a file, to be read, confirmed and completed by the steward.

How a file is written and what its columns are called is looked up. Which categories and bounds there are is something
that only the steward can declare: what is read off the private values for that stands in comments, marked as such, and
becomes part of the recipe when the steward confirms that it is public knowledge. Nothing of this is published.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sudare.domain.mesh import level_of_digits
from sudare.engines import propose_layout, read
from sudare.engines.estat import CODE, NOT_VALUES, fields_of
from sudare.engines.files import EXCEL
from sudare.engines.foreign_sources import EstatSource
from sudare.engines.read import is_text, refuse_no_text
from sudare.engines.records import Records
from sudare.errors import InputError, ParameterError
from sudare.language.catalogue import Words, current_language

LATITUDE = re.compile(r"(?i)^(lat|latitude|緯度|.*_lat)$")
LONGITUDE = re.compile(r"(?i)^(lon|lng|long|longitude|経度|.*_(lon|lng))$")
PERSON = re.compile(r"(?i)^(id|person|person_?id|user_?id|device_?id|uid|.*_id|個人番号|世帯番号)$")
MESH_CODE = re.compile(r"(?i)(mesh|メッシュ|^key_code$)")
MOST_CATEGORIES = 50
_TITLES = 10
"""Rows of a sheet that may stand above the one that names its columns."""
_COMMA = re.compile(r"\s*[+-]?[0-9.]+(,[0-9]+)?\s*")
_FIRST_MESH = re.compile(r"H([0-9]{4})(?![0-9])")
"""In the name of a file of e-Stat."""


def propose_recipe(
    file: str | Path,
    *,
    folder: str | Path | None = None,
    table: str | None = None,
    unit: str | None = None,
    unit_name: str = "person",
    columns: Sequence[str] | None = None,
    column_names: Sequence[str] | None = None,
    epsilon: float = 1.0,
    dataset: str | None = None,
    confirmed: bool = False,
    words: Words | None = None,
) -> str:
    """The text of a recipe for a file: encoding, separator and columns looked up, the rest to be declared.

    ``folder`` is where the recipe will be, by default that of the file. ``unit`` is the column of ids, by default one
    that is called like one, and none if it is empty; ``columns`` those that become attributes, by default all that can;
    ``column_names`` the columns of a text file whose first line is a row. ``confirmed`` says that categories and bounds
    read off the data are public knowledge; without it they stand in comments, and the recipe is not complete until
    somebody declares them. The comments are in the language of ``words``, by default that of the process.
    """
    path, words = Path(file), words or current_language()
    records, layout = _opened(path, table, column_names)
    names = list(records.engine.columns)
    own = _unit_of(names) if unit is None else unit or None
    for name in [*(columns or ()), *([own] if own else [])]:
        if name not in names:
            raise ParameterError("the file has no such column", value=name)
    lines = [
        f"# {words('new.comment.head')}",
        'kind = "table"',
        f"dataset = {_quoted(dataset or path.name.partition('.')[0] or 'data')}   # {words('new.comment.dataset')}",
        "",
        "[data]",
        f"path = {_quoted(Path(os.path.relpath(path, folder or path.parent)).as_posix())}",
        *([f"table = {_quoted(table)}"] if table else []),
        *(f"{name} = {json.dumps(value, ensure_ascii=False)}   # {words('new.comment.layout')}"
          for name, value in layout.items()),
    ]  # fmt: skip
    source = getattr(records.engine, "source", None)
    if isinstance(source, EstatSource):
        return "\n".join([*lines, *_estat(source, columns, words), *_ending(epsilon, words)]) + "\n"
    lines += [
        f"unit = {_quoted(own)}   # {words('new.comment.unit')}"
        if own
        else f"# unit = ...   # {words('new.comment.row')}",
        f"unit_name = {_quoted(unit_name)}",
        f'outside = "error"   # {words("new.comment.outside")}',
    ]
    named = column_names is not None or not (is_text(path) or path.suffix.lower() == EXCEL)
    lines += _domain(records, names, own, columns, confirmed, named, words)
    return "\n".join([*lines, *_ending(epsilon, words)]) + "\n"


def columns_to_choose(
    file: str | Path, table: str | None = None, column_names: Sequence[str] | None = None
) -> tuple[list[str], str | None]:
    """The names of a file's columns, and the one that is called like an id; none for e-Stat, which has one for each
    group of people, and none whose first line may be a person's row."""
    records, _ = _opened(Path(file), table, column_names)
    names = list(records.engine.columns)
    if isinstance(getattr(records.engine, "source", None), EstatSource) or _mostly_numbers(names):
        return [], None
    return names, _unit_of(names)


def _unit_of(names: Sequence[str]) -> str | None:
    return next((name for name in names if PERSON.match(name)), None)


def _mostly_numbers(names: Sequence[str]) -> bool:
    return 2 * sum(_number(name) is not None for name in names) > len(names)


def _opened(path: Path, table: str | None, column_names: Sequence[str] | None) -> tuple[Records, dict[str, Any]]:
    """The records, and how their file seems to be written."""
    if path.suffix.lower() == EXCEL:
        for row in range(1, _TITLES + 1):
            try:
                sheet = read((path, table) if table else path, header_row=row)
                return sheet, {} if row == 1 else {"header_row": row}
            except InputError:
                if row == _TITLES or not path.is_file():
                    raise
    if table or not is_text(path):
        return read((path, table) if table else path), {}
    refuse_no_text(path)
    found = propose_layout(path)
    if found.faulty_line is not None:
        raise InputError(
            "line {line} of the file is not like the others",
            value=str(path),
            hint="This number is for the steward alone. Correct the line: every line must have the same fields.",
            line=found.faulty_line,
        )
    layout: dict[str, Any] = {"delimiter": found.delimiter}
    layout |= {} if found.encoding == "utf-8" else {"encoding": found.encoding}
    layout |= {} if column_names is None else {"column_names": list(column_names)}
    records = read(path, **layout)
    if found.delimiter != "," and any(_has_decimal_comma(records, name) for name in records.engine.columns):
        layout["decimal"] = ","
        records = read(path, **layout)
    return records, layout


def _has_decimal_comma(records: Records, name: str) -> bool:
    labels = [label for label in records.groups([name]).labels[0] if label is not None]
    return any("," in label for label in labels) and all(_COMMA.fullmatch(label) for label in labels)


def _domain(
    records: Records,
    names: list[str],
    unit: str | None,
    columns: Sequence[str] | None,
    confirmed: bool,
    named: bool,
    words: Words,
) -> list[str]:
    """The attributes; ``named`` where names of columns are a schema's or declared, and not those of the first line."""
    if not named and _mostly_numbers(names):
        raise _without_names()
    latitude = next((name for name in names if LATITUDE.match(name)), None)
    longitude = next((name for name in names if LONGITUDE.match(name)), None)
    lines: list[str] = []
    placed = {latitude, longitude} if latitude and longitude else set()
    if latitude and longitude and (columns is None or {latitude, longitude} <= set(columns)):
        origin = f"from = [{_quoted(latitude)}, {_quoted(longitude)}]"
        if _in_japan(records, latitude, longitude):
            lines += ["", "[domain.mesh]", 'type = "mesh"', 'size = "500m"', origin]
            lines += [f"# {words('new.comment.area')}", '# codes = ["5339"]']
        else:
            lines += ["", "[domain.place]", 'type = "latlon"', "metres = 500", origin]
            lines += [f"# {words('new.comment.window')}", "# window = [-0.52, 51.28, 0.34, 51.7]"]
    for name in names if columns is None else columns:
        if name != unit and name not in placed:
            lines += _attribute(records, name, confirmed, named, words)
    return lines


def _in_japan(records: Records, latitude: str, longitude: str) -> bool:
    """Whether the points, or most of them, may lie in Japan, which has a standard mesh."""
    inside = []
    for name, low, high in ((latitude, 20, 46), (longitude, 122, 154)):
        numbers = [_number(label) for label in records.groups([name]).labels[0] if label is not None]
        inside.append(2 * sum(low <= number <= high for number in numbers if number is not None) >= len(numbers))
    return all(inside)


def _without_names() -> InputError:
    """A first line of values would become names of attributes, which are published."""
    return InputError(
        "the first line of the file seems to hold values, not names of columns",
        hint="Declare the names of all columns in their order (--column-names age,sex,ward), or name with --column "
        "those that are names.",
    )


def _attribute(records: Records, name: str, confirmed: bool, named: bool, words: Words) -> list[str]:
    column = records.engine.columns[name]
    key = name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _quoted(name)
    begin = ["", f"[domain.{key}]"]
    mark = "" if confirmed else "# "
    head = [] if confirmed else [f"# {words('new.comment.read_off')}"]
    if column.kind == "other":
        return ["", f"# {words('new.comment.other_type', column=_quoted(name))}"]
    if MESH_CODE.search(name):
        return [*begin, 'type = "mesh"', f'size = "500m"   # {words("new.comment.size")}', '# codes = ["5339"]']
    labels = [label for label in records.groups([name]).labels[0] if label is not None]
    if not named and name.strip() in labels:
        raise _without_names()
    numbers = [number for label in labels if (number := _number(label)) is not None]
    if len(labels) > 2 and len(numbers) == len(labels):
        low, high = float(np.floor(min(numbers))), max(numbers)
        step = max(1.0, 10.0 ** np.floor(np.log10(max(1.0, (high - low) / 5))))
        stop = low + step * float(np.floor((high - low) / step) + 1)
        bounds = f"start = {low:.15g}, stop = {stop:.15g}, step = {step:.15g}".split(", ")
        return [*begin, 'type = "bins"', *head, *(f"{mark}{bound}" for bound in bounds)]
    if len(labels) > MOST_CATEGORIES:
        return ["", f"# {words('new.comment.many', column=_quoted(name))}"]
    values = ", ".join(_quoted(label) for label in labels)
    return [*begin, 'type = "categories"', *head, f"{mark}values = [{values}]"]


def _estat(source: EstatSource, columns: Sequence[str] | None, words: Words) -> list[str]:
    """Counts by mesh; of several columns, long: labels of two parts, as of age and sex, are two attributes."""
    codes, labels, *rows = fields_of(source.files[0])
    plain = {code: label.strip("\u3000 ") for code, label in zip(codes, labels, strict=True) if code not in NOT_VALUES}
    wanted = {name: plain.get(name, name) for name in columns or [next(iter(plain))]}
    lines = [f'unit_name = "person"   # {words("new.comment.counted")}', 'outside = "error"']
    domain: list[str] = []
    if len(wanted) == 1:
        ((name, label),) = wanted.items()
        lines.insert(0, f"counts = {_quoted(name)}   # {label}")
    else:
        parts = {name: label.split("\u3000") for name, label in wanted.items()}
        if {len(part) for part in parts.values()} != {2}:
            parts = {name: [label] for name, label in wanted.items()}
        attributes = [words(f"new.attribute.{one}") for one in ("group", "sex")][: len(next(iter(parts.values())))]
        lines.insert(0, 'counts = "n"')
        lines += ["", f"[data.long]   # {words('new.comment.long')}", f"attributes = [{_listed(attributes)}]"]
        lines += ["[data.long.columns]", *(f"{_quoted(name)} = [{_listed(part)}]" for name, part in parts.items())]
        for place, attribute in enumerate(attributes):
            values = dict.fromkeys(part[place] for part in parts.values())
            domain += ["", f"[domain.{_quoted(attribute)}]", 'type = "categories"', f"values = [{_listed(values)}]"]
    level = level_of_digits(len(rows[0][0])) if rows else None
    first = sorted({found[1] for each in source.files if (found := _FIRST_MESH.search(each.name))})
    listed = f"codes = [{_listed(first)}]   # {words('new.comment.first_mesh')}" if first else '# codes = ["5339"]'
    lines += ["", "[domain.mesh]", 'type = "mesh"', f'size = "{level.name if level else "500m"}"', f'from = "{CODE}"']
    columns_there = [f"#   {code}   {label}" for code, label in plain.items()]
    return [*lines, listed, *domain, "", f"# {words('new.comment.columns')}", *columns_there]


def _ending(epsilon: float, words: Words) -> list[str]:
    language = [] if words.language == "en" else ["", "[report]", f'language = "{words.language}"']
    return [
        "",
        "[privacy]",
        f"epsilon = {epsilon:g}   # {words('new.comment.epsilon')}",
        "",
        "[ledger]",
        f"cap = {{ epsilon = {epsilon:g} }}   # {words('new.comment.cap')}",
        "",
        "[output]",
        'folder = "release"',
        *language,
    ]


def _listed(values: Any) -> str:
    return ", ".join(map(_quoted, values))


def _number(label: str) -> float | None:
    from sudare.domain.text import number

    found = number(label)
    return None if found is None or not np.isfinite(found) else found


def _quoted(text: Any) -> str:
    return json.dumps(str(text), ensure_ascii=False)
