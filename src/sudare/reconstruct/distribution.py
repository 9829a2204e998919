"""The distribution behind perturbed values, by the one of two methods that predicts held-out records better.

With few records both predict them equally well, and iterative Bayes, which knows the range of the values and chooses
the smoothest plausible distribution, is the safer one. With many, detail narrower than its smoothing shows, and a
mixture describes it with fewer parameters. So the mixture is chosen if held-out records are clearly likelier under it,
by a factor of e**2 for all of them together; else iterative Bayes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sudare.arrays import Floats
from sudare.measure import em
from sudare.measure.em import split
from sudare.reconstruct.axes import axis_of, checked_edges
from sudare.reconstruct.histogram import Histogram
from sudare.reconstruct.iterative_bayes import iterative_bayes
from sudare.reconstruct.mixture import Mixture
from sudare.reconstruct.noises import LaplaceNoise, columns_of
from sudare.reconstruct.sample import Sample, sample_of

_CLEARLY = 2.0
_TINY = 1e-300


def distribution(values: Any, scale: Any, edges: Any = None) -> Histogram:
    """The distribution of true values over bins; arguments as in `iterative_bayes`.

    Columns of categories, of other than Laplace noise, and cross tables are always reconstructed by iterative Bayes.

    >>> rng = np.random.default_rng(1)
    >>> true = rng.normal(5, 1, 3_000)
    >>> found = distribution(true + rng.laplace(0, 1, 3_000), 1.0, np.arange(11))
    >>> bool(abs(found.probabilities[4:6].sum() - 0.68) < 0.06), found.method
    (True, 'a mixture of 1 Gaussian')
    """
    columns = columns_of(values, scale, edges)
    noise = columns.noises[0] if len(columns.noises) == 1 else None
    smooth = iterative_bayes(values, scale, edges)
    if not isinstance(noise, LaplaceNoise):
        return smooth
    ends = checked_edges(columns.edges[0])
    mixture = Mixture().fit(columns.values[0], noise)
    if not clearly_better(mixture, smooth, sample_of(columns.values[0], noise.scale)):
        return smooth
    return histogram_of_mixture(mixture, columns.names, ends)


def clearly_better(mixture: Mixture, smooth: Histogram, sample: Sample) -> bool:
    """Whether records that were held out are clearly likelier under a mixture than under iterative Bayes."""
    return max(mixture.candidates_.values()) > held_out_worth(sample, smooth) + _CLEARLY


def held_out_worth(sample: Sample, found: Histogram) -> float:
    """The log likelihood of all records, each under iterative Bayes on the other folds: as mixtures are judged."""
    scale, edges = float(sample.scales[0]), found.edges
    below = _laplace_below(sample.points[0][:, None] - edges, scale)
    density = (below[:, :-1] - below[:, 1:]) / np.diff(edges)
    kernel = axis_of(LaplaceNoise(scale), edges).kernel(found.width * scale) if found.width else None
    seen = density if kernel is None else density @ kernel
    even = np.full(seen.shape[1], 1 / seen.shape[1])
    worth = 0.0
    for fold in split(sample.counts, np.random.default_rng(0)):
        rest = sample.counts - fold
        if not rest.any():
            rest = sample.counts
        fit = em(rest, lambda p: seen @ p, lambda r: seen.T @ r, even, stop=max(found.steps, 1))
        worth += float(fold @ np.log(np.maximum(seen @ fit.probabilities, _TINY)))
    return worth


def _laplace_below(t: Floats, scale: float) -> Floats:
    tail = 0.5 * np.exp(-np.abs(t) / scale)
    return np.where(t < 0, tail, 1 - tail)


def histogram_of_mixture(mixture: Mixture, names: tuple[str, ...], edges: Floats) -> Histogram:
    """A fitted mixture over bins."""

    def redraw(generator: np.random.Generator) -> Histogram:
        return histogram_of_mixture(mixture.again(generator), names, edges)

    count = mixture.components_
    return Histogram(
        names,
        mixture.histogram(edges),
        (edges,),
        mixture.log_likelihood_,
        mixture.steps_,
        mixture.converged_,
        method=f"a mixture of {count} Gaussian{'s' if count > 1 else ''}",
        redraw=redraw,
    )
