"""Ratios of two densities, w(x) = p_numerator(x) / p_denominator(x), from two samples; nothing here is private.

**Least-squares importance fitting**: uLSIF (Kanamori et al. 2009) and its bounded relative, RuLSIF (Yamada et al.
2013). w(x) = a'k(x) with a = max(0, (H + regularisation I)^-1 h), H the mean of k k' over the denominator and h the
mean of k over the numerator. RuLSIF mixes a share alpha of the numerator into H, and its ratio is at most 1/alpha.

Leave-one-out cross-validation of uLSIF has a closed form (Kanamori, Hido and Sugiyama 2009). With n rows of the
numerator, N of the denominator and their features P and X, row i of both is left out together, for the first min(n, N)
rows. What is left out changes H by one rank and h by one vector, so that B = H + regularisation (N - 1)/N I solves for
every i. One eigendecomposition of H serves all regularisations.

**Probabilistic classification**: a logistic regression that tells the two samples apart. Both samples weigh the same,
whatever their sizes: the loss is mean_D log(1 + exp(-u)) + mean_E log(1 + exp(u)) with u = b'k(x), plus
regularisation |b|^2 / 2. Its minimum over all functions u is log p_D / p_E, so w(x) = exp(u(x)).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from sudare.arrays import Floats
from sudare.errors import InputError, Message, ParameterError
from sudare.measure.science import scipy_of
from sudare.privacy import Fact, Guarantee

cho_factor = scipy_of("linalg").cho_factor
cho_solve = scipy_of("linalg").cho_solve
expit = scipy_of("special").expit

Features: TypeAlias = Callable[[Floats], Floats]
"""A basis: points (rows, columns) -> values (rows, size)."""
Link: TypeAlias = Literal["linear", "exponential"]


@dataclass(frozen=True)
class Gaussian:
    """Kernels exp(-|x - c|^2 / (2 width^2)) at ``centres`` (size, columns).

    >>> Gaussian([0.0, 2.0], 1.0)([0.0]).round(4).tolist()
    [[1.0, 0.1353]]
    """

    centres: ArrayLike
    width: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "centres", points(self.centres))
        if not (np.isfinite(self.width) and self.width > 0):
            raise ParameterError("the width of the kernel is not positive", value=self.width)

    def __call__(self, x: ArrayLike) -> Floats:
        """Values (rows, size)."""
        at, centres = points(x), points(self.centres)
        if at.shape[1] != centres.shape[1]:
            raise InputError("points and centres have different columns", value=(at.shape[1], centres.shape[1]))
        square = (at**2).sum(axis=1)[:, None] + (centres**2).sum(axis=1) - 2 * at @ centres.T
        return np.asarray(np.exp(-np.maximum(square, 0) / (2 * self.width**2)))


@dataclass(frozen=True)
class Ratio:
    """A fitted ratio: ``coefficients`` of the basis, ``offset`` added where the link is exponential."""

    basis: Features
    coefficients: Floats
    method: str
    parameters: dict[str, Any]
    link: Link = "linear"
    offset: float = 0.0

    def __call__(self, x: ArrayLike) -> Floats:
        """w at points (rows, columns), never negative."""
        value = self.basis(points(x)) @ self.coefficients
        return np.maximum(value, 0.0) if self.link == "linear" else np.exp(value + self.offset)

    @property
    def guarantee(self) -> Guarantee:
        """None: the private sample was used as it is."""
        return Guarantee("none", assumptions=(Fact("no_noise"),))

    @property
    def summary(self) -> dict[str, Any]:
        """What was fitted."""
        return {"kind": "ratio", "method": self.method, "parameters": self.parameters, "size": len(self.coefficients)}


def points(x: ArrayLike) -> Floats:
    """Finite numbers (rows, columns); one axis is one column."""
    try:
        array = np.asarray(x, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("points are not numbers") from None
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2:
        raise InputError("points are not rows by columns", value=array.ndim, allowed="1 or 2 axes")
    if not np.isfinite(array).all():
        raise InputError("points hold NaN or infinity", allowed="finite numbers")
    return array


def two_samples(numerator: ArrayLike, denominator: ArrayLike) -> tuple[Floats, Floats]:
    """Both samples, with the same columns and at least two rows each."""
    above, below = points(numerator), points(denominator)
    if above.shape[1] != below.shape[1]:
        raise InputError("the two samples have different columns", value=(above.shape[1], below.shape[1]))
    for name, sample in ((Message("numerator"), above), (Message("denominator"), below)):
        if len(sample) < 2:
            raise InputError("the {name} has too few rows", value=len(sample), allowed="at least 2", name=name)
    return above, below


def checked_regularisation(regularisation: float) -> float:
    """A finite number above zero."""
    number = float(regularisation)
    if not (np.isfinite(number) and number > 0):
        raise ParameterError("regularisation is not positive", value=regularisation, allowed="a finite number > 0")
    return number


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
    made = rulsif(numerator, denominator, basis, regularisation, alpha=0.0)
    return replace(made, method="ulsif", parameters={"regularisation": made.parameters["regularisation"]})


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
