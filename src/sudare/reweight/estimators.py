"""From a noisy mean to a fitted ratio: the tilt and uLSIF, all post-processing."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sudare.arrays import Floats
from sudare.reweight.measurement import NoisyMean
from sudare.reweight.public_features import PublicFeatures
from sudare.reweight.ratio import Link, checked_regularisation
from sudare.reweight.regularisation import choose_regularisation
from sudare.reweight.space import Space
from sudare.reweight.tilt import Directions, error_of_means, solve
from sudare.reweight.ulsif import coefficients
from sudare.reweight.weighting import Model


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
