"""What is refused before anything private is read, or because of a number that is public.

The public data of a fit are not its private ones: every public row is published, with a weight.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.errors import InputError, Message, ParameterError
from sudare.noise import Source
from sudare.reweight.rows import columns_of
from sudare.reweight.space import Codes, Space

if TYPE_CHECKING:
    from sudare.engines import Records


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


def guarded(private: Any, public: Any, space: Space, unit: Any, seeded: bool, confirmed: bool) -> Any:
    """``private``, after it was held against ``public``; parts are looked at one by one as they are read.

    A ``seeded`` result promises nothing, so that only the same object or file is refused.
    """
    from sudare.engines import refuse_same_file, refuse_shared_rows  # arrays alone need no engine

    refuse_same_file(private, public, "public")
    if seeded:
        return private
    if isinstance(private, Iterator):
        return (guarded(part, public, space, unit, seeded, confirmed) for part in private)
    column = unit if isinstance(unit, str) else None
    own, other = records_of(private, space, Message("private"), column), records_of(public, space, Message("public"))
    refuse_shared_rows(own, other, "public", unit=column, used=space.names, confirmed=confirmed)
    return private


def records_of(data: Any, space: Space, who: Message, unit: str | None = None) -> Records:
    """All columns of ``data`` in the engine: arrays and dictionaries as a table, anything else as it is read."""
    import pyarrow

    from sudare.engines import Records, read

    if isinstance(data, Records):
        return data
    if not isinstance(data, Mapping | np.ndarray | list):
        return read(data)
    columns = columns_of(data, space, who, [unit] if unit else [])
    return read(pyarrow.table({str(name): _plain(column) for name, column in columns.items()}))


def _plain(column: Any) -> Any:
    """An array that Arrow takes: objects of several types as their text."""
    array = np.asarray(column)
    return [None if value is None else str(value) for value in array.tolist()] if array.dtype.kind == "O" else array
