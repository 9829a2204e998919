"""The paper's invented data, who competes on them, and how they are judged.

E ~ N(1, 1) with 50 public records, D ~ N(2, 1/4) with 2,000 private ones; a contender gives a ratio w(x). Judged are
the root mean square error of w under p_E, the weighted mean, and ten queries on D answered by the weighted E.

The paper's analysis of noise, O(b / (epsilon lambda n)) in the coefficients, checked by experiment.

The importance weighting mechanism of Ji and Elkan (2013) is here with the noise of its authors, a vector of uniform
direction and Gamma-distributed length: less than Laplace noise on each coefficient, by about sqrt 2. For comparison
only: such floats have no guarantee (their last bits show the exact values), as those of `sudare.reweight.fit` with
``estimator="importance"`` have.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from sudare.arrays import Floats
from sudare.errors import Message
from sudare.noise import Source
from sudare.privacy import Budget
from sudare.reweight import Gaussian, fit, ulsif
from sudare.reweight.basis import GRID as NOISE_GRID
from sudare.reweight.functions import Polynomial
from sudare.reweight.kernel import Kernel
from sudare.reweight.measurement import measure_mean
from sudare.reweight.ratio import REGULARISATIONS, CrossValidationChoice, Features, choose, coefficients, minimise
from sudare.reweight.rows import PublicFeatures, columns_of
from sudare.reweight.space import STEPS, Space

Ratio: TypeAlias = Callable[[Floats], Floats]

PUBLIC_ROWS, PRIVATE_ROWS, CENTRES = 50, 2000, 50
BOUNDS = [(-4.0, 6.0)]
GRID: Floats = np.linspace(*BOUNDS[0], 1001)
QUERIES: tuple[Callable[[Floats], Floats], ...] = (
    lambda x: x,
    lambda x: x**2 / 4,
    lambda x: np.asarray(x < 1, dtype=np.float64),
    lambda x: np.asarray(x < 1.5, dtype=np.float64),
    lambda x: np.asarray(x > 2, dtype=np.float64),
    lambda x: np.asarray(x > 2.5, dtype=np.float64),
    lambda x: np.asarray(np.abs(x - 2) < 0.5, dtype=np.float64),
    lambda x: np.sin(2 * x),
    lambda x: np.abs(x - 2),
    lambda x: np.exp(-x),
)


@dataclass(frozen=True)
class Draw:
    """One draw of both samples, and what the paper's cross-validation chose on it, without paying for it."""

    private: Floats
    public: Floats
    at_private: CrossValidationChoice
    at_public: CrossValidationChoice

    @classmethod
    def of(cls, seed: int) -> Draw:
        """Samples from a seed, with kernels at 50 records of D and at the records of E."""
        generator = np.random.default_rng(seed)
        public, private = generator.normal(1, 1, PUBLIC_ROWS), generator.normal(2, 0.5, PRIVATE_ROWS)
        widths = (0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5)
        chosen = []
        for centres in (private[:CENTRES], public):
            kernels: list[Features] = [Gaussian(centres, width) for width in widths]
            chosen.append(choose(private[:, None], public[:, None], kernels, REGULARISATIONS))
        return cls(private, public, *chosen)


@dataclass(frozen=True)
class RatioContender:
    """A name, whether the paper has it, whether epsilon matters, and a function (draw, epsilon, seed) -> ratio."""

    name: str
    of_paper: bool
    private: bool
    ratio: Callable[[Draw, float, int], Ratio]


def true_ratio(x: Floats) -> Floats:
    """p_D / p_E."""
    return np.asarray(2 * np.exp(-2 * (x - 2) ** 2 + (x - 1) ** 2 / 2))


def density(x: Floats, mean: float, deviation: float) -> Floats:
    """Of a normal law."""
    return np.asarray(np.exp(-((x - mean) ** 2) / (2 * deviation**2)) / (deviation * np.sqrt(2 * np.pi)))


def _plain(centres: str) -> Callable[[Draw, float, int], Ratio]:
    def ratio(draw: Draw, epsilon: float, seed: int) -> Ratio:  # noqa: ARG001 - a Contender
        choice = draw.at_private if centres == "private" else draw.at_public
        return ulsif(draw.private, draw.public, choice.basis, choice.regularisation)

    return ratio


def _paper(centres: str, regularisation: float | None = None) -> Callable[[Draw, float, int], Ratio]:
    """Methods A ("noisy"), B ("public") and C ("raw"): 50 centres, regularisation and width from the unpaid choice."""

    def ratio(draw: Draw, epsilon: float, seed: int) -> Ratio:
        choice = draw.at_public if centres == "public" else draw.at_private
        basis = choice.basis
        assert isinstance(basis, Gaussian)  # noqa: S101 - as Draw.of makes them
        given: dict[str, Any] = {
            "centres": draw.public if centres == "public" else centres,
            "regularisation": regularisation or choice.regularisation,
            "width": basis.width / (BOUNDS[0][1] - BOUNDS[0][0]),
        }
        if centres == "public":
            given["basis"] = "kernel"
        else:
            given["number"] = CENTRES
        return _ours(estimator="ulsif", accept_raw_records=centres == "raw", **given)(draw, epsilon, seed)

    return ratio


def _ours(**options: Any) -> Callable[[Draw, float, int], Ratio]:
    def ratio(draw: Draw, epsilon: float, seed: int) -> Ratio:
        return fit(draw.private, draw.public, epsilon, bounds=BOUNDS, seed=seed, **options).weight

    return ratio


@dataclass(frozen=True)
class Classifier:
    """A logistic regression of private against public rows: its exact coefficients, to which noise is then added."""

    space: Space
    basis: Polynomial
    coefficients: Floats
    regularisation: float
    people: int
    public: PublicFeatures

    @classmethod
    def of(cls, private: Any, public: Any, space: Space, regularisation: float, degree: int) -> Classifier:
        basis = Polynomial(space, degree, constant=True, unit_length=True)
        above = basis.steps(space.encode(columns_of(private, space, Message("private")))) / NOISE_GRID
        rows = PublicFeatures(basis, space.encode(columns_of(public, space, Message("public"))))
        exact = minimise(above, rows.projected(np.eye(basis.size)), regularisation)
        return cls(space, basis, exact, regularisation, len(above), rows)

    def noisy(self, epsilon: float, seed: int) -> Floats:
        """Coefficients with noise of density proportional to exp(-epsilon n regularisation |t| / 2)."""
        generator = np.random.default_rng(seed)
        direction = generator.normal(size=self.basis.size)
        length = generator.gamma(self.basis.size, 2 / (self.people * self.regularisation * epsilon))
        return np.asarray(self.coefficients + direction / np.linalg.norm(direction) * length)

    def weights(self, coefficients: Floats, x: Any = None) -> Floats:
        """exp(b'x), with mean one over the public rows: of these, or of the rows ``x``, never above the largest."""
        exponent = self.public.projected(coefficients[:, None])[:, 0]
        top, mean = exponent.max(), np.exp(exponent - exponent.max()).mean()
        if x is not None:
            rows = PublicFeatures(self.basis, self.space.encode(columns_of(x, self.space, Message("given"))))
            exponent = np.minimum(rows.projected(coefficients[:, None])[:, 0], top)
        return np.asarray(np.exp(exponent - top) / mean)


def _importance(regularisation: float) -> Callable[[Draw, float, int], Ratio]:
    def ratio(draw: Draw, epsilon: float, seed: int) -> Ratio:
        made = Classifier.of(draw.private, draw.public, Space.declare(BOUNDS), regularisation, 2)
        return partial(made.weights, made.noisy(epsilon, seed))

    return ratio


IMPORTANCE_STRENGTHS = (1e-3, 3e-3, 1e-2, 3e-2)
CONTENDERS: tuple[RatioContender, ...] = (
    RatioContender("uLSIF, centres from D", True, False, _plain("private")),
    RatioContender("uLSIF, centres from E", True, False, _plain("public")),
    RatioContender("A: noisy centres", True, True, _paper("noisy")),
    RatioContender("B: centres from E", True, True, _paper("public")),
    RatioContender("C: raw centres (no protection)", True, True, _paper("raw")),
    RatioContender("B, lambda 0.1", True, True, _paper("public", 0.1)),
    *(
        RatioContender(f"importance weighting, lambda {strength:g}", False, True, _importance(strength))
        for strength in IMPORTANCE_STRENGTHS
    ),
    RatioContender("B, 10 centres, lambda by rule", False, True, _ours(estimator="ulsif")),
    RatioContender("tilt, 10 kernels", False, True, _ours(basis="kernel")),
    RatioContender("tilt, 50 kernels, delta 1e-6", False, True, _ours(basis="kernel", number=50, delta=1e-6)),
    RatioContender("Sudare (tilt, 20 hats)", False, True, _ours()),
)


@dataclass(frozen=True)
class RatioScore:
    """Errors over runs (runs,): of w under p_E, of the weighted mean, and the mean over ten queries."""

    ratio: Floats
    mean: Floats
    queries: Floats

    @property
    def medians(self) -> tuple[float, float, float]:
        """What a typical run has."""
        return float(np.median(self.ratio)), float(np.median(self.mean)), float(np.median(self.queries))


def judge(draw: Draw, ratio: Ratio) -> tuple[float, float, float]:
    """Root mean square error of w under p_E, and errors of the weighted mean and of the ten queries about D itself."""
    at_grid = np.asarray(ratio(GRID))
    share = density(GRID, 1, 1) / density(GRID, 1, 1).sum()
    error = float(np.sqrt(share @ (at_grid - true_ratio(GRID)) ** 2))
    weights = np.asarray(ratio(draw.public))
    weights = weights / weights.sum() if weights.sum() > 0 else np.full(len(weights), 1 / len(weights))
    answers = [abs(float(weights @ f(draw.public)) - float(f(draw.private).mean())) for f in QUERIES]
    return error, answers[0], float(np.mean(answers))


def compete(contender: RatioContender, epsilon: float, draws: list[Draw]) -> RatioScore:
    """One contender at one epsilon on all draws."""
    rows = [judge(draw, contender.ratio(draw, epsilon, seed)) for seed, draw in enumerate(draws)]
    return RatioScore(*np.array(rows).T)


BASE = {"b": 20.0, "epsilon": 1.0, "lambda": 10.0, "n": 2000.0}
VALUES = {
    "b": (5.0, 10.0, 20.0, 40.0),
    "epsilon": (0.1, 0.3, 1.0, 3.0, 10.0),
    "lambda": (10.0, 30.0, 100.0, 300.0),
    "n": (500.0, 2000.0, 8000.0, 32000.0),
}
CLAIMED = {"b": 1.0, "epsilon": -1.0, "lambda": -1.0, "n": -1.0}


@dataclass(frozen=True)
class Slope:
    """How the noise grows with one quantity: its root mean square at ``values``, and the slope of the logarithms."""

    name: str
    values: tuple[float, ...]
    noise: tuple[float, ...]

    @property
    def exponent(self) -> float:
        """Of the power law that fits best."""
        return float(np.polyfit(np.log(self.values), np.log(self.noise), 1)[0])


def slopes(runs: int) -> list[Slope]:
    """Each quantity varied with the others at `BASE`. The law holds where lambda is above the eigenvalues of H / b."""
    return [
        Slope(name, values, tuple(noise_at(**{**BASE, name: value}, runs=runs) for value in values))
        for name, values in VALUES.items()
    ]


def noise_at(*, b: float, epsilon: float, n: float, runs: int, **rest: float) -> float:
    """The root mean square of what the noise does to a coefficient: sensitivity b C, as the paper bounds it."""
    generator = np.random.default_rng(int(n))
    space = Space.declare([(-4.0, 6.0)])
    public = space.encode({"x0": generator.normal(1, 1, 50)})
    private = space.encode({"x0": generator.normal(2, 0.5, int(n))})
    centres = np.rint(np.quantile(public[:, 0], (np.arange(int(b)) + 0.5) / int(b)))[:, None]
    basis = Kernel(space, centres, 0.0675 * STEPS)
    features = PublicFeatures(basis, public)
    total = basis.total(private)
    reach = basis.reach("replace", averaged=False)
    paper = type(reach)(Fraction(NOISE_GRID) * int(b), reach.l2)  # b C with C = 1, and n known
    exact = coefficients(features.moments.second, total / (NOISE_GRID * n), rest["lambda"])
    squares = []
    for run in range(runs):
        budget = Budget(epsilon=Fraction(str(epsilon)))
        measured = measure_mean(basis, total, int(n), paper, budget, Source.from_seed(run), adjacency="replace")
        noisy = coefficients(features.moments.second, measured.value, rest["lambda"])
        squares.append(float(((noisy - exact) ** 2).mean()))
    return float(np.sqrt(np.mean(squares)))
