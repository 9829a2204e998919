"""One step of EM for mixtures whose attributes are independent within a component: exact, or by the gradient.

**What a perturbed value says about the true one** (`moments`), when the true one is Gaussian and the noise Laplace, has
a closed form. Let x ~ N(m, v), s = sqrt(v), and y = x + Laplace noise of scale phi; z = (y - m)/s and r = s/phi. Below
y the density of x given y is that of N(m + v/phi, v), above y that of N(m - v/phi, v): two truncated normals. Their
masses are

    t1 = exp(r**2/2 - r z) Phi(a) / (2 phi),  a = z - r        and        t2 = exp(r**2/2 + r z) Phi(-b) / (2 phi),
    b = z + r,

the density of y is t1 + t2, and all moments of x follow (equation 8 of Hasegawa et al., with the factor 2/sqrt(pi) that
its erfc lacks: errata M1 and M2). Written like this the exponentials overflow and differences cancel. Here every form
is used only where it neither overflows nor cancels, so that r may be anything from 1e-6 to 1e6 and z arbitrarily large.

**The step.** The expectation step needs the density of each perturbed value under each component and the first two
moments of the true value. The exact maximisation step is then that of any Gaussian mixture; that of Hasegawa et al.
takes a step along the gradient of the expected log likelihood instead, which by Fisher's identity consists of the same
moments.

A weak prior suppresses detail that the data cannot resolve: 1,000 records cannot tell a peak of width phi/5 from a much
narrower one, and without a prior EM drifts to ever narrower peaks. A component of variance v costs ``prior``
log(1 + (phi/5)**2/v): nothing if it is wide, and `prior` more for each halving of its variance below the noise's
resolution, which a thousand records cannot outweigh and a hundred thousand can. Its maximisation step is a quadratic
equation; 0 is plain maximum likelihood.

`fit_rotated` is Hasegawa et al.'s way to correlated attributes. A record goes to its likeliest component of a diagonal
fit; the principal axes of a component's records become its own axes, and the diagonal method runs along these. Two
things are approximated. The rotated noise is a sum of Laplace noises and no longer Laplace: it is treated as Laplace
noise of the same variance. And the axes are those of perturbed records assigned to the nearest component, so that they
partly reflect the border between components. `scale_mixture` needs neither approximation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sudare.arrays import Floats
from sudare.measure.science import scipy_of
from sudare.reconstruct.gaussians import Gaussians
from sudare.reconstruct.sample import Sample

erfcx = scipy_of("special").erfcx

_ROOT_HALF = np.sqrt(0.5)
_ROOT_TWO_PI = np.sqrt(2 * np.pi)
_FAR = 60.0  # from here on the asymptotic series is exact to 1e-13, and differences of nearly equal numbers are not


@dataclass(frozen=True)
class ComponentMoments:
    """Of one component for each perturbed value, all of one shape.

    ``log_density`` of y; ``first`` and ``second``: the means of (x - m)/s and of its square given y.
    """

    log_density: Floats
    first: Floats
    second: Floats


def moments(y: ArrayLike, mean: ArrayLike, variance: ArrayLike, scale: ArrayLike) -> ComponentMoments:
    """Density of y and moments of x given y; the arguments are broadcast against each other.

    >>> found = moments([0.0, 30.0], mean=0.0, variance=4.0, scale=1.0)
    >>> found.first.round(3).tolist()  # far out, x is as far as a noise of scale 1 lets a deviation of 2 be
    [0.0, 2.0]
    """
    phi = np.asarray(scale, dtype=np.float64)
    deviation = np.sqrt(np.asarray(variance, dtype=np.float64))
    r = deviation / phi
    z = (np.asarray(y, dtype=np.float64) - np.asarray(mean, dtype=np.float64)) / deviation
    # The piece above y is the mirror image of the one below.
    (low, high), (low_first, high_first), (low_second, high_second) = _pieces(np.stack([z, -z]), r)
    difference = low - high
    smaller_share = np.exp(-np.abs(difference))
    log_density = np.maximum(low, high) + np.log1p(smaller_share) - np.log(2 * phi)
    share = np.where(difference >= 0, 1.0, smaller_share) / (1 + smaller_share)
    return ComponentMoments(
        log_density,
        share * low_first - (1 - share) * high_first,
        share * low_second + (1 - share) * high_second,
    )


def _pieces(z: Floats, r: Floats) -> tuple[Floats, Floats, Floats]:
    """log of exp(r**2/2 - r z) Phi(z - r), and the first two moments of a deviate N(r, 1) cut to below z.

    With Q = erfcx(|a|/sqrt(2))/2: Phi(a) = Q exp(-a**2/2) for a < 0, where the exponentials join to exp(-z**2/2), and
    1 - Q exp(-a**2/2) else. The moments are r - h and 1 + r**2 - (r + z) h, h the density of a over Phi(a).
    """
    a = z - r
    upper = 0.5 * erfcx(np.abs(a) * _ROOT_HALF)
    above = a >= 0
    bell = np.where(above, np.exp(-0.5 * a * a), 1.0)
    mass = np.where(above, 1 - upper * bell, upper)
    log_mass = np.where(above, r * (0.5 * r - z), -0.5 * z * z) + np.log(mass)
    hazard = bell / (_ROOT_TWO_PI * mass)
    first = r - hazard
    second = 1 + r * r - (r + z) * hazard
    deep = a < -_FAR
    if deep.any():
        # x lies just under the cut, by a gap that the difference of r and h would not show.
        gap, gap_square = _gap(-a[deep])
        cut = z[deep]
        first[deep] = cut - gap
        second[deep] = cut * (cut - 2 * gap) + gap_square
    return log_mass, first, second


def _gap(depth: Floats) -> tuple[Floats, Floats]:
    """Mean and mean square of N(-depth, 1) cut to above 0, for large depth."""
    inverse = 1 / depth**2
    series = inverse * (2 - inverse * (10 - inverse * (74 - 706 * inverse)))
    return (1 - series) / depth, series


_STEPS = 300
_STILL = 1e-3  # log likelihood of all records that a step must gain


def fit_rotated(sample: Sample, start: Components, *, prior: float) -> Gaussians:
    """Whole covariances, each diagonal in its component's own axes."""
    axes = _axes(sample, start)
    turned = [sample.rows @ each for each in axes]
    noise = np.sqrt(np.stack([(each**2).T @ sample.scales**2 for each in axes]))
    weights = start.weights
    means = np.einsum("kij,ki->kj", axes, start.means)
    variances = np.einsum("kij,ki->kj", axes**2, start.variances)
    before = -np.inf
    for _ in range(_STEPS):
        tables = [moments(*each) for each in zip(turned, means, variances, noise, strict=True)]
        shares, reached = _shares(tables, weights, sample.counts)
        if reached - before < _STILL:
            break
        before = reached
        mass = np.maximum(shares.sum(axis=0), 1e-10)
        first = np.stack([share @ table.first for share, table in zip(shares.T, tables, strict=True)]) / mass[:, None]
        second = np.stack([share @ table.second for share, table in zip(shares.T, tables, strict=True)]) / mass[:, None]
        weights = mass / mass.sum()
        means = means + np.sqrt(variances) * first
        variances = shrunk((second - first**2) * variances, mass[:, None], noise, prior)
    return Gaussians(weights, np.einsum("kij,kj->ki", axes, means), np.einsum("kij,kj,klj->kil", axes, variances, axes))


def _axes(sample: Sample, start: Components) -> Floats:
    """(k, d, d): the principal axes, as columns, of the records nearest to each component."""
    nearest = expect(sample, start).shares.argmax(axis=1)
    size = sample.attributes
    axes = np.tile(np.eye(size), (start.count, 1, 1))
    for place in range(start.count):
        mine = nearest == place
        if sample.counts[mine].sum() > size:
            spread = np.cov(sample.rows[mine].T, fweights=sample.counts[mine].astype(np.int64))
            axes[place] = np.linalg.eigh(spread)[1]
    return axes


def _shares(tables: list[ComponentMoments], weights: Floats, counts: Floats) -> tuple[Floats, float]:
    """What each row gives to each component (n, k), and the log likelihood of all."""
    joint = np.stack([table.log_density.sum(axis=1) for table in tables], axis=1) + np.log(weights)
    top = joint.max(axis=1, keepdims=True)
    shares = np.exp(joint - top)
    total = shares.sum(axis=1, keepdims=True)
    return shares / total * counts[:, None], float(counts @ (top + np.log(total))[:, 0])


PRIOR = 1.0
RESOLUTION = 0.2
_SMALLEST = 1e-3  # a deviation below this share of the scale is a point


@dataclass(frozen=True)
class Components:
    """``weights`` (k,), ``means`` and ``variances`` (k, attributes)."""

    weights: Floats
    means: Floats
    variances: Floats

    @property
    def count(self) -> int:
        return len(self.weights)

    def sorted(self) -> Components:
        """From left to right along the first attribute."""
        order = np.lexsort(self.means.T[::-1])
        return Components(self.weights[order], self.means[order], self.variances[order])

    def packed(self, scales: Floats) -> Floats:
        """As one vector without units and bounds: log weights, means in scales, log variances."""
        return np.concatenate([np.log(self.weights), (self.means / scales).ravel(), np.log(self.variances).ravel()])

    @classmethod
    def unpacked(cls, vector: Floats, scales: Floats) -> Components:
        count = len(vector) // (1 + 2 * len(scales))
        logs = np.maximum(vector[:count] - vector[:count].max(), -60.0)
        weights = np.exp(logs)
        shape = (count, len(scales))
        means = vector[count : count * (1 + len(scales))].reshape(shape) * scales
        variances = np.exp(np.clip(vector[count * (1 + len(scales)) :].reshape(shape), -600, 600))
        return cls(weights / weights.sum(), means, np.maximum(variances, (_SMALLEST * scales) ** 2))


@dataclass(frozen=True)
class Expected:
    """The expectation step: ``shares`` (n, k) of each row, what is known of each bin, and the log likelihood."""

    shares: Floats
    tables: tuple[ComponentMoments, ...]
    log_likelihood: float


def expect(sample: Sample, now: Components) -> Expected:
    """Responsibilities and moments; a row's likelihood is the product of its attributes' (equation 19)."""
    tables = tuple(
        moments(points[:, None], now.means[:, j], now.variances[:, j], sample.scales[j])
        for j, points in enumerate(sample.points)
    )
    joint = np.log(now.weights) + tables[0].log_density[sample.index[:, 0]]
    for table, place in zip(tables[1:], sample.index.T[1:], strict=True):
        joint += table.log_density[place]
    top = joint.max(axis=1, keepdims=True)
    shares = np.exp(joint - top)
    total = shares.sum(axis=1, keepdims=True)
    shares /= total
    return Expected(shares, tables, float(sample.counts @ (top + np.log(total))[:, 0]))


def log_prior(now: Components, scales: Floats, prior: float) -> float:
    """The log density of the prior on variances, up to a constant."""
    return float(-prior * np.log1p((RESOLUTION * scales) ** 2 / now.variances).sum())


def maximise(sample: Sample, now: Components, known: Expected, prior: float) -> Components:
    """The exact step: weights, means and variances that maximise the expected log posterior."""
    mass, first, second = _totals(sample, known)
    step = first / mass[:, None]
    spread = np.maximum(second / mass[:, None] - step**2, 0) * now.variances
    means = now.means + np.sqrt(now.variances) * step
    return Components(mass / mass.sum(), means, shrunk(spread, mass[:, None], sample.scales, prior))


def shrunk(spread: Floats, mass: Floats, scales: Floats, prior: float) -> Floats:
    """The variance v that maximises -mass (log v + spread/v)/2 - prior log(1 + u/v), u = (phi/5)**2.

    It is the positive root of v**2 + (u - spread - 2 prior u/mass) v - spread u = 0.
    """
    resolved = (RESOLUTION * scales) ** 2
    half = 0.5 * (spread - resolved) + prior * resolved / mass
    root = np.sqrt(half**2 + spread * resolved)
    # The form that adds: for a negative half the other one would subtract nearly equal numbers.
    variances = np.where(half >= 0, half + root, spread * resolved / np.where(half >= 0, 1, root - half))
    return np.maximum(variances, (_SMALLEST * scales) ** 2)


def climb(sample: Sample, now: Components, known: Expected, rate: float) -> Components:
    """Hasegawa et al.'s step, equations (11) to (13), errata M7: exact weights, means and deviations moved by ``rate``
    times the sum of all records' gradients.

    d log f/d mean is the mean of (x - m)/v given y, d log f/d s that of ((x - m)**2/v - 1)/s. Only the square of a
    deviation matters, so one that the step makes negative counts by its size.
    """
    mass, first, second = _totals(sample, known)
    deviation = np.sqrt(now.variances)
    means = now.means + rate * first / deviation
    deviations = np.abs(deviation + rate * (second - mass[:, None]) / deviation)
    return Components(mass / mass.sum(), means, np.maximum(deviations, _SMALLEST * sample.scales) ** 2)


def _totals(sample: Sample, known: Expected) -> tuple[Floats, Floats, Floats]:
    """Mass (k,), and sums (k, attributes) of the first and second moments over all records."""
    weighted = known.shares * sample.counts[:, None]
    # No component dies out: from a weight of 0 it would never come back.
    mass = np.maximum(weighted.sum(axis=0), 1e-10)
    sums = []
    for table, place in zip(known.tables, sample.index.T, strict=True):
        per_bin = weighted if sample.attributes == 1 else _by_bin(weighted, place, len(table.first))
        sums.append(((per_bin * table.first).sum(axis=0), (per_bin * table.second).sum(axis=0)))
    first, second = (np.stack(each, axis=1) for each in zip(*sums, strict=True))
    return mass, first, second


def _by_bin(weighted: Floats, place: NDArray[np.int64], bins: int) -> Floats:
    return np.stack([np.bincount(place, column, minlength=bins) for column in weighted.T], axis=1)
