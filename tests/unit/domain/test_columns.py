from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sudare.domain.columns import read_column, read_numbers, read_positions, whole_array, whole_number, within
from sudare.errors import DomainError, TableError


@pytest.mark.parametrize(
    "column",
    [
        [3, None, 5],
        [3.0, float("nan"), 5.0],
        np.array([3, np.nan, 5], dtype=np.float32),
        np.ma.masked_array([3, 4, 5], mask=[False, True, False]),
        pd.Series([3, None, 5], dtype="Int64"),
        pl.Series([3, None, 5]),
        pa.array([3, None, 5]),
        pa.chunked_array([[3, None], [5]]),
        [Decimal(3), Decimal("NaN"), Fraction(5)],
    ],
    ids=lambda column: type(column).__name__,
)
def test_missing_numbers_are_not_known_whatever_they_come_in(column):
    values, known = read_numbers(column, "an age")
    assert known.tolist() == [True, False, True]
    assert values[known].tolist() == [3, 5]


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        (["3", "5"], "text"),
        ([3, "5"], "text"),
        ([b"3"], "text"),
        ([True, False], "bool"),
        (np.array(["2020-01-01"], dtype="datetime64[D]"), "datetime64[D]"),
        (np.array([3, True], dtype=object), "bool"),
    ],
)
def test_what_is_not_a_column_of_numbers_is_refused_by_its_type(column, kind):
    with pytest.raises(DomainError) as caught:
        read_numbers(column, "an age")
    assert str(caught.value) == (f"an age is not a column of numbers (got '{kind}'; allowed: whole numbers or floats)")


def test_a_list_of_numbers_and_words_keeps_its_numbers():
    array, masked = read_column([1, "f"])
    assert array.tolist() == [1, "f"]
    assert masked is None


def test_variable_length_text_is_read_as_objects():
    array, _ = read_column(np.array(["f", "男性"], dtype=np.dtypes.StringDType()))
    assert array.tolist() == ["f", "男性"]


def test_a_column_has_one_dimension():
    with pytest.raises(DomainError, match=r"^a column has more than one dimension \(got 2; allowed: 1\)$"):
        read_column([[1, 2], [3, 4]])
    with pytest.raises(DomainError, match=r"^a column is not a plain list of values$"):
        read_column([[1, 2], [3]])


def test_positions_are_whole_and_stay_within_reach():
    position, known = read_positions([2.0, 2.5, np.inf, -1e300, np.nan], "a position")
    assert known.tolist() == [True, False, True, True, False]
    assert position.tolist() == [2, 0, 2**62, -(2**62), 0]


def test_integers_beyond_int64_stay_on_their_side():
    values, known = read_numbers(np.array([2**64 - 1, 7], dtype=np.uint64), "a position")
    assert values.tolist() == [2**62, 7]
    assert read_numbers([-(10**30), 10**30], "a position")[0].tolist() == [-(2**62), 2**62]
    assert known.all()


@pytest.mark.parametrize("values", [[1, 2], [1.0, 2.0], np.array([1, 2], dtype=np.uint64), [Decimal(1), 2]])
def test_whole_arrays_are_int64(values):
    array = whole_array(values, "a count")
    assert array.dtype == np.int64
    assert array.tolist() == [1, 2]
    assert whole_array([], "a count").dtype == np.int64


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ([1.5], "a count is not a whole number somewhere (allowed: whole numbers)"),
        ([Decimal("1.5")], "a count is not a whole number somewhere (allowed: whole numbers)"),
        ([np.nan], "a count is missing (NaN) somewhere (allowed: whole numbers)"),
        (np.ma.masked_array([1], mask=[True]), "a count is missing somewhere (allowed: whole numbers)"),
        ([1, None], "a count is missing somewhere (allowed: whole numbers)"),
        ([1e300], "a count is too large (allowed: at most 2**62)"),
        (np.array([2**63], dtype=np.uint64), "a count is too large (allowed: at most 2**62)"),
        ([True], "a count is not a number (got 'bool'; allowed: whole numbers)"),
        (["1"], "a count is not a number (got 'text'; allowed: whole numbers)"),
        ([1, "x"], "a count is not a number (got 'text'; allowed: whole numbers)"),
        (
            np.array([1, "x"], dtype=object),
            "a count is not a column of numbers (got 'text'; allowed: whole numbers or floats)",
        ),
    ],
)
def test_what_is_not_whole_is_refused_without_its_value(values, sentence):
    with pytest.raises(TableError) as caught:
        whole_array(values, "a count", TableError)
    assert str(caught.value) == sentence


@pytest.mark.parametrize("value", [0, -1, 1.5, "3", None, True])
def test_a_declared_whole_number_is_one(value):
    with pytest.raises(DomainError, match=r"^the length is not a whole number \(got .*from 1 on\)$"):
        whole_number(value, "the length", 1)
    assert whole_number(np.int32(3), "the length", 1) == 3


def test_within_sees_negative_numbers_as_outside():
    assert within(np.array([0, 4]), 5)
    assert not within(np.array([0, 5]), 5)
    assert not within(np.array([-1, 4]), 5)
    assert within(np.zeros(0, dtype=np.int64), 5)
