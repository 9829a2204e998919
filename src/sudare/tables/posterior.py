"""Cells by empirical Bayes: what a cell truly has, given its noisy value and how many people cells like it have.

A projection onto the simplex treats a noisy 30 alike wherever it stands. But from all noisy cells together one learns
how often a true 0, 10, 20 ... occurs (deconvolution: the prior that maximises the likelihood, by EM), and the posterior
mean of a cell under this prior is nearer to the truth. It sees noisy values only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from sudare.arrays import Floats, Integers
from sudare.measure.simplex import pieces
from sudare.tables.tree_level import Level

_NODES_PER_PRIOR = 60
"""With three times as many nodes, thin, middling and thick ones have a prior each."""
_LARGEST, _USUAL = 20.0, 15.0
"""The largest true value of a prior, and the value from which a cell is left as it is, in scales of the noise."""
_BEYOND = np.inf
"""Stands where a cell is left as it is."""
_MOST_STEPS = 16
"""Bits of the steps of a table."""
_FEWEST_CELLS = 32
"""Of a prior."""
_ROUNDS, _GRAIN = 60, 8
"""Of EM; noisy values are told apart by so many steps in a scale of the noise."""


@dataclass(frozen=True)
class Posterior:
    """``mean`` and ``doubt`` (priors, steps): of the truth of a cell, by its prior and its noisy value.

    Steps are 2**``coarse`` noisy values each, from ``least`` on; from the last one on a cell is left as it is. The
    nodes of a prior are those from one of ``parted`` people to the next.
    """

    mean: Floats
    doubt: Floats
    least: int
    coarse: int
    parted: Floats

    @classmethod
    def of(cls, cells: Level, totals: Integers, *, gaussian: bool) -> Self:
        """From the last level of a tree, all measured alike with Laplace or Gaussian noise, and its nodes' people.

        Nodes share a prior by thirds of their people.
        """
        variance = cells.variance[0]
        scale, parted = (variance / 2) ** 0.5, np.empty(0)
        if len(totals) >= 3 * _NODES_PER_PRIOR:
            parted = np.quantile(totals, [1 / 3, 2 / 3])
        least, end = int(cells.noisy.min(initial=0)), int(np.ceil(_USUAL * scale))
        coarse = max(0, (end - least).bit_length() - _MOST_STEPS)
        mean, doubt = np.zeros((2, len(parted) + 1, (max(end - least, 0) >> coarse) + 1))
        learned = cls(mean, doubt, least, coarse, parted)
        number = np.zeros(mean.size)
        for piece in pieces(cells.noisy):
            steps = learned._steps(cells, piece, totals[piece])[cells.logical[piece]]
            number += np.bincount(steps, minlength=len(number))
        values = np.arange(mean.shape[1] - 1) << coarse
        values += least
        mean[:, :-1], mean[:, -1], doubt[...] = values, _BEYOND, variance
        for which, own in enumerate(number.reshape(mean.shape)):
            if own[:-1].sum() >= _FEWEST_CELLS:
                grid, means, variances = _posterior(values / scale, own[:-1], scale, gaussian)
                mean[which, :-1] = scale * np.interp(values / scale, grid, means)
                doubt[which, :-1] = variance / 2 * np.interp(values / scale, grid, variances)
        return learned

    def _steps(self, cells: Level, piece: slice, totals: Integers) -> Integers:
        """Where the cells of some nodes stand in the tables."""
        steps = cells.noisy[piece].astype(np.int64)  # as whole as they were measured
        steps -= self.least
        steps >>= self.coarse
        np.minimum(steps, self.mean.shape[1] - 1, out=steps)
        steps += (np.searchsorted(self.parted, totals, side="right") * self.mean.shape[1])[:, None]
        return steps

    def rows(self, cells: Level, piece: slice, totals: Integers) -> Floats:
        """(nodes, cells) >= 0 that add up to ``totals``: posterior means, and what is missing by their variances."""
        steps = self._steps(cells, piece, totals)
        mean, doubt = self.mean.take(steps), self.doubt.take(steps)
        np.copyto(mean, cells.noisy[piece], where=mean == _BEYOND)
        if not cells.whole:
            for column in (mean, doubt):
                column *= cells.logical[piece]
        return _adding_up(mean, doubt, totals)


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
