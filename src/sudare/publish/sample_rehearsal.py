"""A sample rehearsed on records that are not private, and what a plan says of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from sudare.anonymity import Anonymized, Measure
from sudare.anonymity.assessment import promised
from sudare.anonymity.grouping import first_rows, group, totals
from sudare.anonymity.requirements import Sensitive
from sudare.anonymity.tuples import Tuples
from sudare.engines import read
from sudare.errors import ParameterError
from sudare.noise import Source
from sudare.privacy import readable
from sudare.publish.kind import Outlook, Rehearsal
from sudare.publish.sample_job import SampleJob
from sudare.words import Lines, OnProgress, PageMessage, Progress, Stage

_SENSITIVE_VALUES = tuple("abcdefgh")


def rehearse(job: SampleJob, seed: int, progress: OnProgress) -> Rehearsal:
    """Seeded samples of the recipe's public file, or of synthetic records; spends nothing."""
    progress(Progress(Stage.INVENTING))
    population, basis = stand_in(job)
    runs: list[Anonymized] = []
    for run in range(job.recipe.rehearsal.repetitions):
        progress(Progress(Stage.TRIAL, run + 1, job.recipe.rehearsal.repetitions))
        runs.append(job.request.meet(population, Source.from_seed(seed * 10_007 + run)))
    tables = [made.assessment.table for made in runs]
    errors = [
        {
            "measure": rows[0].name,
            "value": float(np.mean([measure.value for measure in rows])),
            "meaning": rows[0].meaning,
        }
        for rows in zip(*tables, strict=True)
    ]
    facts = job.headline(runs[-1])
    if runs[-1].levels is not None:
        facts["levels"] = _levels(runs[-1].levels, runs[-1].levels.values())
    return Rehearsal(basis, runs[-1], errors, len(runs), facts)


def stand_in(job: SampleJob) -> tuple[Tuples, PageMessage]:
    """The records to rehearse on, and what they are."""
    choice = job.recipe.rehearsal
    if choice.path is not None:
        records = read(job.path(choice.path), encoding=choice.encoding, delimiter=choice.delimiter)
        return job.request.read(records, Source.from_seed(0)), PageMessage("basis.public_records", path=choice.path)
    return synthetic(job, choice.people), PageMessage("basis.records", records=choice.people)


def synthetic(job: SampleJob, people: int) -> Tuples:
    """Invented records: every column drawn by itself, from weights that fall by a quarter from value to value."""
    generator = np.random.default_rng(20_120_502)
    trees = job.request.hierarchies
    sizes = [len(tree.leaves) for tree in trees.values()] + [len(_SENSITIVE_VALUES)] * len(job.request.sensitive)
    columns = []
    for size in sizes:
        weight = 0.75 ** generator.permutation(size)
        columns.append(generator.choice(size, people, p=weight / weight.sum()))
    tuple_of, tuples = group(columns, sizes)
    first = first_rows(tuple_of, tuples)
    codes = np.stack([column[first] for column in columns[: len(trees)]], axis=1).astype(np.int32)
    beside = {
        name: Sensitive(columns[place][first], _SENSITIVE_VALUES)
        for place, name in enumerate(job.request.sensitive, start=len(trees))
    }
    counts = totals(tuple_of, tuples, np.ones(people, dtype=np.int64))
    return Tuples(tuple(trees), tuple(trees.values()), codes, counts, beside)


def outlook(job: SampleJob) -> Outlook:
    """Columns, where the generalisation comes from, the promised risks, and the loss of one rehearsal."""
    request = job.request
    terms = request.terms
    every = PageMessage("drawn.every")
    drawn = every if terms.sample is None else PageMessage("drawn.each", probability=f"{float(terms.sample):g}")
    facts: Lines = {
        "columns": ", ".join((*terms.columns, *request.sensitive)),
        "drawn": drawn,
        "generalisation": _origin(job),
        "published": PageMessage("amount.occurring", k=str(terms.k)),
    }
    details = {
        "columns": list(terms.columns),
        "sensitive": list(request.sensitive),
        "k": terms.k,
        "sample": None if terms.sample is None else str(terms.sample),
        "method": request.method,
        "requirements": [requirement.to_json() for requirement in terms.requirements],
    }
    errors: list[dict[str, Any]] = [_row(measure, "at most") for measure in promised(terms.k)]
    population, basis = stand_in(job)
    needs = job.needs(population)
    try:
        made = request.meet(population, Source.from_seed(0))
    except ParameterError as refusal:
        why = PageMessage("basis.refused", basis=basis, reason=refusal)
        return Outlook(facts, details, errors, why, needs)
    errors += [_row(measure, "rehearsed") for measure in made.assessment.table]
    return Outlook(facts, details, errors, PageMessage("basis.k_rehearsal", basis=basis), needs)


def _origin(job: SampleJob) -> PageMessage:
    terms, learned = job.request.terms, job.request.learned
    if terms.origin == "method":
        return PageMessage("origin.found", method=str(job.request.method))
    if terms.choose_epsilon is not None:
        return PageMessage("origin.chosen", epsilon=readable(terms.choose_epsilon))
    if learned is None:
        levels = job.request.levels or ()
        return PageMessage("origin.fixed", levels=_levels(terms.columns, levels))
    if learned.levels is None:
        return PageMessage("origin.learned_cut")
    return PageMessage("origin.learned", levels=_levels(terms.columns, learned.levels))


def _levels(columns: Iterable[str], levels: Iterable[int]) -> str:
    return ", ".join(f"{name} {level}" for name, level in zip(columns, levels, strict=True))


def _row(measure: Measure, basis: str) -> dict[str, Any]:
    return {"measure": measure.name, "value": measure.value, "basis": basis, "meaning": measure.meaning}
