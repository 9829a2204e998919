"""The kinds of attributes by name, for reading declarations back from JSON."""

from __future__ import annotations

from typing import Any

from sudare.domain.attribute import Attribute
from sudare.errors import DomainError, did_you_mean
from sudare.registry import ATTRIBUTES


def attribute_from_json(data: Any) -> Attribute:
    """The attribute that its ``to_json()`` described.

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
    try:
        return kind.from_json(arguments)
    except TypeError:
        raise DomainError("these entries do not make a {kind}", value=sorted(arguments), kind=name) from None
