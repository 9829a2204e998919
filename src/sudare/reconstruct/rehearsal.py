"""Perturbed records rehearsed where the truth may be seen: how well each distribution is recovered."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sudare.engines import read
from sudare.language.messages import Lines, OnProgress, PageMessage, Progress, Stage, unheard
from sudare.noise import Source
from sudare.recipe.kind import Outlook, Rehearsal
from sudare.reconstruct.iterative_bayes import iterative_bayes
from sudare.reconstruct.linkage import linked_k
from sudare.reconstruct.perturb import Perturbed

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
    once = replace(job, recipe=job.recipe.model_copy(update={"rehearsal": _once(job)}))
    tried = rehearse(once, 0, unheard)
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


def _once(job: PerturbationKind) -> Any:
    return job.recipe.rehearsal.model_copy(update={"repetitions": 1})


def _compared(name: str, truth: NDArray[Any], made: Perturbed) -> dict[str, Any]:
    """L1 accuracy (100 is perfect) of the recovered histogram of one column."""
    noise = made.channel[name]
    facts = noise.to_json()
    if "bounds" in facts:
        low, high = facts["bounds"]
        edges = np.linspace(low, high, BINS + 1)
        true = np.histogram(truth, edges)[0] / len(truth)
        found = iterative_bayes(made.values[name], noise, edges).probabilities
    else:
        edges = None
        listed = facts["categories"]
        true = np.array([np.count_nonzero(truth == value) for value in listed]) / len(truth)
        found = iterative_bayes(made.values[name], noise).probabilities
    return {
        "column": name,
        "bins": BINS if edges is not None else len(facts["categories"]),
        "noise": PageMessage(f"perturbation.{facts['noise']}"),
        "scale": facts.get("scale"),
        "l1_accuracy": 100 * (1 - float(np.abs(true - found).sum()) / 2),
    }
