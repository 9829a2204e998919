"""Rows that agree in every column: one number for each distinct row, found without sorting where that is cheaper."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.arrays import Integers

_LARGEST_KEY = 2**62
_SMALL_TABLE = 2**16


def group(columns: Sequence[NDArray[Any]], sizes: Sequence[int]) -> tuple[Integers, int]:
    """The group of each row, 0, 1, ... in the order of the rows' values, and how many groups there are.

    ``columns`` hold whole numbers from 0 on, each below its number in ``sizes``; there is at least one.

    >>> group([np.array([1, 0, 1]), np.array([2, 2, 2])], [2, 3])
    (array([1, 0, 1]), 2)
    """
    key, space = np.asarray(columns[0], dtype=np.int64), sizes[0]
    for column, size in zip(columns[1:], sizes[1:], strict=True):
        if space * size > _LARGEST_KEY:
            key, space = _ranked(key, space)
        key, space = key * size + column, space * size
    return _ranked(key, space)


def _ranked(key: Integers, space: int) -> tuple[Integers, int]:
    """The rank of each key among the distinct ones."""
    if space > max(_SMALL_TABLE, 4 * len(key)):
        distinct, inverse = np.unique(key, return_inverse=True)
        return inverse.astype(np.int64, copy=False), len(distinct)
    present = np.zeros(space, dtype=np.int64)
    present[key] = 1
    rank = np.cumsum(present)
    return rank[key] - 1, int(rank[-1]) if space else 0


def totals(group_of: Integers, groups: int, counts: Integers) -> Integers:
    """Records of each group; exact below 2**53."""
    return np.bincount(group_of, weights=counts, minlength=groups).astype(np.int64)


def first_rows(group_of: Integers, groups: int) -> Integers:
    """A row of each group."""
    first = np.empty(groups, dtype=np.int64)
    first[group_of] = np.arange(len(group_of))
    return first
