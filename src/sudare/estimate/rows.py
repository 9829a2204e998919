"""Many small simplex projections at once: each row of a matrix against its own total."""

from __future__ import annotations

import numpy as np

from sudare.arrays import Floats, Integers

_GRAIN = 2.0**20


def project_rows(values: Floats, totals: Floats | Integers) -> Floats:
    """(rows, columns) -> the nearest non-negative rows with sums ``totals``: max(z - t, 0), t per row by sorting.

    >>> project_rows(np.array([[10.0, 4.0, 1.0]]), np.array([9.0])).tolist()
    [[7.5, 1.5, 0.0]]
    """
    ordered = np.sort(values, axis=1)[:, ::-1]
    excess = np.cumsum(ordered, axis=1)
    excess -= totals[:, None]
    excess /= np.arange(1, values.shape[1] + 1)
    active = np.maximum((ordered > excess).sum(axis=1), 1)
    threshold = np.take_along_axis(excess, active[:, None] - 1, axis=1)
    projected = np.maximum(values - threshold, 0.0)
    projected[totals <= 0] = 0.0
    return projected


def round_rows(values: Floats, totals: Integers, generator: np.random.Generator) -> Integers:
    """Non-negative integers near ``values`` whose rows add up to ``totals`` exactly.

    Every value is rounded down, and the units left over in a row fall on its columns with chances in proportion
    to the fractions (systematic sampling: one random offset a row). A column at 0 stays at 0.

    >>> round_rows(np.array([[0.0, 2.0, 7.0]]), np.array([9]), np.random.default_rng(1)).tolist()
    [[0, 2, 7]]
    """
    rounded = np.floor(values + 1e-9).astype(np.int64)
    left_over = totals - rounded.sum(axis=1)
    # Fractions as integers, so that equal cumulative sums are equal and the last one is the whole.
    weight = np.cumsum(np.maximum((values - rounded) * _GRAIN, 0).astype(np.int64), axis=1)
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
