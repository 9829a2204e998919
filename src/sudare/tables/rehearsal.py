"""A table rehearsed on data whose truth may be seen, and what a plan says of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sudare.domain import CountTable, Domain
from sudare.engines import read
from sudare.language.messages import Lines, OnProgress, PageMessage, Progress, Stage, unheard
from sudare.measure import error_by_block, l1_accuracy
from sudare.measure.ground import square_km
from sudare.recipe.kind import Needs, Outlook, Rehearsal
from sudare.tables import Release
from sudare.tables.kind import TableKind
from sudare.tables.synthetic import synthetic_table

_ERRORS = ("mean_absolute_error", "root_mean_square_error", "mean_error")


@dataclass(frozen=True)
class TableRehearsal(Rehearsal):
    """True against released. ``errors``: one row per area size."""

    release: Release
    truth: CountTable
    accuracy: float

    def to_json(self) -> dict[str, Any]:
        """For machines."""
        return {**super().to_json(), "l1_accuracy": self.accuracy}


def rehearse(job: TableKind, seed: int, progress: OnProgress) -> TableRehearsal:
    """Release the recipe's public table, or synthetic people, with seeded noise; spends nothing."""
    progress(Progress(Stage.INVENTING))
    truth, basis = stand_in(job)
    return rehearse_on(job, truth, basis, job.recipe.rehearsal.repetitions, seed=seed, progress=progress)


def stand_in(job: TableKind) -> tuple[CountTable, PageMessage]:
    """The table to rehearse on, and what it is."""
    choice, unit = job.recipe.rehearsal, job.recipe.data.protected_unit()
    if choice.path is not None and choice.counts is not None:
        records = read(job.path(choice.path), encoding=choice.encoding, delimiter=choice.delimiter)
        columns = job.recipe.columns()
        return records.table(job.domain, columns=columns, count=choice.counts, unit=unit, outside="drop"), PageMessage(
            "basis.public_table", path=choice.path
        )
    table = synthetic_table(job.domain, choice.people, seed=1, populated_share=choice.populated)
    return CountTable(table.domain, table.index, table.count, unit, bounded=True), PageMessage(
        "basis.people", people=choice.people
    )


def rehearse_on(
    job: TableKind,
    truth: CountTable,
    basis: PageMessage,
    repetitions: int,
    *,
    seed: int = 0,
    progress: OnProgress = unheard,
) -> TableRehearsal:
    """Seeded releases of ``truth`` as the recipe says, and their mean errors."""
    runs = []
    for run in range(repetitions):
        progress(Progress(Stage.TRIAL, run + 1, repetitions))
        made = job.release(truth, seed=seed * 10_007 + run)
        runs.append(compared(job, truth, made, basis))
    return _mean(runs)


def compared(job: TableKind, truth: CountTable, made: Release, basis: PageMessage) -> TableRehearsal:
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
    accuracy = l1_accuracy(truth, made.table)
    return TableRehearsal(basis, made, errors, 1, _facts(len(made.table), accuracy), truth, accuracy)


def _mean(runs: list[TableRehearsal]) -> TableRehearsal:
    """The release of the last run with the mean figures of all; a root mean square is averaged as a square."""
    errors = []
    for rows in zip(*(run.errors for run in runs), strict=True):
        columns = {name: np.array([row[name] for row in rows]) for name in _ERRORS}
        means = {name: float(column.mean()) for name, column in columns.items()}
        means["root_mean_square_error"] = float(np.sqrt((columns["root_mean_square_error"] ** 2).mean()))
        errors.append({**rows[0], **means})
    accuracy = float(np.mean([run.accuracy for run in runs]))
    cells = round(np.mean([len(run.release.table) for run in runs]))
    return replace(runs[-1], errors=errors, facts=_facts(cells, accuracy), accuracy=accuracy, repetitions=len(runs))


def _facts(cells: int, accuracy: float) -> Lines:
    return {"released_cells": cells, "l1_accuracy": f"{accuracy:.4f}"}


def shown_levels(domain: Domain) -> list[int]:
    """About six block levels that are worth a line, from single cells to the whole domain."""
    step = max(1, 2 * round(domain.bits / 12))
    return sorted({*range(0, domain.bits + 1, step), domain.bits})


def outlook(job: TableKind) -> Outlook:
    """Cells, memory, and the error by area size: exact where it does not depend on the data, else rehearsed."""
    errors, errors_from, needs = _expected(job)
    explain = getattr(job.method, "explain", None)
    explanation = explain(job.domain, job.budget) if explain else ""
    facts: Lines = {
        "domain": job.domain.describe(),
        "cells": job.domain.size,
        "method": f"{job.method.name} ({explanation})" if explanation else job.method.name,
    }
    details = {
        "domain": job.domain.describe(),
        "cells": job.domain.size,
        "index_bits": job.domain.bits,
        "method": job.method.name,
        "explanation": explanation,
    }
    return Outlook(facts, details, errors, errors_from, needs)


def expected_errors(job: TableKind) -> tuple[list[dict[str, Any]], PageMessage]:
    """Error by area size, exact or rehearsed, and what it rests on."""
    return _expected(job)[:2]


def _expected(job: TableKind) -> tuple[list[dict[str, Any]], PageMessage, Needs]:
    """Also what a release of the stand-in needs; where noise is drawn in every cell, of nobody: it is the same."""
    rows = [_exact_error(job, level) for level in shown_levels(job.domain)]
    if all(row["root_mean_square_error"] is not None for row in rows):
        nothing = np.empty(0, dtype=np.int64)
        nobody = CountTable(job.domain, nothing, nothing, job.recipe.data.protected_unit(), bounded=True)
        return rows, PageMessage("basis.exact"), job.needs(nobody)
    truth, basis = stand_in(job)
    errors = rehearse_on(job, truth, basis, repetitions=1).errors
    return errors, PageMessage("basis.rehearsal", basis=basis), job.needs(truth)


def _exact_error(job: TableKind, level: int) -> dict[str, Any]:
    rows = job.recipe.data.protected_unit().max_rows
    return {
        "block_level": level,
        "cells": 1 << level,
        "square_km": square_km(job.domain, level),
        "root_mean_square_error": job.method.block_error(job.budget, rows, 1 << level, job.domain),
    }
