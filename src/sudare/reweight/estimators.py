"""From a noisy mean to a fitted ratio: the tilt and uLSIF, all post-processing.

The regularisation of a private uLSIF, from the public rows and the known noise alone.

score(lambda) = mean_i [ (k(E_i)'a_-i)^2 / 2 - h'a_-i ] + trace((H + lambda I)^-1 Cov(noise)), where h is the noisy mean
and a_-i is fitted without the public row i: leave-one-out over the public rows, in closed form, and what the noise in h
adds to the optimism of h'a.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from sudare.arrays import Floats
from sudare.reweight.measurement import NoisyMean
from sudare.reweight.ratio import Link, checked_regularisation
from sudare.reweight.rows import PublicFeatures
from sudare.reweight.space import Space
from sudare.reweight.tilt import Directions, error_of_means, solve
from sudare.reweight.ulsif import coefficients
from sudare.reweight.weighting import Model

CANDIDATES: tuple[float, ...] = tuple(10.0 ** (power / 2) for power in range(-8, 7))


def score(
    public: PublicFeatures, mean: Floats, noise_variance: float, candidates: Sequence[float] = CANDIDATES
) -> Floats:
    """The score (k,) of each candidate; smaller is better. Coefficients are cut at zero, as in the fit."""
    rows = len(public)
    values, vectors = np.linalg.eigh(public.moments.second)
    values = np.maximum(values, 0)
    target = mean @ vectors
    scores = np.zeros(len(candidates))
    for _, features in public:
        rotated = features @ vectors
        for place, strength in enumerate(candidates):
            # Without row i, H + strength I is B less one rank: (Sherman and Morrison) one more vector for a_-i.
            inverse = 1 / (values * (rows / (rows - 1)) + strength)
            solved = rotated * inverse
            share = (solved @ target) / (rows - 1 - (rotated * solved).sum(axis=1))
            without = (target * inverse + solved * share[:, None]) @ vectors.T
            if public.basis.nonnegative:
                np.maximum(without, 0, out=without)
            scores[place] += float(((without * features).sum(axis=1) ** 2 / 2 - without @ mean).sum())
    for place, strength in enumerate(candidates):
        inverse = 1 / (values + strength)
        free = (target * inverse) @ vectors.T > 0 if public.basis.nonnegative else np.ones(len(values), dtype=bool)
        optimism = noise_variance * float(((vectors[free] ** 2) @ inverse).sum())
        scores[place] = scores[place] / rows + optimism
    return scores


def choose_regularisation(public: PublicFeatures, mean: Floats, noise_variance: float) -> float:
    """The candidate with the smallest score, of those not below the standard deviation of the noise.

    Below it, single draws of the noise in directions that H hardly knows decide the score.
    """
    floor = min(noise_variance**0.5, CANDIDATES[-1])
    candidates = [strength for strength in CANDIDATES if strength >= floor]
    scores = score(public, mean, noise_variance, candidates)
    return candidates[int(scores.argmin())]


def fit_tilt(space: Space, public: PublicFeatures, measured: NoisyMean) -> tuple[Model, Floats, dict[str, Any]]:
    """The log-linear tilt: the model, the weights (rows,) of the public rows with mean one, and what it was."""
    moments = public.moments
    directions = Directions.of(moments, public.basis.prior(moments.covariance), measured.variance, measured.people)
    projected = public.projected(directions.matrix)
    u, shares = solve(measured.value @ directions.matrix, projected, directions.penalty)
    exponent = projected @ u
    top = float(exponent.max())
    offset = -(top + math.log(float(np.exp(exponent - top).mean())))
    weights = shares * len(public)
    model = Model(
        space,
        public.basis,
        directions.matrix @ u,
        directions.matrix,
        -directions.finite * u,
        error_of_means(directions, projected, shares),
        "exponential",
        offset,
        float(weights.max()),
    )
    return model, weights, {"directions": directions.matrix.shape[1]}


def fit_ulsif(
    space: Space, public: PublicFeatures, measured: NoisyMean, regularisation: float | None
) -> tuple[Model, Floats, dict[str, Any]]:
    """uLSIF from the noisy mean; a regularisation that is not given comes from the public rows and the known noise."""
    if regularisation is None:
        strength = choose_regularisation(public, measured.value, measured.variance)
    else:
        strength = checked_regularisation(regularisation)
    basis = public.basis
    solved = coefficients(public.moments.second, measured.value, strength)
    if basis.nonnegative:
        solved = np.maximum(solved, 0)
    link: Link = "linear"
    weights = np.maximum(public.projected(solved[:, None])[:, 0], 0)
    if not weights.any():
        # The noise may leave nothing; then the public rows are all there is to say.
        solved, link, weights = np.zeros(basis.size), "exponential", np.ones(len(public))
    shift = public.weighted_mean(weights / weights.sum()) - measured.value
    error = measured.variance * np.eye(basis.size)
    return Model(space, basis, solved, np.eye(basis.size), shift, error, link), weights, {"regularisation": strength}
