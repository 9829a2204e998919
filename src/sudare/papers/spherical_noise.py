"""The importance weighting mechanism with the noise of its authors: a direction and a length. For comparison only.

Ji and Elkan (2013) add a vector of uniform direction and Gamma-distributed length to the coefficients, which is less
than Laplace noise on each of them by about sqrt 2. Such floats have no guarantee (their last bits show the exact
values); `sudare.reweight.importance_weighting` has exact noise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from sudare.arrays import Floats
from sudare.errors import Message
from sudare.privacy import Fact, Guarantee
from sudare.reweight import Space, Weighting
from sudare.reweight.basis import features
from sudare.reweight.importance import unit_length
from sudare.reweight.logistic import minimise
from sudare.reweight.measurement import NoisyMean
from sudare.reweight.parametric import Parametric
from sudare.reweight.rows import PublicFeatures, columns_of
from sudare.reweight.weighting import Model


@dataclass(frozen=True)
class Classifier:
    """A logistic regression of private against public rows: its exact coefficients, to which noise is then added."""

    space: Space
    basis: Parametric
    coefficients: Floats
    regularisation: float
    people: int
    columns: dict[str, Any]
    public: PublicFeatures

    @classmethod
    def of(cls, private: Any, public: Any, space: Space, regularisation: float, degree: int) -> Classifier:
        """Fit it."""
        basis = unit_length(space, degree)
        columns = columns_of(public, space, Message("public"))
        above = features(basis, space.encode(columns_of(private, space, Message("private"))))
        rows = PublicFeatures(basis, space.encode(columns))
        exact = minimise(above, rows.projected(np.eye(basis.size)), regularisation)
        return cls(space, basis, exact, regularisation, len(above), dict(columns), rows)

    def noisy(self, epsilon: float, seed: int) -> Floats:
        """Coefficients with noise of density proportional to exp(-epsilon n regularisation |t| / 2)."""
        generator = np.random.default_rng(seed)
        direction = generator.normal(size=self.basis.size)
        length = generator.gamma(self.basis.size, 2 / (self.people * self.regularisation * epsilon))
        return np.asarray(self.coefficients + direction / np.linalg.norm(direction) * length)

    def weights(self, coefficients: Floats) -> Floats:
        """exp(b'x) of the public rows, with mean one."""
        exponent = self.public.projected(coefficients[:, None])[:, 0]
        weights = np.exp(exponent - exponent.max())
        return np.asarray(weights / weights.mean())


def spherical_importance_weighting(
    private: Any,
    public: Any,
    epsilon: float,
    bounds: Any,
    categories: Any = None,
    *,
    regularisation: float,
    degree: int,
    seed: int,
) -> Weighting:
    """A weighting whose noise is as its authors have it; it promises nothing."""
    made = Classifier.of(private, public, Space.declare(bounds, categories), regularisation, degree)
    noisy = made.noisy(epsilon, seed)
    weights = made.weights(noisy)
    exponent = made.public.projected(noisy[:, None])[:, 0]
    offset = -(float(exponent.max()) + math.log(float(np.exp(exponent - exponent.max()).mean())))
    size = made.basis.size
    model = Model(
        made.space,
        made.basis,
        noisy,
        np.eye(size),
        np.zeros(size),
        np.zeros((size, size)),
        "exponential",
        offset,
        float(weights.max()),
    )
    mean = made.public.weighted_mean(weights / weights.sum())
    return Weighting(
        model,
        weights,
        Guarantee("none: seeded", assumptions=(Fact("float_noise"),)),
        "importance weighting, spherical noise",
        {"regularisation": regularisation, "degree": degree},
        NoisyMean(mean, 0.0, float(made.people), 2 / regularisation),
        made.columns,
        made.public,
    )
