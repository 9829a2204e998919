"""The Haar tree in sums and differences, beside the matrix that defines it."""

import numpy as np
import pytest

import sudare as sd
from sudare.errors import ParameterError
from sudare.tables.haar import block_weight, differences_at, inverse, left_halves, padded_counts, transform


def matrix(bits):
    """Rows: the root's sum, then left minus right of every node, root to leaves."""
    cells = np.arange(1 << bits)
    rows = [np.ones(len(cells), dtype=np.int64)]
    for level in range(bits, 0, -1):
        for node in range(1 << (bits - level)):
            half = (cells >> (level - 1)) & 1
            rows.append(np.where(cells >> level == node, 1 - 2 * half, 0))
    return np.array(rows)


@pytest.mark.parametrize("bits", range(6))
def test_the_transform_is_its_matrix(bits):
    values = np.random.default_rng(bits).integers(0, 1000, 1 << bits)
    assert np.array_equal(transform(values), matrix(bits) @ values)
    assert np.array_equal(inverse(transform(values)), values)


@pytest.mark.parametrize("bits", range(6))
def test_one_row_moves_one_coefficient_per_level_by_one(bits):
    columns = matrix(bits)
    assert (np.abs(columns[:1]).sum(0) == 1).all()
    for level in range(1, bits + 1):
        assert (np.abs(columns[differences_at(bits, level)]).sum(0) == 1).all()
    assert (np.abs(columns).sum(0) == 1 + bits).all()


def test_axes_are_transformed_one_by_one():
    plane = np.random.default_rng(1).integers(0, 99, (8, 4))
    both = transform(transform(plane, axis=0), axis=1)
    assert np.array_equal(both, matrix(3) @ plane @ matrix(2).T)
    assert np.array_equal(inverse(inverse(both, axis=1), axis=0), plane)


@pytest.mark.parametrize("bits", range(6))
def test_the_weight_of_a_block_is_the_sum_of_squares_in_the_inverse(bits):
    inverted = np.linalg.inv(matrix(bits).astype(float))
    for level in range(bits + 1):
        blocks = inverted.reshape(1 << (bits - level), 1 << level, 1 << bits).sum(axis=1)
        assert (blocks**2).sum(axis=1) == pytest.approx(block_weight(bits, level))


@pytest.mark.parametrize("coin", [0, 1])
def test_halves_are_never_negative_and_follow_the_clipped_difference(coin):
    sums, differences = (grid.ravel() for grid in np.meshgrid(np.arange(12), np.arange(-20, 21)))
    left = left_halves(sums, differences, np.full(len(sums), coin))
    right = sums - left
    clipped = np.clip(differences, -sums, sums)
    odd = (sums + clipped) % 2
    assert (left >= 0).all()
    assert (right >= 0).all()
    assert np.array_equal(left - right, clipped + odd * (2 * coin - 1))


def test_the_largest_sums_do_not_overflow():
    sums = np.array([2**61 + 2**55, 2**61, 2**61])
    left = left_halves(sums, np.array([2**62, -(2**62), 1]), np.array([1, 1, 1]))
    assert left.tolist() == [2**61 + 2**55, 0, 2**60 + 1]


def test_padded_counts_are_in_index_order():
    table = sd.CountTable.from_array([[1, 2, 3], [4, 5, 6]])
    counts = padded_counts(table)
    assert len(counts) == 8
    assert np.array_equal(np.flatnonzero(counts), table.index)
    assert np.array_equal(counts[table.index], table.count)


def test_a_dense_transform_has_a_limit():
    table = sd.CountTable(sd.Domain(cell=sd.Line(2**28 + 1)), [5], [10])
    with pytest.raises(ParameterError, match=r"too large for a dense transform \(got 536870912; allowed: at most 268"):
        padded_counts(table)
