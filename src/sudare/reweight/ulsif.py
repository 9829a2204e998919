"""Least-squares importance fitting: uLSIF (Kanamori et al. 2009) and its bounded relative, RuLSIF (Yamada et al. 2013).

w(x) = a'k(x) with a = max(0, (H + regularisation I)^-1 h), H the mean of k k' over the denominator and h the mean of k
over the numerator. RuLSIF mixes a share alpha of the numerator into H, and its ratio is at most 1/alpha.

Leave-one-out cross-validation of uLSIF in closed form (Kanamori, Hido and Sugiyama 2009), one solve for all.

With n rows of the numerator, N of the denominator and their features P and X, row i of both is left out together, for
the first min(n, N) rows. What is left out changes H by one rank and h by one vector, so that
B = H + regularisation (N - 1)/N I solves for every i. One eigendecomposition of H serves all regularisations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import cho_factor, cho_solve

from sudare.arrays import Floats
from sudare.errors import ParameterError
from sudare.reweight.ratio import Features, Gaussian, Ratio, checked_regularisation, two_samples

REGULARISATIONS: tuple[float, ...] = tuple(10.0 ** (power / 2) for power in range(-8, 3))


def leave_one_out(numerator: Floats, denominator: Floats, regularisations: Sequence[float]) -> Floats:
    """The scores (k,) of uLSIF on features (rows, size): mean_i of w(x_E,i)^2 / 2 - w(x_D,i), each fitted without i.

    Smaller is better. Coefficients below zero are set to zero, as in the fit.

    >>> rows = np.array([[1.0, 0.5], [0.4, 1.0], [0.2, 0.7]])
    >>> leave_one_out(rows, rows[::-1], [0.1]).round(6).tolist()
    [2.233504]
    """
    n, rows = len(numerator), len(denominator)
    both = min(n, rows)
    h = numerator.mean(axis=0)
    values, vectors = np.linalg.eigh(denominator.T @ denominator / rows)
    x, p, target = denominator[:both] @ vectors, numerator[:both] @ vectors, h @ vectors
    scores = []
    for regularisation in regularisations:
        inverse = 1 / (np.maximum(values, 0) + regularisation * (rows - 1) / rows)
        solved_x = x * inverse
        gap = rows - (x * solved_x).sum(axis=1)
        with_h = target * inverse + solved_x * ((solved_x @ target) / gap)[:, None]
        with_p = p * inverse + solved_x * ((p * solved_x).sum(axis=1) / gap)[:, None]
        without = (rows - 1) / (rows * (n - 1)) * (n * with_h - with_p)
        coefficients = np.maximum(without @ vectors.T, 0)
        fitted = (coefficients * denominator[:both]).sum(axis=1)
        scores.append(float((fitted**2 / 2 - (coefficients * numerator[:both]).sum(axis=1)).mean()))
    return np.array(scores)


@dataclass(frozen=True)
class CrossValidationChoice:
    """What cross-validation chose, and its score."""

    basis: Features
    regularisation: float
    score: float


def choose(
    numerator: Floats, denominator: Floats, bases: Sequence[Features], regularisations: Sequence[float]
) -> CrossValidationChoice:
    """The basis and the regularisation of the smallest score."""
    best: CrossValidationChoice | None = None
    for basis in bases:
        scores = leave_one_out(basis(numerator), basis(denominator), regularisations)
        place = int(scores.argmin())
        if best is None or scores[place] < best.score:
            best = CrossValidationChoice(basis, regularisations[place], float(scores[place]))
    assert best is not None  # noqa: S101 - callers give at least one basis
    return best


def kernels(numerator: Floats, denominator: Floats, size: int = 100) -> list[Features]:
    """Kernels at the first rows of the numerator, as wide as typical distances between the samples and around that."""
    centres = numerator[: min(size, len(numerator))]
    sample = denominator[np.linspace(0, len(denominator) - 1, min(200, len(denominator))).astype(np.int64)]
    distance = np.sqrt(((centres[:, None, :] - sample[None, :, :]) ** 2).sum(axis=2))
    typical = float(np.median(distance)) or 1.0
    return [Gaussian(centres, typical * factor) for factor in (0.25, 0.5, 0.7, 1.0, 1.5, 2.0)]


def coefficients(second: Floats, mean: Floats, regularisation: float) -> Floats:
    """(H + regularisation I)^-1 h before anything is cut at zero; ``second`` (size, size) is H, ``mean`` (size,) h."""
    factor = cho_factor(second + regularisation * np.eye(len(second)))
    return np.asarray(cho_solve(factor, mean), dtype=np.float64)


def ulsif(
    numerator: ArrayLike,
    denominator: ArrayLike,
    basis: Features | Sequence[Features] | None = None,
    regularisation: float | None = None,
) -> Ratio:
    """The ratio numerator / denominator of two samples (rows, columns).

    ``basis`` is any function from points to non-negative features, or several to choose from (default: Gaussian kernels
    at rows of the numerator); what is not given is chosen by leave-one-out cross-validation.

    >>> sample = np.random.default_rng(1)
    >>> ratio = ulsif(sample.normal(2, 0.5, 500), sample.normal(1, 1, 500))
    >>> bool(ratio([2.0])[0] > ratio([0.0])[0])
    True
    """
    above, below = two_samples(numerator, denominator)
    chosen_basis, strength = _chosen(above, below, basis, regularisation)
    features = chosen_basis(below)
    solved = coefficients(features.T @ features / len(below), chosen_basis(above).mean(axis=0), strength)
    return Ratio(chosen_basis, np.maximum(solved, 0), "ulsif", {"regularisation": strength})


def rulsif(
    numerator: ArrayLike,
    denominator: ArrayLike,
    basis: Features | Sequence[Features] | None = None,
    regularisation: float | None = None,
    alpha: float = 0.1,
) -> Ratio:
    """The relative ratio p_numerator / (alpha p_numerator + (1 - alpha) p_denominator), which is at most 1/alpha.

    >>> sample = np.random.default_rng(1)
    >>> ratio = rulsif(sample.normal(2, 0.5, 500), sample.normal(1, 1, 500), alpha=0.5)
    >>> bool(0 <= ratio([0.0])[0] < ratio([2.0])[0] < 2.5)
    True
    """
    if not 0 <= alpha < 1:
        raise ParameterError("alpha is not a share below one", value=alpha, allowed="0 <= alpha < 1")
    above, below = two_samples(numerator, denominator)
    chosen_basis, strength = _chosen(above, below, basis, regularisation)
    top, bottom = chosen_basis(above), chosen_basis(below)
    second = alpha * (top.T @ top) / len(top) + (1 - alpha) * (bottom.T @ bottom) / len(bottom)
    solved = coefficients(second, top.mean(axis=0), strength)
    return Ratio(chosen_basis, np.maximum(solved, 0), "rulsif", {"regularisation": strength, "alpha": alpha})


def _chosen(
    above: Floats, below: Floats, basis: Features | Sequence[Features] | None, regularisation: float | None
) -> tuple[Features, float]:
    """A basis and a regularisation: the given ones, or what leave-one-out makes of the candidates."""
    bases = kernels(above, below) if basis is None else [basis] if callable(basis) else list(basis)
    if not bases:
        raise ParameterError("there is no basis to choose from", allowed="at least one")
    strengths = REGULARISATIONS if regularisation is None else (checked_regularisation(regularisation),)
    if len(bases) == 1 and len(strengths) == 1:
        return bases[0], strengths[0]
    choice = choose(above, below, bases, strengths)
    return choice.basis, choice.regularisation
