"""Laws of the error measures."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sudare.domain import CountTable, Domain, Line
from sudare.measure import error_by_block, error_by_value, l1_accuracy
from sudare.measure.comparison import support

LENGTHS = st.integers(1, 40)


@st.composite
def pairs(draw):
    length = draw(LENGTHS)
    truth = draw(arrays(np.int64, length, elements=st.integers(0, 300)))
    released = draw(arrays(np.int64, length, elements=st.integers(-50, 350)))
    return truth, released


def as_tables(truth, released):
    domain = Domain(cell=Line(len(truth)))
    everywhere = np.arange(len(truth))
    return CountTable(domain, everywhere, truth), CountTable.released(domain, everywhere, released)


@given(pairs())
def test_blocks_agree_with_dense_sums(pair):
    truth, released = pair
    errors = error_by_block(*as_tables(truth, released))
    for level, blocks, mean, root in zip(
        errors.level, errors.blocks, errors.mean_absolute_error, errors.root_mean_square_error, strict=True
    ):
        starts = np.arange(0, len(truth), 1 << level)
        dense = np.add.reduceat(released - truth, starts)
        assert blocks == len(dense)
        assert mean == pytest.approx(np.abs(dense).mean())
        assert root == pytest.approx(np.sqrt((dense.astype(float) ** 2).mean()))


@given(pairs())
def test_merging_areas_never_adds_absolute_error(pair):
    errors = error_by_block(*as_tables(*pair))
    sums = errors.mean_absolute_error * errors.blocks
    assert (np.diff(sums) <= 1e-9 * (1 + sums[:-1])).all()


@given(pairs())
def test_ranges_together_hold_every_cell_and_every_error(pair):
    truth, released = pair
    tables = as_tables(truth, released)
    by_value, by_block = error_by_value(*tables), error_by_block(*tables, levels=[0])
    assert by_value.cells.sum() == len(truth)
    together = np.nansum(by_value.mean_absolute_error * by_value.cells)
    assert together == pytest.approx(by_block.mean_absolute_error[0] * len(truth))


@given(pairs())
def test_support_agrees_with_dense_comparison(pair):
    truth, released = pair
    found = support(*as_tables(truth, released))
    assert found.false_positives == np.count_nonzero((truth == 0) & (released != 0))
    assert found.false_negatives == np.count_nonzero((truth != 0) & (released == 0))
    assert found.true_negatives == np.count_nonzero((truth == 0) & (released == 0))


@given(pairs())
def test_only_an_equal_table_is_perfectly_accurate(pair):
    truth, released = pair
    if truth.sum():
        accuracy = l1_accuracy(*as_tables(truth, released))
        assert accuracy <= 1
        assert (accuracy == 1) == np.array_equal(truth, released)
