"""The Haar tree in sums and differences: the wavelets of Privelet and top-down, kept in integers.

A line of 2**bits cells is the root of a binary tree: a node of level l has 2**l cells, a sum S, and the
difference d of its left and its right half. The root's sum and all differences together are the Haar transform
(with sums in place of the paper's averages, which only moves powers of two around). Adding one to a cell moves
the root's sum by one and one difference in every level by one, up or down.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.arrays import Floats, Integers
from sudare.domain import CountTable
from sudare.errors import ParameterError
from sudare.noise.sparse import DENSE_LIMIT


def padded_counts(table: CountTable) -> Integers:
    """The counts of all 2**bits cells of the padded domain in index order, for methods that are dense."""
    cells = 1 << table.domain.bits
    if cells > DENSE_LIMIT:
        raise ParameterError(
            "the domain is too large for a dense transform",
            value=cells,
            allowed="at most {dense_limit} cells with padding",
            hint="TopDown() has no such limit.",
            dense_limit=DENSE_LIMIT,
        )
    counts = np.zeros(cells, dtype=np.int64)
    counts[table.index] = table.count
    return counts


def differences_at(bits: int, level: int) -> slice:
    """Where a transform of 2**bits values keeps the differences of its nodes of ``level``, 1 to ``bits``."""
    return slice(1 << (bits - level), 2 << (bits - level))


def transform(values: Integers, axis: int = 0) -> Integers:
    """The root's sum, then the differences of all nodes, root to leaves and left to right, along ``axis``.

    ``values`` has 2**bits entries along it and the result the same shape.

    >>> transform(np.array([5, 1, 0, 2])).tolist()
    [8, 4, 4, -2]
    """
    sums = np.moveaxis(values, axis, -1)
    coefficients = np.empty(sums.shape, dtype=np.int64)
    while (half := sums.shape[-1] // 2) > 0:
        left, right = sums[..., 0::2], sums[..., 1::2]
        np.subtract(left, right, out=coefficients[..., half : 2 * half])
        sums = left + right
    coefficients[..., :1] = sums
    return np.moveaxis(coefficients, -1, axis)


def inverse(coefficients: NDArray[Any], axis: int = 0) -> Floats:
    """The values with this transform; a node passes (S + d)/2 on to its left half and (S - d)/2 to its right.

    >>> inverse(np.array([8, 4, 4, -2])).tolist()
    [5.0, 1.0, 0.0, 2.0]
    """
    ordered = np.moveaxis(coefficients, axis, -1)
    sums = ordered[..., :1].astype(np.float64)
    while (nodes := sums.shape[-1]) < ordered.shape[-1]:
        differences = ordered[..., nodes : 2 * nodes]
        halves = np.empty((*sums.shape[:-1], 2 * nodes))
        np.add(sums, differences, out=halves[..., 0::2])
        np.subtract(sums, differences, out=halves[..., 1::2])
        halves /= 2
        sums = halves
    return np.moveaxis(sums, -1, axis)


def block_weight(bits: int, level: int) -> float:
    """The variance of a block sum of 2**level cells when every coefficient has variance 1 and is inverted.

    The block's sum is S/q plus the differences above it times 1/2, 1/4, ... 1/q, q = 2**(bits - level); the
    squares add up to (1 + 2/q**2)/3. (With variance 2 lambda**2 that is the formula of Terada et al. 2015.)

    >>> block_weight(4, 4), block_weight(4, 3)
    (1.0, 0.5)
    """
    return (1 + 2 / 4.0 ** (bits - level)) / 3


def left_halves(sums: Integers, differences: Integers, coins: NDArray[Any], out: Integers | None = None) -> Integers:
    """What nodes with ``sums`` >= 0 pass on to their left halves; the rest, also >= 0, goes to the right.

    The noisy difference is clipped to what a non-negative split allows, [-S, S] (Terada et al., eq. 28). Where S and
    d differ in parity no integer split has that difference: ``coins``, 0 or 1, round it. Elsewhere the coin is
    lost in the shift.

    >>> left_halves(np.array([10, 10, 3, 3]), np.array([4, -99, 0, 0]), np.array([1, 1, 0, 1])).tolist()
    [7, 0, 1, 2]
    """
    left = np.minimum(differences, sums, out=out)
    np.maximum(left, -sums, out=left)
    left += sums
    left += coins
    left >>= 1
    return left
