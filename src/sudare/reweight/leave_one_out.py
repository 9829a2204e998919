"""Leave-one-out cross-validation of uLSIF in closed form (Kanamori, Hido and Sugiyama 2009), one solve for all.

With n rows of the numerator, N of the denominator and their features P and X, row i of both is left out together, for
the first min(n, N) rows. What is left out changes H by one rank and h by one vector, so that
B = H + regularisation (N - 1)/N I solves for every i. One eigendecomposition of H serves all regularisations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sudare.arrays import Floats
from sudare.reweight.ratio import Features, Gaussian

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
