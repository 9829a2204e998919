"""A table summed over some of its attributes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.domain import CountTable, Domain
from sudare.errors import ParameterError, did_you_mean


def marginal(table: CountTable, *names: str) -> CountTable:
    """The table over the attributes ``names`` only, in that order, summed over all others.

    >>> from sudare.domain import Categories, Line
    >>> domain = Domain(place=Line(3), sex=Categories(["f", "m"]))
    >>> table = CountTable(domain, domain.index([0, 0, 2], [0, 1, 1]), [5, 6, 7])
    >>> marginal(table, "place").to_array().tolist()
    [11, 0, 7]
    """
    attributes = table.domain.attributes
    for name in names:
        if name not in attributes:
            hint = did_you_mean(name, attributes)
            raise ParameterError("there is no such attribute", value=name, allowed=attributes, hint=hint)
    if names == tuple(attributes):
        return table
    coordinates = table.domain.coordinates(table.index)
    domain = Domain(None, **{name: attributes[name] for name in names})
    index = domain.index(*(coordinates[table.domain.axes.index(axis)] for axis in domain.axes))
    ascending = np.argsort(index, kind="stable")
    index, count = index[ascending], table.count[ascending]
    first = np.flatnonzero(np.diff(index, prepend=-1))
    sums: NDArray[Any] = np.add.reduceat(count, first) if len(first) else count
    return CountTable(domain, index[first], sums, table.unit, private=table.private, bounded=True)
