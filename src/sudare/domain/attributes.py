"""The kinds of attributes by name, for reading declarations back from JSON."""

from __future__ import annotations

from typing import Any

from sudare.domain.attribute import Attribute
from sudare.errors import DomainError, did_you_mean
from sudare.registry import ATTRIBUTES

_FILES = ("file", "mask", "within", "code_list")
"""Entries that may name a public file where an attribute is declared."""


def attribute_from_json(data: Any) -> Attribute:
    """The attribute that its ``to_json()`` described.

    A file is never opened: certificates and surveys are written by strangers, and what they name on this machine is
    none of their business. Recipes, which may name public files, build their attributes themselves.

    >>> attribute_from_json({"type": "categories", "values": ["f", "m"]})
    Categories(values=('f', 'm'))
    """
    if not isinstance(data, dict) or "type" not in data:
        raise DomainError("an attribute is not a JSON object with a type", value=type(data).__name__)
    name = str(data["type"])
    if name not in ATTRIBUTES:
        raise DomainError(
            "there is no such type of attribute",
            value=data["type"],
            allowed=ATTRIBUTES,
            hint=did_you_mean(name, ATTRIBUTES),
        )
    kind: type[Attribute] = ATTRIBUTES[name]
    arguments = {key: value for key, value in data.items() if key != "type"}
    if named := [key for key in _FILES if isinstance(arguments.get(key), str)]:
        raise DomainError("an attribute that is read back cannot name a file", value=named[0])
    try:
        return kind.from_json(arguments)
    except TypeError:
        raise DomainError("these entries do not make a {kind}", value=sorted(arguments), kind=name) from None
