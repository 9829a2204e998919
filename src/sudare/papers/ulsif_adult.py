"""A real case: records of women, private, answered for by those of men, public; elsewhere an invented stand-in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sudare.arrays import Floats
from sudare.language.messages import PageMessage
from sudare.noise import Source
from sudare.papers.data import adult_columns, adult_folder
from sudare.papers.spherical_noise import Classifier
from sudare.reweight import Space
from sudare.reweight.choice import BasisChoice
from sudare.reweight.estimators import fit_tilt
from sudare.reweight.measurement import budget_of, measure_mean
from sudare.reweight.rows import PublicFeatures, Rows

Columns: TypeAlias = dict[str, NDArray[Any]]

BOUNDS = {"age": (17.0, 90.0), "education-num": (1.0, 16.0), "hours-per-week": (1.0, 99.0)}
CATEGORICAL = ("workclass", "marital-status", "occupation", "race", "income")
PAIRS = (
    ("income", "education-num"),
    ("income", "age"),
    ("income", "marital-status"),
    ("hours-per-week", "education-num"),
)
STRENGTHS = (3e-4, 1e-3, 3e-3, 1e-2)
QUERIES = (
    "income > 50K",
    "mean hours / 100",
    "50 hours or more",
    "less than 35 hours",
    "income > 50K with a degree",
    "income > 50K under 35",
    "income > 50K from 50 on",
    "40 hours or more with a degree",
    "hours / 100 of those > 50K",
    "income > 50K, never married",
)


@dataclass(frozen=True)
class AdultCase:
    """Private and public columns, the space they are declared in, and what they are."""

    private: Columns
    public: Columns
    space: Space
    basis: PageMessage

    def truth(self) -> Floats:
        """The answers (10,) of the private records."""
        return np.asarray(queries(self.private).mean(axis=0))


def load() -> AdultCase:
    """Adult, if it is at hand."""
    folder = adult_folder()
    if folder is None:
        return _invented()
    columns = {name: np.array(values) for name, values in adult_columns(folder).items()}
    women = columns["sex"] == "Female"
    kept: Columns = {name: columns[name].astype(np.float64) for name in BOUNDS}
    kept |= {name: columns[name] for name in CATEGORICAL}
    space = Space.declare(BOUNDS, {name: sorted(set(columns[name].tolist())) for name in CATEGORICAL})
    return _split(kept, women, space, PageMessage("paper.basis.adult_women"))


def _invented() -> AdultCase:
    """Two groups whose columns differ, as many as Adult has."""
    generator = np.random.default_rng(20_130_601)
    rows = 45_222
    women = generator.random(rows) < 0.325
    shift = women.astype(np.float64)
    columns: Columns = {
        "age": np.clip(generator.normal(39 - 2 * shift, 13), 17, 90).round(),
        "education-num": np.clip(generator.normal(10, 2.5, rows), 1, 16).round(),
        "hours-per-week": np.clip(generator.normal(42 - 6 * shift, 11), 1, 99).round(),
    }
    for name, size in (("workclass", 7), ("marital-status", 7), ("occupation", 14), ("race", 5)):
        weight = 0.7 ** np.arange(size)
        codes = generator.choice(size, rows, p=weight / weight.sum()) + (generator.random(rows) < 0.3 * shift)
        columns[name] = np.array([f"{name} {code}" for code in range(size)])[np.minimum(codes, size - 1)]
    rich = generator.random(rows) < 1 / (1 + np.exp(2.6 + shift - (columns["education-num"] - 10) / 2))
    columns["income"] = np.where(rich, ">50K", "<=50K")
    columns["marital-status"] = np.where(
        generator.random(rows) < 0.3, "Never-married", columns["marital-status"].astype("U20")
    )
    space = Space.declare(BOUNDS, {name: sorted(set(columns[name].tolist())) for name in CATEGORICAL})
    return _split(columns, women, space, PageMessage("paper.basis.stand_in"))


def _split(columns: Columns, women: NDArray[np.bool_], space: Space, basis: PageMessage) -> AdultCase:
    private = {name: column[women] for name, column in columns.items()}
    return AdultCase(private, {name: column[~women] for name, column in columns.items()}, space, basis)


def queries(columns: Columns) -> Floats:
    """The ten queries at rows (rows, 10)."""
    rich = columns["income"] == ">50K"
    hours, age, degree = columns["hours-per-week"], columns["age"], columns["education-num"] >= 13
    single = columns["marital-status"] == "Never-married"
    functions = [
        rich,
        hours / 100,
        hours >= 50,
        hours < 35,
        rich & degree,
        rich & (age < 35),
        rich & (age >= 50),
        (hours >= 40) & degree,
        rich * hours / 100,
        rich & single,
    ]
    return np.stack([function.astype(np.float64) for function in functions], axis=1)


@dataclass(frozen=True)
class Answered:
    """Mean absolute errors (runs, 10) of one contender at one epsilon."""

    name: str
    epsilon: float
    errors: Floats


def compete(case: AdultCase, epsilons: tuple[float, ...], runs: int) -> list[Answered]:
    """Our default, the same with named pairs, and the importance weighting mechanism at its best strength."""
    truth, public = case.truth(), queries(case.public)
    answered = [Answered("no weights", epsilons[0], np.abs(public.mean(axis=0) - truth)[None, :])]
    for name, pairs in (("Sudare", ()), ("Sudare, four pairs named", PAIRS)):
        run = _tilt(case, list(pairs))
        for epsilon in epsilons:
            weights = [run(epsilon, seed) for seed in range(runs)]
            answered.append(Answered(name, epsilon, _errors(weights, public, truth)))
    for strength in STRENGTHS:
        made = Classifier.of(case.private, case.public, case.space, strength, 1)
        name = f"importance weighting, lambda {strength:g}"
        for epsilon in epsilons:
            weights = [made.weights(made.noisy(epsilon, seed)) for seed in range(runs)]
            answered.append(Answered(name, epsilon, _errors(weights, public, truth)))
    return answered


def _errors(weights: list[Floats], public: Floats, truth: Floats) -> Floats:
    return np.stack([np.abs(one @ public / one.sum() - truth) for one in weights])


def _tilt(case: AdultCase, pairs: list[tuple[str, str]]) -> Callable[[float, int], Floats]:
    """The default of `fit`, with what does not depend on the noise computed once: (epsilon, seed) -> weights."""
    below = case.space.encode(case.public)
    choice = BasisChoice(None, "public", None, None, pairs or "auto", "tilt", False)
    basis = choice.of_public(case.space, below)
    features = PublicFeatures(basis, below)
    rows = Rows(case.space.encode(case.private))
    total, reach = rows.total(basis), basis.reach("replace", averaged=False)

    def run(epsilon: float, seed: int) -> Floats:
        budget, source = budget_of(epsilon), Source.from_seed(seed)
        measured = measure_mean(basis, total, rows.people, reach, budget, source, adjacency="replace")
        return fit_tilt(case.space, features, measured)[1]

    return run
