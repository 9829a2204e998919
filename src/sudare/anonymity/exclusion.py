"""Outputs that the paper's algorithm could not have stopped at: its section 3.2.

The probability of an output counts the samples with these class sizes. But where all classes with some node are large
enough to be divided among its children, a sample with the same sizes may allow to specialise further, and then the
algorithm does not end with this output. The paper sets such outputs aside in its proof, and ignores them in its
experiment. Here one sees how often they occur.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sudare.anonymity.hierarchy import Hierarchy
from sudare.arrays import Integers


def excluded(hierarchies: Sequence[Hierarchy], cells: Integers, sizes: Integers, k: int) -> bool:
    """Whether an output (``cells``: classes x attributes, ``sizes``: their records) is one the paper sets aside.

    That is when, for some node with c children, every class with that node has at least c k records.

    >>> work = Hierarchy.from_nested({"Government": ["State", "Local"], "Private": None})
    >>> government, private = np.array([[1], [4]])
    >>> cells = np.stack([government, private])
    >>> excluded([work], cells, np.array([19, 50]), k=10), excluded([work], cells, np.array([20, 50]), k=10)
    (False, True)
    """
    for place, tree in enumerate(hierarchies):
        for node in np.unique(cells[:, place]):
            children = len(tree.children(int(node)))
            if children and sizes[cells[:, place] == node].min() >= children * k:
                return True
    return False
