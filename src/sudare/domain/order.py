"""The order of a domain's attributes from root to leaf."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from sudare.domain.attribute import Attribute
from sudare.errors import DomainError, did_you_mean

Groups: TypeAlias = tuple[tuple[str, ...], ...]
"""Names root to leaf; the axes of one group interleave."""


def default_groups(attributes: Mapping[str, Attribute]) -> Groups:
    """All spatial attributes as one group, then every other one by itself, in declared order."""
    spatial = tuple(name for name, attribute in attributes.items() if attribute.spatial)
    others = tuple((name,) for name, attribute in attributes.items() if not attribute.spatial)
    return ((spatial,) if spatial else ()) + others


def groups_of(order: Any, attributes: Mapping[str, Attribute]) -> Groups:
    """The groups that ``order`` lists: names or tuples of names, each attribute once.

    >>> from sudare.domain import Line
    >>> groups_of(["sex", ("age", "cell")], {"cell": Line(4), "sex": Line(2), "age": Line(3)})
    (('sex',), ('age', 'cell'))
    """
    if order is None:
        return default_groups(attributes)
    if isinstance(order, str) or not isinstance(order, list | tuple):
        raise DomainError(
            "the order is not a list of names",
            value=order if isinstance(order, str) else type(order).__name__,
            hint='Write order=["sex", ("row", "column")] and give attributes by name.',
        )
    groups = tuple((item,) if isinstance(item, str) else _group(item) for item in order)
    seen: set[str] = set()
    for name in (name for group in groups for name in group):
        if name not in attributes:
            raise DomainError(
                "the order names an attribute that does not exist",
                value=name,
                allowed=attributes,
                hint=did_you_mean(str(name), attributes),
            )
        if name in seen:
            raise DomainError("the order names an attribute twice", value=name)
        seen.add(name)
    missing = [name for name in attributes if name not in seen]
    if missing:
        raise DomainError("the order leaves attributes out", value=missing, allowed="every attribute once")
    return groups


def _group(item: Any) -> tuple[str, ...]:
    if not isinstance(item, list | tuple) or not item or not all(isinstance(name, str) for name in item):
        raise DomainError("an item of the order is not a name or a tuple of names", value=item)
    return tuple(item)
