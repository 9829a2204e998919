"""How far off a release will be, by size of area: exact where the law of the noise says it, else by seeded releases of
the tables that the private one may be like (`sudare.tables.scenarios`). Where these are several, as a range.

Errors of areas with people and of empty ones are kept apart: a forecast that averages over empty cells is about those.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.domain import CountTable, Domain
from sudare.language.messages import PageMessage
from sudare.measure.blocks import GOOD, MOST, PeopledErrors, error_with_people, smallest_publishable, square_km
from sudare.recipe.kind import Needs
from sudare.tables.scenarios import Scenario, middle, scenarios
from sudare.tables.top_down import TopDown
from sudare.tables.tree import Tree

if TYPE_CHECKING:
    from sudare.tables.kind import TableKind

FORECAST = ("populated_error", "empty_error", "people_each", "relative_error")
"""What is said of a size of area; of several scenarios under these names with ``_low`` and ``_high``."""
_CELLS_IN_ALL = 1 << 15
"""Populated cells that are released for one forecast: a large table has blocks enough to learn from in one release."""
MOST_RUNS = 128
"""The root mean square of so many Laplace values is within 10 % of its law two times in three."""
RUNS_OF_A_RANGE, MOST_RUNS_OF_A_RANGE = 12, 48
"""Of each end of a range, and of its large areas."""
_FEW_BLOCKS = 64
"""Blocks with people below which a size needs many runs: one Laplace value says little about its law."""


@dataclass(frozen=True)
class Forecast:
    """Errors by size of area, what they rest on, and what a release needs."""

    errors: list[dict[str, Any]]
    basis: PageMessage
    needs: Needs


def shown_levels(domain: Domain) -> list[int]:
    """About six block levels that are worth a line, from single cells to the whole domain."""
    step = max(1, 2 * round(domain.bits / 12))
    return sorted({*range(0, domain.bits + 1, step), domain.bits})


def forecast(job: TableKind) -> Forecast:
    """What the recipe and its public facts say beforehand."""
    found, levels = scenarios(job), shown_levels(job.domain)
    law = [_law(job, level) for level in levels]
    exact = [one for one in law if one is not None]
    if len(exact) == len(levels):
        rows = [_of_law(exact, one.truth, levels) for one in found]
        nothing = np.empty(0, dtype=np.int64)
        nobody = CountTable(job.domain, nothing, nothing, job.recipe.data.protected_unit(), bounded=True)
        basis, needs = PageMessage("basis.exact"), job.needs(nobody)  # noise is drawn in every cell, whoever is there
        basis = PageMessage("basis.exact_people", law=basis, basis=_basis(found))
    else:
        runs = (MOST_RUNS, MOST_RUNS) if len(found) == 1 else (RUNS_OF_A_RANGE, MOST_RUNS_OF_A_RANGE)
        rows = [_over_draws(job, one, levels, *runs) for one in found]
        basis, needs = PageMessage("basis.rehearsal", basis=_basis(found)), job.needs(middle(found).truth)
    return Forecast(_joined(job.domain, levels, rows), basis, needs)


def _basis(found: Sequence[Scenario]) -> PageMessage:
    if len(found) == 1:
        return found[0].basis
    return PageMessage("basis.range", first=found[0].basis, last=found[-1].basis)


def _law(job: TableKind, level: int) -> float | None:
    rows = job.recipe.data.protected_unit().max_rows
    return job.method.block_error(job.budget, rows, 1 << level, job.domain)


Row = dict[str, float | None]


def _of_law(law: Sequence[float], truth: CountTable, levels: Sequence[int]) -> list[Row]:
    """The same error everywhere; its share of the people of nine of ten areas depends on who is there."""
    rows: list[Row] = []
    for error, level in zip(law, levels, strict=True):
        people = truth.block_sums(level)[1]
        fewest = float(np.quantile(people, 1 - MOST, method="lower")) if len(people) else math.nan
        each = float(people.mean()) if len(people) else math.nan
        rows.append(dict(zip(FORECAST, (error, error, each, error / fewest), strict=True)))
    return rows


def _over_draws(job: TableKind, scenario: Scenario, levels: Sequence[int], usual: int, most: int) -> list[Row]:
    """Over all tables of a scenario: which places of one invented table are full is luck."""
    tables = (scenario.truth, *scenario.others)
    own, ends = usual // len(tables), range(0, most + 1, most // len(tables))
    drawn = [_rehearsed(job, *one, levels, own) for one in zip(tables, map(range, ends, ends[1:]), strict=False)]
    return [{name: _mean(name, [rows[at][name] for rows in drawn]) for name in FORECAST} for at in range(len(levels))]


def _rehearsed(job: TableKind, truth: CountTable, seeds: Sequence[int], levels: Sequence[int], usual: int) -> list[Row]:
    """Seeded releases: of the table itself, and of one with the same large areas where those are few."""
    runs = max(1, min(usual, _CELLS_IN_ALL // max(1, len(truth))))
    rows = means([error_with_people(truth, job.release(truth, seed=seed).table, levels) for seed in seeds[:runs]])
    few = [level for level in levels if len(truth.block_sums(level)[0]) <= _FEW_BLOCKS]
    if runs == len(seeds) or not few or not isinstance(job.method, Tree | TopDown):
        return rows
    lumped = gathered(truth, few[0])
    more = [error_with_people(lumped, job.release(lumped, seed=seed).table, few) for seed in seeds[runs:]]
    large = dict(zip(few, means(more), strict=True))
    return [large.get(level, row) for level, row in zip(levels, rows, strict=True)]


def gathered(truth: CountTable, level: int) -> CountTable:
    """A table with the same sums of blocks of 2**level cells and above, in few cells: quick to release.

    A tree measures areas before cells, so its large areas fare alike in both.
    """
    below = level
    while below and len(truth.block_sums(below)[0]) < 8 * _FEW_BLOCKS:
        below -= 1
    block, people = truth.block_sums(below)
    first = truth.index[np.searchsorted(truth.index, block << below)]
    return CountTable(truth.domain, first, people, truth.unit, bounded=True)


def means(runs: Sequence[PeopledErrors]) -> list[Row]:
    """Over runs; a root mean square is averaged as a square. What is undefined is None."""
    levels = range(len(runs[0].level))
    return [{name: _mean(name, [getattr(run, name)[at] for run in runs]) for name in FORECAST} for at in levels]


def _mean(name: str, values: Sequence[float | None]) -> float | None:
    found = np.array(values, dtype=np.float64)
    mean = np.sqrt((found**2).mean()) if name in ("populated_error", "empty_error") else found.mean()
    return number(float(mean))


def number(value: float) -> float | None:
    """A number, or None where there is none."""
    return float(value) if math.isfinite(value) else None


def _joined(domain: Domain, levels: Sequence[int], found: Sequence[Sequence[Row]]) -> list[dict[str, Any]]:
    """A row for each size of area: one number each, or the lowest and highest of the scenarios."""
    rows = []
    for at, level in enumerate(levels):
        size = {
            "block_level": level,
            "cells": min(1 << level, domain.size),
            "square_km": square_km(domain, level),
        }
        own = [scenario[at] for scenario in found]
        if len(own) == 1:
            rows.append({**size, **own[0]})
            continue
        ends: dict[str, float | None] = {}
        for name in FORECAST:
            values = [value for one in own if (value := one[name]) is not None]
            ends |= {f"{name}_low": min(values, default=None), f"{name}_high": max(values, default=None)}
        rows.append({**size, **ends})
    return rows


def smallest_areas(rows: Sequence[dict[str, Any]], good: float = GOOD) -> tuple[float | None, float | None, bool]:
    """Cells of the smallest area that may be published, in the best and the worst scenario; and whether these agree.

    None where no size may. They agree where all scenarios name the same line of the table.

    >>> smallest_areas([{"cells": 1, "relative_error": 1.0}, {"cells": 100, "relative_error": 0.01}])
    (10.0, 10.0, True)
    >>> smallest_areas([{"cells": 1, "relative_error_low": 0.05, "relative_error_high": 0.4}])
    (1.0, None, False)
    """
    single = bool(rows) and "relative_error" in rows[0]
    names = ("relative_error",) * 2 if single else ("relative_error_low", "relative_error_high")
    cells = [float(row["cells"]) for row in rows]
    low, high = (
        smallest_publishable(cells, [math.inf if (one := row.get(name)) is None else one for row in rows], good)
        for name in names
    )
    agree = low is not None and high is not None and low[0] == high[0]
    return None if low is None else low[1], None if high is None else high[1], agree
