"""What is refused before anything private is read, or because of a number that is public."""

from __future__ import annotations

from typing import Any

import numpy as np

from sudare.errors import InputError, Message, ParameterError
from sudare.noise import Source
from sudare.reweight.space import Codes, Space


def checked_public(space: Space, public: Codes) -> None:
    """At least two public rows, and no column that says nothing."""
    if len(public) < 2:
        raise InputError("the public data have too few rows", value=len(public), allowed="at least 2")
    for name, column in zip(space.names, public.T, strict=True):
        if np.all(column == column[0]):
            raise InputError(
                "a column of the public data is constant", value=name, hint="It cannot be weighted: leave it out."
            )


def checked_people(people: int) -> None:
    """At least two private records, where their number is public."""
    if people < 2:
        raise InputError(
            "there are too few private records",
            value=people,
            allowed="at least 2",
            hint="A mean over one record is that record.",
        )


def checked_source(seed: int | None, source: Source | None) -> Source:
    """The system's source, or a seeded one for experiments."""
    if seed is not None and source is not None:
        raise ParameterError("give a seed or a source, not both")
    if source is not None:
        return source
    return Source.system() if seed is None else Source.from_seed(seed)


def checked_number(number: Any, default: int) -> int:
    """A number of centres or knots."""
    if number is None:
        return default
    if type(number) is not int or number < 1:
        raise ParameterError("number is not a whole number from 1 on", value=number)
    return number


def one_of(value: Any, allowed: tuple[str, ...], what: str | Message) -> str:
    """One of the allowed words."""
    if value not in allowed:
        raise ParameterError("unknown {what}", value=value, allowed=allowed, what=what)
    return str(value)
