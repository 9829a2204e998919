from __future__ import annotations

import pickle

import numpy as np
import pytest

from sudare.domain import Categories, CountTable, Domain, Grid, Line
from sudare.errors import DomainError, TableError
from sudare.privacy import Unit

LINE = Domain(cell=Line(6))


def test_a_table_is_sorted_and_holds_no_zeros():
    table = CountTable(LINE, [5, 0, 3], [7.0, 2.0, 0.0], Unit("person"))
    assert (table.index.tolist(), table.count.tolist()) == ([0, 5], [2, 7])
    assert (table.index.dtype, table.count.dtype) == (np.int64, np.int64)
    assert (len(table), table.total, table.unit) == (2, 9, Unit("person", counted_elsewhere=True))
    assert type(table.total) is int
    assert table.private


def test_an_empty_table_is_a_table():
    table = CountTable(LINE, [], [])
    assert (len(table), table.total) == (0, 0)
    assert [array.tolist() for array in table.block_sums(2)] == [[], []]
    assert table.to_array().tolist() == [0] * 6


def test_a_table_does_not_change_with_what_it_was_made_of():
    index, count = np.array([1, 2]), np.array([3, 4])
    table = CountTable(LINE, index, count)
    index[0], count[0] = 0, 99
    assert (table.index[0], table.count[0]) == (1, 3)
    with pytest.raises(ValueError, match="read-only"):
        table.count[0] = 5


def test_totals_are_exact_where_floats_are_not():
    table = CountTable(LINE, [0, 1], [2**61, 2**61 - 1])
    assert table.total == 2**62 - 1


PRIVATE = 8_675_309


@pytest.mark.parametrize(
    ("index", "count", "sentence"),
    [
        ([0], [-PRIVATE], "a count is negative (allowed: whole numbers >= 0)"),
        ([0], [PRIVATE + 0.5], "a count is not a whole number somewhere (allowed: whole numbers)"),
        ([0], [np.nan], "a count is missing (NaN) somewhere (allowed: whole numbers)"),
        ([0], [np.inf], "a count is too large (allowed: at most 2**62)"),
        ([0], ["8675309"], "a count is not a number (got 'text'; allowed: whole numbers)"),
        ([0, 0], [PRIVATE, 1], "a cell appears twice. Add up the counts of each cell first."),
        ([0, 0], [0, 0], "a cell appears twice. Add up the counts of each cell first."),
        (
            [PRIVATE],
            [1],
            "an index is not a cell of the domain (allowed: cells that are neither padding nor masked). "
            "Domain.index and Domain.locate give indices that are.",
        ),
        (
            [6],
            [1],
            "an index is not a cell of the domain (allowed: cells that are neither padding nor masked). "
            "Domain.index and Domain.locate give indices that are.",
        ),
        (
            [-1],
            [1],
            "an index is not a cell of the domain (allowed: cells that are neither padding nor masked). "
            "Domain.index and Domain.locate give indices that are.",
        ),
        ([0.5], [1], "an index is not a whole number somewhere (allowed: whole numbers)"),
        ([0, 1], [PRIVATE], "index and count have different lengths (allowed: two plain lists of one length)"),
        ([[0]], [[1]], "index and count have different lengths (allowed: two plain lists of one length)"),
        ([0, 1], [2**62, 1], "the counts are too large (allowed: a total of at most 2**62)"),
        ([0, 1, 2, 3], [2**62] * 4, "the counts are too large (allowed: a total of at most 2**62)"),
    ],
)
def test_a_private_table_refuses_without_showing_the_value(index, count, sentence):
    with pytest.raises(TableError) as caught:
        CountTable(LINE, index, count)
    assert str(caught.value) == sentence
    assert str(PRIVATE) not in repr(caught.value)


def test_masked_cells_hold_nobody():
    domain = Domain(cell=Line(4, mask=[True, False, True, True]))
    with pytest.raises(TableError, match=r"^an index is not a cell of the domain"):
        CountTable(domain, [1], [1])
    assert CountTable(domain, [0, 3], [1, 1]).total == 2


def test_a_table_needs_a_domain():
    with pytest.raises(TableError, match=r"^a table has no domain \(got 'Line'\)$"):
        CountTable(Line(4), [0], [1])


def test_released_tables_hold_signed_numbers_or_floats():
    whole = CountTable.released(LINE, [3, 1], [-2, 5])
    assert (whole.count.tolist(), whole.total, whole.private) == ([5, -2], 3, False)
    floats = CountTable.released(LINE, [3, 1], [0.25, -1.5], Unit("person"))
    assert (floats.count.tolist(), floats.total) == ([-1.5, 0.25], -1.25)
    assert type(floats.total) is float
    assert floats.to_array().tolist() == [0, -1.5, 0, 0.25, 0, 0]
    assert [array.tolist() for array in floats.block_sums(2)] == [[0], [-1.25]]


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ([np.inf], "a released value is not finite (allowed: finite numbers)"),
        ([np.nan], "a released value is not finite (allowed: finite numbers)"),
        (
            np.ma.masked_array([3], mask=[True]),
            "a released value is missing somewhere (allowed: whole numbers)",
        ),
        (["x"], "a released value is not a number (got 'text'; allowed: whole numbers)"),
        ([-(2**63)], "the counts are too large (allowed: a total of at most 2**62)"),
        ([1e300], "the counts are too large (allowed: a total of at most 2**62)"),
    ],
)
def test_a_released_table_refuses_what_is_no_number(values, sentence):
    with pytest.raises(TableError) as caught:
        CountTable.released(LINE, [0], values)
    assert str(caught.value) == sentence


def test_block_sums_keep_blocks_that_add_to_zero():
    table = CountTable.released(LINE, [0, 1, 4], [3, -3, 2])
    assert [array.tolist() for array in table.block_sums(1)] == [[0, 2], [0, 2]]
    assert [array.tolist() for array in table.block_sums(50)] == [[0], [2]]
    with pytest.raises(DomainError, match=r"^the level of a block is not a whole number \(got 1\.5"):
        table.block_sums(1.5)


def test_dense_arrays_have_an_axis_per_attribute_and_two_for_a_grid():
    domain = Domain(sex=Categories(["f", "m"]), cell=Grid(2, 3))
    table = CountTable(domain, domain.index([1, 0], [1, 0], [2, 1]), [5, 6])
    expected = np.zeros((2, 2, 3), dtype=int)
    expected[1, 1, 2], expected[0, 0, 1] = 5, 6
    assert np.array_equal(table.to_array(), expected)


def test_a_dense_array_has_a_limit():
    table = CountTable(Domain(cell=Grid(2**16, 2**16)), [0], [1])
    with pytest.raises(TableError) as caught:
        table.to_array()
    assert str(caught.value) == (f"the dense array would be too large (got {2**32}; allowed: at most 2**31 cells)")


@pytest.mark.parametrize("dtype", [np.int64, np.uint8, np.float64, np.float32])
@pytest.mark.parametrize("shape", [(5,), (1,), (3, 5), (1, 1)])
def test_dense_arrays_come_back(shape, dtype):
    array = np.random.default_rng(3).integers(0, 3, shape).astype(dtype)
    table = CountTable.from_array(array)
    assert np.array_equal(table.to_array(), array)
    assert table.domain == Domain(cell=Line(*shape) if len(shape) == 1 else Grid(*shape))


@pytest.mark.parametrize(
    ("array", "sentence"),
    [
        (
            np.zeros((2, 2, 2)),
            "the array is not a line or a grid of counts (got (2, 2, 2); allowed: 1 or 2 dimensions)",
        ),
        ([], "the array is not a line or a grid of counts (got (0,); allowed: 1 or 2 dimensions)"),
        (["a"], "the array does not hold numbers (got 'text')"),
        ([[0.5]], "a count is not a whole number somewhere (allowed: whole numbers)"),
        ([[-1]], "a count is negative (allowed: whole numbers >= 0)"),
        (np.ma.masked_array([3, 1], mask=[True, False]), "a count is missing somewhere (allowed: whole numbers)"),
        ([np.nan, 1], "a count is missing (NaN) somewhere (allowed: whole numbers)"),
    ],
)
def test_an_array_that_holds_no_counts_is_refused(array, sentence):
    with pytest.raises(TableError) as caught:
        CountTable.from_array(array)
    assert str(caught.value) == sentence


def test_tables_are_equal_by_value():
    table = CountTable(LINE, [1, 2], [3, 4])
    assert table == CountTable(LINE, [2, 1, 0], [4, 3, 0])
    assert table == pickle.loads(pickle.dumps(table))  # noqa: S301 - our own bytes
    assert table != CountTable(LINE, [1, 2], [3, 5])
    assert table != CountTable(LINE, [1, 3], [3, 4])
    assert table != CountTable(LINE, [1, 2], [3, 4], Unit("person"))
    assert table != CountTable(Domain(cell=Line(7)), [1, 2], [3, 4])
    assert table != CountTable.released(LINE, [1, 2], [3, 4])


def test_a_private_table_prints_no_counts():
    table = CountTable(LINE, [1, 2], [PRIVATE, PRIVATE], Unit("person"))
    assert repr(table) == "CountTable over cell: line of 6 (6 cells, 3 bits), unit: person counted at most 1 time"
    released = CountTable.released(LINE, [1, 2], [3, 4])
    assert repr(released) == "CountTable over cell: line of 6 (6 cells, 3 bits), released: 2 stored, total 7"
