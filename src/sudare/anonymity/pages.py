"""What a plan, a rehearsal and the reports say of a k-anonymous sample."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.anonymity import Anonymized, Measure
from sudare.anonymity.anonymized import promised, public_measures
from sudare.anonymity.lattice import Tuples
from sudare.engines import read
from sudare.errors import ParameterError
from sudare.language.catalogue import Words
from sudare.language.messages import Lines, OnProgress, PageMessage, Progress, Stage
from sudare.noise import Source
from sudare.privacy import readable
from sudare.recipe.kind import Outlook, Rehearsal
from sudare.render.curves import share_chart
from sudare.render.sections import Chart, Facts, Section, Table, Text

if TYPE_CHECKING:
    import pyarrow as pa

    from sudare.anonymity.kind import SampleKind


_MOST_BARS = 24
_MOST_CHARTS = 12
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")


def public_sections(summary: dict[str, Any], words: Words, records: pa.Table) -> list[Section]:
    """From the summary that the certificate states, and the published rows alone."""
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
        Section(words("sample.columns"), (Text.of(words("sample.columns_text")), *_charts(summary, words, records))),
        Section(words("sample.risk"), (_table(public_measures(summary), words),), chapter="trust"),
    ]


def _charts(summary: dict[str, Any], words: Words, records: pa.Table) -> list[Chart]:
    """The published values of each column, and what the column lost: what it was like before is private."""
    lost = {measure.column: measure.value for measure in public_measures(summary) if measure.code == "ncp"}
    charts = []
    for name in records.column_names[:_MOST_CHARTS]:
        counted = records.column(name).value_counts().to_pylist()
        values = {str(one["values"] if one["values"] is not None else "-"): one["counts"] for one in counted}
        kept = sorted(values, key=lambda value: -values[value])[:_MOST_BARS]
        kept = sorted(kept, key=lambda value: (float(found[0]) if (found := _NUMBER.match(value)) else math.inf, value))
        loss = words("sample.column_loss", loss=words.percent(lost[name])) if name in lost else ""
        rest = words("sample.other_values", number=len(values) - len(kept)) if len(values) > len(kept) else ""
        shares = [values[value] / max(1, records.num_rows) for value in kept]
        charts.append(share_chart(name, kept, shares, words, subtitle=" ".join(filter(None, (loss, rest)))))
    return charts


def internal_sections(made: Anonymized, words: Words) -> list[Section]:
    """With the counts behind the classes: for the publisher."""
    values = {"sample.evaluated_epsilon": made.epsilon_evaluated, "sample.epsilon_floor": made.epsilon_floor}
    written = (f"{words(name)}: {'∞' if math.isinf(value) else f'{value:.4f}'}" for name, value in values.items())
    evaluated = Text.of(words("sample.evaluated_text"), *written)
    title = words("sample.risk_internal")
    return [Section(title, (_table(made.assessment.table, words), evaluated), internal=True)]


def _table(measures: Iterable[Measure], words: Words) -> Table:
    header = tuple(words(f"sample.{name}") for name in ("measure", "value", "meaning"))
    rows = tuple(
        (measure.title.text(words), words.number(measure.value), measure.meaning.text(words)) for measure in measures
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
            "measure": rows[0].title,
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
    beside = dict.fromkeys(job.request.sensitive, _SENSITIVE_VALUES)
    columns = []
    for size in (*(len(tree.leaves) for tree in trees.values()), *map(len, beside.values())):
        weight = 0.75 ** generator.permutation(size)
        columns.append(generator.choice(size, people, p=weight / weight.sum()))
    return Tuples.of_columns(trees, beside, columns, np.ones(people, dtype=np.int64))


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
    errors: list[dict[str, Any]] = [_row(measure, PageMessage("sample.at_most")) for measure in promised(terms.k)]
    population, basis = stand_in(job)
    needs = job.needs(population)
    try:
        made = request.meet(population, Source.from_seed(0))
    except ParameterError as refusal:
        why = PageMessage("basis.refused", basis=basis, reason=refusal)
        return Outlook(facts, details, errors, why, needs)
    errors += [_row(measure, PageMessage("sample.rehearsed")) for measure in made.assessment.table]
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


def _row(measure: Measure, basis: PageMessage) -> dict[str, Any]:
    return {"measure": measure.title, "value": measure.value, "basis": basis, "meaning": measure.meaning}
