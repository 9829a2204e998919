"""Which columns an attribute is read from: found by name, checked by type, before anything is read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from sudare.domain import Attribute, Categories, Domain, Grid, Mesh
from sudare.engines.protocol import OUTSIDE, Column, Kind, Outside, Placement
from sudare.errors import InputError, ParameterError, did_you_mean

_NUMBERS: tuple[Kind, ...] = ("whole", "number", "untyped")
_UNITS: tuple[Kind, ...] = ("whole", "number", "text", "untyped")
_NAMES_SHOWN = 40


def place(domain: Any, given: Any, known: Mapping[str, Column], outside: Any) -> Placement:
    """The placement that ``domain`` and ``columns=`` ask for, or the reason why there is none.

    ``given`` maps names of attributes to a column or a tuple of columns; an attribute that it leaves out
    is read from the column of its own name.
    """
    if not isinstance(domain, Domain):
        raise ParameterError("this is not a domain", value=type(domain).__name__, allowed="sudare.Domain")
    if not isinstance(outside, str) or outside not in OUTSIDE:
        raise ParameterError(
            "outside is not a way to treat rows outside the domain",
            value=outside,
            allowed=", ".join(OUTSIDE),
            hint=did_you_mean(str(outside), OUTSIDE),
        )
    named = {} if given is None else given
    if not isinstance(named, Mapping):
        raise ParameterError("columns is not a mapping", value=type(given).__name__, allowed='{"mesh": ("lat", "lon")}')
    for name in named:
        if name not in domain.attributes:
            raise ParameterError(
                "columns names an attribute that the domain does not have",
                value=name,
                allowed=", ".join(domain.attributes),
                hint=did_you_mean(str(name), domain.attributes),
            )
    columns = {
        name: _columns_of(name, attribute, named.get(name, name), known)
        for name, attribute in domain.attributes.items()
    }
    return Placement(domain, columns, cast(Outside, outside))


def shown_names(known: Mapping[str, Column]) -> list[str]:
    """The names that a message may repeat: none of a file without types, whose first line may be a person's row."""
    return [] if all(column.kind == "untyped" for column in known.values()) else list(known)


def find(name: Any, known: Mapping[str, Column], purpose: str) -> Column:
    """The column of this name; the refusal lists the columns there are, where they are public."""
    if name in known:
        return known[name]
    names = shown_names(known)
    if not names:
        raise InputError(
            f"the first line of the file does not name one column for {purpose}",
            value=name,
            hint="What it says is not shown here: in a file without names of columns, it is somebody's row.",
        )
    listed = ", ".join(names[:_NAMES_SHOWN])
    more = f" and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else ""
    raise InputError(
        f"there is no such column for {purpose}",
        value=name,
        allowed=listed + more,
        hint=did_you_mean(str(name), names),
    )


def find_unit(name: Any, known: Mapping[str, Column]) -> Column:
    """The column that says whose row it is."""
    return _of_kind(find(name, known, "the unit"), _UNITS, "the unit", "whole numbers or text")


def find_count(name: Any, known: Mapping[str, Column]) -> Column:
    """The column that holds counts."""
    return _of_kind(find(name, known, "the counts"), _NUMBERS, "the counts", "whole numbers")


def outside_error(placement: Placement, attributes: Iterable[str]) -> InputError:
    """Rows lie outside the domain: which attributes and columns are concerned, never how many or where."""
    concerned = [f"{name} (from {_listed(placement.columns[name])})" for name in attributes]
    return InputError(
        f"some rows lie outside the domain: {', '.join(concerned)}",
        hint='outside="drop" leaves such rows out; outside="clamp" moves numbers to the nearest cell and '
        "drops what is missing or unknown.",
    )


def _columns_of(name: str, attribute: Attribute, given: Any, known: Mapping[str, Column]) -> tuple[Column, ...]:
    names = tuple(given) if isinstance(given, tuple | list) else (given,)
    purpose = f"the attribute {name}"
    if len(names) not in attribute.columns_taken:
        example = {"grid": '("row", "column")', "mesh": '("lat", "lon")'}.get(attribute.kind, '"column"')
        raise ParameterError(
            f"{purpose} is read from another number of columns",
            value=given,
            allowed=" or ".join(map(str, attribute.columns_taken)),
            hint=f'Write columns={{"{name}": {example}}}.',
        )
    kinds, wanted = _readable(attribute, len(names))
    return tuple(_of_kind(find(each, known, purpose), kinds, purpose, wanted) for each in names)


def _readable(attribute: Attribute, columns: int) -> tuple[tuple[Kind, ...], str]:
    """The kinds of columns that an attribute can be read from, and the words for them."""
    if isinstance(attribute, Categories):
        if isinstance(attribute.values[0], str):
            return ("text", "untyped"), "text"
        return (*_NUMBERS, "truth"), "whole numbers"
    if isinstance(attribute, Mesh) and columns == 1:
        return (*_NUMBERS, "text"), "mesh codes as whole numbers or text"
    if isinstance(attribute, Mesh):
        return _NUMBERS, "degrees as numbers"
    return _NUMBERS, "whole numbers" if isinstance(attribute, Grid) else "numbers"


def _of_kind(column: Column, kinds: tuple[Kind, ...], purpose: str, wanted: str) -> Column:
    if column.kind in kinds:
        return column
    raise InputError(
        f"the column {column.name!r} has a type that {purpose} cannot be read from",
        value=column.type,
        allowed=wanted,
    )


def _listed(columns: Sequence[Column]) -> str:
    names = ", ".join(repr(column.name) for column in columns)
    return f"column{'s' if len(columns) > 1 else ''} {names}"
