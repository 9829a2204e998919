"""The first paper's own way: float noise in every cell, a sort, a clip. For comparison only.

Laplace noise of floats has no guarantee (its last bits show the count), and a dense vector has no place for a large
domain; `sudare.tables` makes the same estimates sparsely, with exact noise in whole numbers.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sudare.arrays import Floats
from sudare.domain import CountTable
from sudare.estimate.simplex import round_real_to_total

Estimator = Callable[[Floats, int, float], Floats]
"""Noisy cells (n,), the total and a strength -> the estimate (n,)."""


def simplex(noisy: Floats, total: int, strength: float = 0.0) -> Floats:  # noqa: ARG001 - an Estimator
    """The nearest point of {b >= 0, sum b = total}, by equations (8) to (10).

    >>> simplex(np.array([10.0, 4.0, 1.0]), 9).tolist()
    [7.5, 1.5, 0.0]
    """
    ordered = np.sort(noisy)[::-1]
    thresholds = (np.cumsum(ordered) - total) / np.arange(1, len(ordered) + 1)
    return np.asarray(np.maximum(noisy - thresholds[np.flatnonzero(ordered > thresholds)[-1]], 0.0))


def negative_l2(noisy: Floats, total: int, strength: float) -> Floats:
    """Equation (14), with gamma = 1 - strength."""
    return simplex(noisy / (1 - strength), total)


def nonnegative_lasso(noisy: Floats, total: int, strength: float) -> Floats:
    """Equation (5) in closed form, scaled to the total; with strength 0 it is the paper's LM."""
    above = np.maximum(noisy - strength / 2, 0.0)
    return np.asarray(above * (total / above.sum()))


def float_release(table: CountTable, estimator: Estimator, strength: float, epsilon: float, seed: int) -> CountTable:
    """Noise of scale 1/epsilon in every cell, the estimate, and the nearest whole numbers.

    The domain's cells are its first indices: a grid whose sides are powers of two, or a line.
    """
    generator = np.random.default_rng(seed)
    noisy = generator.laplace(0.0, 1 / epsilon, table.domain.size)
    noisy[table.index] += table.count
    total = int(table.total)
    rounded = round_real_to_total(estimator(noisy, total, strength), total, generator)
    stored = np.flatnonzero(rounded)
    return CountTable.released(table.domain, stored, rounded[stored])
