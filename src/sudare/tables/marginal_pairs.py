"""A table of very many cells, or of few people, from its noisy pairs of attributes: no cell is measured.

1. The totals of each attribute are joined from all that tells of them, by precision, and made non-negative.
2. What a pair adds to independence is a matrix of known noise: its singular values are shrunk (Gavish and Donoho 2017,
   for Frobenius loss), so that a pair that shows nothing above its noise counts as independent.
3. Rows are drawn from the spanning tree of the most dependent pairs (Chow and Liu 1968), some for each person.
4. The rows are weighted so that all pairs fit, by raking (Deming and Stephan 1940): the nearest weights, in relative
   entropy, whose pairs are those of step 2. So the rows are an approximation of the log-linear model of all pairs.

All of it sees noisy values only.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from sudare.arrays import Floats, Integers
from sudare.measure.simplex import project_rows
from sudare.tables.marginal_axes import Axes
from sudare.tables.marginal_fit import View

ROWS_PER_PERSON = 4
FEWEST_ROWS, MOST_ROWS = 1 << 14, 1 << 18
SWEEPS = 25
_FARTHEST = 5.0
"""By which factor a weight changes at most in one step."""
_LARGE = 512
"""From this many levels of both attributes on, all differences are shrunk by one factor, without singular values."""
_FIT_STEPS = 30


def one_way(sizes: Sequence[int], views: Sequence[View], total: float | None) -> tuple[list[Floats], float]:
    """The totals of each attribute, from its own view and the pairs that it is in, and the number of people."""
    found, weight = [np.zeros(size) for size in sizes], [0.0] * len(sizes)
    for view in views:
        for place, axis in enumerate(view.axes):
            others = tuple(other for other in range(len(view.axes)) if other != place)
            precision = sizes[axis] / view.values.size / view.variance
            found[axis] += precision * view.values.sum(axis=others)
            weight[axis] += precision
    means = [table / max(precision, 1e-300) for table, precision in zip(found, weight, strict=True)]
    if total is None:
        told = [precision / size for precision, size in zip(weight, sizes, strict=True)]
        for view in views:
            if not view.axes:
                told.append(1 / view.variance)
                means.append(view.values.reshape(1))
        total = float(np.average([mean.sum() for mean in means], weights=told))
    people = max(total, 0.0)
    return [project_rows(mean[None, :], np.array([people]))[0] for mean in means[: len(sizes)]], people


def joined_pairs(sizes: Sequence[int], views: Sequence[View]) -> list[View]:
    """Each pair that some views hold, as the mean of what they say of it, by precision."""
    found: dict[Axes, tuple[Floats, float]] = {}
    for view in views:
        for places in combinations(range(len(view.axes)), 2):
            axes = tuple(view.axes[place] for place in places)
            others = tuple(place for place in range(len(view.axes)) if place not in places)
            precision = math.prod(sizes[axis] for axis in axes) / view.values.size / view.variance
            table, before = found.get(axes, (np.zeros([sizes[axis] for axis in axes]), 0.0))
            found[axes] = (table + precision * view.values.sum(axis=others), before + precision)
    return [View(axes, table / precision, 1 / precision) for axes, (table, precision) in found.items()]


def pair_targets(pairs: Sequence[View], ones: Sequence[Floats], people: float) -> dict[Axes, Floats]:
    """What each pair should be: its noise shrunk, non-negative, and with the totals of its attributes."""
    found = {}
    for view in pairs:
        rows, columns = (ones[axis] for axis in view.axes)
        even = np.outer(rows, columns) / people
        off = view.values - even
        off = off - off.mean(axis=1, keepdims=True)
        off = off - off.mean(axis=0)
        found[view.axes] = _with_margins(even + shrunk(off, math.sqrt(view.variance)), rows, columns)
    return found


def shrunk(off: Floats, noise: float) -> Floats:
    """A doubly centred matrix of independent noise and something of low rank: what is known of the latter.

    >>> shrunk(np.array([[1.0, -1.0], [-1.0, 1.0]]), noise=5.0).tolist()
    [[0.0, 0.0], [0.0, 0.0]]
    """
    long, short = max(off.shape) - 1, min(off.shape) - 1
    if not short:
        return np.zeros_like(off)
    if short >= _LARGE:
        energy = float((off**2).sum())
        return np.asarray(off * max(0.0, 1 - long * short * noise**2 / energy))
    left, size, right = np.linalg.svd(off, full_matrices=False)
    ratio, unit = short / long, noise * math.sqrt(long)
    scaled = size / unit
    above = np.sqrt(np.maximum((scaled**2 - ratio - 1) ** 2 - 4 * ratio, 0)) / np.maximum(scaled, 1)
    return np.asarray((left * np.where(scaled > 1 + math.sqrt(ratio), above * unit, 0.0)) @ right)


def _with_margins(table: Floats, rows: Floats, columns: Floats) -> Floats:
    table = np.maximum(table, 0.0)
    table += 1e-9 * np.outer(rows, columns) / max(float(rows.sum()), 1e-300)
    for _ in range(_FIT_STEPS):
        table *= (rows / np.maximum(table.sum(axis=1), 1e-300))[:, None]
        table *= columns / np.maximum(table.sum(axis=0), 1e-300)
    return table


def spanning_tree(targets: Mapping[Axes, Floats], people: float) -> list[Axes]:
    """The pairs with the most mutual information that make no circle, in this order."""

    def information(axes: Axes) -> float:
        share = targets[axes] / people
        even = np.outer(share.sum(axis=1), share.sum(axis=0))
        some = share > 0
        return float((share[some] * np.log(share[some] / even[some])).sum())

    group: dict[int, int] = {axis: axis for axes in targets for axis in axes}
    kept = []
    for axes in sorted(targets, key=information, reverse=True):
        one, other = (group[axis] for axis in axes)
        if one != other:
            kept.append(axes)
            group = {axis: one if own == other else own for axis, own in group.items()}
    return kept


def drawn_rows(
    ones: Sequence[Floats], targets: Mapping[Axes, Floats], people: float, number: int, generator: np.random.Generator
) -> Integers:
    """(number, attributes): rows of the tree's model, evenly spread over each conditional law."""
    rows = np.zeros((number, len(ones)), dtype=np.int64)
    known: set[int] = set()
    waiting = spanning_tree(targets, people)
    for root in range(len(ones)):
        if root in known:
            continue
        rows[:, root] = _conditional(np.zeros(number, dtype=np.int64), ones[root][None, :], generator)
        known.add(root)
        while edge := next((axes for axes in waiting if len(known.intersection(axes)) == 1), None):
            waiting.remove(edge)
            parent, child = edge if edge[0] in known else edge[::-1]
            table = targets[edge] if edge[0] == parent else targets[edge].T
            rows[:, child] = _conditional(rows[:, parent], table, generator)
            known.add(child)
    return rows


def _conditional(parent: Integers, table: Floats, generator: np.random.Generator) -> Integers:
    """A column for each row of ``parent``, by ``table`` (parents, columns), systematically within each parent."""
    shuffled = generator.permutation(len(parent))
    order = shuffled[np.argsort(parent[shuffled], kind="stable")]
    own = parent[order]
    first = np.searchsorted(own, own)
    size = np.bincount(own, minlength=len(table))[own]
    place = (np.arange(len(own)) - first + generator.random(len(table))[own]) / size
    shares = table / np.maximum(table.sum(axis=1, keepdims=True), 1e-300)
    reached = np.minimum(np.cumsum(shares, axis=1), 1.0)
    reached[:, -1] = 1.0
    steps = (reached + np.arange(len(table))[:, None]).reshape(-1)
    found = np.searchsorted(steps, own + np.minimum(place, 1 - 1e-9), side="right") - own * table.shape[1]
    column = np.empty(len(parent), dtype=np.int64)
    column[order] = np.clip(found, 0, table.shape[1] - 1)
    return column


def raked(rows: Integers, ones: Sequence[Floats], targets: Mapping[Axes, Floats], people: float) -> Floats:
    """Weights of rows, people in all, whose pairs are ``targets``, and ``ones`` of attributes that are in no pair."""
    paired = {axis for axes in targets for axis in axes}
    tables: dict[Axes, Floats] = {(axis,): ones[axis] for axis in range(len(ones)) if axis not in paired}
    tables |= targets
    keys = {axes: np.ravel_multi_index([rows[:, axis] for axis in axes], table.shape) for axes, table in tables.items()}
    weight = np.full(len(rows), people / len(rows))
    for sweep in range(SWEEPS):
        for axes in list(tables)[:: 1 if sweep % 2 else -1]:
            now = np.bincount(keys[axes], weight, minlength=tables[axes].size)
            factor = tables[axes].reshape(-1) / np.maximum(now, 1e-9)
            weight *= np.clip(factor, 1 / _FARTHEST, _FARTHEST)[keys[axes]]
    return np.asarray(weight * (people / max(float(weight.sum()), 1e-300)))


def weighted_rows(
    sizes: Sequence[int], views: Sequence[View], total: float | None, generator: np.random.Generator
) -> tuple[Integers, Floats]:
    """Rows (number, attributes) and how many people each stands for."""
    ones, people = one_way(sizes, views, total)
    if people <= 0:
        return np.zeros((0, len(sizes)), dtype=np.int64), np.zeros(0)
    targets = pair_targets(joined_pairs(sizes, views), ones, people)
    number = int(min(MOST_ROWS, max(FEWEST_ROWS, ROWS_PER_PERSON * people)))
    rows = drawn_rows(ones, targets, people, number, generator)
    return rows, raked(rows, ones, targets, people)
