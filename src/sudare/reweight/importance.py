"""The importance weighting mechanism of Ji and Elkan (2013): noisy coefficients of a regularised logistic regression.

The rival. Its weights are exp(b'x) with b from a logistic regression of the private against the public rows. It needs
a regularisation that is chosen without looking, and its noise grows with the number of columns.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from sudare.errors import Message
from sudare.noise import Source, measure, metered, noise_variance
from sudare.privacy import Budget, Guarantee, Number
from sudare.reweight.basis import GRID, root_above
from sudare.reweight.basis import features as features_of
from sudare.reweight.measurement import NoisyMean, budget_of, promise
from sudare.reweight.parametric import unit_length
from sudare.reweight.ratio import checked_regularisation, minimise
from sudare.reweight.rows import PublicFeatures, checked_people, checked_public, columns_of, read_rows
from sudare.reweight.space import Codes, Space
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
    strength = checked_regularisation(regularisation)
    noise = Source.chosen(source, seed)
    columns = columns_of(public, space, Message("public"))
    above = read_rows(private, space, Message("private")).codes
    budget, guarantee = budget_of(epsilon, delta), promise(epsilon or 0, delta)
    promised = guarantee.without_protection() if noise.seeded else guarantee.unbooked()
    return weigh(space, above, columns, budget, strength, degree, noise, promised)


def weigh(
    space: Space,
    above: Codes,
    columns: Mapping[str, Any],
    budget: Budget,
    strength: float,
    degree: int,
    source: Source,
    guarantee: Guarantee,
) -> Weighting:
    """`importance_weighting` of private codes (n, columns) and the public ``columns``, all of it checked before."""
    below = space.encode(columns)
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
        noisy = measure(exact, sensitivity, budget, source, "coefficients") / GRID
    meter.check(budget)
    variance = noise_variance(sensitivity, budget) / GRID**2
    exponent = features @ noisy
    offset = -(float(exponent.max()) + math.log(float(np.exp(exponent - exponent.max()).mean())))
    weights = np.exp(exponent + offset)
    shares = weights / weights.sum()
    mean = shares @ features
    spread = (features - mean).T @ ((features - mean) * shares[:, None])
    error = variance * spread @ spread
    identity, none = np.eye(basis.size), np.zeros(basis.size)
    model = Model(space, basis, noisy, identity, none, error, "exponential", offset, float(weights.max()))
    measured = NoisyMean(mean, 0.0, float(len(above)), float(sensitivity) / GRID)
    facts = {"regularisation": strength, "degree": degree}
    return Weighting(model, weights, guarantee, "importance weighting", facts, measured, dict(columns), rows)
