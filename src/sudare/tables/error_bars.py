"""Error bars without the truth: how far any sum of a released table may be off, from public things alone.

For raw noise the law of every sum is known and used, widened where a value may have been selected because it is large.
For all other methods, plausible true tables are drawn from the released one (`sudare.tables.plausible`), these
replicates are released again by the same method and budget with seeded noise, and their errors are learned by block
level and released value (`sudare.tables.strata`). All of it is post-processing of the released table: the same table
has the same bars.
"""

from __future__ import annotations

import contextvars
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.arrays import Floats, Integers, Numbers
from sudare.domain import CountTable, Domain
from sudare.errors import ParameterError
from sudare.measure.comparison import ColumnArrays
from sudare.measure.simplex import round_to_total, simplex_level
from sudare.noise import Added, AddedGaussian, Source
from sudare.noise.discrete import added
from sudare.parallel import each
from sudare.privacy import Budget, Unit
from sudare.tables import gaussian_sum, laplace_sum
from sudare.tables.areas import Areas, CellSet
from sudare.tables.kind_totals import KindErrors
from sudare.tables.laplace import Laplace
from sudare.tables.method import Method, Task
from sudare.tables.places import by_codes, by_mapping
from sudare.tables.plausible import first_guess, redraw
from sudare.tables.privelet import Privelet
from sudare.tables.pyramid import Pyramid
from sudare.tables.smoothing import can_smooth
from sudare.tables.strata import Strata, student
from sudare.tables.tree import Tree

Bars = tuple[Floats, Floats, Floats]
"""Expected absolute error, low and high."""

ROUNDS = 2
"""How often plausible truths are redrawn from the releases of the last ones."""
MOST_REPLICATES, FEWEST_REPLICATES = 12, 4
_CELLS_IN_ALL = 1 << 20
"""Large tables have enough blocks to learn from in fewer replicates."""
RESERVE = 0.8
"""The share of the allowed miss rate that intervals use, since plausible truths are not the truth."""
_SEED = 20_210_903
_FLATTENING = {"simplex": 0.08, "negative_l2": 0.09, "nonnegative_lasso": 0.09, "laplace": 0.09}
"""Methods that treat every cell by itself lose people in thin areas entirely: no plausible truth restores all of them,
and the losses add up over an area. From 8 cells up, intervals are widened by this share for each doubling; less where
the whole table, or the area, is thick. Set on the tuning data of benchmarks/coverage.py."""
_THICK_TABLE, _THICK_AREA = 6.0, 60.0
"""Released people per cell, in scales of the noise, at which a table's, and an area's, own widening is halved."""
_LEAST_SHARE = 0.6
"""Of the widening, in the thickest table."""
_FLAT_UP_TO = 2
_PICKED = 0.02
"""The same for raw noise, for selected large values: the plausible truth that they are learned from is thinned too."""
_MOST_PICKED = 1 << 22
"""Cells up to which raw noise is drawn again everywhere; a larger table has the exact law alone."""


def replicates_of(cells: int) -> int:
    """How many plausible tables the bars of a table with so many populated cells are learned from."""
    return min(MOST_REPLICATES, max(FEWEST_REPLICATES, _CELLS_IN_ALL // max(1, cells)))


@dataclass(frozen=True)
class ErrorBars(ColumnArrays):
    """One entry per sum: its released value, the expected absolute error, and an interval for the truth."""

    value: Numbers
    expected_error: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True)
class BlockErrorBars(ColumnArrays):
    """One entry per block of 2**block_level neighbours that is not 0; ``elsewhere`` is what holds for all others."""

    block: Integers
    value: Numbers
    expected_error: Floats
    low: Floats
    high: Floats
    elsewhere: ErrorBars

    def _columns(self) -> dict[str, Any]:
        return {name: column for name, column in super()._columns().items() if name != "elsewhere"}


@dataclass(frozen=True)
class CodeErrorBars(ColumnArrays):
    """One entry per mesh code."""

    code: NDArray[Any]
    value: Numbers
    expected_error: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True)
class AreaErrorBars(ColumnArrays):
    """One entry per area of a mapping; an area named "" last, for the cells that it does not name."""

    area: NDArray[Any]
    value: Numbers
    expected_error: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True)
class ErrorModel:
    """What is known about the errors of one released table."""

    table: CountTable
    law: Added | None
    """Of raw noise, where that is all there is."""
    strata: Strata | None
    pairs: tuple[Pyramid, ...]
    widening: float = 1.0
    noise: float = 1.0
    kind_noise: float | None = None
    """The variance of the measured total of each category over all places, where there is one."""
    reserve: float = RESERVE
    """Of areas of any shape. A tree's need none: its plausible truths know which blocks were not split."""

    @cached_property
    def _kinds(self) -> KindErrors | None:
        return None if self.kind_noise is None or not len(self.table) else KindErrors.of(self.table, self.kind_noise)

    @classmethod
    def of(cls, table: CountTable, method: Method, budget: Budget, unit: Unit, public_total: bool) -> ErrorModel:
        """From the released table and public facts; costs about thirty releases, fewer for a large table."""
        law = added(Fraction(unit.max_rows), budget)
        # The scale of the Laplace noise that is as large.
        noise = float(law.scale) / (math.sqrt(2) if isinstance(law, AddedGaussian) else 1)
        release_again = _Again(table.domain, method, budget, unit, public_total)
        if isinstance(method, Laplace) and method.block_error(budget, unit.max_rows, 1) is not None:
            picked = release_again.picked(table) if table.domain.size <= _MOST_PICKED else None
            return cls(table, law, picked, (), 1 + _PICKED, noise)
        additive = isinstance(method, Privelet)
        earlier, pairs = release_again.empty() if additive else release_again.plausible(table)
        strata = Strata.learn(pairs, table.domain, additive)
        thick = float(table.total) / table.domain.size / noise
        share = _LEAST_SHARE + (1 - _LEAST_SHARE) / (1 + (thick / _THICK_TABLE) ** 2)
        widening = 1 + share * _FLATTENING.get(method.name, 0.0)
        kind_noise = method.margin_variance(table.domain, budget, unit.max_rows) if isinstance(method, Tree) else None
        reserve = 1.0 if isinstance(method, Tree) else RESERVE
        return cls(table, None, strata, (*earlier, *pairs), widening, noise, kind_noise, reserve)

    def at_level(self, level: Any, coverage: float) -> BlockErrorBars:
        """All blocks of 2**level cells at once."""
        bits = self.table.domain.bits
        if type(level) is not int or not 0 <= level <= bits:
            raise ParameterError("there is no such block level", value=level, allowed="0 to {bits}", bits=bits)
        block, value = self.table.block_sums(level)
        block, value = block[value != 0], value[value != 0]
        nothing = np.zeros(1, dtype=value.dtype)
        elsewhere = ErrorBars(nothing, *self._blocks(None, level, nothing, coverage))
        return BlockErrorBars(block, value, *self._blocks(block, level, value, coverage), elsewhere)

    def of_cells(self, cells: Any, coverage: float) -> ErrorBars:
        """The sum over one set of cells."""
        return ErrorBars(*self._areas(CellSet.of(self.table.domain, cells), coverage))

    def of_codes(self, codes: Any, coverage: float) -> CodeErrorBars:
        """Sums over mesh codes and everything in other attributes."""
        areas = by_codes(self.table.domain, codes)
        return CodeErrorBars(areas.names, *self._areas(areas, coverage))

    def of_mapping(self, mapping: Any, coverage: float) -> AreaErrorBars:
        """Sums over the areas of a mapping."""
        areas = by_mapping(self.table.domain, mapping)
        return AreaErrorBars(areas.names, *self._areas(areas, coverage))

    def _blocks(self, block: Integers | None, level: int, value: Numbers, coverage: float) -> Bars:
        """Blocks of 2**level cells with these released values; whole ones if they are not named."""
        if self.law is not None:
            whole = np.array([min(1 << level, self.table.domain.size)])
            cells = whole if block is None else self.table.domain.block_sizes(block, level)
            if self.strata is None:
                return self._raw(cells, value, coverage)
            missed = RESERVE * (1 - coverage)
            return self._picked(self._raw(cells, value, 1 - missed), self.strata, level, value, missed)
        assert self.strata is not None  # noqa: S101 - there is no law
        strata, own = self.strata.of(level, value)
        missed = RESERVE * (1 - coverage)
        low = np.array([stratum.below(missed / 2) for stratum in strata])
        high = np.array([stratum.above(missed / 2) for stratum in strata])
        wider = self._wider(level, value)
        margin = (wider - 1) * (high - low)[own] / 2
        low, high = value + low[own] - margin, high[own] + margin
        if not self._signed:
            # What reaches down to 0 misses nothing below: that share, or half of it, is left out above instead.
            share = 0.75 if self.widening == 1 else 1.0
            one_sided = np.array([stratum.above(share * missed) for stratum in strata])[own] + margin
            high = np.where((value > 0) & (low <= 0), one_sided, high)
            low = np.where(value == 0, 0.0, low)
        expected = wider * np.array([stratum.expected for stratum in strata])[own]
        return expected, *self._within(low, value + high)

    def _areas(self, areas: Areas, coverage: float) -> tuple[Numbers, Floats, Floats, Floats]:
        """Values and bars of areas of any shape; those that are a block are treated as such."""
        domain = self.table.domain
        value = areas.sums(domain, self.table.index, self.table.count)
        if self.law is not None:
            return value, *self._raw(areas.sizes, value, coverage)
        errors = np.array([areas.sums(domain, pair.index, pair.columns[0] - pair.columns[1]) for pair in self.pairs])
        least = np.zeros(len(value)) if self._kinds is None else self._kinds.variance(areas, len(self.pairs))
        expected, low, high = self._shaped(errors.astype(np.float64), areas.sizes, value, coverage, least)
        block, level, whole = areas.blocks(domain)
        for number in np.unique(level[whole]).tolist():
            here = np.flatnonzero(whole & (level == number))
            expected[here], low[here], high[here] = self._blocks(block[here], number, value[here], coverage)
        return value, expected, low, high

    def _shaped(self, errors: Floats, sizes: Integers, value: Numbers, coverage: float, least: Floats) -> Bars:
        """Each area's own errors over the replicates (r, areas), which vary at least as those of blocks of its size.

        And at least as ``least`` (areas,) says.
        """
        assert self.strata is not None  # noqa: S101 - asked only where there are strata
        level = np.minimum(np.ceil(np.log2(np.maximum(sizes, 1))).astype(np.int64), self.table.domain.bits)
        usual = least.copy()
        for number in np.unique(level).tolist():
            strata, own = self.strata.of(number, value[level == number])
            blocks = np.array([stratum.variance for stratum in strata])[own]
            usual[level == number] = np.maximum(blocks, least[level == number])
        replicates = len(errors)
        mean = errors.mean(axis=0)
        spread = np.sqrt(np.maximum(errors.var(axis=0, ddof=1) * (1 + 1 / replicates), usual))
        spread = spread * self._wider(level, value)
        width = student(1 - self.reserve * (1 - coverage) / 2, replicates - 1) * spread
        expected = np.sqrt(2 / np.pi) * np.sqrt(spread**2 + mean**2)
        # Plausible truths know roughly what a method does to an area: from no shift to theirs, all is possible.
        low, high = np.minimum(mean, 0) - width, np.maximum(mean, 0) + width
        return expected, *self._within(value + low, value + high)

    def _wider(self, level: Integers | int, value: Numbers) -> Floats:
        """By which factor intervals of areas of about 2**level cells grow: see `_FLATTENING`."""
        thick = np.maximum(value, 0) / np.exp2(level) / self.noise
        doublings = np.maximum(0, np.asarray(level) - _FLAT_UP_TO)
        return np.asarray(1 + (self.widening**doublings - 1) / (1 + thick / _THICK_AREA))

    def _raw(self, cells: Integers, value: Numbers, coverage: float) -> Bars:
        assert self.law is not None  # noqa: S101 - asked only of raw noise
        number, own = np.unique(cells, return_inverse=True)
        width = np.array([_reach(int(k), self.law, coverage) if k else 0.0 for k in number])[own]
        expected = np.array([_expected_size(int(k), self.law) if k else 0.0 for k in number])[own]
        return expected, value - width, value + width

    def _picked(self, bars: Bars, learned: Strata, level: int, value: Numbers, missed: float) -> Bars:
        """The exact law, and what holds for values picked because they are large: the hull of both."""
        expected, low, high = bars
        strata, own = learned.of(level, value)
        below = value + np.array([stratum.below(missed / 2) for stratum in strata])[own]
        above = value + np.array([stratum.above(missed / 2) for stratum in strata])[own]
        margin = (self._wider(level, value) - 1) * (above - below) / 2
        below, above, large = below - margin, above + margin, value > 0
        return expected, np.where(large, np.minimum(low, below), low), np.where(large, np.maximum(high, above), high)

    @property
    def _signed(self) -> bool:
        """Whether the released table holds what no truth can be: fractions or negative numbers."""
        return self.table.count.dtype.kind == "f" or bool(len(self.table) and self.table.count.min() < 0)

    def _within(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """What a truth can be: whole numbers from 0 on, where the released table has such."""
        return (low, high) if self._signed else (np.maximum(np.rint(low), 0.0), np.maximum(np.rint(high), 0.0))


@dataclass(frozen=True)
class _Again:
    """Releases a table by the same method and budget, with noise from a fixed seed that protects nobody."""

    domain: Domain
    method: Method
    budget: Budget
    unit: Unit
    public_total: bool

    def plausible(self, table: CountTable) -> tuple[list[Pyramid], list[Pyramid]]:
        """Pairs of a plausible truth and what it is released as: those of the last round but one, and of the last."""
        count = np.rint(table.count).astype(np.int64)
        people = Pyramid(table.index[count > 0], count[None, count > 0])
        # One of its own for each table, so that they can be drawn side by side.
        generators = np.random.default_rng(_SEED).spawn(replicates_of(len(people.index)))
        least: Sequence[tuple[int, float]] = ()
        if isinstance(self.method, Tree) and can_smooth(self.domain):
            least = self.method.least_people(self.domain, self.budget, self.unit.max_rows, self.public_total)
        truths = first_guess(people, self.domain, generators, least)
        for number in range(ROUNDS):
            pairs = self._pairs(truths, number)
            truths = redraw(people, pairs, self.domain, generators)
        return pairs, self._pairs(truths, ROUNDS)

    def picked(self, table: CountTable) -> Strata:
        """How raw noise treats large values: a plausible truth is the simplex projection of the noisy table."""
        total = int(table.total)
        index, count = table.index[:0], table.count[:0].astype(np.int64)
        if total > 0:
            values = table.count.astype(np.int64, copy=False)
            active = values > simplex_level(values, total)
            index, count = table.index[active], round_to_total(values[active], total, np.random.default_rng(_SEED))
        truth = Pyramid(index[count > 0], count[None, count > 0])
        return Strata.learn(self._pairs([truth] * FEWEST_REPLICATES, 0), self.domain)

    def empty(self) -> tuple[list[Pyramid], list[Pyramid]]:
        """Pairs of nobody and the noise alone: enough where the error does not depend on the data."""
        nobody = Pyramid(np.empty(0, dtype=np.int64), np.empty((1, 0), dtype=np.int64))
        return self._pairs([nobody] * MOST_REPLICATES, 0), self._pairs([nobody] * MOST_REPLICATES, 1)

    def _pairs(self, truths: Sequence[Pyramid], batch: int) -> list[Pyramid]:
        def pair(number: int) -> Pyramid:
            table = CountTable(self.domain, truths[number].index, truths[number].columns[0], self.unit)
            source = Source.from_seed(_SEED + 1000 * batch + number)
            task = Task(table, self.budget, self.public_total, source)
            # A context of its own: a tape or a meter that watches the caller must not see these measurements.
            index, value = contextvars.Context().run(self.method.protect, task)
            return Pyramid.of(table, CountTable.released(self.domain, index, value))

        return each(pair, range(len(truths)))


def _reach(terms: int, law: Added, coverage: float) -> float:
    if isinstance(law, AddedGaussian):
        return gaussian_sum.reach(terms, law, coverage)
    return laplace_sum.reach(terms, float(law.scale), coverage)


def _expected_size(terms: int, law: Added) -> float:
    if isinstance(law, AddedGaussian):
        return gaussian_sum.expected_size(terms, law)
    return laplace_sum.expected_size(terms, float(law.scale))


def checked_coverage(level: Any) -> float:
    """The probability that an interval is to hold the truth with."""
    if isinstance(level, bool) or not isinstance(level, int | float) or not 0 < level < 1 or math.isnan(level):
        raise ParameterError("the level of an interval is not between 0 and 1", value=level, allowed="0 < level < 1")
    return float(level)
