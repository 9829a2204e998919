"""`rehearse`: the whole release on synthetic or public data, where truth and release may be compared."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.domain import CountTable
from sudare.engines import read
from sudare.measure import error_by_block, l1_accuracy
from sudare.publish.areas import shown_levels, square_km
from sudare.publish.job import Job
from sudare.publish.synthetic import synthetic_table
from sudare.tables import Release

if TYPE_CHECKING:
    from collections.abc import Callable

_ERRORS = ("mean_absolute_error", "root_mean_square_error", "mean_error")


@dataclass(frozen=True)
class Rehearsal:
    """True against released, on data that are not private. ``errors``: one row per area size, means over runs."""

    basis: str
    truth: CountTable
    release: Release
    errors: list[dict[str, Any]]
    accuracy: float
    repetitions: int

    def to_json(self) -> dict[str, Any]:
        """For machines."""
        return {
            "basis": self.basis,
            "repetitions": self.repetitions,
            "summary": self.release.summary,
            "errors": self.errors,
            "l1_accuracy": self.accuracy,
        }


def rehearse(recipe: str | Path, *, seed: int = 0, progress: Callable[[str], None] = lambda _: None) -> Rehearsal:
    """Release the recipe's public table, or synthetic people, with seeded noise; spends nothing."""
    job = Job.open(recipe)
    progress("making the data")
    truth, basis = stand_in(job)
    return rehearse_on(job, truth, basis, job.recipe.rehearsal.repetitions, seed=seed, progress=progress)


def stand_in(job: Job) -> tuple[CountTable, str]:
    """The table to rehearse on, and what it is."""
    choice, unit = job.recipe.rehearsal, job.recipe.data.protected_unit()
    if choice.path is not None and choice.counts is not None:
        records = read(job.path(choice.path), encoding=choice.encoding)
        columns = job.recipe.columns()
        return records.table(
            job.domain, columns=columns, count=choice.counts, unit=unit, outside="drop"
        ), f"the public table {choice.path}"
    table = synthetic_table(job.domain, choice.people, seed=1, populated_share=choice.populated)
    return CountTable(table.domain, table.index, table.count, unit), f"{choice.people:,} synthetic people"


def rehearse_on(
    job: Job,
    truth: CountTable,
    basis: str,
    repetitions: int,
    *,
    seed: int = 0,
    progress: Callable[[str], None] = lambda _: None,
) -> Rehearsal:
    """Seeded releases of ``truth`` as the recipe says, and their mean errors."""
    runs = []
    for run in range(repetitions):
        progress(f"release {run + 1} of {repetitions}")
        made = job.release(truth, seed=seed * 10_007 + run)
        runs.append(compared(job, truth, made, basis))
    return _mean(runs)


def compared(job: Job, truth: CountTable, made: Release, basis: str) -> Rehearsal:
    """One release beside the truth."""
    rows = error_by_block(truth, made.table, shown_levels(job.domain)).rows()
    errors = [
        {
            "block_level": row["level"],
            "cells": row["cells"],
            "square_km": square_km(job.domain, row["level"]),
            **{name: row[name] for name in _ERRORS},
        }
        for row in rows
    ]
    return Rehearsal(basis, truth, made, errors, l1_accuracy(truth, made.table), 1)


def _mean(runs: list[Rehearsal]) -> Rehearsal:
    """The last run with the mean errors of all; a root mean square is averaged as a square."""
    errors = []
    for rows in zip(*(run.errors for run in runs), strict=True):
        columns = {name: np.array([row[name] for row in rows]) for name in _ERRORS}
        means = {name: float(column.mean()) for name, column in columns.items()}
        means["root_mean_square_error"] = float(np.sqrt((columns["root_mean_square_error"] ** 2).mean()))
        errors.append({**rows[0], **means})
    accuracy = float(np.mean([run.accuracy for run in runs]))
    return replace(runs[-1], errors=errors, accuracy=accuracy, repetitions=len(runs))
