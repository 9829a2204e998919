"""Published methods for ranges and rectangles, written from their papers, with float noise: rivals of `Tree`.

HB, UGrid, AGrid: Qardaji, Yang, Li, *Understanding hierarchical methods for differentially private histograms* (PVLDB
6, 2013) and *Differentially private grids for geospatial data* (ICDE 2013). QuadTree: Cormode and others,
*Differentially private spatial decompositions* (ICDE 2012). PrivTree: Zhang, Xiao, Xie, *PrivTree* (SIGMOD 2016).
DAWA with GreedyH: Li, Hay, Miklau, Wang, *A data- and workload-aware algorithm for range queries* (PVLDB 7, 2014).
AHP: Zhang and others, *Towards accurate histogram publication* (SDM 2014). MWEM: Hardt, Ligett, McSherry, *A simple
and practical algorithm for differentially private data release* (NIPS 2012). Settings are those of Hay and others,
*Principled evaluation of differentially private algorithms using DPBench* (SIGMOD 2016); as there, UGrid, AGrid, AHP
and MWEM are given the exact number of records for free, which is not private and helps them. Cells of UGrid and AGrid
have whole widths.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

import numpy as np

Array = np.ndarray
Generator = np.random.Generator
Rival = Callable[[Array, float, Generator], Array]


def pool(counts: Array, factor: int) -> Array:
    """Sums of blocks of ``factor`` neighbours along every axis."""
    for axis in range(counts.ndim):
        shape = (*counts.shape[:axis], counts.shape[axis] // factor, factor, *counts.shape[axis + 1 :])
        counts = counts.reshape(shape).sum(axis=axis + 1)
    return counts


def repeat(values: Array, factor: int) -> Array:
    for axis in range(values.ndim):
        values = values.repeat(factor, axis=axis)
    return values


def hierarchy(counts: Array, factor: int, shares: Callable[[int], Array], epsilon: float, rng: Generator) -> Array:
    """Every level below the root measured with its share, then the least-squares leaves (Hay and others 2010)."""
    length = counts.shape[0]
    width = factor ** math.ceil(math.log(max(length, 2), factor) - 1e-9)
    if counts.ndim == 1 and width != length:
        counts = np.append(counts, np.zeros(width - length))
    levels = [counts]
    while levels[-1].shape[0] > 1:
        levels.append(pool(levels[-1], min(factor, levels[-1].shape[0])))
    levels = levels[-2::-1]
    share = shares(len(levels))
    scales = share.sum() / (epsilon * share)
    noisy = [level + rng.laplace(0, scale, level.shape) for level, scale in zip(levels, scales, strict=True)]
    best, spread = [noisy[-1]], 2 * scales[-1] ** 2
    for own, scale in zip(noisy[-2::-1], scales[-2::-1], strict=True):
        below = best[0].shape[0] // own.shape[0]
        total, error = pool(best[0], below), 2 * scale**2
        weight = error / (error + below**counts.ndim * spread)
        best.insert(0, own + weight * (total - own))
        spread = weight * below**counts.ndim * spread
    final = best[0]
    for level in best[1:]:
        below = level.shape[0] // final.shape[0]
        final = level + repeat((final - pool(level, below)) / below**counts.ndim, below)
    return final[:length]


def hb(counts: Array, epsilon: float, rng: Generator) -> Array:
    """The branching of HB's formula: 16 on lines of 4,096, 4 x 4 on grids of 128 x 128."""
    return hierarchy(counts, 16 if counts.ndim == 1 else 4, np.ones, epsilon, rng)


def quadtree(counts: Array, epsilon: float, rng: Generator) -> Array:
    return hierarchy(counts, 2, lambda levels: 2.0 ** (np.arange(levels) / 3), epsilon, rng)


def _cuts(length: int, width: int) -> Array:
    return np.append(np.arange(0, length, width), length)


def _width(cells: int, parts: float) -> int:
    """Of a square grid cell, so that about so many cover the area."""
    return max(1, int(math.sqrt(cells / parts) - 1) + 1)


def _block_sums(counts: Array, rows: Array, columns: Array) -> Array:
    return np.add.reduceat(np.add.reduceat(counts, rows[:-1], axis=0), columns[:-1], axis=1)


def _even(values: Array, rows: Array, columns: Array) -> Array:
    height, width = np.diff(rows), np.diff(columns)
    return (values / np.outer(height, width)).repeat(height, axis=0).repeat(width, axis=1)


def ugrid(counts: Array, epsilon: float, rng: Generator) -> Array:
    side = counts.shape[0]
    cut = _cuts(side, _width(side * side, max(1.0, counts.sum() * epsilon / 10)))
    sums = _block_sums(counts, cut, cut)
    return _even(sums + rng.laplace(0, 1 / epsilon, sums.shape), cut, cut)


def agrid(counts: Array, epsilon: float, rng: Generator) -> Array:
    side, half, result = counts.shape[0], epsilon / 2, np.zeros(counts.shape)
    parts = max(10, int(math.sqrt(counts.sum() * epsilon / 10) / 4 - 1) + 1)
    cut = _cuts(side, _width(side * side, parts**2))
    for top, bottom in pairwise(cut):
        for left, right in pairwise(cut):
            block = counts[top:bottom, left:right]
            first = block.sum() + rng.laplace(0, 1 / half)
            finer = 1 if first <= 0 else max(1, int(math.sqrt(first * half / 5) - 1) + 1)
            width = _width(block.size, finer**2)
            rows, columns = _cuts(bottom - top, width), _cuts(right - left, width)
            cells = _block_sums(block, rows, columns)
            cells = cells + rng.laplace(0, 1 / half, cells.shape)
            total = (cells.size * first + cells.sum()) / (cells.size + 1)
            result[top:bottom, left:right] = _even(cells + (total - cells.sum()) / cells.size, rows, columns)
    return result


def privtree(counts: Array, epsilon: float, rng: Generator) -> Array:
    """Half of epsilon for which blocks are split, half for the counts of the leaves."""
    children = 2**counts.ndim
    scale = (2 * children - 1) / (children - 1) / (epsilon / 2)
    step, result = scale * math.log(children), np.zeros(counts.shape)
    sums = [counts.astype(np.float64)]
    while sums[-1].shape[0] > 1:
        sums.append(pool(sums[-1], 2))
    alive = np.ones(sums[-1].shape, dtype=bool)
    for depth, level in enumerate(sums[::-1]):
        biased = np.maximum(level - depth * step, -step) + rng.laplace(0, scale, level.shape)
        splits = alive & (biased > 0) & (level.shape[0] < counts.shape[0])
        width = counts.shape[0] // level.shape[0]
        leaf = np.where(alive & ~splits, level + rng.laplace(0, 2 / epsilon, level.shape), 0.0)
        result += repeat(leaf / width**counts.ndim, width)
        alive = repeat(splits, 2) if level.shape[0] < counts.shape[0] else splits
    return result


def deviations(line: Array) -> list[Array]:
    """Sum |x - mean| of every window whose length is a power of two, by its last cell: the exact costs of buckets."""
    found, length = [np.zeros(len(line))], 2
    values = line.astype(np.float64)
    while length <= len(line):
        windows, own = np.lib.stride_tricks.sliding_window_view(values, length), []
        for first in range(0, len(windows), max(1, (1 << 20) // length)):
            part = windows[first : first + max(1, (1 << 20) // length)]
            own.append(np.abs(part - part.mean(axis=1, keepdims=True)).sum(axis=1))
        found.append(np.append(np.zeros(length - 1), np.concatenate(own)))
        length *= 2
    return found


def buckets(costs: list[Array], epsilon: float, rest: float, rng: Generator) -> Array:
    """DAWA's first stage: the cheapest partition under noisy costs."""
    number = len(costs[0])
    noisy = []
    for step, own in enumerate(costs):
        scale = (2 - 0.5**step - 1 / number) / epsilon if step else 0.0
        noisy.append(np.maximum(own + 1 / rest + (rng.laplace(0, scale, number) if step else 0.0), 1 / rest).tolist())
    best, start = [0.0], [0]
    for last in range(number):
        cost, first = best[last] + noisy[0][last], last
        for step in range(1, len(noisy)):
            begin = last + 1 - (1 << step)
            if begin < 0:
                break
            if (found := best[begin] + noisy[step][last]) <= cost:
                cost, first = found, begin
        best.append(cost)
        start.append(first)
    cut = [number]
    while cut[-1]:
        cut.append(start[cut[-1]])
    return np.array(cut[::-1])


def greedy_h(sums: Array, workload: Array, epsilon: float, rng: Generator) -> Array:
    """GreedyH: a binary tree whose levels are weighted node by node for a ``workload`` (W'W, buckets by buckets)."""
    nodes: list[tuple[int, int, list[int]]] = []
    grain = np.arange(100)

    def build(first: int, last: int, depth: int) -> tuple[float, Array, list[tuple[int, float]], int]:
        """Error, row sums of the inverse, weights by node, and the node itself."""
        number = len(nodes)
        nodes.append((first, last, []))
        if last - first == 1:
            return float(workload[:, first] @ workload[:, first]), np.ones(1), [(number, 1.0)], number
        middle = first + (last - first) // 2
        parts = [build(first, middle, depth + 1), build(middle, last, depth + 1)]
        nodes[number][2].extend(part[3] for part in parts)
        error, inverse = parts[0][0] + parts[1][0], np.concatenate([part[1] for part in parts])
        known = inverse.sum()
        columns = [workload[:, first:middle] @ parts[0][1], workload[:, middle:last] @ parts[1][1]]
        apart, both = sum(float(own @ own) for own in columns), columns[0] + columns[1]
        decay = 2.0 ** (-depth / 2)
        below, own = (100.0 - grain) ** 2, grain**2 * decay
        gained = ((float(both @ both) - apart) * decay + apart) * own / (below + own * known)
        errors = (error - gained) / below
        share = 1 - int(errors.argmin()) / 100
        joined = (1 - share) ** 2 / (share**2 + known * (1 - share) ** 2)
        weights = [(number, 1 - share), *((at, share * w) for part in parts for at, w in part[2])]
        return float(errors.min() * 100**2), inverse * (1 - joined * known) / share**2, weights, number

    _, _, weights, _ = build(0, len(sums), 0)
    weight = np.array([w for _, w in sorted(weights)])
    before = np.append(0.0, np.cumsum(sums))
    truth = np.array([before[last] - before[first] for first, last, _ in nodes])
    variance = np.where(weight > 0, 2 / np.maximum(epsilon * weight, 1e-12) ** 2, np.inf)
    noisy = truth + rng.laplace(0, 1 / np.maximum(epsilon * weight, 1e-12))
    for at in range(len(nodes) - 1, -1, -1):
        if below := nodes[at][2]:
            total, spread = noisy[below].sum(), variance[below].sum()
            trust = 1.0 if np.isinf(variance[at]) else variance[at] / (variance[at] + spread)
            noisy[at] = total if trust == 1 else noisy[at] + trust * (total - noisy[at])
            variance[at] = trust * spread
    for at in range(len(nodes)):
        if below := nodes[at][2]:
            noisy[below] += (noisy[at] - noisy[below].sum()) * variance[below] / variance[below].sum()
    result = np.zeros(len(sums))
    for (first, last, _), value in zip(nodes, noisy, strict=True):
        if last - first == 1:
            result[first] = value
    return result


def range_workload(cut: Array, *, prefixes: bool) -> Array:
    """W'W over buckets of all prefixes, or of all ranges, of the line that they divide."""
    length, last = np.diff(cut).astype(np.float64), cut[-1] - cut[1:]
    covered = last + (length + 1) / 2
    number = np.arange(len(length))
    found = covered[np.maximum(number[:, None], number)]
    np.fill_diagonal(found, last + (length + 1) * (2 * length + 1) / (6 * length))
    return found if prefixes else (cut[-1] + 1) * found - np.outer(covered, covered)


def dawa(line: Array, costs: list[Array], epsilon: float, rng: Generator, *, prefixes: bool | None) -> Array:
    """A quarter of epsilon for buckets, the rest for their sums: by GreedyH or, without a workload, a 16-ary tree."""
    cut = buckets(costs, epsilon / 4, 3 * epsilon / 4, rng)
    sums = np.add.reduceat(line.astype(np.float64), cut[:-1])
    if len(sums) < 2:
        noisy = sums + rng.laplace(0, 4 / (3 * epsilon), len(sums))
    elif prefixes is None:
        noisy = hierarchy(sums, 16, lambda levels: 1.5 ** np.arange(levels), 3 * epsilon / 4, rng)
    else:
        noisy = greedy_h(sums, range_workload(cut, prefixes=prefixes), 3 * epsilon / 4, rng)
    return np.repeat(noisy / np.diff(cut), np.diff(cut))


def hilbert(side: int) -> tuple[Array, Array]:
    """Rows and columns of a square along the Hilbert curve."""
    rows, columns = np.zeros(1, dtype=int), np.zeros(1, dtype=int)
    half = 1
    while half < side:
        rows, columns = (
            np.concatenate([columns, rows, half + rows, 2 * half - 1 - columns]),
            np.concatenate([rows, half + columns, half + columns, half - 1 - rows]),
        )
        half *= 2
    return rows, columns


_AHP = {
    1: ((0, 1e2, 5e2, 1e3, 1e4, 5e5, 1e6, 5e6, 1e7, 1e20), (0.7, 0.7, 0.9, 0.9, 0.8, 0.7, 0.5, 0.5, 0.3, 0.3),
        (0.2, 0.1, 0.2, 0.1, 0.1, 0.3, 0.1, 0.2, 0.1, 0.3)),
    2: ((0, 5e2, 1e3, 1e4, 1e5, 5e5, 1e6, 5e6, 1e7, 1e20), (0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.7, 0.5, 0.7, 0.5),
        (0.5, 0.5, 0.1, 0.1, 0.3, 0.7, 0.1, 0.1, 0.9, 0.1)),
}  # fmt: skip
"""By epsilon times records: the share of epsilon for finding clusters, and the threshold (DPBench's AHP*)."""
_AHEAD = 256


def ahp(counts: Array, epsilon: float, rng: Generator) -> Array:
    """Noisy cells, small ones to 0, sorted, put into clusters greedily, whose sums are measured."""
    signal, shares, thresholds = _AHP[counts.ndim]
    share, eta = (float(np.interp(counts.sum() * epsilon, signal, own)) for own in (shares, thresholds))
    values, rest = counts.ravel().astype(np.float64), epsilon * (1 - share)
    noisy = values + rng.laplace(0, 1 / (epsilon * share), len(values))
    noisy[noisy <= eta * math.log(len(values)) / (epsilon * share)] = 0.0
    order = np.argsort(noisy, kind="stable")
    ascending = noisy[order]
    before, squares = (np.append(0.0, np.cumsum(own)) for own in (ascending, ascending**2))
    noise, first, cost = 2 / rest**2, 0, 2 / rest**2
    ends, lengths = [0], np.arange(1, _AHEAD + 1)
    for last in range(1, len(values)):
        number = last + 1 - first
        mean = (before[last + 1] - before[first]) / number
        joined = squares[last + 1] - squares[first] - number * mean**2 + noise / number
        own = lengths[: len(values) - last]
        alone = (ascending[last] - (before[last + own] - before[last]) / own) ** 2 + noise / own**2
        if joined >= cost + alone.min():
            ends.append(last)
            first, cost = last, noise
        else:
            cost = joined
    sizes = np.diff([*ends, len(values)])
    sums = np.add.reduceat(values[order], ends)
    result = np.empty(len(values))
    result[order] = np.repeat((sums + rng.laplace(0, 1 / rest, len(sums))) / sizes, sizes)
    return result.reshape(counts.shape)


_MWEM = ((0, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e20), (2, 2, 4, 8, 12, 60, 80, 140, 140))
"""By epsilon times records: rounds (DPBench's MWEM*)."""
_SWEEPS = 30


def mwem(line: Array, epsilon: float, rng: Generator, low: Array, high: Array) -> Array:
    """Multiplicative weights on ranges ``low`` to ``high``; after each round all measured ones are swept 30 times."""

    def answers(values: Array) -> Array:
        before = np.append(0.0, np.cumsum(values))
        return before[high] - before[low]

    total = float(line.sum())
    rounds = int(np.interp(total * epsilon, *_MWEM))
    guess, truth = np.full(len(line), total / len(line)), answers(line)
    measured: dict[int, float] = {}
    for _ in range(rounds):
        off = np.abs(truth - answers(guess))
        off[list(measured)] = -np.inf
        chosen = int(np.argmax(off * epsilon / (4 * rounds) + rng.gumbel(size=len(off))))
        measured[chosen] = truth[chosen] + rng.laplace(0, 2 * rounds / epsilon)
        for _ in range(_SWEEPS):
            for at, value in measured.items():
                part = guess[low[at] : high[at]]
                own = float(part.sum())
                factor = math.exp((value - own) / (2 * total))
                part *= factor
                guess *= total / (total - own + own * factor)
    return guess
