"""Mixtures with whole covariances behind Laplace noise, by seeing the noise as Gaussian of a random variance.

A Laplace deviate of scale phi is a Gaussian one whose variance t is exponential with mean 2 phi**2. Given the
variances of its noises, a record of a component follows N(m, S + diag(t)): the model of extreme deconvolution (Bovy,
Hogg and Roweis 2011). Given the true x, 1/t is inverse Gaussian with mean 1/(phi |y - x|) and shape 1/phi**2. So each
sweep

1. finds the shares of the components given the variances, and from them new weights, means (weighted least squares)
   and covariances (a step of Fisher scoring; EM, with x as missing data too, would need hundreds of sweeps for it);
2. draws component, x and the variances of every record anew (Gibbs).

Parameters are averaged over the later sweeps, so that what Monte Carlo adds vanishes (Polyak averaging); nothing is
approximated in the limit. Everything is in units of the noise's scales, in which the noise is alike in all
directions.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sudare.arrays import Floats
from sudare.measure.science import scipy_of
from sudare.reconstruct.diagonal import PRIOR, RESOLUTION
from sudare.reconstruct.gaussians import Gaussians
from sudare.reconstruct.sample import Sample

logsumexp = scipy_of("special").logsumexp
qmc = scipy_of("stats").qmc

BATCH = 20_000
_NARROWEST = 0.05  # in scales: no direction of a component is narrower, the data could not tell
_VARIANCES, _CHUNK = 128, 2_000
_LONGEST = 0.5  # a step of scoring goes at most this share of the way in the first sweeps


def fit_full(
    sample: Sample, start: Gaussians, *, sweeps: int, generator: np.random.Generator, prior: float = PRIOR
) -> Gaussians:
    """Whole covariances from ``start`` on. Of more than `BATCH` records, `BATCH` are drawn for each sweep.

    ``prior`` is that of `diagonal`, on the variances of the principal directions.
    """
    rows = np.repeat(sample.rows, sample.counts.astype(np.int64), axis=0) / sample.scales
    variances = np.full(rows.shape, 2.0)
    now = start.times(1 / sample.scales)
    kept: list[Gaussians] = []
    for sweep in range(sweeps):
        chosen = slice(None) if len(rows) <= BATCH else generator.choice(len(rows), BATCH, replace=False)
        y, t = rows[chosen], variances[chosen]
        inverse, log_determinant = inverses(now.covariances + t[:, None, :, None] * np.eye(y.shape[1]))
        away = y[:, None, :] - now.means
        pulled = np.einsum("nkij,nkj->nki", inverse, away)
        shares = _shares(now, log_determinant, away, pulled)
        drawn = _component(shares, generator)
        x = _true_values(now, drawn, pulled, inverse, t, generator)
        length, weight = min(1.0, _LONGEST + sweep / sweeps), prior * len(y) / len(rows)
        now = _scored(now, shares, inverse, pulled, length, weight)
        distance = np.maximum(np.abs(y - x), 1e-9)
        variances[chosen] = 1 / np.maximum(generator.wald(1 / distance, 1.0), 1e-12)
        if sweep >= sweeps // 2:
            kept.append(now)
    return _averaged(kept or [now]).times(sample.scales)


def _shares(now: Gaussians, log_determinant: Floats, away: Floats, pulled: Floats) -> Floats:
    """(n, k): how likely each component is, given y and the variances."""
    joint = np.log(now.weights) - 0.5 * (log_determinant + np.einsum("nki,nki->nk", away, pulled))
    joint -= joint.max(axis=1, keepdims=True)
    shares = np.exp(joint)
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def _scored(now: Gaussians, shares: Floats, inverse: Floats, pulled: Floats, length: float, prior: float) -> Gaussians:
    """Weights, least squares for the means, and for covariances the step D with sum C^-1 D C^-1 = gradient."""
    size = now.means.shape[1]
    mass = np.maximum(shares.sum(axis=0), 1e-10)
    precision = np.einsum("nk,nkij->kij", shares, inverse)
    push = np.einsum("nk,nki->ki", shares, pulled)
    ridge = 1e-9 * np.trace(precision, axis1=1, axis2=2)[:, None, None] * np.eye(size) + 1e-12 * np.eye(size)
    means = now.means + np.linalg.solve(precision + ridge, push[..., None])[..., 0]
    gradient = np.einsum("nk,nki,nkj->kij", shares, pulled, pulled, optimize=True) - precision
    bend = np.einsum("nk,nkij,nklm->kiljm", shares, inverse, inverse, optimize=True).reshape(-1, size**2, size**2)
    # The prior's gradient and the larger part of its curvature, both twice, as those of the likelihood are.
    tight = np.linalg.inv(now.covariances)
    pull = 2 * prior * RESOLUTION**2 * tight @ np.linalg.inv(now.covariances + RESOLUTION**2 * np.eye(size))
    gradient += pull
    bend += np.einsum("kij,klm->kiljm", tight, pull).reshape(-1, size**2, size**2)
    bend += (1e-9 * np.trace(bend, axis1=1, axis2=2) + 1e-12)[:, None, None] * np.eye(size**2)
    step = np.linalg.solve(bend, gradient.reshape(-1, size**2, 1)).reshape(-1, size, size)
    covariances = now.covariances + length * 0.5 * (step + step.swapaxes(1, 2))
    return Gaussians(mass / mass.sum(), means, _wide_enough(covariances))


def _wide_enough(covariances: Floats) -> Floats:
    """The nearest covariances without a direction narrower than the data can tell."""
    lengths, directions = np.linalg.eigh(covariances)
    lengths = np.maximum(lengths, _NARROWEST**2)
    return np.asarray((directions * lengths[:, None, :]) @ directions.swapaxes(1, 2))


def _component(shares: Floats, generator: np.random.Generator) -> NDArray[np.int64]:
    cumulative = shares.cumsum(axis=1)
    chosen = (cumulative < generator.random((len(shares), 1)) * cumulative[:, -1:]).sum(axis=1)
    return np.asarray(np.minimum(chosen, shares.shape[1] - 1), dtype=np.int64)


def _true_values(
    now: Gaussians,
    drawn: NDArray[np.int64],
    pulled: Floats,
    inverse: Floats,
    t: Floats,
    generator: np.random.Generator,
) -> Floats:
    """x given y, its component and variances: regression, and a deviate of what regression leaves open."""
    rows = np.arange(len(drawn))
    covariance = now.covariances[drawn]
    middle = now.means[drawn] + np.einsum("nij,nj->ni", covariance, pulled[rows, drawn])
    # S - S (S + T)^-1 S = S (S + T)^-1 T, which does not subtract.
    left = (covariance @ inverse[rows, drawn]) * t[:, None, :]
    factor = _cholesky(0.5 * (left + left.swapaxes(1, 2)))
    return np.asarray(middle + np.einsum("nij,nj->ni", factor, generator.standard_normal(middle.shape)))


def log_densities(values: Floats, mixture: Gaussians, scales: Floats) -> Floats:
    """(n, k): the log density of perturbed values (n, d) under each component.

    The mean of N(y; m, S + diag(t)) over evenly spread variances t (128 points of a Sobol sequence): no closed form
    is known for whole covariances.
    """
    y, now = values / scales, mixture.times(1 / scales)
    size = y.shape[1]
    uniform = qmc.Sobol(size, seed=np.random.default_rng(0)).random(_VARIANCES)
    t = -2 * np.log(np.clip(uniform, 1e-9, 1))
    inverse, log_determinant = inverses(now.covariances + t[:, None, :, None] * np.eye(size))
    found = np.empty((len(y), len(now.weights)))
    for start in range(0, len(y), _CHUNK):
        away = y[start : start + _CHUNK, None, :] - now.means
        square = np.einsum("nki,tkij,nkj->tnk", away, inverse, away, optimize=True)
        logs = -0.5 * (square + log_determinant[:, None, :] + size * np.log(2 * np.pi))
        found[start : start + _CHUNK] = logsumexp(logs, axis=0) - np.log(_VARIANCES)
    return np.asarray(found - np.log(scales).sum())


def _averaged(kept: list[Gaussians]) -> Gaussians:
    weights, means, covariances = (
        np.mean([getattr(each, name) for each in kept], axis=0) for name in ("weights", "means", "covariances")
    )
    return Gaussians(weights / weights.sum(), means, covariances)


def inverses(matrices: Floats) -> tuple[Floats, Floats]:
    """Inverses and log determinants of many small positive definite matrices."""
    log_determinant: Floats = np.asarray(np.linalg.slogdet(matrices)[1], dtype=np.float64)
    return np.asarray(np.linalg.inv(matrices), dtype=np.float64), log_determinant


def _cholesky(matrices: Floats) -> Floats:
    """Lower factors of many small matrices; what rounding left below zero counts as zero."""
    size = matrices.shape[-1]
    factor = np.zeros_like(matrices)
    for j in range(size):
        rest = matrices[..., j, j] - (factor[..., j, :j] ** 2).sum(axis=-1)
        factor[..., j, j] = np.sqrt(np.maximum(rest, 0))
        safe = np.maximum(factor[..., j, j], 1e-300)
        for i in range(j + 1, size):
            inner = (factor[..., i, :j] * factor[..., j, :j]).sum(axis=-1)
            factor[..., i, j] = np.where(factor[..., j, j] > 0, (matrices[..., i, j] - inner) / safe, 0)
    return factor
