"""What a plan, a rehearsal and the reports say of weights: how many rows they are worth, and means with intervals."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sudare.engines import read
from sudare.language.catalogue import Words
from sudare.language.messages import Lines, OnProgress, PageMessage, Progress, Stage, lines
from sudare.noise import Source
from sudare.privacy import Fact
from sudare.privacy.notebook import fact_message
from sudare.recipe.kind import Outlook, Rehearsal
from sudare.render.curves import share_chart
from sudare.render.sections import Chart, Facts, Section, Table, Text
from sudare.reweight import Weighting
from sudare.reweight.rows import Rows
from sudare.reweight.space import Categorical, Codes, Numeric

if TYPE_CHECKING:
    from sudare.reweight.kind import WeightsKind

_BINS = 10
_MOST_CHARTS = 12


def headline(summary: dict[str, Any]) -> Lines:
    """Rows, how many they are worth, and warnings."""
    return {
        "weighted_rows": summary["public_rows"],
        "effective_rows": f"{summary['effective_sample_size']:,.1f}",
        "largest_weight": f"{summary['largest_weight']:,.4g}",
        **{
            PageMessage("line.warning", number=place): fact_message(Fact.from_text(warning))
            for place, warning in enumerate(summary["warnings"], 1)
        },
    }


def public_sections(made: Weighting, summary: dict[str, Any], words: Words) -> list[Section]:
    """From the weighted public rows and the summary that the certificate states."""
    facts = lines(headline(summary), words)
    return [
        Section(words("weights.title"), (Facts(facts),)),
        Section(words("weights.answers"), (*_answers(made, None, words), *_charts(made, words)), chapter="trust"),
    ]


def internal_sections(data: list[Rows], made: Weighting, words: Words) -> list[Section]:
    """The same answers beside those of the private rows: for the publisher."""
    (rows,) = data
    title = words("weights.answers_internal")
    return [Section(title, _answers(made, rows.shares @ functions(made, rows.codes), words), internal=True)]


def functions(made: Weighting, codes: Codes) -> NDArray[np.float64]:
    """The numbers, and the 0/1 columns of the categories, of codes (rows, attributes)."""
    parts = zip(made.model.space.attributes, codes.T, strict=True)
    return np.concatenate([attribute.functions(own) for attribute, own in parts], axis=1)


def labels(made: Weighting, words: Words) -> list[str]:
    """What each of the functions is."""
    names = []
    for attribute in made.model.space.attributes:
        if isinstance(attribute, Numeric):
            names.append(words("weights.mean_of", column=attribute.name))
        else:
            shares = [f"{attribute.name} {value}" for value in attribute.values.values]
            names += [words("weights.share_of", column=share) for share in shares]
    return names


def _charts(made: Weighting, words: Words) -> list[Chart]:
    """The share of every category, and of ten bins of every number: weighted with intervals, unweighted as strokes."""
    codes, charts = made.features.codes, []
    for place, attribute in enumerate(made.model.space.attributes[:_MOST_CHARTS]):
        if isinstance(attribute, Numeric):
            edges = np.linspace(attribute.low, attribute.high, _BINS + 1)
            inside = np.clip(np.searchsorted(edges, attribute.decode(codes[:, place]), side="right") - 1, 0, _BINS - 1)
            names = [f"{low:.4g} – {high:.4g}" for low, high in pairwise(edges)]
        else:
            inside, names = codes[:, place].astype(np.int64), [str(value) for value in attribute.values.values]
        shares = (inside[:, None] == np.arange(len(names))).astype(np.float64)
        found = made.mean(shares, extremes=np.array([0.0, 1.0]))
        charts.append(
            share_chart(
                attribute.name,
                names,
                found.value,
                words,
                low=found.low,
                high=found.high,
                other=shares.mean(axis=0),
                other_title=words("weights.unweighted"),
                subtitle=words("weights.bars_and_strokes", level=words.percent(found.level)),
            )
        )
    return charts


def _answers(made: Weighting, true: NDArray[np.float64] | None, words: Words) -> tuple[Table | Text, ...]:
    """A table, and what is to be known of the intervals that the public rows support badly."""
    public, names = functions(made, made.features.codes), labels(made, words)
    answers = made.mean(public, labels=names)
    plain = public.mean(axis=0)
    header = ["query", "weighted", "low", "high", "unweighted", *(["private"] if true is not None else [])]
    rows = []
    for place, label in enumerate(names):
        numbers = [answers.value[place], answers.low[place], answers.high[place], plain[place]]
        numbers += [] if true is None else [true[place]]
        rows.append((label, *(f"{number:,.4g}" for number in numbers)))
    shown = tuple(words(f"weights.{name}") for name in header)
    notes = [Text.of(note.text(words)) for note in answers.notes]
    return (Table(words("weights.answers_caption"), shown, tuple(rows)), *notes)


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
        records = read(job.path(choice.path), encoding=choice.encoding, delimiter=choice.delimiter)
        return records.values(names), PageMessage("basis.public_records", path=choice.path)
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
        public, own = (attribute.functions(attribute.encode(data[attribute.name])) for data in (job.public, private))
        truth = own.mean(axis=0)
        weighted = [np.abs(made.normalised() @ public - truth).mean() for made in runs]
        query = "weights.shares_of" if isinstance(attribute, Categorical) else "weights.mean_of"
        rows.append(
            {
                "query": PageMessage(query, column=attribute.name),
                "weighted_error": float(np.mean(weighted)),
                "unweighted_error": float(np.abs(public.mean(axis=0) - truth).mean()),
            }
        )
    return rows


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
