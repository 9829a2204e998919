"""The normalized certainty penalty: how much a generalised value says less than the value itself.

Of a cell that covers m of an attribute's M leaves it is m/M, and 0 for a single leaf (Xu et al. 2006). The NCP of a
record is the sum over its attributes; of a table, the mean over records and attributes, between 0 and 1, where a
suppressed record counts 1 in every attribute. The paper's formula has no exception for a single leaf, which then
costs 1/M: ``single_leaf="share"``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sudare.anonymity.hierarchy import Hierarchy
from sudare.arrays import Floats, Integers
from sudare.errors import ParameterError, either

SINGLE_LEAF = ("zero", "share")


def penalty(hierarchy: Hierarchy, cells: Integers, single_leaf: str = "zero") -> Floats:
    """The penalty of each cell of an attribute.

    >>> penalty(Hierarchy.from_nested({"Government": ["State", "Local"], "Private": None}), np.array([0, 1, 2]))
    array([1.        , 0.66666667, 0.        ])
    """
    if single_leaf not in SINGLE_LEAF:
        raise ParameterError("no way to count a single leaf", value=single_leaf, allowed=either(SINGLE_LEAF))
    low, high = hierarchy.spans(cells)
    share = (high - low) / len(hierarchy.leaves)
    return np.where((high - low == 1) & (single_leaf == "zero"), 0.0, share)


def record_penalty(hierarchies: Sequence[Hierarchy], cells: Integers, single_leaf: str = "zero") -> Floats:
    """The NCP of each row of ``cells`` (rows x attributes): the sum over its attributes."""
    parts = [penalty(tree, cells[:, place], single_leaf) for place, tree in enumerate(hierarchies)]
    return np.asarray(np.sum(parts, axis=0))
