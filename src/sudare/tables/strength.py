"""How strongly noisy cells are thinned out: a threshold chosen without the true table.

Matsumoto et al. tune their strength on the true table, which gives away what it protects. A `Strength` chooses from
noisy values and public data alone, so it is post-processing: `Automatic` by an unbiased estimate of the error,
`from_reference` on a public table, `target_sparsity` by the share of cells that remain. All choose a threshold. What
carries over from one table to another is its distance from the threshold of the simplex projection, in scales of the
noise: a lambda that is right for one size of counts is very wrong for another.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, runtime_checkable

import numpy as np

from sudare.arrays import Floats, Integers
from sudare.domain import CountTable
from sudare.errors import ParameterError
from sudare.noise import Source, SparseNoise
from sudare.noise.measurement import sparse_noise
from sudare.privacy import Budget, Number, exact
from sudare.tables.method import Task
from sudare.tables.risk import Visible, estimated_loss, gain_spread, true_loss
from sudare.tables.simplex import active_cells

FITS = ("scale", "shift")
_FINE = 64
"""Thresholds are searched in steps of 1/64 of the noise's scale, first every eighth of them."""

_ALIKE, _MANY = 0.9, 20
"""Equal cells, as a share and a number, from which on a reference is taken for the private table."""

_MARGIN = 3
"""Standard deviations by which a shifted fit must promise to be better than strength 0."""


@runtime_checkable
class Strength(Protocol):
    """Chooses the threshold; a researcher may write one outside the package."""

    def choose(self, visible: Visible) -> Fraction:
        """The threshold, at least ``visible.lowest``."""


def look(noisy: SparseNoise, total: int, scale: Fraction, fit: str) -> Visible:
    """What the simplex projection of a noisy table onto ``total`` > 0 keeps: all that any strength can keep."""
    index, value = active_cells(noisy, total)
    lowest = Fraction(int(value.sum()) - total, len(value))
    return Visible(index, value, math.floor(lowest), noisy.size, total, scale, lowest, fit, gaussian=noisy.gaussian)


@dataclass(frozen=True)
class Automatic:
    """The threshold with the least estimated error (see `sudare.tables.risk`), from the noisy table alone."""

    def choose(self, visible: Visible) -> Fraction:
        """Strength 0 exactly where nothing promises to be better."""
        step = visible.scale / _FINE
        low = float(visible.lowest - visible.level)
        steps = _least(lambda j: estimated_loss(visible, low + j * float(step)), _steps(visible))
        if visible.fit == "shift" and steps:
            # A cell enters with all its people at once, so this estimate is far noisier than the one for "scale",
            # and the least of many is often so by chance.
            high = low + steps * float(step)
            none, best = estimated_loss(visible, np.array([low, high]))
            if none - best < _MARGIN * gain_spread(visible, low, high):
                return visible.lowest
        return visible.lowest + steps * step

    def __str__(self) -> str:
        return "auto"


@dataclass(frozen=True, eq=False)
class Reference:
    """The rise above strength 0 that is best on a public table under seeded noise of the same scale."""

    table: CountTable
    repetitions: int = 5
    confirm_overlap: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.table, CountTable):
            raise ParameterError("the reference is not a CountTable", value=type(self.table).__name__)
        if self.table.count.dtype.kind != "i" or not len(self.table) or int(self.table.count.min()) < 0:
            raise ParameterError(
                "the reference is not a table of counts", allowed="whole numbers >= 0 with a total > 0"
            )
        if type(self.repetitions) is not int or self.repetitions < 1:
            raise ParameterError("repetitions is not a whole number from 1 on", value=self.repetitions)

    def refuse_private(self, table: CountTable) -> None:
        """Refuse the private table as its own reference; one that is nearly it, unless that is confirmed.

        Cells of two tables have equal counts by nature where these are small, but not nine of ten of all that are
        populated in either. The result is not published: the call is refused, or nothing changes.
        """
        if self.table.domain.size != table.domain.size or not len(table):
            return
        index = np.union1d(self.table.index, table.index)
        own, other = _counts_at(table, index), _counts_at(self.table, index)
        cells, equal = int(np.count_nonzero(own | other)), int(np.count_nonzero((own == other) & (own > 0)))
        if cells and equal == cells:
            raise ParameterError(
                "the private table is given as the reference",
                hint="Give a public table: what is tuned on the private one is not protected.",
            )
        if equal >= _MANY and equal > _ALIKE * cells and self.confirm_overlap is not True:
            raise ParameterError(
                "the reference has the counts of the private table in more than nine of ten populated cells",
                hint="This is for the steward alone. If these counts are public, confirm it: confirm_overlap=True.",
            )

    def choose(self, visible: Visible) -> Fraction:
        """As far above strength 0 as is best on the reference."""
        total, budget = int(self.table.total), Budget(epsilon=1 / visible.scale)
        runs: list[tuple[Visible, Integers]] = []
        for seed in range(self.repetitions):
            source = Source.from_seed(seed)
            noisy = sparse_noise(Task(self.table, budget, True, source).sparse(), visible.law, source)
            seen = look(noisy, total, visible.scale, visible.fit)
            runs.append((seen, _counts_at(self.table, seen.index)))
        step = visible.scale / _FINE

        def loss(j: Floats) -> Floats:
            lows = [float(seen.lowest - seen.level) for seen, _ in runs]
            losses = [true_loss(*run, low + j * float(step)) for run, low in zip(runs, lows, strict=True)]
            return np.asarray(np.sum(losses, axis=0))

        return visible.lowest + _least(loss, _steps(runs[0][0])) * step

    def __str__(self) -> str:
        return f"from a public reference of {self.table.domain.describe()}"


@dataclass(frozen=True)
class TargetSparsity:
    """The threshold that leaves a ``share`` of all cells above 0, as nearly as whole noisy counts allow."""

    share: Fraction

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1:
            raise ParameterError("the share of non-zero cells is out of range", value=self.share, allowed="0 to 1")

    def choose(self, visible: Visible) -> Fraction:
        """No more cells than strength 0 leaves, and at least one."""
        step, times = visible.distinct()
        value = step + visible.level
        above = np.append(np.cumsum(times[::-1])[::-1], 0)
        # At strength 0 the lowest cells hold less than one person, and only that part of them is rounded up.
        at_lowest = float(above[0]) - float(visible.lowest - visible.level) * (value[0] == visible.level + 1) * times[0]
        remaining = np.concatenate([[at_lowest], above[1:-1]])
        best = int(np.argmin(np.abs(remaining - float(self.share * visible.size))))
        return visible.lowest if best == 0 else max(Fraction(int(value[best - 1])), visible.lowest)

    def __str__(self) -> str:
        return f"{float(self.share):.6g} of all cells above 0"


def from_reference(table: CountTable, repetitions: int = 5, *, confirm_overlap: bool = False) -> Reference:
    """A strength tuned on a public table like the private one: the last census, say, over the same domain.

    It is released ``repetitions`` times with seeded noise of the same scale, and the strength with the least true
    error is taken. ``table`` is used without protection: it must be public. A release refuses its own table as
    the reference; one that is nearly it needs ``confirm_overlap=True``.

    >>> import sudare as sd
    >>> last_census = sd.CountTable.from_array([0, 0, 90, 0, 120, 0, 0, 30])
    >>> str(from_reference(last_census))
    'from a public reference of cell: line of 8 (8 cells, 3 bits)'
    """
    return Reference(table, repetitions, confirm_overlap)


def target_sparsity(share: Number) -> TargetSparsity:
    """A strength that leaves about ``share`` of all cells above 0, never more than strength 0 does.

    >>> target_sparsity(0.03)
    TargetSparsity(share=Fraction(3, 100))
    """
    return TargetSparsity(exact(share, "share"))


def _counts_at(table: CountTable, index: Integers) -> Integers:
    """The counts of cells by index; 0 where none is stored."""
    place = np.minimum(np.searchsorted(table.index, index), len(table) - 1)
    return np.where(table.index[place] == index, table.count[place], 0)


def _steps(visible: Visible) -> int:
    """How far it pays to look: past ln(cells) scales above the lowest threshold hardly any noise is left."""
    return math.ceil(_FINE * (math.log(visible.size) + 5))


def _least(loss: Callable[[Floats], Floats], steps: int) -> int:
    """The whole number from 0 to ``steps`` with the least loss: every eighth first, then around the best."""
    coarse = np.arange(0, steps + 1, 8, dtype=np.float64)
    best = int(coarse[np.argmin(loss(coarse))])
    fine = np.arange(max(best - 7, 0), best + 8, dtype=np.float64)
    return int(fine[np.argmin(loss(fine))])
