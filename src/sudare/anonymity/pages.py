"""A sample rehearsed on records that are not private, and what a plan says of it.

What the reports say of a k-anonymous sample; the names of measures in the language of the page, if it has them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from sudare.anonymity import Anonymized, Measure
from sudare.anonymity.anonymized import promised, public_measures
from sudare.anonymity.grouping import first_rows, group, totals
from sudare.anonymity.kind import SampleKind
from sudare.anonymity.requirements import Sensitive
from sudare.anonymity.tuples import Tuples
from sudare.engines import read
from sudare.errors import ParameterError
from sudare.language.catalogue import Words
from sudare.language.messages import Lines, OnProgress, PageMessage, Progress, Stage
from sudare.noise import Source
from sudare.privacy import readable
from sudare.recipe.kind import Outlook, Rehearsal
from sudare.render.sections import Facts, Section, Table, Text


def public_sections(summary: dict[str, Any], words: Words) -> list[Section]:
    """From the summary that the certificate states: of the published rows and the terms alone."""
    numbers = {
        words("sample.published_rows"): summary["records"],
        words("sample.classes"): summary["classes"],
        words("sample.smallest_class"): summary["smallest_class"] or 0,
        words("sample.loss_ncp"): summary["measures"]["ncp"],
    }
    facts = {name: words.number(value) for name, value in numbers.items()}
    if summary["levels"] is not None:
        levels = [f"{name} {level}" for name, level in summary["levels"].items()]
        facts[words("sample.levels")] = words.listing(levels)
    return [
        Section(words("sample.title"), (Facts(facts),)),
        Section(words("sample.risk"), (_table(public_measures(summary), words),), chapter="trust"),
    ]


def internal_sections(made: Anonymized, words: Words) -> list[Section]:
    """With the counts behind the classes: for the publisher."""
    epsilon = made.epsilon_evaluated
    written = "∞" if math.isinf(epsilon) else f"{epsilon:.4f}"
    evaluated = Text.of(
        words("sample.evaluated_text"),
        f"{words('sample.evaluated_epsilon')}: {written}",
    )
    title = words("sample.risk_internal")
    return [Section(title, (_table(made.assessment.table, words), evaluated), internal=True)]


def _table(measures: Iterable[Measure], words: Words) -> Table:
    header = tuple(words(f"sample.{name}") for name in ("measure", "value", "meaning"))
    rows = tuple(
        (words.label("sample", measure.name), words.number(measure.value), words.label("sample", measure.meaning))
        for measure in measures
    )
    return Table(words("sample.measures"), header, rows, numbers=False)


_SENSITIVE_VALUES = tuple("abcdefgh")


def rehearse(job: SampleKind, seed: int, progress: OnProgress) -> Rehearsal:
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


def stand_in(job: SampleKind) -> tuple[Tuples, PageMessage]:
    """The records to rehearse on, and what they are."""
    choice = job.recipe.rehearsal
    if choice.path is not None:
        records = read(job.path(choice.path), encoding=choice.encoding, delimiter=choice.delimiter)
        return job.request.read(records, Source.from_seed(0)), PageMessage("basis.public_records", path=choice.path)
    return synthetic(job, choice.people), PageMessage("basis.records", records=choice.people)


def synthetic(job: SampleKind, people: int) -> Tuples:
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


def outlook(job: SampleKind) -> Outlook:
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


def _origin(job: SampleKind) -> PageMessage:
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
