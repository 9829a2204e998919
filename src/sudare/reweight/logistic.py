"""Probabilistic classification: a logistic regression that tells the two samples apart gives their ratio.

Both samples weigh the same, whatever their sizes: the loss is mean_D log(1 + exp(-u)) + mean_E log(1 + exp(u)) with
u = b'k(x), plus regularisation |b|^2 / 2. Its minimum over all functions u is log p_D / p_E, so w(x) = exp(u(x)).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from sudare.arrays import Floats
from sudare.errors import ParameterError
from sudare.reweight.ratio import Features, Ratio, checked_regularisation, two_samples
from sudare.reweight.ulsif import kernels

_MOST_STEPS = 200


def minimise(numerator: Floats, denominator: Floats, regularisation: float, tolerance: float = 1e-8) -> Floats:
    """The coefficients (size,) for features (rows, size): damped Newton until the gradient is below ``tolerance``.

    The loss is ``regularisation``-strongly convex, so what is returned is within tolerance / regularisation of the one
    minimum; a damped Newton method reaches it from anywhere.
    """
    beta = np.zeros(numerator.shape[1])
    loss, gradient, slopes = _loss(numerator, denominator, regularisation, beta)
    for _ in range(_MOST_STEPS):
        if np.linalg.norm(gradient) <= tolerance:
            return beta
        hessian = regularisation * np.eye(len(beta))
        for sample, slope in zip((numerator, denominator), slopes, strict=True):
            hessian += (sample * slope[:, None]).T @ sample / len(sample)
        step = np.linalg.solve(hessian, gradient)
        size = 1.0
        while True:
            tried = _loss(numerator, denominator, regularisation, beta - size * step)
            # Close to the minimum the loss no longer shows the progress, the gradient does.
            if tried[0] <= loss - 1e-4 * size * float(gradient @ step) or np.linalg.norm(tried[1]) < np.linalg.norm(
                gradient
            ):
                break
            size /= 2
            if size < 1e-12:
                raise ParameterError("the logistic regression does not converge", hint="Raise the regularisation.")
        beta = beta - size * step
        loss, gradient, slopes = tried
    raise ParameterError("the logistic regression does not converge", hint="Raise the regularisation.")


def _loss(
    numerator: Floats, denominator: Floats, regularisation: float, beta: Floats
) -> tuple[float, Floats, tuple[Floats, Floats]]:
    """The loss, its gradient (size,), and the second derivatives of both samples' terms."""
    above, below = numerator @ beta, denominator @ beta
    miss_above, miss_below = expit(-above), expit(below)
    loss = float(np.logaddexp(0, -above).mean() + np.logaddexp(0, below).mean() + regularisation * (beta @ beta) / 2)
    gradient = denominator.T @ miss_below / len(below) - numerator.T @ miss_above / len(above) + regularisation * beta
    return loss, gradient, (miss_above * (1 - miss_above), miss_below * (1 - miss_below))


def logistic(
    numerator: ArrayLike, denominator: ArrayLike, basis: Features | None = None, regularisation: float = 1e-3
) -> Ratio:
    """The ratio numerator / denominator of two samples (rows, columns) from a classifier; an intercept is added.

    >>> sample = np.random.default_rng(1)
    >>> ratio = logistic(sample.normal(2, 0.5, 500), sample.normal(1, 1, 500))
    >>> bool(ratio([2.0])[0] > 1 > ratio([0.0])[0])
    True
    """
    above, below = two_samples(numerator, denominator)
    inner = kernels(above, below)[3] if basis is None else basis

    def with_intercept(x: Floats) -> Floats:
        return np.concatenate([inner(x), np.ones((len(x), 1))], axis=1)

    strength = checked_regularisation(regularisation)
    beta = minimise(with_intercept(above), with_intercept(below), strength)
    return Ratio(with_intercept, beta, "logistic", {"regularisation": strength}, "exponential")
