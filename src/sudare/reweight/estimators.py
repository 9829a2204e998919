"""From a noisy mean to a fitted ratio: the tilt and uLSIF, all post-processing.

**The log-linear tilt**, w(x) = exp(t'k(x)) / mean_E exp(t'k), is positive and normalised by construction. Given a noisy
mean h of the features over the private records, t maximises h't - log mean_E exp(t'k) - t'R t / 2. The private records
enter through h alone. The penalty R is not tuned on anything private. Near t = 0 the model says h = J t + noise, with J
the covariance of the features over the public rows. With a prior t ~ N(0, I) (the basis says in which coordinates) and
noise of covariance Q, the best linear estimate is (J + Q J^-1)^-1 h: so R = J^-1/2 Q J^-1/2, where Q holds the noise
that was added and what two finite samples of these sizes would show anyway, J (2/N + 1/n). Directions that the public
data hardly know, or that drown in the noise, are held at zero; those that are measured well are free.

**uLSIF**: its regularisation is chosen from the public rows and the known noise alone, by the smallest

    score(lambda) = mean_i [ (k(E_i)'a_-i)^2 / 2 - h'a_-i ] + trace((H + lambda I)^-1 Cov(noise)),

where h is the noisy mean and a_-i is fitted without the public row i: leave-one-out over the public rows, in closed
form, plus what the noise in h adds to the optimism of h'a.

**Importance weighting**, the mechanism of Ji and Elkan (2013), is the rival: the weights are exp(b'k(x)) with noisy
coefficients b of a regularised logistic regression of the private against the public rows. Its regularisation has to be
chosen without looking, and its noise grows with the number of columns.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sudare.arrays import Floats
from sudare.measure.science import scipy_of
from sudare.noise import Source, measure, noise_variance
from sudare.privacy import Budget
from sudare.reweight.basis import GRID, root_above
from sudare.reweight.hats import VARIANCE
from sudare.reweight.measurement import NoisyMean
from sudare.reweight.ratio import (
    Features,
    Link,
    Ratio,
    checked_regularisation,
    coefficients,
    kernels,
    minimise,
    two_samples,
)
from sudare.reweight.rows import ROWS, FeatureMoments, PublicFeatures
from sudare.reweight.space import Codes, Space
from sudare.reweight.weighting import Model

cho_factor = scipy_of("linalg").cho_factor
cho_solve = scipy_of("linalg").cho_solve

_SMALLEST_GAIN = 0.01
_WORTH = 2.0
"""Public rows that carry weights are worth about half as many without."""
_MOST_STEPS = 200
_SMALLEST_STEP = 1e-13
_ENOUGH = 10_000
_QUICK = 4.0


def directions(moments: FeatureMoments, prior: Floats, noise_variance: float, people: float) -> tuple[Floats, Floats]:
    """The coordinates the tilt is solved in, t = matrix u, as ``matrix`` (size, r), and the ``penalty`` (r, r) of u.

    Principal directions of the public features, scaled by the ``prior``; those without a say are dropped.
    """
    scale, axes = np.linalg.eigh(prior)
    factor = axes * np.sqrt(np.maximum(scale, 0))
    values, vectors = np.linalg.eigh(factor.T @ moments.covariance @ factor)
    values = np.maximum(values, 1e-12)
    noise = noise_variance * (vectors.T @ (factor.T @ factor) @ vectors)
    penalty = noise / np.sqrt(np.outer(values, values)) + (_WORTH / moments.rows + 1 / people) * np.eye(len(values))
    kept = values / (values + np.diag(penalty)) > _SMALLEST_GAIN
    return (factor @ vectors)[:, kept], penalty[np.ix_(kept, kept)]


def solve(target: Floats, features: Floats, penalty: Floats) -> tuple[Floats, Floats]:
    """u (size,) that maximises target'u - log mean exp(features u) - u' penalty u / 2, and the rows' shares of it.

    Strictly concave: damped Newton reaches the one maximum from anywhere, and the penalty keeps it finite.

    >>> u, shares = solve(np.array([0.75]), np.array([[0.0], [1.0]]), np.array([[1e-9]]))
    >>> shares.round(6).tolist()
    [0.25, 0.75]
    """
    u, factor = np.zeros(features.shape[1]), None
    if len(features) > 2 * _ENOUGH:
        # Most of the way is walked on a part of the rows, whose curvature serves for the rest.
        u, factor, _ = _climb(target, features[:: len(features) // _ENOUGH], penalty, u, None)
    u, _, shares = _climb(target, features, penalty, u, factor)
    return u, shares


def _climb(target: Floats, features: Floats, penalty: Floats, u: Floats, factor: Any) -> tuple[Floats, Any, Floats]:
    """Damped Newton from ``u``; a curvature is kept as long as it makes quick progress, since it is what costs."""
    value, shares = _value(target, features, penalty, u)
    before = np.inf
    for _ in range(_MOST_STEPS):
        mean = shares @ features
        gradient = target - mean - penalty @ u
        gain = 0.0 if factor is None else float(gradient @ cho_solve(factor, gradient))
        if factor is None or gain > before / _QUICK:
            factor = cho_factor(_curvature(features, shares, mean) + penalty)
            gain = float(gradient @ cho_solve(factor, gradient))
        if gain < _SMALLEST_STEP:
            break
        before, size, step = gain, 1.0, cho_solve(factor, gradient)
        tried = _value(target, features, penalty, u + step)
        while tried[0] < value + 1e-4 * size * gain - 1e-14 and size > 1e-10:
            size /= 2
            tried = _value(target, features, penalty, u + size * step)
        u = u + size * step
        value, shares = tried
    return u, factor, shares


def _curvature(features: Floats, shares: Floats, mean: Floats) -> Floats:
    """The covariance (r, r) of the features under the shares, in chunks that stay in the cache."""
    second = -np.outer(mean, mean)
    for first in range(0, len(features), ROWS):
        part = features[first : first + ROWS]
        second += part.T @ (part * shares[first : first + ROWS, None])
    return second


def _value(target: Floats, features: Floats, penalty: Floats, u: Floats) -> tuple[float, Floats]:
    exponent = features @ u
    top = float(exponent.max())
    np.exp(exponent - top, out=exponent)
    total = float(exponent.sum())
    value = float(target @ u) - top - float(np.log(total / len(features))) - float(u @ penalty @ u) / 2
    return value, exponent / total


def _offset(exponent: Floats) -> float:
    """What added to exponents (rows,) makes the mean of their exponentials one."""
    top = float(exponent.max())
    return -(top + math.log(float(np.exp(exponent - top).mean())))


def tilt(
    numerator: ArrayLike, denominator: ArrayLike, basis: Features | None = None, variance: float = VARIANCE
) -> Ratio:
    """The tilt between two samples (rows, columns) without noise, coefficients a priori of this ``variance``.

    >>> sample = np.random.default_rng(1)
    >>> ratio = tilt(sample.normal(2, 0.5, 500), sample.normal(1, 1, 500))
    >>> bool(ratio([2.0])[0] > 1 > ratio([0.0])[0])
    True
    """
    above, below = two_samples(numerator, denominator)
    chosen = kernels(below, above, size=20)[2] if basis is None else basis
    features = chosen(below)
    moments = FeatureMoments(features.mean(axis=0), features.T @ features / len(below), len(below))
    matrix, penalty = directions(moments, variance * np.eye(features.shape[1]), 0.0, float(len(above)))
    projected = features @ matrix
    u, _ = solve(chosen(above).mean(axis=0) @ matrix, projected, penalty)
    offset = _offset(projected @ u)
    return Ratio(chosen, matrix @ u, "tilt", {"variance": variance}, "exponential", offset)


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
    matrix, penalty = directions(moments, public.basis.prior(moments.covariance), measured.variance, measured.people)
    projected = public.projected(matrix)
    u, shares = solve(measured.value @ matrix, projected, penalty)
    offset = _offset(projected @ u)
    weights = shares * len(public)
    model = Model(space, public.basis, matrix @ u, "exponential", offset, float(weights.max()))
    return model, weights, {"directions": matrix.shape[1]}


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
    return Model(space, basis, solved, link), weights, {"regularisation": strength}


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
    offset = _offset(exponent)
    weights = np.exp(exponent + offset)
    shares = weights / weights.sum()
    mean = shares @ features
    spread = (features - mean).T @ ((features - mean) * shares[:, None])
    error = noise_variance(sensitivity, budget) / GRID**2 * spread @ spread
    model = Model(space, basis, noisy, "exponential", offset, float(weights.max()), error)
    return model, weights, {"regularisation": regularisation}, NoisyMean(mean, 0.0, people, float(sensitivity) / GRID)
