"""One step of EM for mixtures whose attributes are independent within a component: exact, or by the gradient.

The expectation step needs the density of each perturbed value under each component and the first two moments of the
true value (`moments`). The exact maximisation step is then that of any Gaussian mixture; the paper's takes a step
along the gradient of the expected log likelihood instead, which by Fisher's identity consists of the same moments.

A weak prior holds back what the data cannot see: 1,000 records cannot tell a peak of width phi/5 from a needle, and
without a prior EM drifts to needles. A component of variance v costs ``prior`` log(1 + (phi/5)**2/v): nothing if it
is wide, and `prior` more for each halving of its variance below the noise's resolution, which a thousand records
cannot pay and a hundred thousand can. Its maximisation step is a quadratic equation; 0 is plain maximum likelihood.

The paper's way to correlated attributes: rotate each component's records until they are uncorrelated.

Each record goes to its likeliest component of a diagonal fit; the principal axes of a component's records become its
own axes, and the diagonal method runs along these. Two things are approximated. The rotated noise is a sum of Laplace
noises and no longer Laplace: here it counts as Laplace noise of the same variance. And the axes are those of perturbed
records that were sorted by how near they fell, so that much of what they show is where the border between components
lies. `scale_mixture` needs neither.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sudare.arrays import Floats
from sudare.reconstruct.gaussians import Gaussians
from sudare.reconstruct.moments import ComponentMoments, moments
from sudare.reconstruct.sample import Sample

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
        """How many components there are."""
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
        """The inverse of `packed`."""
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
    """The paper's step: weights exactly, means and deviations by ``rate`` along the mean gradient of a record.

    d log f/d mean is the mean of (x - m)/v given y, d log f/d s that of ((x - m)**2/v - 1)/s.
    """
    mass, first, second = _totals(sample, known)
    deviation = np.sqrt(now.variances)
    records = sample.records
    means = now.means + rate * first / deviation / records
    deviations = deviation + rate * (second - mass[:, None]) / deviation / records
    floor = _SMALLEST * sample.scales
    return Components(mass / mass.sum(), means, np.maximum(deviations, floor) ** 2)


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
