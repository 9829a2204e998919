"""Cells above a threshold in a cluster: simplex, negative l2, non-negative lasso, clipped noise, and noise with a cut.

Workers hold the noisy cells (`noisy`), and no noise is drawn after that. From their histogram the driver finds the
threshold and what every value becomes; workers then fit and write their blocks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from sudare.arrays import Cells, Integers
from sudare.domain import Domain
from sudare.measure.simplex import round_to_total
from sudare.noise import AddedGaussian, Grant, delegate, secret
from sudare.noise.sparse import DENSE_LIMIT
from sudare.privacy import Budget
from sudare.spark.parts import PartFile, ReleaseTarget
from sudare.spark.store import CellStore, Jobs, answers_by_node, in_parts, slices
from sudare.tables import Laplace, NegativeL2, NonnegativeLasso, Simplex
from sudare.tables.method import Asked
from sudare.tables.nonnegative_lasso import require_few_cells
from sudare.tables.risk import Visible
from sudare.tables.simplex import anywhere, measure_total
from sudare.tables.spark_histogram import FittedValues, ValueCounts, chosen_by_group, fit_by_scale, fit_to_simplex
from sudare.tables.spark_noisy import LogicalBlocks, NoisyCells, NoisyTable
from sudare.tables.spark_task import Cut, InCluster, in_cluster
from sudare.tables.strength import Strength
from sudare.tables.threshold import read_strength

if TYPE_CHECKING:
    import pyarrow as pa

Choose: TypeAlias = Callable[[NoisyTable, int], Fraction]
"""The threshold, from the noisy table and the total."""
Choice: TypeAlias = Callable[[Asked], tuple[Choose, str]]
"""How a method finds its threshold, and how it restores the total ("scale" or "shift")."""


@in_cluster.register
def _(method: Simplex) -> InCluster:  # noqa: ARG001 - it has no parameters
    return partial(release_above, lambda _: (_simplex_threshold(Fraction(0)), "shift"))


@in_cluster.register
def _(method: NegativeL2) -> InCluster:
    strength = read_strength(method.strength, below=1)
    choose = _simplex_threshold(strength) if isinstance(strength, Fraction) else _chosen(strength, method.fit)
    return partial(release_above, lambda _: (choose, method.fit))


@in_cluster.register
def _(method: NonnegativeLasso) -> InCluster:
    strength = read_strength(method.strength)
    if isinstance(strength, Fraction):
        return partial(release_above, _fixed(strength / 2, method.fit))
    choose = _chosen(strength, method.fit, Fraction(0))
    return partial(release_above, lambda _: (choose, method.fit))


@in_cluster.register
def _(method: Laplace) -> InCluster | None:
    if method.cut is not None:
        return partial(_cut_noise, method.cut)
    return partial(release_above, _fixed(Fraction(0), "scale")) if method.clip else None


def _fixed(threshold: Fraction, fit: str) -> Choice:
    def choice(task: Asked) -> tuple[Choose, str]:
        require_few_cells(task, threshold)
        return lambda *_: threshold, fit

    return choice


def release_above(
    choice: Choice, task: Asked, store: CellStore, cut: Cut, output: ReleaseTarget
) -> tuple[PartFile, ...]:
    """The law of a method in one process: see `sudare.tables.threshold.protect_above`."""
    choose, fit = choice(task)
    total, budget = measure_total(task)
    noisy = _noisy(task, budget, store, cut)
    rounding = task.source.grant("rounding of blocks")
    generator = np.random.default_rng(secret(task.source, "rounding"))
    level = noisy.blocks.level
    if total <= 0:
        nobody = Jobs(level, _NONE, _NONE)
        return output.write(store, nobody, FitBlocks(level, _NOTHING, rounding))
    large = noisy.size > DENSE_LIMIT
    threshold = choose(noisy, total)
    if large:
        threshold = max(threshold, Fraction(0))
    active = noisy.above(math.floor(threshold))
    if not active.cells:
        # Whole numbers whose excess over a threshold adds up to one half: only the largest.
        active, fit = noisy.active(Fraction(1, 2)), "shift"
    if not active.cells:
        return _anywhere(task.domain, total, output, store, generator)
    return _write_fitted(noisy, _fitted(active, total, threshold, fit), cut, output, rounding, generator)


def _noisy(task: Asked, budget: Budget, store: CellStore, cut: Cut) -> NoisyTable:
    """All cells, to be measured for ``budget``."""
    delegate("cells in blocks", budget)
    blocks = LogicalBlocks.of(task.domain, cut)
    return NoisyTable(NoisyCells(blocks, budget, task.sensitivity, task.source.grant("cells")), store)


def _simplex_threshold(strength: Fraction) -> Choose:
    """The threshold over which the excess is the share 1 - ``strength`` of the total."""

    def choose(noisy: NoisyTable, total: int) -> Fraction:
        excess = (1 - strength) * total
        active = noisy.active(excess)
        return Fraction(active.sum - excess) / active.cells if active.cells else Fraction(0)

    return choose


def _chosen(strength: Strength, fit: str, least: Fraction | None = None) -> Choose:
    """A threshold chosen from noisy values, at least ``least``: as `sudare.tables.strength.look` shows them."""

    def choose(noisy: NoisyTable, total: int) -> Fraction:
        seen = noisy.active(total)
        if not seen.cells:
            return Fraction(0)
        lowest = Fraction(seen.sum - total, seen.cells)
        level = math.floor(lowest)
        law = noisy.law
        visible = Visible(
            _NONE,
            seen.value,
            level,
            noisy.size,
            total,
            law.scale,
            lowest,
            fit,
            seen.times,
            gaussian=isinstance(law, AddedGaussian),
        )
        return strength.choose(visible if least is None else replace(visible, lowest=max(lowest, least)))

    return choose


def _fitted(active: ValueCounts, total: int, threshold: Fraction, fit: str) -> FittedValues:
    """What the cells above the threshold become: as in `sudare.tables.threshold.fit_to_total`."""
    excess = active.sum - active.cells * threshold
    if fit == "scale" and excess != total:
        return fit_by_scale(active, total, threshold)
    return fit_to_simplex(active, total)


def _write_fitted(
    noisy: NoisyTable,
    fitted: FittedValues,
    cut: Cut,
    output: ReleaseTarget,
    rounding: Grant,
    generator: np.random.Generator,
) -> tuple[PartFile, ...]:
    """Share out by blocks what is left over, then have the workers fit and write them."""
    blocks = noisy.blocks
    counted = answers_by_node(noisy.cells.each(blocks.jobs(), CountTies(blocks.level, fitted)), blocks.node)
    gaining = chosen_by_group(counted["tied"].to_numpy(), fitted.gaining, generator)
    released = counted["rounded"].to_numpy() + gaining
    kept = np.flatnonzero(released)
    part = in_parts(released[kept], cut.part_people)
    jobs = Jobs(blocks.level, part, blocks.node[kept], {"gaining": gaining[kept]})
    return output.write(noisy.cells, jobs, FitBlocks(blocks.level, fitted, rounding))


def _cut_noise(least: int, task: Asked, store: CellStore, cut: Cut, output: ReleaseTarget) -> tuple[PartFile, ...]:
    """Every noisy value from ``least`` on, as it is."""
    noisy = _noisy(task, task.budget, store, cut)
    noisy.above(least - 1)
    node, people = noisy.cells.sums(noisy.blocks.level)
    jobs = Jobs(noisy.blocks.level, in_parts(people, cut.part_people), node)
    return output.write(noisy.cells, jobs, KeepNoisyCells(noisy.blocks.level))


@dataclass(frozen=True)
class CountTies:
    """The kernel that adds up blocks: released people so far, and cells among which a unit more is shared out."""

    level: int
    fit: FittedValues

    @property
    def gives(self) -> pa.Schema:
        """See `Kernel`."""
        import pyarrow as pa

        return pa.schema([("node", pa.int64()), ("rounded", pa.int64()), ("tied", pa.int64())])

    def __call__(self, jobs: pa.Table, index: Integers, count: Integers, /) -> pa.Table:
        """See `Kernel`."""
        import pyarrow as pa

        rows = []
        for node, own in zip(jobs.column("node").to_pylist(), slices(jobs, self.level, index), strict=True):
            rounded, tied = self.fit.of(count[own])
            rows.append({"node": node, "rounded": int(rounded.sum()), "tied": int(tied.sum())})
        return pa.Table.from_pylist(rows, self.gives)


@dataclass(frozen=True)
class FitBlocks:
    """The released cells of blocks, from their noisy ones."""

    level: int
    fit: FittedValues
    grant: Grant

    def __call__(self, jobs: pa.Table, index: Integers, count: Integers, /) -> Iterator[Cells]:
        """See `ReleasedCells`."""
        for job, own in zip(jobs.to_pylist(), slices(jobs, self.level, index), strict=True):
            label = f"block {job['node']}"
            rounded, tied = self.fit.of(count[own])
            source = self.grant.part(label, index[own], count[own]).source()
            generator = np.random.default_rng(secret(source, f"rounding of {label}"))
            rounded[generator.choice(np.flatnonzero(tied), job["gaining"], replace=False, shuffle=False)] += 1
            kept = rounded > 0
            yield index[own][kept], rounded[kept]


@dataclass(frozen=True)
class KeepNoisyCells:
    """The cells of blocks, released as they are: noisy ones."""

    level: int

    def __call__(self, jobs: pa.Table, index: Integers, count: Integers, /) -> Iterator[Cells]:
        """See `ReleasedCells`."""
        for own in slices(jobs, self.level, index):
            yield index[own], count[own]


@dataclass(frozen=True)
class KnownCells:
    """Released cells that are known already."""

    cells: Cells

    def __call__(self, _jobs: pa.Table, _index: Integers, _count: Integers, /) -> Iterator[Cells]:
        """See `ReleasedCells`."""
        yield self.cells


_NONE = np.empty(0, dtype=np.int64)
_NOTHING = FittedValues(_NONE, _NONE, _NONE > 0, 0)


def _anywhere(
    domain: Domain, total: int, output: ReleaseTarget, store: CellStore, generator: np.random.Generator
) -> tuple[PartFile, ...]:
    """No cell of a huge domain is above 0: people of whom nothing is known but that they exist."""
    index, value = anywhere(domain, total, generator)
    released = round_to_total(value, total, generator)
    cells = index[released > 0], released[released > 0]
    nowhere = np.zeros(1, dtype=np.int64)
    jobs = Jobs(domain.bits, nowhere, nowhere, {}, np.zeros(1, dtype=np.bool_))
    return output.write(store, jobs, KnownCells(cells))
