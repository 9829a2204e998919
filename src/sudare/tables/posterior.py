"""Cells by empirical Bayes: what a cell truly has, given its noisy value and how many people cells like it have.

A projection onto the simplex treats a noisy 30 alike wherever it stands. But from all noisy cells together one learns
how often a true 0, 10, 20 ... occurs (deconvolution: the prior that maximises the likelihood, by EM), and the posterior
mean of a cell under this prior is nearer to the truth. It sees noisy values only.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sudare.arrays import Booleans, Floats, Integers
from sudare.tables.tree_level import Level

_NODES_PER_PRIOR = 60
"""With three times as many nodes, thin, middling and thick ones have a prior each."""
_LARGEST, _USUAL = 20.0, 15.0
"""The largest true value of a prior, and the value from which a cell is left as it is, in scales of the noise."""
_ROUNDS, _GRAIN = 60, 8
"""Of EM; noisy values are told apart by so many steps in a scale of the noise."""


def posterior_rows(cells: Level, totals: Integers, *, gaussian: bool) -> Floats:
    """Rows (nodes, cells) >= 0 that add up to ``totals``: posterior means, and what is missing by their variances.

    ``cells`` are the last level of a tree, all measured alike with Laplace or with Gaussian noise.
    """
    values, logical, variance = cells.value, cells.logical, float(cells.variance.max(initial=0.0))
    scale = (variance / 2) ** 0.5
    mean, doubt = np.where(logical, values, 0.0), np.where(logical, variance, 0.0)
    for rows in _alike(totals):
        known = logical & rows[:, None] & (values < _USUAL * scale)
        noisy = values[known].astype(np.int64)  # as whole as they were measured
        if len(noisy) >= 32:
            different, place, number = _counted(noisy)
            possible = different / scale
            steps, means, variances = _posterior(possible, number, scale, gaussian)
            mean[known] = (scale * np.interp(possible, steps, means))[place]
            doubt[known] = (variance / 2 * np.interp(possible, steps, variances))[place]
    return _adding_up(mean, doubt, totals)


def _counted(values: Integers) -> tuple[Integers, Integers, Integers]:
    """Different values, the place of each of ``values`` among them, and how often each occurs (perhaps never)."""
    least, most = int(values.min()), int(values.max())
    if most - least > len(values):
        return np.unique(values, return_inverse=True, return_counts=True)
    place = values - least
    return np.arange(least, most + 1), place, np.bincount(place)


def _alike(totals: Integers) -> Iterator[Booleans]:
    """Which nodes share a prior: thirds by their people."""
    if len(totals) < 3 * _NODES_PER_PRIOR:
        yield np.ones(len(totals), dtype=np.bool_)
        return
    first, second = np.quantile(totals, [1 / 3, 2 / 3])
    yield totals < first
    yield (totals >= first) & (totals < second)
    yield totals >= second


def _posterior(noisy: Floats, number: Integers, scale: float, gaussian: bool) -> tuple[Floats, Floats, Floats]:
    """Means and variances of the truth at steps of the noisy value, all in scales of the noise.

    ``number`` counts how often each ``noisy`` value stands there.
    """
    true = np.arange(0.0, _LARGEST, max(0.5, 1 / scale))
    place = np.rint((np.maximum(noisy, -_USUAL) + _USUAL) * _GRAIN).astype(np.int64)
    weight = np.bincount(place, number)
    steps = np.arange(len(weight)) / _GRAIN - _USUAL
    apart = np.abs(steps[:, None] - true)
    likelihood = np.exp(-(apart**2) / 4 if gaussian else -apart)
    prior = np.exp(-true / 3)
    for _ in range(_ROUNDS):
        prior = prior * ((weight / (likelihood @ prior)) @ likelihood) + 0.02
        prior /= prior.sum()
    joint = likelihood * prior
    joint /= joint.sum(axis=1, keepdims=True)
    means = joint @ true
    return steps, means, joint @ true**2 - means**2


def _adding_up(mean: Floats, doubt: Floats, totals: Integers) -> Floats:
    """What is missing of a total, or too much, is divided by the variances; at 0 a cell gives nothing more."""
    for _ in range(6):
        lacking = totals - mean.sum(axis=1)
        mean = mean + doubt * (lacking / np.maximum(doubt.sum(axis=1), 1e-12))[:, None]
        below = mean < 0
        if not below.any():
            break
        mean, doubt = np.where(below, 0.0, mean), np.where(below, 0.0, doubt)
    mean = np.maximum(mean, 0.0)
    return np.asarray(mean * (totals / np.maximum(mean.sum(axis=1), 1e-300))[:, None])
