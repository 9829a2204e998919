"""Weights rehearsed on records that are not private, and what a plan says of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.engines import read
from sudare.language.messages import Lines, OnProgress, PageMessage, Progress, Stage
from sudare.noise import Source
from sudare.recipe.kind import Outlook, Rehearsal
from sudare.reweight import Weighting
from sudare.reweight.kind import WeightsKind
from sudare.reweight.space import Categorical

_SEED = 20_130_601
_LEAN = 0.8
"""The slope of the invented tilt: people at one end of a column are drawn about five times as often as at the other."""


def rehearse(job: WeightsKind, seed: int, progress: OnProgress) -> Rehearsal:
    """Seeded weightings for a stand-in of the private records; errors of the means of all columns, over the runs."""
    progress(Progress(Stage.INVENTING))
    stand_in, basis = stand_in_of(job)
    runs: list[Weighting] = []
    for run in range(job.recipe.rehearsal.repetitions):
        progress(Progress(Stage.TRIAL, run + 1, job.recipe.rehearsal.repetitions))
        source = Source.from_seed(seed * 10_007 + run)
        runs.append(job.request.meet(job.request.read(stand_in, source), job.public, source))
    return Rehearsal(basis, runs[-1], errors_of(job, stand_in, runs), len(runs), job.headline(runs[-1]))


def stand_in_of(job: WeightsKind) -> tuple[dict[str, Any], PageMessage]:
    """Columns to take for private: of the recipe's file, or public rows drawn with a known tilt; and what they are."""
    choice, space = job.recipe.rehearsal, job.request.space
    unit = job.recipe.data.unit
    if choice.path is not None:
        names = [*space.names, *([unit] if unit else [])]
        return read(job.path(choice.path), encoding=choice.encoding, delimiter=choice.delimiter).values(
            names
        ), PageMessage("basis.public_records", path=choice.path)
    codes = space.encode({name: job.public[name] for name in space.names})
    centred = codes - codes.mean(axis=0)
    lean = (centred / np.maximum(centred.std(axis=0), 1e-9)) @ (_LEAN / np.sqrt(np.arange(1, codes.shape[1] + 1)))
    share = np.exp(lean - lean.max())
    generator = np.random.default_rng(_SEED)
    drawn = generator.choice(len(codes), choice.people, p=share / share.sum())
    columns: dict[str, Any] = {name: job.public[name][drawn] for name in space.names}
    if unit:
        columns[unit] = np.arange(choice.people)
    return columns, PageMessage("basis.tilt", people=choice.people)


def errors_of(job: WeightsKind, private: dict[str, Any], runs: list[Weighting]) -> list[dict[str, Any]]:
    """Mean absolute errors of the mean of every column (of every share, for categories), weighted and not."""
    rows = []
    for attribute in job.request.space.attributes:
        public, truth = _columns(attribute, job.public), _columns(attribute, private).mean(axis=0)
        weighted = [np.abs(made.normalised() @ public - truth).mean() for made in runs]
        rows.append(
            {
                "query": f"shares of {attribute.name}"
                if isinstance(attribute, Categorical)
                else f"mean of {attribute.name}",
                "weighted_error": float(np.mean(weighted)),
                "unweighted_error": float(np.abs(public.mean(axis=0) - truth).mean()),
            }
        )
    return rows


def _columns(attribute: Any, columns: dict[str, Any]) -> NDArray[np.float64]:
    codes = attribute.encode(columns[attribute.name])
    if isinstance(attribute, Categorical):
        return np.asarray(codes[:, None] == np.arange(attribute.size), dtype=np.float64)
    return np.asarray(attribute.decode(codes)[:, None])


def outlook(job: WeightsKind) -> Outlook:
    """What would be measured, with how much noise, and the errors of one rehearsal."""
    stand_in, basis = stand_in_of(job)
    source = Source.from_seed(0)
    made = job.request.meet(job.request.read(stand_in, source), job.public, source)
    summary = made.summary
    facts: Lines = {
        "columns": ", ".join(job.request.space.names),
        "public_rows": summary["public_rows"],
        "measured": PageMessage("amount.means_of", features=summary["features"], basis=summary["basis"]),
        "sensitivity": PageMessage("amount.a_person", sensitivity=f"{summary['sensitivity']:.4g}"),
        "estimator": summary["estimator"],
    }
    details = {name: summary[name] for name in ("estimator", "basis", "features", "public_rows", "sensitivity")}
    errors = errors_of(job, stand_in, [made])
    return Outlook(facts, details, errors, PageMessage("basis.rehearsal", basis=basis), job.needs([]))
