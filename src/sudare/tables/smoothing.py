"""The people of blocks that were not split, as smooth as their surroundings: pycnophylactic interpolation.

Spread evenly, a block of few people ends in a step at the border of a town. Instead people are spread so that each
place is near the mean of those around it while every block keeps its own sum (Tobler, *Smooth pycnophylactic
interpolation for geographical regions*, JASA 74, 1979): a mean over neighbouring places, then each block scaled back
to its people, a few times. Places that were measured by themselves stay as they are; places without logical cells
count nowhere. It sees released numbers only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from sudare.arrays import Floats, Integers
from sudare.domain import Domain

MOST_PLACES = 1 << 20
"""Of the padded domain: it is worked on whole. In a larger one people are spread evenly."""
_MOST_BITS = 16
"""Of the places of a block that is smoothed."""
_MOST_PEOPLE = 2.0**50
"""Beside more, doubles lose one person in a sum: people are spread evenly then."""
BORDER, _ROUNDS = 2, 5
"""Places on each side that a mean is taken over, and how often: set on the tuning grids of benchmarks/held_out.py."""

Ends = tuple[int, Integers, Integers]
"""Bits below blocks that are not split, these blocks, and the people of each."""


@dataclass(frozen=True)
class Density:
    """People expected at each place, as the sums ``before`` (places + 1,) in index order; places have 2**level cells.

    >>> Density(0, np.array([0.0, 1.0, 1.0, 4.0, 6.0])).sums(np.array([0, 1]), 1).tolist()
    [1.0, 5.0]
    """

    level: int
    before: Floats

    def sums(self, block: Integers, level: int) -> Floats:
        """Of blocks of 2**level cells, at least as large as a place."""
        bits = level - self.level
        return np.asarray(self.before[(block + 1) << bits] - self.before[block << bits])

    def covers(self, level: int) -> bool:
        """Whether blocks of 2**level cells are spread by it: not those within a place, and not the largest."""
        return self.level < level <= self.level + _MOST_BITS


def can_smooth(domain: Domain) -> bool:
    """Whether places have neighbours in two dimensions, and are few enough: one grid or mesh above everything else.

    On lines it gains nothing.
    """
    places = [attribute for attribute in domain.attributes.values() if attribute.spatial]
    neighbours = len(places) == 1 and len(places[0].lengths) == 2
    bits = sum((length - 1).bit_length() for length in places[0].lengths) if neighbours else 0
    return neighbours and bits + domain.place_level == domain.bits and 1 << bits <= MOST_PLACES


def density(domain: Domain, ends: Sequence[Ends]) -> Density | None:
    """Of all blocks that the tree ends in, which together are the whole domain; None where nothing can be smoothed."""
    level = domain.place_level
    shape, where, logical = block_map(domain, level)
    people, smoothed = np.zeros(len(where)), []
    for below, block, count in ends:
        if below <= level:
            people += np.bincount(block >> (level - below), count, minlength=len(people))
            continue
        rows, width = people.reshape(-1, 1 << (below - level)), logical.reshape(-1, 1 << (below - level))
        rows[block] = width[block] * (count / np.maximum(width[block].sum(axis=1), 1.0))[:, None]
        if below <= level + _MOST_BITS:
            smoothed.append((where.reshape(rows.shape)[block], width[block], count))
    if not smoothed or people.sum() >= _MOST_PEOPLE:
        return None
    grid, weight = np.zeros((2, *shape))
    grid.reshape(-1)[where], weight.reshape(-1)[where] = people, logical
    scratch = np.zeros((3, grid.size))
    around = np.maximum(_around(weight, scratch), 1.0)
    parts = [(place, own / around[place], count) for place, own, count in smoothed]
    for _ in range(_ROUNDS):
        around = _around(grid, scratch)
        for place, own, count in parts:
            mean = around[place]
            mean *= own
            sums = mean.sum(axis=1)
            mean *= (count / np.where(sums > 0, sums, 1.0))[:, None]
            grid.reshape(-1)[place] = mean
    # So small a share that it is nobody, but a block whose mean is 0 keeps its people.
    smooth = grid.reshape(-1)[where] + 1e-12 * logical
    return Density(level, np.concatenate([[0.0], np.cumsum(smooth)]))


@lru_cache(maxsize=8)
def block_map(domain: Domain, level: int) -> tuple[tuple[int, ...], Integers, Floats]:
    """The shape of a map of the blocks of 2**level cells with a border of `BORDER` blocks, and two arrays.

    Where each block in index order stands on it (raveled), and 1 for those with logical cells.
    """
    alone = len(domain.attributes) == 1
    own = [axis for axis, name in enumerate(domain.axes) if alone or domain.attributes[name.name].spatial]
    index = np.arange(1 << (domain.bits - level))
    within = [int(axis[0]).bit_length() for axis in domain.coordinates(np.array([(1 << level) - 1]))]
    coordinates = domain.coordinates(index << level)
    lengths = [(domain.shape[axis] - 1).bit_length() - within[axis] for axis in own]
    shape = tuple((1 << bits) + 2 * BORDER for bits in lengths)
    where = np.ravel_multi_index(tuple((coordinates[axis] >> within[axis]) + BORDER for axis in own), shape)
    logical = (domain.block_sizes(index, level) > 0).astype(np.float64)
    return shape, np.asarray(where, dtype=np.int64), logical


def _around(grid: Floats, scratch: Floats) -> Floats:
    """Sums (flat) over the 5 x 5 places around each place, as the last of ``scratch`` (3, places), which begins as 0.

    What stands on the border means nothing.
    """
    sums, (two, *made) = grid.reshape(-1), scratch
    for step, found in zip((grid.shape[1], 1), made, strict=True):
        np.add(sums[step:], sums[:-step], out=two[:-step])
        inner = found[2 * step : -2 * step]
        np.add(two[: -4 * step], two[2 * step : -2 * step], out=inner)
        inner += sums[4 * step :]
        sums = found
    return sums
