"""Tuning on the true table, as the papers do it. A publication must not: the choice gives the truth away."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


def tuned(loss: Callable[[float], float], low: float, high: float) -> float:
    """The strength of least loss between two positive bounds: doubling from ``low`` on, then closer around the best.

    >>> round(tuned(lambda strength: (strength - 0.05) ** 2, 0.001, 0.9), 3)
    0.054
    """
    coarse = low * 2.0 ** np.arange(np.floor(np.log2(high / low)) + 1)
    best = min(coarse.tolist(), key=loss)
    fine = best * 2.0 ** np.linspace(-0.75, 0.75, 7)
    return float(min(fine[fine <= high].tolist(), key=loss))
