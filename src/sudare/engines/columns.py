"""Which columns an attribute is read from: found by name, checked by type, before anything is read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from sudare.domain import Attribute, Domain
from sudare.domain.sql import NUMBERS, Kind, SourceColumn
from sudare.engines.protocol import OUTSIDE, Outside, Placement
from sudare.errors import InputError, Message, MissingColumnError, ParameterError, did_you_mean, either, listed

_UNITS: tuple[Kind, ...] = ("whole", "number", "text", "untyped")
_NAMES_SHOWN = 40
_UNIT, _COUNTS = Message("the unit"), Message("the counts")


def place(domain: Any, given: Any, known: Mapping[str, SourceColumn], outside: Any) -> Placement:
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
            allowed=OUTSIDE,
            hint=did_you_mean(str(outside), OUTSIDE),
        )
    named = {} if given is None else given
    if not isinstance(named, Mapping):
        raise ParameterError(
            "columns is not a mapping", value=type(given).__name__, allowed='{{"mesh": ("lat", "lon")}}'
        )
    for name in named:
        if name not in domain.attributes:
            raise ParameterError(
                "columns names an attribute that the domain does not have",
                value=name,
                allowed=domain.attributes,
                hint=did_you_mean(str(name), domain.attributes),
            )
    columns = {
        name: _columns_of(name, attribute, named.get(name, name), known)
        for name, attribute in domain.attributes.items()
    }
    return Placement(domain, columns, cast(Outside, outside))


def shown_names(known: Mapping[str, SourceColumn]) -> list[str]:
    """The names that a message may repeat: none of a file of text, whose first line may be a person's row."""
    return [name for name, column in known.items() if column.schema]


def find(name: Any, known: Mapping[str, SourceColumn], purpose: Message) -> SourceColumn:
    """The column of this name; the refusal lists the columns there are, where they are public."""
    if name in known:
        return known[name]
    names = shown_names(known)
    if not names:
        raise MissingColumnError(
            "the first line of the file does not name one column for {purpose}",
            value=name,
            hint="What it says is not shown here: in a file without names of columns, it is somebody's row.",
            purpose=purpose,
        )
    raise MissingColumnError(
        "there is no such column for {purpose}",
        value=name,
        allowed="{names} and {more} others" if len(names) > _NAMES_SHOWN else names,
        hint=did_you_mean(str(name), names),
        purpose=purpose,
        names=", ".join(names[:_NAMES_SHOWN]),
        more=len(names) - _NAMES_SHOWN,
    )


def find_unit(name: Any, known: Mapping[str, SourceColumn]) -> SourceColumn:
    """The column that says whose row it is."""
    return _of_kind(find(name, known, _UNIT), _UNITS, _UNIT, Message("whole numbers or text"))


def find_count(name: Any, known: Mapping[str, SourceColumn]) -> SourceColumn:
    """The column that holds counts."""
    return _of_kind(find(name, known, _COUNTS), NUMBERS, _COUNTS, Message("whole numbers"))


def outside_error(placement: Placement, attributes: Iterable[str]) -> InputError:
    """Rows lie outside the domain: which attributes and columns are concerned, never how many or where."""
    concerned = [_listed(name, placement.columns[name]) for name in attributes]
    return InputError(
        "some rows lie outside the domain: {concerned}",
        hint='outside="drop" leaves such rows out; outside="clamp" moves numbers to the nearest cell and '
        "drops what is missing or unknown.",
        concerned=listed(concerned),
    )


def _columns_of(
    name: str, attribute: Attribute, given: Any, known: Mapping[str, SourceColumn]
) -> tuple[SourceColumn, ...]:
    names = tuple(given) if isinstance(given, tuple | list) else (given,)
    purpose = Message("the attribute {name}", name=name)
    if len(names) not in attribute.columns_taken:
        example = attribute.columns_example
        raise ParameterError(
            "{purpose} is read from another number of columns",
            value=given,
            allowed=either(map(str, attribute.columns_taken)),
            hint='Write columns={{"{name}": {example}}}.',
            purpose=purpose,
            name=name,
            example=example,
        )
    kinds, wanted = attribute.readable(len(names))
    return tuple(_of_kind(find(each, known, purpose), kinds, purpose, wanted) for each in names)


def _of_kind(column: SourceColumn, kinds: tuple[Kind, ...], purpose: Message, wanted: Message) -> SourceColumn:
    if column.kind in kinds:
        return column
    raise InputError(
        "the column {name!r} has a type that {purpose} cannot be read from",
        value=column.type,
        allowed=wanted,
        name=column.name,
        purpose=purpose,
    )


def _listed(name: str, columns: Sequence[SourceColumn]) -> Message:
    names = ", ".join(repr(column.name) for column in columns)
    return Message(
        "{name} (from columns {names})" if len(columns) > 1 else "{name} (from column {names})", name=name, names=names
    )
