"""Least-squares importance fitting: uLSIF (Kanamori et al. 2009) and its bounded relative, RuLSIF (Yamada et al. 2013).

w(x) = a'k(x) with a = max(0, (H + regularisation I)^-1 h), H the mean of k k' over the denominator and h the mean of k
over the numerator. RuLSIF mixes a share alpha of the numerator into H, and its ratio is at most 1/alpha.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import cho_factor, cho_solve

from sudare.arrays import Floats
from sudare.errors import ParameterError
from sudare.reweight.leave_one_out import REGULARISATIONS, choose, kernels
from sudare.reweight.ratio import Features, Ratio, checked_regularisation, two_samples


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
