"""Projection onto the simplex {b >= 0, sum b = total}: the nearest point to z is b = max(z - t, 0).

The threshold t solves sum max(z - t, 0) = total. For integers z it is found exactly, by Michelot's method: start with
all cells, drop those not above the t of the rest, repeat; a few linear passes, no sort. `project_rows` projects each
row of a matrix onto its own total.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sudare.arrays import Floats, Integers, Numbers
from sudare.errors import ParameterError

_GRAIN = 20
"""Fractions that agree in this many bits are ties: the bits below are rounding errors of floats."""


def simplex_level(values: NDArray[np.int64], total: int | Fraction) -> int:
    """floor(t): the cells that stay positive are exactly those with a value above it. Exact for any rational total.

    >>> simplex_level(np.array([10, 4, 1]), 9)  # t = (10 + 4 - 9) / 2 = 2.5
    2
    """
    if not len(values) or total <= 0:
        raise ParameterError("a projection needs cells and a positive total", value=(len(values), total > 0))
    active = values
    while True:
        level = (int(active.sum()) - total) // len(active)
        remaining = active[active > level]
        if len(remaining) == len(active):
            return level
        active = remaining


def round_to_total(values: NDArray[np.int64], total: int, generator: np.random.Generator) -> NDArray[np.int64]:
    """The nearest integer point: non-negative integers of the same shape that add up to ``total`` exactly.

    ``values`` are the cells above the level. All have the same fraction after z - t, so the units left over
    after rounding down go to cells drawn at random: by index, low indices would gain.

    >>> sum(round_to_total(np.array([10, 4]), 9, np.random.default_rng(1)).tolist())
    9
    """
    count = len(values)
    ceiling = -((total - int(values.sum())) // count)
    rounded = values - ceiling
    left_over = total - int(rounded.sum())
    rounded[generator.choice(count, left_over, replace=False, shuffle=False)] += 1
    return rounded


def round_real_to_total(values: NDArray[np.float64], total: int, generator: np.random.Generator) -> NDArray[np.int64]:
    """The nearest integer point for real ``values`` >= 0 (k,) that add up to ``total``: integers >= 0 that do so too.

    Every value is rounded down, and the units left over go to the largest fractions, ties at random: by index, low
    indices would gain.

    >>> round_real_to_total(np.array([0.2, 2.7, 6.1]), 9, np.random.default_rng(1)).tolist()
    [0, 3, 6]
    """
    count = len(values)
    if not count or not abs(float(values.sum()) - total) <= 1e-9 * total + 1e-6 * count or values.min() < 0:
        raise ParameterError("rounding needs values from 0 on that add up to the total", value=count)
    rounded = np.floor(values).astype(np.int64)
    fraction = values - rounded
    left_over = total - int(rounded.sum())
    gaining = min(max(left_over, 0), count)
    # Values past 2**50 are whole by themselves and miss the total by their last bits, of which the largest value,
    # at least total/k, has plenty.
    rounded[np.argmax(values)] += left_over - gaining
    if gaining:
        order = np.rint(fraction * 2.0**_GRAIN).astype(np.int32)
        least = np.partition(order, count - gaining)[count - gaining]
        above = order > least
        rounded += above
        ties = np.flatnonzero(order == least)
        chosen = generator.choice(len(ties), gaining - np.count_nonzero(above), replace=False, shuffle=False)
        rounded[ties[chosen]] += 1
    return rounded


_ROW_GRAIN = 2.0**20
_AT_ONCE = 1 << 15
"""Values that are worked on at once: their scratch arrays stay in the second-level cache."""


def project_rows(values: Floats, totals: Floats | Integers) -> Floats:
    """(rows, columns) -> the nearest non-negative rows with sums ``totals``: max(z - t, 0), t per row by sorting.

    With S_k the sum of the k largest of a row, t is the largest of (S_k - total)/k: it rises as long as the next
    value is above it.

    >>> project_rows(np.array([[10.0, 4.0, 1.0]]), np.array([9.0])).tolist()
    [[7.5, 1.5, 0.0]]
    """
    projected, number = np.empty(values.shape), np.arange(1.0, values.shape[1] + 1)
    for piece in pieces(values):
        excess = np.cumsum(np.sort(values[piece], axis=1)[:, ::-1], axis=1)
        excess -= totals[piece][:, None]
        excess /= number
        own = projected[piece]
        np.subtract(values[piece], excess.max(axis=1, keepdims=True), out=own)
        np.maximum(own, 0.0, out=own)
    projected[totals <= 0] = 0.0
    return projected


def round_rows(values: Floats, totals: Integers, generator: np.random.Generator) -> Integers:
    """Non-negative integers near ``values`` whose rows add up to ``totals`` exactly.

    Every value is rounded down, and the units left over in a row fall on its columns with chances in proportion
    to the fractions (systematic sampling: one random offset a row). A column at 0 stays at 0.

    >>> round_rows(np.array([[0.0, 2.0, 7.0]]), np.array([9]), np.random.default_rng(1)).tolist()
    [[0, 2, 7]]
    """
    rounded = np.empty(values.shape, dtype=np.int64)
    for piece in pieces(values):
        rounded[piece] = _rounded(values[piece], totals[piece], generator)
    return rounded


def pieces(values: Numbers) -> Iterator[slice]:
    """Rows that are worked on at once."""
    step = max(1, _AT_ONCE // values.shape[1])
    return (slice(start, start + step) for start in range(0, len(values), step))


def _rounded(values: Floats, totals: Integers, generator: np.random.Generator) -> Integers:
    # Whole numbers as floats, whose sums are exact.
    floors = np.floor(values + 1e-9)
    left_over = totals - floors.sum(axis=1)
    # Fractions as whole numbers, so that equal cumulative sums are equal and the last one is the whole.
    steps = values - floors
    steps *= _ROW_GRAIN
    np.floor(np.maximum(steps, 0.0, out=steps), out=steps)
    np.cumsum(steps, axis=1, out=steps)
    whole = steps[:, -1].copy()
    usual = (left_over > 0) & (whole > 0)
    left_over *= usual
    offset = np.zeros(len(values))
    offset[usual] = generator.random(np.count_nonzero(usual))
    steps *= (left_over / np.maximum(whole, 1.0))[:, None]
    steps += offset[:, None]
    np.floor(steps, out=steps)
    steps[:, -1] = np.maximum(left_over, steps[:, -2] if values.shape[1] > 1 else 0.0)
    floors += steps
    floors[:, 1:] -= steps[:, :-1]
    rounded = floors.astype(np.int64)
    # What is left of rounding errors goes to (or comes from) the largest column.
    rest = totals - rounded.sum(axis=1)
    odd = np.flatnonzero(rest)
    rounded[odd, values[odd].argmax(axis=1)] += rest[odd]
    return rounded
