"""One number for a whole table."""

from __future__ import annotations

import numpy as np

from sudare.domain import CountTable
from sudare.measure.pairs import pair


def l1_accuracy(truth: CountTable, released: CountTable) -> float:
    """1 - |truth - released|_1 / (2 total): 1 if equal, 0 if every person is counted in a wrong cell.

    It is below 0 when the released total is far too large, and NaN when nobody is in the true table.

    >>> from sudare.domain import CountTable
    >>> l1_accuracy(CountTable.from_array([3, 1]), CountTable.from_array([2, 2]))
    0.75
    """
    both = pair(truth, released)
    total = float(both.truth.sum())
    return 1 - float(np.abs(both.error).sum()) / (2 * total) if total > 0 else float("nan")
