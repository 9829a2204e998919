"""The public data of a fit are not its private ones: every public row is published, with a weight."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.errors import Message
from sudare.reweight.rows import columns_of
from sudare.reweight.space import Space

if TYPE_CHECKING:
    from sudare.engines import Records


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
