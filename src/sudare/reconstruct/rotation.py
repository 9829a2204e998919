"""The paper's way to correlated attributes: rotate each component's records until they are uncorrelated.

Each record goes to its likeliest component of a diagonal fit; the principal axes of a component's records become its
own axes, and the diagonal method runs along these. Two things are approximated. The rotated noise is a sum of Laplace
noises and no longer Laplace: here it counts as Laplace noise of the same variance. And the axes are those of perturbed
records that were sorted by how near they fell, so that much of what they show is where the border between components
lies. `scale_mixture` needs neither.
"""

from __future__ import annotations

import numpy as np

from sudare.arrays import Floats
from sudare.reconstruct.diagonal import Components, expect, shrunk
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
