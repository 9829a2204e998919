"""The point of least loss in the lattice of levels, found without looking at most of it.

Every point has a lower bound of its loss, at first the penalty of its levels without suppression, known for the whole
lattice at once. A look at one point sharpens the bounds of all points below it, for these suppress at least as much;
and where it suppresses more than the limit, so do they, and they are out. The search is over when no bound is below
the best loss found, so its result is that of looking everywhere.
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np

from sudare.anonymity.lattice import Lattice, Levels, Point
from sudare.arrays import Floats
from sudare.errors import ParameterError

LARGEST_LATTICE = 2**24


class Found(NamedTuple):
    """The best point, its loss, and at how many points the search looked."""

    levels: Levels
    point: Point
    loss: float
    looks: int


def optimal(lattice: Lattice, limit: float = 0.0) -> Found:
    """The levels of least loss that suppress at most the share ``limit`` of all records.

    Bounds may be carried downwards where merging classes never makes more records unpublishable: for k-anonymity and
    distinct l-diversity always, for the other requirements where nothing may be suppressed (averages of classes that
    satisfy them do too). Elsewhere only the first bounds are used.
    """
    _refuse_large(lattice)
    allowed = lattice.tuples.share(limit)
    carried = lattice.judge.monotone or allowed == 0
    floor = lattice.floor(lattice.tuples.counts) / (lattice.tuples.total * len(lattice.shape))
    bound = floor.copy()
    best: Found | None = None
    looks = 0
    while True:
        worst = np.inf if best is None else best.loss
        lowest = tuple(map(int, np.unravel_index(int(np.argmin(bound)), lattice.shape)))
        if bound[lowest] >= worst:
            break
        # Halfway up from the most promising point: that decides about many points, whatever is found there.
        promising = [levels for levels in _way_up(lowest, floor) if bound[levels] < worst] if carried else [lowest]
        levels = promising[len(promising) // 2]
        point, looks = lattice.look(levels), looks + 1
        below = tuple(slice(0, level + 1) for level in levels)
        if point.suppressed > allowed:
            bound[below if carried else levels] = np.inf
            continue
        losses = lattice.losses(point)
        if best is None or losses[levels] < best.loss:
            best = Found(levels, point, float(losses[levels]), looks)
        if carried:
            np.maximum(bound[below], losses[below], out=bound[below])
        bound[levels] = np.inf
    return _checked(best, looks)


def exhaustive(lattice: Lattice, limit: float = 0.0) -> Found:
    """The same by looking at every point: what `optimal` is measured against."""
    _refuse_large(lattice)
    best: Found | None = None
    looks = 0
    for levels in product(*map(range, lattice.shape)):
        point, looks = lattice.look(levels), looks + 1
        if point.suppressed <= lattice.tuples.share(limit):
            loss = float(lattice.losses(point)[levels])
            best = Found(levels, point, loss, looks) if best is None or loss < best.loss else best
    return _checked(best, looks)


def _way_up(levels: Levels, floor: Floats) -> list[Levels]:
    """A chain of points from ``levels`` to the top, each step where the penalty rises least."""
    chain = [levels]
    while True:
        last = chain[-1]
        above = [
            (*last[:place], level + 1, *last[place + 1 :])
            for place, level in enumerate(last)
            if level + 1 < floor.shape[place]
        ]
        if not above:
            return chain
        chain.append(min(above, key=lambda point: float(floor[point])))


def _refuse_large(lattice: Lattice) -> None:
    size = int(np.prod([float(levels) for levels in lattice.shape]))
    if size > LARGEST_LATTICE:
        raise ParameterError(
            "the hierarchies have too many combinations of levels to search",
            value=size,
            allowed="at most {largest_lattice}",
            hint='Use fewer columns or levels, or method="greedy" or "mondrian".',
            largest_lattice=LARGEST_LATTICE,
        )


def _checked(best: Found | None, looks: int) -> Found:
    if best is None:
        raise ParameterError(
            "no generalisation satisfies the requirements, not even with every column at its root",
            hint="Ask for a smaller k, l or larger t, or allow more suppression.",
        )
    return best._replace(looks=looks)
