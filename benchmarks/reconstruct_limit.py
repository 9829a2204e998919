"""What any method could recover of 1,000 perturbed records: the best possible answer for a stated class of mixtures.

The class: four Gaussians with the weights and deviations of the paper's mixture, their means anywhere within the
bounds. A reader who knows that much, and lacks the four means alone, cannot do better on average than the Bayesian
answer, which minimises the expected L1 distance given the perturbed values. It is computed by weighing 200,000 mixtures
of the class by their likelihood. `distribution` knows nothing of the class and is measured on the same values. The
second row has the paper's own means, for which nobody's answer was made. All accuracies are those of the true
probabilities of 50 bins, not of a sample of them.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from part import run_part
from row import Row
from sudare.papers import mixture_synthetic as synthetic
from sudare.reconstruct import distribution, scale_for
from sudare.reconstruct.axes import axis_of
from sudare.reconstruct.noises import LaplaceNoise

Floats = NDArray[np.float64]
EDGES = np.linspace(0, 1, synthetic.BINS + 1)
WIDTH = 11.0  # of the paper's mixture
DRAWS, KEPT = 200_000, 2_000


def mixtures(means: Floats) -> Floats:
    """(n, 50): probabilities of the bins for means (n, 4); each Gaussian is cut to the bounds."""
    total = np.zeros((len(means), len(EDGES) - 1))
    parts = zip(means.T, synthetic.WEIGHTS, np.sqrt(synthetic.VARIANCES) / WIDTH, strict=True)
    for centres, weight, deviation in parts:
        share = np.diff(ndtr((EDGES - centres[:, None]) / deviation), axis=1)
        total += weight * share / share.sum(axis=1, keepdims=True)
    return total


def nearest(posterior: Floats) -> Floats:
    """The distribution with the least expected L1 distance from draws (n, 50): one quantile level for all bins."""
    ordered = np.sort(posterior, axis=0)
    sums = ordered.sum(axis=1)
    level = int(np.searchsorted(sums, 1.0).clip(1, len(sums) - 1))
    before, after = sums[level - 1], sums[level]
    share = (1 - before) / (after - before) if after > before else 0.0
    return np.asarray(ordered[level - 1] + share * (ordered[level] - ordered[level - 1]))


def rows(quick: bool) -> Iterator[Row]:
    """By class of mixtures: the best possible answer, and ours."""
    records, truths = 1_000, 6 if quick else 40
    rng = np.random.default_rng(4)
    noise = LaplaceNoise(scale_for(k=2, records=records, width=1.0), (0.0, 1.0))
    axis = axis_of(noise, EDGES)
    library = mixtures(rng.random((DRAWS, 4)))
    laws = np.log(np.maximum(axis.forward(library), 1e-300))
    paper = (np.array(synthetic.MEANS) + 1.9) / WIDTH
    classes = {"means anywhere": rng.random((truths, 4)), "the paper's means": np.tile(paper, (truths, 1))}
    for name, means in classes.items():
        found = []
        for true in mixtures(means):
            values = EDGES[rng.choice(len(true), records, p=true)] + rng.random(records) / len(true)
            noisy = values + rng.laplace(0, noise.scale, records)
            logs = laws @ np.bincount(axis.place(noisy), minlength=laws.shape[1])
            weights = np.exp(logs - logs.max())
            weights /= weights.sum()
            best = nearest(library[rng.choice(DRAWS, KEPT, p=weights)])
            ours = distribution(noisy, noise, EDGES).probabilities
            accuracies = [synthetic.l1_percent(true, each) for each in (best, ours)]
            found.append((*accuracies, 1 / (weights**2).sum()))
        best_mean, ours_mean, effective = np.mean(found, axis=0)
        case, unit = f"{records:,} records, {truths} draws, {name}", "% L1 accuracy"
        note = f"{effective:,.0f} mixtures carry the weight"
        yield Row("best possible", float(best_mean), unit, None, note, case)
        yield Row("distribution", float(ours_mean), unit, "best possible", "", case)


if __name__ == "__main__":
    run_part(rows)
