"""Cells above a threshold, fitted to a total: what negative l2, the non-negative lasso and clipped noise share."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from sudare.arrays import Cells, Integers
from sudare.errors import Message, ParameterError, either
from sudare.measure.simplex import round_real_to_total, round_to_total, simplex_level
from sudare.noise import Added, SparseNoise, secret
from sudare.noise.discrete import added
from sudare.noise.sparse import DENSE_LIMIT
from sudare.privacy import Number, exact
from sudare.tables.method import TOTAL_SHARE, Asked, MeasuredSums, Task
from sudare.tables.simplex import active_cells, anywhere, measure_cells_and_total
from sudare.tables.strength import FITS, Automatic, Strength


@dataclass(frozen=True)
class Thresholded(MeasuredSums, ABC):
    """What methods with a strength share: cells above a threshold, fitted to the total."""

    strength: Number | Strength = "auto"
    fit: str = "scale"

    below: ClassVar[int | None] = None
    """What a strength that is a number must stay under."""

    def __post_init__(self) -> None:
        read_strength(self.strength, self.below)
        if self.fit not in FITS:
            raise ParameterError("unknown way to restore the total", value=self.fit, allowed=either(map(repr, FITS)))

    @property
    def parameters(self) -> dict[str, Any]:
        """The declared parameters."""
        plain = self.strength if isinstance(self.strength, str | int | float) else str(self.strength)
        return {"strength": plain, "fit": self.fit}

    def protect(self, task: Task) -> Cells:
        """Integers > 0 that add up to the noisy (or public) total; cells at 0 are not listed."""
        return protect_above(task, self.threshold, self.fit)

    @abstractmethod
    def threshold(self, noisy: SparseNoise, total: int, scale: Fraction) -> Fraction:
        """From the noisy table, the total and the noise's scale."""


def noise_scale(task: Asked) -> Fraction:
    """The scale of the noise that `measure_cells_and_total` adds to the cells; Gaussian, its standard deviation."""
    return noise_law(task).scale


def noise_law(task: Asked) -> Added:
    """The noise that `measure_cells_and_total` adds to the cells."""
    share = Fraction(1) if task.public_total else 1 - TOTAL_SHARE
    return added(Fraction(task.sensitivity), task.budget.times(share))


def protect_above(task: Task, choose: Callable[[SparseNoise, int, Fraction], Fraction], fit: str) -> Cells:
    """Measure, choose a threshold from the noisy table, the total and the noise's scale, and fit what is above.

    Integers > 0 that add up to the noisy (or public) total, none where that is not positive. Where no cell is above
    the threshold, the largest noisy ones share the total.
    """
    noisy, total = measure_cells_and_total(task)
    if total <= 0:
        empty = np.empty(0, dtype=np.int64)
        return empty, empty.copy()
    generator = np.random.default_rng(secret(task.source, "rounding"))
    large = noisy.size > DENSE_LIMIT  # too large to be listed: see `active_cells`
    if large and not len(active_cells(noisy, total)[0]):
        index, value = anywhere(task.table.domain, total, generator)
        return index, round_to_total(value, total, generator)
    threshold = choose(noisy, total, noise_scale(task))
    if large:
        threshold = max(threshold, Fraction(0))
    index, value = noisy.above(math.floor(threshold))
    if not len(value):
        # Whole numbers whose excess over a threshold adds up to one half: only the largest.
        index, value = active_cells(noisy, Fraction(1, 2))
        fit = "shift"
    fitted = fit_to_total(value, total, threshold, fit, generator)
    kept = fitted > 0
    return index[kept], fitted[kept]


def fit_to_total(
    value: Integers, total: int, threshold: Fraction, fit: str, generator: np.random.Generator
) -> Integers:
    """Integers >= 0 (k,) with sum ``total`` > 0, from the noisy values (k,) above a threshold.

    "scale": (value - threshold) times one factor. "shift": one number is added to each, or subtracted from each that
    stays above 0, which is the simplex projection of these cells.

    >>> fit_to_total(np.array([5, 9]), 20, Fraction(3), "scale", np.random.default_rng(1)).tolist()
    [5, 15]
    >>> fit_to_total(np.array([5, 9]), 20, Fraction(3), "shift", np.random.default_rng(1)).tolist()
    [8, 12]
    """
    excess = int(value.sum()) - len(value) * threshold
    if fit == "scale" and excess != total:
        whole = math.floor(threshold)
        above = (value - whole).astype(np.float64)
        above -= float(threshold - whole)
        above *= float(total / excess)
        return round_real_to_total(above, total, generator)
    active = value > simplex_level(value, total)
    fitted = np.zeros_like(value)
    fitted[active] = round_to_total(value[active], total, generator)
    return fitted


def read_strength(strength: Number | Strength, below: int | None = None) -> Fraction | Strength:
    """A declared strength: an exact number from 0 on (and under ``below``), or what chooses a threshold."""
    if isinstance(strength, str) and strength == "auto":
        return Automatic()
    if isinstance(strength, Strength):
        return strength
    number = exact(strength, "strength")
    if number < 0 or (below is not None and number >= below):
        raise ParameterError(
            "strength is out of range",
            value=strength,
            allowed='from 0 on{under}, or "auto"',
            hint="Or a strength that chooses by itself: from_reference(table), target_sparsity(share).",
            under="" if below is None else Message(" and under {below}", below=below),
        )
    return number
