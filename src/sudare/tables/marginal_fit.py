"""The non-negative table that fits measured cells and marginals best, up to a million cells.

Every array is a sum of interactions: for each set B of axes a part that depends on these axes alone and whose mean
over each of them is 0. The interactions are orthogonal, and a measured marginal over A (variance v_A of each entry,
n_A = cells/entries of A) tells of those B that lie in A, each with the precision n_A/v_A for a cell. So the least
squares estimate of all measurements together is, interaction by interaction,

    precision l_B = sum over measured A containing B of n_A/v_A
    estimate  zhat_B = (sum over these A of (n_A/v_A) times the B part of the marginal's mean over n_A cells) / l_B,

and the variance of an entry of the marginal over A is V_A = (n_A**2/cells) sum over B in A of dims_B/l_B, where dims_B
is the product of (levels - 1) over B. Then x >= 0 is asked for: x minimises

    CELL_WEIGHT |x - zhat|**2 / V_cells + sum over A of up to three axes of |marginal of (x - zhat)|**2 / V_A

by FISTA (Beck and Teboulle 2009). Without x >= 0 the answer would be zhat: the weights only say where the bias of
clipping at 0 goes, and here it goes away from the marginals.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sudare.arrays import Floats
from sudare.tables.marginal_axes import Axes, Summing, subsets

CELL_WEIGHT = 0.1
STEPS = 200
MOST_SETS = 200
"""Of marginals whose bias is held down: with more, those of three axes are left out."""


@dataclass(frozen=True)
class View:
    """A marginal with noise: ``values`` (the sizes of its axes), each of this ``variance``."""

    axes: Axes
    values: Floats
    variance: float


def precisions(sizes: Sequence[int], views: Mapping[Axes, float]) -> dict[Axes, float]:
    """l_B of every set B that lies in a measured one, from the variances of the views."""
    cells = math.prod(sizes)
    found: dict[Axes, float] = {}
    for axes, variance in views.items():
        merged = cells / math.prod(sizes[axis] for axis in axes)
        for part in subsets(axes):
            found[part] = found.get(part, 0.0) + merged / variance
    return found


def variance_of(sizes: Sequence[int], axes: Axes, known: Mapping[Axes, float], other: float) -> float:
    """V_A; ``other`` is the precision of interactions that are in no smaller view: that of the cells."""
    merged = math.prod(size for axis, size in enumerate(sizes) if axis not in axes)
    if len(axes) < len(sizes):
        parts = sum(_dims(sizes, part) / known.get(part, other) for part in subsets(axes))
        return merged**2 / math.prod(sizes) * parts
    cells = math.prod(sizes)
    few = sum(_dims(sizes, part) for part in known)
    return (sum(_dims(sizes, part) / precision for part, precision in known.items()) + (cells - few) / other) / cells


def _dims(sizes: Sequence[int], part: Axes) -> int:
    return math.prod(sizes[axis] - 1 for axis in part)


def least_squares(cells: View, others: Sequence[View]) -> tuple[Floats, dict[Axes, float]]:
    """zhat of the measured cells and all other views, and l_B of the interactions that the others tell of."""
    sizes = cells.values.shape
    if not others:
        return cells.values, {}
    known = precisions(sizes, {view.axes: view.variance for view in others})
    summing = Summing.of(known, len(sizes))
    means = summing.marginals(cells.values)
    total: dict[Axes, Floats] = {}
    for part, table in means.items():
        merged = cells.values.size / table.size
        own = _centred(table / merged, part)
        found = own / cells.variance
        for view in others:
            if set(part) <= set(view.axes):
                weight = cells.values.size / view.values.size / view.variance
                found = found + weight * _part(view, part, sizes)
        known[part] += 1 / cells.variance
        total[part] = found / known[part] - own
    return cells.values + summing.spread(total), known


def _part(view: View, part: Axes, sizes: Sequence[int]) -> Floats:
    """What a view says of an interaction, for one cell: centred means over what the view has beyond it."""
    shape = tuple(size if axis in view.axes else 1 for axis, size in enumerate(sizes))
    table = view.values.reshape(shape) * (view.values.size / math.prod(sizes))
    beyond = tuple(axis for axis in view.axes if axis not in part)
    return _centred(table.mean(axis=beyond, keepdims=True) if beyond else table, part)


def _centred(table: Floats, part: Axes) -> Floats:
    for axis in part:
        table = table - table.mean(axis=axis, keepdims=True)
    return table


def fit(cells: View, others: Sequence[View], total: float | None = None, steps: int = STEPS) -> Floats:
    """x >= 0, in the shape of ``cells``; with a public ``total``, x adds up to it."""
    target, known = least_squares(cells, others)
    sizes, dimensions = target.shape, target.ndim
    most = 3 if math.comb(dimensions, 3) <= MOST_SETS else 2
    held = [axes for axes in subsets(range(dimensions), most) if len(axes) < dimensions]
    other = 1 / cells.variance
    weight = {axes: 1 / variance_of(sizes, axes, known, other) for axes in held}
    cell_weight = CELL_WEIGHT / variance_of(sizes, tuple(range(dimensions)), known, other)
    bound = cell_weight + sum(w * target.size / math.prod(sizes[axis] for axis in axes) for axes, w in weight.items())
    largest = tuple(axes for axes in held if len(axes) == min(most, dimensions - 1))
    home = {axes: next(one for one in largest if set(axes) <= set(one)) for axes in held}
    summing = Summing.of(largest, dimensions)

    def gradient(point: Floats) -> Floats:
        off = point - target
        sums = summing.marginals(off)
        parts = {axes: weight[axes] * table for axes, table in sums.items()}
        for axes in held:
            if home[axes] != axes:
                beyond = tuple(axis for axis in home[axes] if axis not in axes)
                parts[home[axes]] = parts[home[axes]] + weight[axes] * sums[home[axes]].sum(axis=beyond, keepdims=True)
        off *= cell_weight
        off += summing.spread(parts)
        return off

    now = np.maximum(target, 0.0)
    wanted = max(float(target.sum()), 0.0) if total is None else total
    now *= wanted / max(float(now.sum()), 1e-300)
    ahead, momentum = now, 1.0
    for _ in range(steps):
        step = ahead - gradient(ahead) / bound
        following = np.maximum(step, 0.0) if total is None else onto_simplex(step, total)
        grown = (1 + math.sqrt(1 + 4 * momentum**2)) / 2
        ahead = following + (momentum - 1) / grown * (following - now)
        now, momentum = following, grown
    return now


def onto_simplex(point: Floats, total: float) -> Floats:
    """The nearest x >= 0 that adds up to ``total``: Michelot's passes, few of them.

    >>> onto_simplex(np.array([10.0, 4.0, 1.0]), 9.0).tolist()
    [7.5, 1.5, 0.0]
    """
    active = point.reshape(-1)
    while True:
        level = (float(active.sum()) - total) / active.size
        above = active[active > level]
        if above.size == active.size or not above.size:
            return np.maximum(point - level, 0.0)
        active = above
