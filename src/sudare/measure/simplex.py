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

from sudare.arrays import Floats, Integers
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
_AT_ONCE = 1 << 17


def project_rows(values: Floats, totals: Floats | Integers) -> Floats:
    """(rows, columns) -> the nearest non-negative rows with sums ``totals``: max(z - t, 0), t per row by sorting.

    >>> project_rows(np.array([[10.0, 4.0, 1.0]]), np.array([9.0])).tolist()
    [[7.5, 1.5, 0.0]]
    """
    projected = np.empty(values.shape)
    for piece in _pieces(values):
        own, whole = values[piece], totals[piece]
        ordered = np.sort(own, axis=1)[:, ::-1]
        excess = np.cumsum(ordered, axis=1)
        excess -= whole[:, None]
        excess /= np.arange(1, own.shape[1] + 1)
        active = np.maximum((ordered > excess).sum(axis=1), 1)
        threshold = np.take_along_axis(excess, active[:, None] - 1, axis=1)
        np.maximum(own - threshold, 0.0, out=projected[piece])
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
    for piece in _pieces(values):
        rounded[piece] = _rounded(values[piece], totals[piece], generator)
    return rounded


def _pieces(values: Floats) -> Iterator[slice]:
    """Rows that are worked on at once: what is made of them on the way stays small."""
    step = max(1, _AT_ONCE // values.shape[1])
    return (slice(start, start + step) for start in range(0, len(values), step))


def _rounded(values: Floats, totals: Integers, generator: np.random.Generator) -> Integers:
    rounded = np.floor(values + 1e-9).astype(np.int64)
    left_over = totals - rounded.sum(axis=1)
    # Fractions as integers, so that equal cumulative sums are equal and the last one is the whole.
    weight = np.cumsum(np.maximum((values - rounded) * _ROW_GRAIN, 0).astype(np.int64), axis=1)
    whole = weight[:, -1]
    usual = np.flatnonzero((left_over > 0) & (whole > 0))
    offset = generator.random(len(usual))[:, None]
    steps = np.floor(weight[usual] * (left_over[usual] / whole[usual])[:, None] + offset).astype(np.int64)
    steps[:, -1] = np.maximum(left_over[usual], steps[:, -2] if values.shape[1] > 1 else 0)
    rounded[usual] += np.diff(steps, axis=1, prepend=0)
    # What is left of rounding errors goes to (or comes from) the largest column.
    rest = totals - rounded.sum(axis=1)
    odd = np.flatnonzero(rest)
    rounded[odd, values[odd].argmax(axis=1)] += rest[odd]
    return rounded
