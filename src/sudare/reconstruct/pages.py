"""What a plan, a rehearsal and the reports say of perturbed records: how well each distribution is recovered."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sudare.arrays import Floats
from sudare.engines import read
from sudare.language.catalogue import Words
from sudare.language.messages import Lines, OnProgress, PageMessage, Progress, Stage, unheard
from sudare.noise import Source
from sudare.recipe.kind import Outlook, Rehearsal
from sudare.reconstruct.histogram import Histogram
from sudare.reconstruct.linkage import linked_k
from sudare.reconstruct.perturb import Perturbed
from sudare.reconstruct.released import labels_of, recovered
from sudare.render.curves import share_chart
from sudare.render.sections import Chart

if TYPE_CHECKING:
    from sudare.reconstruct.kind import Columns, PerturbationKind

BINS = 30
MOST_ROWS = 200_000
"""Of synthetic records: more would change nothing that is shown."""


def rehearse(job: PerturbationKind, seed: int, progress: OnProgress) -> Rehearsal:
    """Seeded perturbations and the histograms that iterative Bayes recovers from them; spends nothing."""
    truth, basis = stand_in(job)
    runs: list[list[dict[str, Any]]] = []
    for run in range(job.recipe.rehearsal.repetitions):
        progress(Progress(Stage.TRIAL, run + 1, job.recipe.rehearsal.repetitions))
        source = Source.from_seed(seed * 10_007 + run)
        made = job.perturb(truth, source, epsilon=job.epsilon)
        runs.append([_compared(name, truth[name], made) for name in truth])
    errors = [
        {**rows[0], "l1_accuracy": float(np.mean([row["l1_accuracy"] for row in rows]))}
        for rows in zip(*runs, strict=True)
    ]
    return Rehearsal(basis, made, errors, len(runs), {"rows": len(next(iter(truth.values())))})


def stand_in(job: PerturbationKind) -> tuple[Columns, PageMessage]:
    """The records to rehearse on, and what they are."""
    choice = job.recipe.rehearsal
    if choice.path is not None:
        records = read(job.path(choice.path), encoding=choice.encoding, delimiter=choice.delimiter)
        return job.read_columns(records), PageMessage("basis.public_file", path=choice.path)
    rows = min(job.recipe.perturbation.records or choice.people, MOST_ROWS)
    generator = np.random.default_rng(1)
    made: Columns = {}
    for name in job.recipe.columns:
        if name in job.recipe.bounds:
            low, high = job.recipe.bounds[name]
            # Two bumps: what is hard about a distribution is to tell them apart.
            shape = np.where(generator.random(rows) < 0.6, generator.beta(6, 14, rows), generator.beta(40, 14, rows))
            made[name] = low + (high - low) * shape
        else:
            values = np.array(job.recipe.categories[name], dtype=object)
            made[name] = values[np.minimum(generator.geometric(0.4, rows) - 1, len(values) - 1)]
    return made, PageMessage("basis.records", records=rows)


def outlook(job: PerturbationKind) -> Outlook:
    """What each row gives away, and how well one rehearsal recovers the distributions."""
    asked, unit = job.recipe.perturbation, job.recipe.data.protected_unit()
    once = job.recipe.rehearsal.model_copy(update={"repetitions": 1})
    tried = rehearse(replace(job, recipe=job.recipe.model_copy(update={"rehearsal": once})), 0, unheard)
    rows = asked.records or job.recipe.rehearsal.people
    k = linked_k(float(job.row_epsilon), rows, unit.max_rows)
    facts: Lines = {
        "columns": ", ".join(job.recipe.columns),
        "local_epsilon": f"{float(job.row_epsilon):.4g}",
        "linked": PageMessage("amount.one_in_at_most_among", k=f"{k:.4g}", rows=rows),
        "noise": asked.noise,
    }
    made = tried.release
    assert isinstance(made, Perturbed)  # noqa: S101 - it was rehearsed just now
    details = {
        "columns": {name: noise.to_json() for name, noise in made.channel.items()},
        "row_epsilon": str(job.row_epsilon),
        "records": asked.records,
    }
    basis = PageMessage("basis.rehearsal", basis=tried.basis)
    return Outlook(facts, details, tried.errors, basis, job.needs_of(rows, made))


def _compared(name: str, truth: NDArray[Any], made: Perturbed) -> dict[str, Any]:
    """L1 accuracy (100 is perfect) of the recovered histogram of one column."""
    noise = made.channel[name].to_json()
    found = made.reconstruct([name], bins=BINS, method="ibt")[name]
    return {
        "column": name,
        "bins": len(found.probabilities),
        "noise": PageMessage(f"perturbation.{noise['noise']}"),
        "scale": noise.get("scale"),
        "l1_accuracy": 100 * (1 - float(np.abs(shares(truth, found) - found.probabilities).sum()) / 2),
    }


def shares(values: NDArray[Any], found: Histogram) -> Floats:
    """Which share of values lies in each bin of a histogram."""
    if isinstance(found.edges, tuple):
        return np.array([np.count_nonzero(values == value) for value in found.edges]) / len(values)
    return np.histogram(values, found.edges)[0] / len(values)


_BINS = 20
_MOST_CHARTS = 12
_SHOWN_ROWS = 200_000
"""The rows of a file are in random order, so that the first ones are a sample of all."""


def recovered_charts(made: Perturbed, words: Words) -> list[Chart]:
    """For each column the recovered shares as bars, the noisy ones as strokes; from the released rows alone."""
    rows = {name: column[:_SHOWN_ROWS] for name, column in zip(made.table.names, made.table.values, strict=True)}
    charts = []
    for name, noise in list(made.columns.items())[:_MOST_CHARTS]:
        found = recovered(rows, {name: noise}, (), _BINS, method="ibt")[name]
        noisy = shares(rows[name], found)
        outside = 1 - float(noisy.sum())
        said = words("perturbation.bars_and_strokes")
        if outside > 0.0005:
            said += " " + words("perturbation.outside", share=words.percent(outside))
        charts.append(
            share_chart(
                name,
                labels_of(found),
                found.probabilities,
                words,
                other=noisy,
                other_title=words("perturbation.noisy"),
                subtitle=said,
            )
        )
    return charts
