"""A Gaussian mixture as a distribution: density, boxes, quantiles, draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sudare.arrays import Floats
from sudare.measure.science import scipy_of

ndtr = scipy_of("special").ndtr
qmc = scipy_of("stats").qmc

_NODES, _HEIGHTS = np.polynomial.legendre.leggauss(12)
_DRAWS = 1 << 17


@dataclass(frozen=True)
class Gaussians:
    """``weights`` (k,), ``means`` (k, d), ``covariances`` (k, d, d)."""

    weights: Floats
    means: Floats
    covariances: Floats

    @classmethod
    def diagonal(cls, weights: Floats, means: Floats, variances: Floats) -> Gaussians:
        """Independent attributes: ``variances`` (k, d)."""
        return cls(weights, means, variances[:, :, None] * np.eye(means.shape[1]))

    @property
    def attributes(self) -> int:
        return int(self.means.shape[1])

    def times(self, units: Floats) -> Gaussians:
        """The same mixture in other units (d,)."""
        return Gaussians(self.weights, self.means * units, self.covariances * np.outer(units, units))

    def sorted(self) -> Gaussians:
        """From left to right along the first attribute."""
        order = np.lexsort(self.means.T[::-1])
        return Gaussians(self.weights[order], self.means[order], self.covariances[order])

    def marginal(self, places: Sequence[int]) -> Gaussians:
        chosen = list(places)
        return Gaussians(self.weights, self.means[:, chosen], self.covariances[:, chosen][:, :, chosen])

    def density(self, points: Floats) -> Floats:
        """(n,) at points (n, d)."""
        away = points[:, None, :] - self.means
        factor = np.linalg.cholesky(self.covariances)
        scaled = np.linalg.solve(factor, away.transpose(1, 2, 0))
        log_height = -np.log(np.diagonal(factor, axis1=1, axis2=2)).sum(axis=1) - 0.5 * self.attributes * np.log(
            2 * np.pi
        )
        return np.asarray(self.weights @ np.exp(log_height[:, None] - 0.5 * (scaled**2).sum(axis=1)))

    def below(self, points: Floats) -> Floats:
        """The distribution function of the first attribute at points (n,)."""
        deviations = np.sqrt(self.covariances[:, 0, 0])
        return np.asarray(ndtr((points[:, None] - self.means[:, 0]) / deviations) @ self.weights)

    def quantiles(self, probabilities: Floats) -> Floats:
        """Values of the first attribute below which so much lies; 0 and 1 are answered by ten deviations."""
        deviations = np.sqrt(self.covariances[:, 0, 0])
        low = np.full(probabilities.shape, (self.means[:, 0] - 10 * deviations).min())
        high = np.full(probabilities.shape, (self.means[:, 0] + 10 * deviations).max())
        for _ in range(60):
            middle = 0.5 * (low + high)
            short = self.below(middle.ravel()).reshape(middle.shape) < probabilities
            low, high = np.where(short, middle, low), np.where(short, high, middle)
        return np.asarray(0.5 * (low + high))

    def boxes(self, edges: Sequence[Floats]) -> Floats:
        """The mass of every box between edges; what lies beyond the outer edges counts to the outer boxes.

        One attribute and two by integration, more by 2**17 evenly spread points.
        """
        open_ended = [np.concatenate([[-np.inf], ends[1:-1], [np.inf]]) for ends in edges]
        if self.attributes == 1:
            return np.diff(_steps(open_ended[0], self.means[:, 0], self.covariances[:, 0, 0]), axis=0) @ self.weights
        if self.attributes == 2:
            return self._rectangles(open_ended)
        points = self.sample(_DRAWS, np.random.default_rng(0), spread=True)
        inner = [ends[1:-1] for ends in open_ended]
        places = [np.searchsorted(ends, column, side="right") for ends, column in zip(inner, points.T, strict=True)]
        shape = tuple(len(ends) - 1 for ends in edges)
        flat = np.ravel_multi_index(tuple(places), shape)
        return np.bincount(flat, minlength=int(np.prod(shape))).reshape(shape) / len(points)

    def _rectangles(self, edges: Sequence[Floats]) -> Floats:
        """Along the first attribute by Gauss-Legendre in quantiles of each box, along the second exactly."""
        total = np.zeros((len(edges[0]) - 1, len(edges[1]) - 1))
        for weight, mean, covariance in zip(self.weights, self.means, self.covariances, strict=True):
            deviation = np.sqrt(covariance[0, 0])
            slope = covariance[0, 1] / covariance[0, 0]
            left = max(covariance[1, 1] - slope * covariance[0, 1], 1e-12 * covariance[1, 1])
            ends = np.clip((edges[0] - mean[0]) / deviation, -9, 9)
            middle, half = (ends[1:] + ends[:-1]) / 2, (ends[1:] - ends[:-1]) / 2
            # A box wider than a deviation is cut, so that the bell is a polynomial for the twelve nodes.
            parts = int(np.ceil(max(half.max(), 0.5) * 2))
            cuts = (np.arange(parts) + 0.5) / parts * 2 - 1
            nodes = (cuts[:, None] + _NODES / parts).ravel()
            heights = np.tile(_HEIGHTS / parts, parts)
            places = middle[:, None] + half[:, None] * nodes
            bell = np.exp(-0.5 * places**2) / np.sqrt(2 * np.pi) * half[:, None] * heights
            centres = mean[1] + slope * deviation * places
            inner = np.diff(ndtr((edges[1] - centres[..., None]) / np.sqrt(left)), axis=-1)
            total += weight * np.einsum("bn,bnc->bc", bell, inner)
        return np.asarray(total / total.sum())

    def sample(self, size: int, generator: np.random.Generator, *, spread: bool = False) -> Floats:
        """(size, d) draws; ``spread`` evenly (a Sobol sequence) instead of independently."""
        if spread:
            ndtri = scipy_of("special").ndtri

            uniform = qmc.Sobol(self.attributes + 1, seed=generator).random(size)
            which = np.searchsorted(np.cumsum(self.weights)[:-1], uniform[:, 0], side="right")
            normal = ndtri(np.clip(uniform[:, 1:], 1e-12, 1 - 1e-12))
        else:
            which = generator.choice(len(self.weights), size, p=self.weights)
            normal = generator.standard_normal((size, self.attributes))
        factor = np.linalg.cholesky(self.covariances)
        return np.asarray(self.means[which] + np.einsum("nij,nj->ni", factor[which], normal))


def _steps(edges: Floats, means: Floats, variances: Floats) -> Floats:
    return np.asarray(ndtr((edges[:, None] - means) / np.sqrt(variances)))
