"""The importance weighting mechanism with the noise of its authors: a direction and a length. For comparison only.

Ji and Elkan (2013) add a vector of uniform direction and Gamma-distributed length to the coefficients, which is less
than Laplace noise on each of them by about sqrt 2. Such floats have no guarantee (their last bits show the exact
values); `sudare.reweight.importance_weighting` has exact noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sudare.arrays import Floats
from sudare.errors import Message
from sudare.reweight import Space
from sudare.reweight.basis import features
from sudare.reweight.parametric import Parametric, unit_length
from sudare.reweight.ratio import minimise
from sudare.reweight.rows import PublicFeatures, columns_of


@dataclass(frozen=True)
class Classifier:
    """A logistic regression of private against public rows: its exact coefficients, to which noise is then added."""

    space: Space
    basis: Parametric
    coefficients: Floats
    regularisation: float
    people: int
    public: PublicFeatures

    @classmethod
    def of(cls, private: Any, public: Any, space: Space, regularisation: float, degree: int) -> Classifier:
        basis = unit_length(space, degree)
        above = features(basis, space.encode(columns_of(private, space, Message("private"))))
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
