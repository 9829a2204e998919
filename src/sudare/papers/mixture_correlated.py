"""Two correlated attributes: the paper's diagonal covariance and PCA rotation against whole covariances."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sudare.arrays import Floats
from sudare.papers.mixture_synthetic import l1_percent
from sudare.reconstruct import Mixture, iterative_bayes, perturb
from sudare.reconstruct.mixture import Covariance

WEIGHTS = (0.6, 0.4)
MEANS = np.array([[0.0, 0.0], [4.0, 3.0]])
COVARIANCES = np.array([[[1.0, 0.8], [0.8, 1.0]], [[1.5, -1.0], [-1.0, 1.0]]])
BINS = 12
METHODS: tuple[Covariance, ...] = ("diagonal", "pca", "full")
CASES: tuple[tuple[int, str, float | None, int | None], ...] = (
    (10_000, "k = 2", 2, None),
    (100_000, "k = 2", 2, None),
    (10_000, "epsilon = 20", None, 20),
)


@dataclass(frozen=True)
class CorrelatedCase:
    """How well each method recovers the 12 x 12 cross table, mean over the runs; two components are given."""

    size: int
    noise: str
    scale: float
    accuracy: dict[str, float]


def records(size: int, seed: int) -> Floats:
    """(size, 2) draws of two correlated Gaussians."""
    rng = np.random.default_rng([size, seed])
    which = rng.choice(len(WEIGHTS), size, p=WEIGHTS)
    factors = np.linalg.cholesky(COVARIANCES)
    return np.asarray(MEANS[which] + np.einsum("nij,nj->ni", factors[which], rng.standard_normal((size, 2))))


def experiment(case: tuple[int, str, float | None, int | None], runs: int) -> CorrelatedCase:
    """One of the `CASES`, so many times."""
    size, noise, k, epsilon = case
    found: dict[str, list[float]] = {}
    for run in range(runs):
        x = records(size, run)
        bounds = [(float(column.min()), float(column.max())) for column in x.T]
        edges = [np.linspace(*ends, BINS + 1) for ends in bounds]
        true = np.histogram2d(x[:, 0], x[:, 1], bins=edges)[0] / size
        made = perturb(x, bounds, k=k, epsilon=epsilon, seed=run)
        for method in METHODS:
            fit = Mixture(components=2, covariance=method).fit(made.values, made.channel)
            found.setdefault(f"mixture, {method}", []).append(l1_percent(true, fit.cross_table(edges)))
        table = iterative_bayes(made.values, made.channel, edges).probabilities
        found.setdefault("IBT", []).append(l1_percent(true, table))
    accuracy = {name: float(np.mean(each)) for name, each in found.items()}
    return CorrelatedCase(size, noise, float(made.scale[0]), accuracy)
