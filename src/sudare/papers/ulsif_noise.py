"""The paper's analysis of noise, O(b / (epsilon lambda n)) in the coefficients, checked by experiment."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sudare.noise import Source
from sudare.privacy import Budget
from sudare.reweight.basis import GRID
from sudare.reweight.kernel import Kernel
from sudare.reweight.measurement import measure_mean
from sudare.reweight.public_features import PublicFeatures
from sudare.reweight.space import STEPS, Space
from sudare.reweight.ulsif import coefficients

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
    paper = type(reach)(Fraction(GRID) * int(b), reach.l2)  # b C with C = 1, and n known
    exact = coefficients(features.moments.second, total / (GRID * n), rest["lambda"])
    squares = []
    for run in range(runs):
        budget = Budget(epsilon=Fraction(str(epsilon)))
        measured = measure_mean(basis, total, int(n), paper, budget, Source.from_seed(run), adjacency="replace")
        noisy = coefficients(features.moments.second, measured.value, rest["lambda"])
        squares.append(float(((noisy - exact) ** 2).mean()))
    return float(np.sqrt(np.mean(squares)))
