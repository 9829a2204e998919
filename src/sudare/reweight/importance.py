"""The importance weighting mechanism of Ji and Elkan (2013): noisy coefficients of a regularised logistic regression.

The rival. Its weights are exp(b'x) with b from a logistic regression of the private against the public rows. It needs
a regularisation that is chosen without looking, and its noise grows with the number of columns.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from sudare.arrays import Floats
from sudare.noise import Source, measure, noise_variance
from sudare.privacy import Budget
from sudare.reweight.basis import GRID, root_above
from sudare.reweight.measurement import NoisyMean
from sudare.reweight.ratio import minimise
from sudare.reweight.rows import PublicFeatures
from sudare.reweight.space import Codes, Space
from sudare.reweight.weighting import Model

_MISS, _LEAST_MISS = Fraction(1, 10**6), Fraction(1, 10**12)
"""The gradient that the optimiser may leave, of what one record can change in it; never below what is rounding."""


def fit_importance(
    space: Space, public: PublicFeatures, private: Codes, budget: Budget, regularisation: float, source: Source
) -> tuple[Model, Floats, dict[str, Any], NoisyMean]:
    """The model, the weights (rows,) of the public rows with mean one, what it was, and the means under the weights.

    Sensitivity: rows have length at most 1 (`Polynomial.unit_length`), and the loss is ``regularisation``-strongly
    convex. Replacing one of n private rows changes its gradient by at most 2/n, hence the minimum by at most
    2 / (n regularisation) in L2, sqrt(columns) times that in L1. The optimiser's own miss (a gradient of 1e-6 / n, or
    1e-12) and the rounding are added. The number of private rows is public.
    """
    basis, people = public.basis, len(private)
    features = public.projected(np.eye(basis.size))
    miss = max(_MISS / people, _LEAST_MISS)
    beta = minimise(basis.steps(private) / GRID, features, regularisation, float(miss))
    moved = (Fraction(2, people) + 3 * miss) / Fraction(regularisation)
    l2 = GRID * moved + root_above(Fraction(basis.size))
    sensitivity = l2 * root_above(Fraction(basis.size)) if budget.epsilon is not None else l2
    exact = np.rint(beta * GRID).astype(np.int64)
    noisy = measure(exact, sensitivity, budget, source, "coefficients") / GRID
    exponent = features @ noisy
    top = float(exponent.max())
    offset = -(top + math.log(float(np.exp(exponent - top).mean())))
    weights = np.exp(exponent + offset)
    shares = weights / weights.sum()
    mean = shares @ features
    spread = (features - mean).T @ ((features - mean) * shares[:, None])
    error = noise_variance(sensitivity, budget) / GRID**2 * spread @ spread
    model = Model(space, basis, noisy, "exponential", offset, float(weights.max()), error)
    return model, weights, {"regularisation": regularisation}, NoisyMean(mean, 0.0, people, float(sensitivity) / GRID)
