"""2,000 random rectangles on real grids (coarsened to 128 x 128): the default method beside HB, QuadTree, UGrid, AGrid.

The rivals are written here from their papers, with float noise, which is faster and less safe than ours: HB (Qardaji,
Yang, Li 2013), QuadTree with geometric budgets (Cormode and others 2012), UGrid and AGrid (Qardaji, Yang, Li 2013).
UGrid and AGrid choose their grids from the number of records; as usual they are given the exact one, for free, which
is not private. DAWA is not here. Goal: a smaller root mean square error than HB, QuadTree and UGrid on average.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np

import sudare as sd
from grids import SAMPLES, grids, real
from part import run_part
from row import Row

EPSILON, SIDE, QUERIES = 0.1, 128, 2000
JUDGED = ("HB", "QuadTree", "UGrid")
Array = np.ndarray


def pool(counts: Array, factor: int) -> Array:
    rows, columns = counts.shape
    return counts.reshape(rows // factor, factor, columns // factor, factor).sum(axis=(1, 3))


def repeat(values: Array, factor: int) -> Array:
    return values.repeat(factor, axis=0).repeat(factor, axis=1)


def hierarchy(counts: Array, factor: int, shares: Array, rng: np.random.Generator) -> Array:
    """Every level of a tree with factor x factor children measured, then the least-squares leaves (Hay 2010)."""
    levels = [counts]
    while levels[-1].shape[0] > 1:
        levels.append(pool(levels[-1], min(factor, levels[-1].shape[0])))
    levels = levels[::-1]
    scales = 1 / (EPSILON * shares / shares.sum())
    noisy = [level + rng.laplace(0, scale, level.shape) for level, scale in zip(levels, scales, strict=True)]
    variance = [2 * scale**2 for scale in scales]
    best, spread = [noisy[-1]], [variance[-1]]
    for own, error in zip(noisy[-2::-1], variance[-2::-1], strict=True):
        below = best[0].shape[0] // own.shape[0]
        total, total_error = pool(best[0], below), below**2 * spread[0]
        weight = error / (error + total_error)
        best.insert(0, own + weight * (total - own))
        spread.insert(0, weight * total_error)
    final = best[0]
    for level in best[1:]:
        below = level.shape[0] // final.shape[0]
        final = level + repeat((final - pool(level, below)) / below**2, below)
    return final


def hb(counts: Array, rng: np.random.Generator) -> Array:
    """Branching 4 x 4 is the optimum of HB's formula for 128 x 128 (16 children, 4 levels and the root)."""
    return hierarchy(counts, 4, np.ones(5), rng)


def quadtree(counts: Array, rng: np.random.Generator) -> Array:
    depth = int(np.log2(SIDE)) + 1
    return hierarchy(counts, 2, 2.0 ** (np.arange(depth) / 3), rng)


def edges(parts: int, length: int) -> Array:
    return np.unique(np.linspace(0, length, parts + 1).round().astype(int))


def block_sums(counts: Array, rows: Array, columns: Array) -> Array:
    return np.add.reduceat(np.add.reduceat(counts, rows[:-1], axis=0), columns[:-1], axis=1)


def even(values: Array, rows: Array, columns: Array) -> Array:
    height, width = np.diff(rows), np.diff(columns)
    return (values / np.outer(height, width)).repeat(height, axis=0).repeat(width, axis=1)


def ugrid(counts: Array, rng: np.random.Generator) -> Array:
    parts = int(np.clip(round((counts.sum() * EPSILON / 10) ** 0.5), 1, SIDE))
    cut = edges(parts, SIDE)
    sums = block_sums(counts, cut, cut)
    return even(sums + rng.laplace(0, 1 / EPSILON, sums.shape), cut, cut)


def agrid(counts: Array, rng: np.random.Generator) -> Array:
    parts = int(np.clip(max(10, round((counts.sum() * EPSILON / 10) ** 0.5 / 4)), 1, SIDE))
    cut, half = edges(parts, SIDE), EPSILON / 2
    result = np.zeros(counts.shape)
    for top, bottom in pairwise(cut):
        for left, right in pairwise(cut):
            block = counts[top:bottom, left:right]
            first = block.sum() + rng.laplace(0, 1 / half)
            finer = int(np.clip(np.ceil((max(first, 0) * half / 5) ** 0.5), 1, min(block.shape)))
            rows, columns = edges(finer, block.shape[0]), edges(finer, block.shape[1])
            cells = block_sums(block, rows, columns)
            cells = cells + rng.laplace(0, 1 / half, cells.shape)
            weight = cells.size / (cells.size + 1)  # the variance of the sum of cells against that of the first
            total = weight * first + (1 - weight) * cells.sum()
            result[top:bottom, left:right] = even(cells + (total - cells.sum()) / cells.size, rows, columns)
    return result


def tree(counts: Array, rng: np.random.Generator) -> Array:
    table = sd.CountTable.from_array(counts)
    return sd.release(table, epsilon=EPSILON, seed=int(rng.integers(2**62))).table.to_array()


METHODS: dict[str, Callable[[Array, np.random.Generator], Array]] = {
    "Tree": tree,
    "HB": hb,
    "QuadTree": quadtree,
    "UGrid": ugrid,
    "AGrid": agrid,
}


def rectangle_sums(values: Array, corners: Array) -> Array:
    table = np.zeros((SIDE + 1, SIDE + 1))
    table[1:, 1:] = values.cumsum(0).cumsum(1)
    top, bottom, left, right = corners
    return table[bottom, right] - table[top, right] - table[bottom, left] + table[top, left]


def rows(quick: bool) -> Iterator[Row]:
    """By data set, then on geometric average."""
    runs, rng = 3 if quick else 10, np.random.default_rng(7)
    sides = np.sort(rng.integers(0, SIDE + 1, (2, 2, 4 * QUERIES)), axis=1)
    proper = ((sides[:, 1] - sides[:, 0]) > 0).all(axis=0)
    corners = sides[:, :, proper].reshape(4, -1)[:, :QUERIES]
    ratios: dict[str, list[float]] = {name: [] for name in METHODS}
    for name, grid in grids():
        for size in SAMPLES:
            counts = pool(rng.multinomial(size, grid.ravel() / grid.sum()).reshape(grid.shape), 2)
            truth = rectangle_sums(counts, corners)
            errors = {
                label: np.mean([(rectangle_sums(method(counts, rng), corners) - truth) ** 2 for _ in range(runs)])
                ** 0.5
                for label, method in METHODS.items()
            }
            for label, error in errors.items():
                ratios[label].append(error / errors["Tree"])
                other = None if label == "Tree" else "Tree"
                yield Row(label, float(error), "people, RMSE", other, case=f"{name}, {size:.0e} records")
    note = "" if real() else "synthetic tables: the real ones are not at hand"
    for label, values in ratios.items():
        mean, goal = float(np.exp(np.mean(np.log(values)))), {"at_least": 1.0} if label in JUDGED else {}
        yield Row(label, mean, "times Tree's RMSE", note=note, case="all data sets, geometric mean", **goal)


if __name__ == "__main__":
    run_part(rows)
