from __future__ import annotations

import numpy as np
import pytest

from sudare.domain.morton import BitPlan, interleave


def test_a_longer_axis_gives_its_extra_bits_first():
    assert interleave([[0, 1]], widths=[4, 2]) == (0, 0, 0, 1, 0, 1)
    assert interleave([[0, 1]], widths=[2, 4]) == (1, 1, 0, 1, 0, 1)


def test_groups_follow_each_other_root_to_leaf():
    assert interleave([[2], [0, 1]], widths=[1, 1, 2]) == (2, 2, 0, 1)
    assert interleave([[0], [1]], widths=[0, 0]) == ()


def test_row_bits_stand_before_column_bits():
    plan = BitPlan(interleave([[0, 1]], widths=[2, 2]), axes=2)
    row, column = np.divmod(np.arange(16), 4)
    assert plan.encode([row, column]).tolist() == [0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15]


@pytest.mark.parametrize("widths", [(12, 12), (31, 31), (62,), (13, 0, 25, 1), (1, 30, 20)])
def test_wide_axes_pass_through_several_tables_and_back(widths):
    plan = BitPlan(interleave([list(range(len(widths)))], widths), axes=len(widths))
    random = np.random.default_rng(7)
    coordinates = [random.integers(0, 1 << width, 70_000) for width in widths]
    for axis, width in zip(coordinates, widths, strict=True):
        axis[:2] = (1 << width) - 1, 0
    index = plan.encode(coordinates)
    assert index[0] == (1 << sum(widths)) - 1
    assert index[1] == 0
    for axis, back in zip(coordinates, plan.decode(index), strict=True):
        np.testing.assert_array_equal(axis, back)


def test_encoding_agrees_with_moving_bits_one_by_one():
    widths = (17, 5, 26)
    plan = BitPlan(interleave([[1], [0, 2]], widths), axes=3)
    random = np.random.default_rng(8)
    coordinates = [random.integers(0, 1 << width, 50) for width in widths]
    expected = []
    for cell in zip(*coordinates, strict=True):
        left, word = list(widths), 0
        for axis in plan.order:
            left[axis] -= 1
            word = word * 2 + (int(cell[axis]) >> left[axis] & 1)
        expected.append(word)
    assert plan.encode(coordinates).tolist() == expected


def test_shifts_count_the_low_bits_of_a_block():
    plan = BitPlan(interleave([[0, 1], [2]], widths=[3, 2, 2]), axes=3)
    assert [plan.shifts(level) for level in range(9)] == [
        (0, 0, 0),
        (0, 0, 1),
        (0, 0, 2),
        (0, 1, 2),
        (1, 1, 2),
        (1, 2, 2),
        (2, 2, 2),
        (3, 2, 2),
        (3, 2, 2),
    ]
