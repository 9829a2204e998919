"""The kinds of attributes by name, for reading declarations back from JSON."""

from __future__ import annotations

from typing import Any

from sudare.domain.attribute import Attribute
from sudare.domain.bins import Bins
from sudare.domain.categories import Categories
from sudare.domain.grid import Grid, Line
from sudare.domain.mesh_attribute import Mesh
from sudare.errors import DomainError, did_you_mean

KINDS: dict[str, type[Attribute]] = {kind.kind: kind for kind in (Line, Grid, Categories, Bins, Mesh)}


def attribute_from_json(data: Any) -> Attribute:
    """The attribute that its ``to_json()`` described.

    >>> attribute_from_json({"type": "categories", "values": ["f", "m"]})
    Categories(values=('f', 'm'))
    """
    if not isinstance(data, dict) or "type" not in data:
        raise DomainError("an attribute is not a JSON object with a type", value=type(data).__name__)
    kind = KINDS.get(str(data["type"]))
    if kind is None:
        raise DomainError(
            "there is no such type of attribute",
            value=data["type"],
            allowed=KINDS,
            hint=did_you_mean(str(data["type"]), KINDS),
        )
    arguments = {name: value for name, value in data.items() if name != "type"}
    try:
        return kind.from_json(arguments)
    except TypeError:
        raise DomainError("these entries do not make a {kind}", value=sorted(arguments), kind=kind.kind) from None
