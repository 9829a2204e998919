"""Noise per cell, then the nearest table that could be true: non-negative, with the total that was measured."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.arrays import Cells
from sudare.domain import Domain
from sudare.measure.simplex import round_to_total, simplex_level
from sudare.noise import SparseNoise, measure, secret
from sudare.noise.sparse import DENSE_LIMIT
from sudare.privacy import Budget
from sudare.tables.method import TOTAL_SHARE, Asked, MeasuredSums, Task


@dataclass(frozen=True)
class Simplex(MeasuredSums):
    """The projection onto the simplex, sparse and in integers.

    Sensitivity: the vector of counts and their total each move by at most max_rows in L1 when a unit comes or
    goes; the total takes 5 % of epsilon and the cells the rest, which compose to epsilon. With a public total
    all of epsilon goes to the cells. The projection and the rounding see only noisy values.
    """

    name = "simplex"

    @property
    def parameters(self) -> dict[str, Any]:
        """None."""
        return {}

    def protect(self, task: Task) -> Cells:
        """Integers >= 0 that add up to the noisy (or public) total; cells at 0 are not listed."""
        noisy, total = measure_cells_and_total(task)
        if total <= 0:
            empty = np.empty(0, dtype=np.int64)
            return empty, empty.copy()
        generator = np.random.default_rng(secret(task.source, "rounding"))
        index, value = active_cells(noisy, total)
        if not len(value):
            index, value = anywhere(task.table.domain, total, generator)
        rounded = round_to_total(value, total, generator)
        kept = rounded > 0
        return index[kept], rounded[kept]


def anywhere(domain: Domain, total: int, generator: np.random.Generator) -> Cells:
    """Some cells at random, for people of whom nothing is known but that they exist."""
    rank = generator.integers(0, domain.size, min(total, 2**16))
    index = np.unique(domain.cells(rank))
    return index, np.zeros(len(index), dtype=np.int64)


def measure_cells_and_total(task: Task) -> tuple[SparseNoise, int]:
    """All cells with noise, and the total: noisy from its own share of the budget, or public."""
    total, for_cells = measure_total(task)
    return measure(task.sparse(), task.sensitivity, for_cells, task.source, "cells"), total


def measure_total(task: Asked) -> tuple[int, Budget]:
    """The total, noisy from its own share of the budget or public, and what is left for the cells."""
    if task.public_total:
        return task.total, task.budget
    for_total, for_cells = task.budget.split([TOTAL_SHARE, 1 - TOTAL_SHARE])
    total = measure(np.array([task.total], dtype=np.int64), task.sensitivity, for_total, task.source, "total")
    return int(total[0]), for_cells


def active_cells(noisy: SparseNoise, total: int | Fraction) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The cells above the simplex threshold of the whole noisy vector, of which only the top is drawn.

    With fewer cells the threshold is lower, so the one found among the visible cells is a lower bound: looking
    down to it shows every cell that can be active, and a second search among these is final.

    Where the total is above the sum of all positive cells, every cell of the domain is active by a fraction of a
    person. In a domain too large to be listed, the cells above 0 take those people instead; there may be none.
    """
    level = noisy.level_for(math.ceil(total))
    while True:
        lowest = level <= 0 and noisy.size > DENSE_LIMIT
        index, value = noisy.above(0 if lowest else level)
        # While few cells are visible the bound lies far too low, and going there would list a domain of any size.
        lowered = level - 1 - level // 8 if level > 0 else 2 * level - 1
        threshold = simplex_level(value, total) if len(value) else lowered
        if threshold >= level or lowest or len(value) == noisy.size:
            active = value > threshold
            return index[active], value[active]
        level = max(threshold, lowered) if level > 0 else threshold
