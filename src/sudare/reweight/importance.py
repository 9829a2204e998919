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
from sudare.errors import Message
from sudare.noise import Source, measure, metered, noise_variance
from sudare.privacy import Number
from sudare.reweight.basis import GRID, root_above
from sudare.reweight.basis import features as features_of
from sudare.reweight.checks import checked_people, checked_public, checked_source
from sudare.reweight.logistic import minimise
from sudare.reweight.measurement import NoisyMean, budget_of, promise
from sudare.reweight.parametric import Parametric, polynomial
from sudare.reweight.ratio import checked_regularisation
from sudare.reweight.rows import PublicFeatures, columns_of, read_rows
from sudare.reweight.space import Codes, Numeric, Space
from sudare.reweight.weighting import Model, Weighting

_MISS, _LEAST_MISS = Fraction(1, 10**6), Fraction(1, 10**12)
"""The gradient that the optimiser may leave, of what one record can change in it; never below what is rounding."""


def importance_weighting(
    private: Any,
    public: Any,
    epsilon: Number | None = None,
    *,
    bounds: Any = None,
    categories: Any = None,
    regularisation: float = 0.01,
    degree: int = 2,
    delta: Number | None = None,
    seed: int | None = None,
    source: Source | None = None,
) -> Weighting:
    """Weights for the public rows by the importance weighting mechanism, replace adjacency, the number of rows public.

    Sensitivity: rows have length at most 1, and the loss is ``regularisation``-strongly convex. Replacing one of n
    private rows changes its gradient by at most 2/n, hence the minimum by at most 2 / (n regularisation) in L2, sqrt
    (columns) times that in L1. The optimiser's own miss (a gradient of 1e-6 / n, or 1e-12) and the rounding are added.

    >>> sample = np.random.default_rng(1)
    >>> made = importance_weighting(sample.normal(2, 0.5, 2000), sample.normal(1, 1, 50), 1.0, bounds=[(-4, 6)], seed=1)
    >>> made.guarantee.notion, made.weights.shape
    ('none: seeded', (50,))
    """
    space = Space.declare(bounds, categories)
    budget, strength = budget_of(epsilon, delta), checked_regularisation(regularisation)
    noise = checked_source(seed, source)
    columns = columns_of(public, space, Message("public"))
    below, above = space.encode(columns), read_rows(private, space, Message("private")).codes
    checked_public(space, below)
    checked_people(len(above))
    basis = unit_length(space, degree)
    rows = PublicFeatures(basis, below)
    features = rows.projected(np.eye(basis.size))
    miss = max(_MISS / len(above), _LEAST_MISS)
    beta = minimise(features_of(basis, above), features, strength, float(miss))
    moved = (Fraction(2, len(above)) + 3 * miss) / Fraction(strength)
    l2 = GRID * moved + root_above(Fraction(basis.size))
    sensitivity = l2 * root_above(Fraction(basis.size)) if budget.epsilon is not None else l2
    with metered() as meter:
        exact = np.rint(beta * GRID).astype(np.int64)
        noisy = measure(exact, sensitivity, budget, noise, "coefficients") / GRID
    meter.check(budget)
    variance = noise_variance(sensitivity, budget) / GRID**2
    exponent = features @ noisy
    offset = -(float(exponent.max()) + math.log(float(np.exp(exponent - exponent.max()).mean())))
    weights = np.exp(exponent + offset)
    shares = weights / weights.sum()
    mean = shares @ features
    spread = (features - mean).T @ ((features - mean) * shares[:, None])
    guarantee = promise(epsilon or 0, delta)
    return Weighting(
        Model(
            space,
            basis,
            noisy,
            np.eye(basis.size),
            np.zeros(basis.size),
            variance * spread @ spread,
            "exponential",
            offset,
            float(weights.max()),
        ),
        weights,
        guarantee.without_protection() if noise.seeded else guarantee.unbooked(),
        "importance weighting",
        {"regularisation": strength, "degree": degree},
        NoisyMean(mean, 0.0, float(len(above)), float(sensitivity) / GRID),
        columns,
        rows,
    )


def unit_length(space: Space, degree: int) -> Parametric:
    """Polynomial features and a constant, scaled so that no row is longer than 1."""
    inner = polynomial(space, degree)
    categories = [attribute for attribute in space.attributes if not isinstance(attribute, Numeric)]
    columns = sum(attribute.size for attribute in categories)
    # Every monomial may be 1 at once; of an attribute's categories, one is. Rounding to steps may lengthen a row too.
    length = math.sqrt(inner.size - columns + len(categories) + 1) * (1 + (inner.size + 1) / GRID)

    def function(codes: Codes) -> Floats:
        values = inner.function(codes)
        return np.concatenate([values, np.ones((len(codes), 1))], axis=1) / length

    low = np.append(np.asarray(inner.low), 0.0) / length
    return Parametric(function, low, np.full(len(low), 1 / length * (1 + 1e-9)), f"{inner.name}, of unit length")
