"""Many simplex projections at once, and their rounding."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sudare.measure.simplex import project_rows, round_rows, simplex_level

matrices = st.integers(1, 6).flatmap(
    lambda columns: arrays(np.int64, st.tuples(st.integers(1, 5), st.just(columns)), elements=st.integers(-500, 500))
)


@pytest.mark.slow
@given(matrices, st.integers(1, 900))
def test_each_row_is_the_projection_of_that_row(matrix, total):
    totals = np.full(len(matrix), total)
    projected = project_rows(matrix.astype(float), totals)
    for row, result in zip(matrix, projected, strict=True):
        level = simplex_level(row, total)
        active = row > level
        expected = np.where(active, row - (row[active].sum() - total) / active.sum(), 0)
        assert np.allclose(result, np.maximum(expected, 0), atol=1e-9)


def test_a_row_without_people_is_empty():
    assert project_rows(np.array([[5.0, 3.0], [5.0, 3.0]]), np.array([0.0, -3.0])).tolist() == [[0, 0], [0, 0]]


@pytest.mark.slow
@given(matrices, st.integers(0, 900), st.integers(0, 2**32))
def test_rounding_keeps_sums_signs_and_zeros(matrix, total, seed):
    totals = np.full(len(matrix), total)
    projected = project_rows(matrix.astype(float), totals)
    rounded = round_rows(projected, totals, np.random.default_rng(seed))
    assert (rounded.sum(axis=1) == totals).all()
    assert (rounded >= 0).all()
    assert (rounded[projected == 0] == 0).all()
    assert (np.abs(rounded - projected) < 1 + 1e-6).all()


def test_rounding_is_fair():
    values = np.tile([0.25, 0.5, 0.25, 2.0], (40_000, 1))
    mean = round_rows(values, np.full(40_000, 3), np.random.default_rng(1)).mean(axis=0)
    # Means of variables with variance at most 1/4: four beyond 6 sigma have chance 8e-9.
    assert np.abs(mean - values[0]).max() < 6 * (0.25 / 40_000) ** 0.5
