"""The rivals in table 1 of the paper on top-down refinement: Barak et al., Hay et al. and Li et al.

For comparison only: dense vectors of 2**k cells in index order, and Laplace noise of floats, which has no guarantee
(its last bits show the count). All three are linear and unbiased, so their errors do not depend on the data
(`barak_error` and `li_error` give them exactly), and none of them is non-negative.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sudare.arrays import Floats, Integers
from sudare.tables.haar import differences_at, inverse, transform

Rival: TypeAlias = Callable[[Integers, float, np.random.Generator], Floats]
"""Exact cells (2**k,), epsilon and a generator -> noisy cells."""


def barak(cells: Integers, epsilon: float, generator: np.random.Generator) -> Floats:
    """Barak et al. 2007: noise on all Fourier coefficients of a table of k binary attributes, without the linear
    programme that would make it non-negative (it has a variable for each cell).

    A record moves each of the n coefficients by 1, so each has noise of scale n/epsilon. The method is made for a few
    marginals of low order; for all cells it is worse than noise in the cells themselves.

    >>> bool(np.allclose(barak(np.array([3, 0, 0, 1]), 1e9, np.random.default_rng(1)), [3, 0, 0, 1]))
    True
    """
    size = len(cells)
    return _walsh(_walsh(cells) + generator.laplace(0, size / epsilon, size)) / size


def hay(cells: Integers, epsilon: float, generator: np.random.Generator) -> Floats:
    """Hay et al. 2010: noise on the sum of every node of the binary tree, then the least-squares estimate in which each
    node is the sum of its children.

    A record moves one node of each of the k + 1 levels by 1: noise of scale (k + 1)/epsilon. Bottom-up, a node's own
    measurement is averaged with the sum of its children's, by their variances; top-down, what a node has beyond its
    children is shared evenly between them.

    >>> bool(np.allclose(hay(np.array([3, 0, 0, 1]), 1e9, np.random.default_rng(1)), [3, 0, 0, 1]))
    True
    """
    bits = len(cells).bit_length() - 1
    sums: list[NDArray[Any]] = [cells]
    for _ in range(bits):
        sums.append(sums[-1].reshape(-1, 2).sum(axis=1))
    averaged = [exact + generator.laplace(0, (bits + 1) / epsilon, len(exact)) for exact in sums]
    for level in range(1, bits + 1):
        # The sum of two children of variance v has 2 v, a measurement 1: in units of one measurement.
        weight = 2**level / (2 ** (level + 1) - 1)
        averaged[level] = weight * averaged[level] + (1 - weight) * averaged[level - 1].reshape(-1, 2).sum(axis=1)
    found = averaged[bits]
    for level in range(bits, 0, -1):
        children = averaged[level - 1].reshape(-1, 2)
        found = (children + ((found - children.sum(axis=1)) / 2)[:, None]).reshape(-1)
    return found


def li(cells: Integers, epsilon: float, generator: np.random.Generator) -> Floats:
    """Li et al. 2010, the matrix mechanism, among Haar strategies: each level's noise is weighted so that the mean
    squared error of all aligned blocks is least.

    The optimum over all matrices costs O(n**3) and more, far beyond 2**18 cells; within this family it is closed: a
    level whose coefficients enter the blocks' variances by ``a`` gets a share of epsilon in proportion to the cube
    root of ``a``.

    >>> bool(np.allclose(li(np.array([3, 0, 0, 1]), 1e9, np.random.default_rng(1)), [3, 0, 0, 1]))
    True
    """
    bits = len(cells).bit_length() - 1
    noisy = transform(cells).astype(np.float64)
    shares = li_shares(bits)
    noisy[:1] += generator.laplace(0, 1 / (shares[0] * epsilon), 1)
    for level, share in zip(range(bits, 0, -1), shares[1:], strict=True):
        place = differences_at(bits, level)
        noisy[place] += generator.laplace(0, 1 / (share * epsilon), len(noisy[place]))
    return np.asarray(inverse(noisy))


def li_shares(bits: int) -> Floats:
    """The shares of epsilon of the root and of the levels from ``bits`` down to 1; they add up to 1.

    >>> li_shares(18)[:3].round(3).tolist()
    [0.082, 0.051, 0.051]
    """
    root = sum(4.0 ** (level - bits) for level in range(bits + 1))
    rest = [sum(4.0 ** (block - level) for block in range(level)) for level in range(bits, 0, -1)]
    wanted = np.cbrt([root, *rest])
    return np.asarray(wanted / wanted.sum())


def _walsh(values: NDArray[Any]) -> Floats:
    """The Walsh-Hadamard transform, unnormalised: its own inverse up to a factor n."""
    found, half = values, 1
    while half < len(values):
        pairs = found.reshape(-1, 2, half)
        found = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1).reshape(-1)
        half *= 2
    return np.asarray(found)


def barak_error(bits: int, level: int, epsilon: float) -> float:
    """The RMSE of a block of 2**level cells: 2**(bits - level) coefficients enter it, each 2**level times."""
    return math.sqrt(2.0 * 2 ** (bits + level)) / epsilon


def li_error(bits: int, level: int, epsilon: float) -> float:
    """The RMSE of a block of 2**level cells."""
    shares = li_shares(bits)
    weights = [4.0 ** (level - bits), *(4.0 ** (level - above) for above in range(bits, level, -1))]
    return math.sqrt(sum(2 * w / (share * epsilon) ** 2 for w, share in zip(weights, shares, strict=False)))
