"""Blocks and cells by empirical Bayes: what one truly has, given its noisy value and what others like it have.

A projection onto the simplex treats a noisy 30 alike wherever it stands. But from all noisy values of a level together
one learns how often a true 0, 10, 20 ... occurs (deconvolution: the prior that maximises the likelihood, by EM), and
the posterior mean under this prior is nearer to the truth. Blocks with about as many people around them have a prior
together, so that the edge of a town differs from the sea. It sees noisy values only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from sudare.arrays import Booleans, Floats, Integers
from sudare.domain import Bins, Domain, Line
from sudare.measure.simplex import pieces
from sudare.tables.smoothing import block_map
from sudare.tables.tree_level import Level

WEIGHT = 0.75
"""Of the posterior beside the projection. Alone it is more exact in cells and blocks, and less in rectangles."""
_MOST_PRIORS = 8
"""Of a level: blocks are parted by the people around them."""
_FEWEST_BLOCKS, _USUAL_BLOCKS = 50, 150
"""Of the only prior of a level, and of one of several."""
_MOST_AROUND = 1 << 20
"""Blocks of a domain, of one size, up to which each is seen beside its neighbours; else beside its siblings."""
_SAMPLED = 1 << 14
"""Blocks by which the others are parted."""
_LARGEST, _USUAL = 20.0, 15.0
"""The largest true value of a prior, and the value from which a block is left as it is, in scales of the noise."""
_BEYOND = np.inf
"""Stands where a block is left as it is."""
_MOST_STEPS = 16
"""Bits of the steps of a table."""
_ROUNDS, _GRAIN = 60, 8
"""Of EM; noisy values are told apart by so many steps in a scale of the noise."""


@dataclass
class Surroundings:
    """What is known of all blocks of a size on the way down, ``people`` in index order; None where they are too many.

    Blocks that were not split count as even. Only where the domain is one map or one line have blocks neighbours.
    """

    domain: Domain
    people: Floats | None = None
    has_neighbours: bool = field(init=False)

    def __post_init__(self) -> None:
        first, *others = self.domain.attributes.values()
        self.has_neighbours = not others and (isinstance(first, Line | Bins) or len(first.lengths) == 2)

    def means(self, level: Level, totals: Integers) -> Floats:
        """(nodes, children) people of the neighbours of each child, on average; else of the child and its siblings."""
        number, width = 1 << (self.domain.bits - level.below), 1 << level.bits
        if not self.has_neighbours or number > _MOST_AROUND:
            self.people = None
            return np.asarray(np.broadcast_to((totals / width)[:, None], level.noisy.shape))
        shape, where, logical = block_map(self.domain, level.below)
        known = logical.reshape(-1, width)
        above = np.zeros(len(known)) if self.people is None else self.people
        rows = known * (above / np.maximum(known.sum(axis=1), 1.0))[:, None]
        for piece, value in level.rows(0.0):
            rows[level.node[piece]] = value
        self.people = rows.reshape(-1)
        grid, weight = np.zeros((2, int(np.prod(shape))))
        grid[where], weight[where] = self.people, logical
        mean = _around(grid, shape)
        mean /= np.maximum(_around(weight, shape), 1.0)
        return np.asarray(mean[where.reshape(-1, width)[level.node]])

    def placed(self, level: Level, split: Integers) -> None:
        """The people of a level's children, once they are known."""
        if self.people is not None:
            self.people.reshape(-1, 1 << level.bits)[level.node] = split


def _around(grid: Floats, shape: Sequence[int]) -> Floats:
    """Sums over eight neighbours on a map, two on each side on a line; ``grid`` is raveled, with an empty border."""
    sums = grid
    for step in (1, shape[1]) if len(shape) == 2 else (1, 2):
        one = sums if len(shape) == 2 else grid
        sums = sums.copy()
        sums[step:] += one[:-step]
        sums[:-step] += one[step:]
    return sums - grid


@dataclass(frozen=True)
class Posterior:
    """``mean`` and ``doubt`` (priors, steps): of the truth of a block, by its prior and its noisy value.

    Steps are 2**``coarse`` noisy values each, from ``least`` on; from the last one on a block is left as it is. Those
    with the prior i have between ``parted[i - 1]`` and ``parted[i]`` people ``around`` them, on average.
    """

    mean: Floats
    doubt: Floats
    least: int
    coarse: int
    parted: Floats
    around: Floats

    @classmethod
    def of(cls, level: Level, around: Floats, *, gaussian: bool) -> Self | None:
        """From the children that end at a level, all measured alike with Laplace or Gaussian noise; None if few do."""
        ends = level.logical & ~level.goes
        known = around[ends]
        if len(known) < _FEWEST_BLOCKS:
            return None
        priors = max(1, min(_MOST_PRIORS, len(known) // _USUAL_BLOCKS))
        parted = np.quantile(known[:: -(-len(known) // _SAMPLED)], np.arange(1, priors) / priors)
        scale = (level.variance[0] / 2) ** 0.5
        least, end = int(np.floor(level.noisy.min(initial=0))), int(np.ceil(_USUAL * scale))
        coarse = max(0, (end - least).bit_length() - _MOST_STEPS)
        mean, doubt = np.zeros((2, priors, (max(end - least, 0) >> coarse) + 1))
        learned = cls(mean, doubt, least, coarse, parted, around)
        number = np.zeros(mean.size)
        for piece in pieces(level.noisy):
            number += np.bincount(learned._steps(level, piece)[ends[piece]], minlength=len(number))
        values = np.arange(mean.shape[1] - 1) << coarse
        values += least
        mean[:, :-1], mean[:, -1], doubt[...] = values, _BEYOND, level.variance[0]
        seen = number.reshape(mean.shape)[:, :-1]
        some = np.flatnonzero(seen.any(axis=1))
        if not len(some):
            return learned
        grid, *found = _posterior(values / scale, seen[some], scale, gaussian)
        for which, means, variances in zip(some, *found, strict=True):
            mean[which, :-1] = scale * np.interp(values / scale, grid, means)
            doubt[which, :-1] = level.variance[0] / 2 * np.interp(values / scale, grid, variances)
        return learned

    def _steps(self, level: Level, piece: slice) -> Integers:
        """Where the children of some nodes stand in the tables."""
        noisy = level.noisy[piece]
        steps = (np.rint(noisy) if noisy.dtype.kind == "f" else noisy).astype(np.int64)
        steps -= self.least
        steps >>= self.coarse
        np.minimum(steps, self.mean.shape[1] - 1, out=steps)
        prior = np.zeros(steps.shape, dtype=np.int8)
        for limit in self.parted:
            prior += (self.around[piece] > limit).view(np.int8)
        steps += np.multiply(prior, self.mean.shape[1], dtype=np.int64)
        return steps

    def rows(self, level: Level, piece: slice, value: Floats, totals: Integers) -> Floats:
        """(nodes, children) >= 0 that add up to ``totals``: posterior means, and what is missing by their variances.

        Children that are split further stay at ``value``, which their own children told, with its variance.
        """
        steps = self._steps(level, piece)
        mean, doubt = self.mean.take(steps), self.doubt.take(steps)
        goes: Booleans = level.goes[piece]
        np.copyto(mean, value, where=(mean == _BEYOND) | goes)
        if level.joined is not None and goes.any():
            first = np.count_nonzero(level.goes[: piece.start])
            doubt[goes] = level.joined[1, first : first + np.count_nonzero(goes)]
        if not level.whole:
            for column in (mean, doubt):
                column *= level.logical[piece]
        return _adding_up(mean, doubt, totals)


def _posterior(noisy: Floats, number: Floats, scale: float, gaussian: bool) -> tuple[Floats, Floats, Floats]:
    """Means and variances (priors, steps) of the truth at steps of the noisy value, all in scales of the noise.

    ``number`` (priors, noisy values) counts how often each ``noisy`` value stands where a prior holds.
    """
    true = np.arange(0.0, _LARGEST, max(0.5, 1 / scale))
    place = np.rint((np.maximum(noisy, -_USUAL) + _USUAL) * _GRAIN).astype(np.int64)
    weight = np.array([np.bincount(place, own) for own in number])
    steps = np.arange(weight.shape[1]) / _GRAIN - _USUAL
    apart = np.abs(steps[:, None] - true)
    likelihood = np.exp(-(apart**2) / 4 if gaussian else -apart)
    prior = np.exp(-true / 3)[None]
    for _ in range(_ROUNDS):
        prior = prior * ((weight / (prior @ likelihood.T)) @ likelihood) + 0.02
        prior /= prior.sum(axis=1, keepdims=True)
    # Of a truth with weights likelihood * prior: the first two moments.
    whole, first, second = (prior * true**power @ likelihood.T for power in range(3))
    means = first / whole
    return steps, means, second / whole - means**2


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
