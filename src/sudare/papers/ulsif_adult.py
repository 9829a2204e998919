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
from sudare.papers.data import STAND_IN, adult_columns
from sudare.papers.ulsif_setting import Classifier
from sudare.reweight.choice import FitParameters
from sudare.reweight.estimators import fit_tilt
from sudare.reweight.measurement import budget_of, measure_mean
from sudare.reweight.rows import PublicFeatures, Rows
from sudare.reweight.space import Space

Columns: TypeAlias = dict[str, NDArray[Any]]

HOURS = "hours-per-week"
BOUNDS = {"age": (17.0, 90.0), "education-num": (1.0, 16.0), HOURS: (1.0, 99.0)}
CATEGORICAL = ("workclass", "marital-status", "occupation", "race", "income")
PAIRS = (
    ("income", "education-num"),
    ("income", "age"),
    ("income", "marital-status"),
    (HOURS, "education-num"),
)
STRENGTHS = (3e-4, 1e-3, 3e-3, 1e-2)
QUERIES: dict[str, Callable[[Columns], NDArray[Any]]] = {
    "income > 50K": lambda of: _rich(of),
    "mean hours / 100": lambda of: of[HOURS] / 100,
    "50 hours or more": lambda of: of[HOURS] >= 50,
    "less than 35 hours": lambda of: of[HOURS] < 35,
    "income > 50K with a degree": lambda of: _rich(of) & _degree(of),
    "income > 50K under 35": lambda of: _rich(of) & (of["age"] < 35),
    "income > 50K from 50 on": lambda of: _rich(of) & (of["age"] >= 50),
    "40 hours or more with a degree": lambda of: (of[HOURS] >= 40) & _degree(of),
    "hours / 100 of those > 50K": lambda of: _rich(of) * of[HOURS] / 100,
    "income > 50K, never married": lambda of: _rich(of) & (of["marital-status"] == "Never-married"),
}


def _rich(columns: Columns) -> NDArray[Any]:
    return np.asarray(columns["income"] == ">50K")


def _degree(columns: Columns) -> NDArray[Any]:
    return np.asarray(columns["education-num"] >= 13)


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
    """Adult where it is at hand, else the stand-in."""
    found, real = adult_columns()
    columns: Columns = {name: np.array(found[name]).astype(np.float64) for name in BOUNDS}
    columns |= {name: np.array(found[name]) for name in CATEGORICAL}
    women = np.array(found["sex"]) == "Female"
    space = Space.declare(BOUNDS, {name: sorted(set(found[name])) for name in CATEGORICAL})
    private, public = ({name: column[rows] for name, column in columns.items()} for rows in (women, ~women))
    return AdultCase(private, public, space, PageMessage("paper.basis.adult_women") if real else STAND_IN)


def queries(columns: Columns) -> Floats:
    """The ten queries at rows (rows, 10)."""
    return np.stack([function(columns).astype(np.float64) for function in QUERIES.values()], axis=1)


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
    basis = FitParameters(pairs=pairs or "auto").of_public(case.space, below)
    features = PublicFeatures(basis, below)
    rows = Rows(case.space.encode(case.private))
    total, reach = rows.total(basis), basis.reach("replace", averaged=False)

    def run(epsilon: float, seed: int) -> Floats:
        budget, source = budget_of(epsilon), Source.from_seed(seed)
        measured = measure_mean(basis, total, rows.people, reach, budget, source, adjacency="replace")
        return fit_tilt(case.space, features, measured)[1]

    return run
