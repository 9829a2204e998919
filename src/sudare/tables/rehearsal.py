"""A table rehearsed on data whose truth may be seen, and what a plan says of it."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sudare.domain import Bins, CountTable
from sudare.language.catalogue import Words
from sudare.language.messages import Lines, OnProgress, PageMessage, Progress, Stage, said, unheard
from sudare.measure import error_by_block, l1_accuracy
from sudare.measure.blocks import GOOD, error_with_people, square_km
from sudare.privacy import readable
from sudare.recipe.kind import Outlook, Rehearsal
from sudare.tables import Release
from sudare.tables.forecast import forecast, number, shown_levels, smallest_areas
from sudare.tables.kind import TableKind
from sudare.tables.scenarios import middle, scenarios

_MANY_BINS = 32
"""Of two attributes that may be coordinates."""
_ERRORS = ("mean_absolute_error", "root_mean_square_error", "mean_error")
_APART = ("populated_error", "empty_error", "relative_error")
_SQUARED = ("root_mean_square_error", "populated_error", "empty_error")


@dataclass(frozen=True)
class TableRehearsal(Rehearsal):
    """True against released. ``errors``: one row per area size."""

    release: Release
    truth: CountTable
    accuracy: float

    def to_json(self) -> dict[str, Any]:
        """For machines."""
        return {**super().to_json(), "l1_accuracy": self.accuracy}

    def comparison(self, words: Words, *, title: str, picture: bool) -> bytes:
        """True against released, as an HTML page or as a PNG picture."""
        from sudare.render.reports import internal_page
        from sudare.tables.comparison import comparison_picture, comparison_sections

        released, method, budget = self.release.table, self.release.method.name, self.release.budget
        if picture:
            return comparison_picture(self.truth, released, method=method, words=words)
        facts = {
            words("compare.data"): said(self.basis, words),
            words("method.name"): words.label("method_name", method),
            words("method.budget"): words(f"method.{budget.currency}", amount=readable(budget.amount)),
            words("compare.accuracy"): words.percent(self.accuracy),
        }
        sections = comparison_sections(self.truth, released, words, method=method)
        return internal_page(sections, words, title=title or words("page.rehearsal"), facts=facts).encode()


def rehearse(job: TableKind, seed: int, progress: OnProgress) -> TableRehearsal:
    """Release the recipe's public table, or synthetic people, with seeded noise; spends nothing."""
    progress(Progress(Stage.INVENTING))
    one = middle(scenarios(job))
    return rehearse_on(job, one.truth, one.basis, job.recipe.rehearsal.repetitions, seed=seed, progress=progress)


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
    levels = shown_levels(job.domain)
    rows = error_by_block(truth, made.table, levels).rows()
    apart = error_with_people(truth, made.table, levels).rows()
    errors = [
        {
            "block_level": row["level"],
            "cells": min(row["cells"], job.domain.size),
            "square_km": square_km(job.domain, row["level"]),
            **{name: row[name] for name in _ERRORS},
            **{name: number(own[name]) for name in _APART},
        }
        for row, own in zip(rows, apart, strict=True)
    ]
    accuracy = l1_accuracy(truth, made.table)
    return TableRehearsal(basis, made, errors, 1, _facts(len(made.table), accuracy), truth, accuracy)


def _mean(runs: list[TableRehearsal]) -> TableRehearsal:
    """The release of the last run with the mean figures of all; a root mean square is averaged as a square."""
    errors = []
    for rows in zip(*(run.errors for run in runs), strict=True):
        means: dict[str, float | None] = {}
        for name in (*_ERRORS, *_APART):
            values = [row[name] for row in rows]
            if None in values:
                means[name] = None
            elif name in _SQUARED:
                means[name] = float(np.sqrt(np.mean(np.square(values))))
            else:
                means[name] = float(np.mean(values))
        errors.append({**rows[0], **means})
    accuracy = float(np.mean([run.accuracy for run in runs]))
    cells = round(np.mean([len(run.release.table) for run in runs]))
    return replace(runs[-1], errors=errors, facts=_facts(cells, accuracy), accuracy=accuracy, repetitions=len(runs))


def _facts(cells: int, accuracy: float) -> Lines:
    return {"released_cells": cells, "l1_accuracy": f"{accuracy:.4f}"}


def outlook(job: TableKind) -> Outlook:
    """Cells, memory, and the error by area size: exact where it does not depend on the data, else rehearsed."""
    made = forecast(job)
    low, high, agree = smallest_areas(made.errors)
    explain = getattr(job.method, "explain", None)
    explanation: PageMessage | str = explain(job.domain, job.budget) if explain else ""
    named = PageMessage("explain.method", method=job.method.name, explanation=explanation)
    declared: Any = job.recipe.method.build() if job.recipe.method.name == "auto" else None
    choice = None if declared is None else declared.choose(job.domain, in_cluster=job.recipe.data.in_cluster)
    chosen: Lines = {} if choice is None else {"choice": choice.reason}
    facts: Lines = {
        "domain": job.domain.describe(),
        "cells": job.domain.size,
        "method": named if explanation else job.method.name,
        **chosen,
        **_smallest(low, high, agree, places=any(own.spatial for own in job.domain.attributes.values())),
        **_interleaved(job),
    }
    details = {
        "domain": str(job.domain.describe()),
        "cells": job.domain.size,
        "index_bits": job.domain.bits,
        "method": job.method.name,
        "chosen": None if choice is None else choice.reason.key,
        "explanation": str(explanation),
        "smallest_area_cells": [low, high],
        "smallest_area_agreed": agree,
    }
    return Outlook(facts, details, made.errors, made.basis, made.needs)


def _interleaved(job: TableKind) -> Lines:
    """What an ``order`` would gain where two attributes without places have many bins: they may be coordinates.

    Blocks of the index are then squares of both instead of strips of one.
    """
    attributes = job.domain.attributes
    long = [name for name, own in attributes.items() if isinstance(own, Bins) and own.size >= _MANY_BINS]
    if job.recipe.order is not None or len(long) != 2 or any(own.spatial for own in attributes.values()):
        return {}
    others = [[name] for name in attributes if name not in long]
    return {"order": PageMessage("plan.order", one=long[0], other=long[1], order=json.dumps([long, *others]))}


def _smallest(low: float | None, high: float | None, agree: bool, *, places: bool) -> Lines:
    """The smallest area, or total without places, that may be published: one, or between what and what it is."""
    share, name = f"{GOOD:.0%}", "smallest_area" if places else "smallest_total"
    if low is None:
        return {name: PageMessage("forecast.nowhere", share=share)}
    if high is None:
        return {name: PageMessage("forecast.at_best", share=share, low=_area(low))}
    if agree:
        return {name: PageMessage("forecast.area", share=share, area=_area(high))}
    return {name: PageMessage("forecast.between", share=share, low=_area(low), high=_area(high))}


def _area(cells: float) -> PageMessage:
    return PageMessage("area.one_cell") if cells == 1 else PageMessage("area.cells", cells=math.ceil(cells))
