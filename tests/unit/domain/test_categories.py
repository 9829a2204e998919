from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sudare.domain import Categories, attribute_from_json
from sudare.errors import DomainError

SEX = Categories(["m", "f"])


@pytest.mark.parametrize(
    "column",
    [
        ["f", "m", "x", None],
        np.array(["f", "m", "x", ""]),
        np.array(["f", "m", "x", ["f"]], dtype=object),
        np.array(["f", "m", "x", (["f"],)], dtype=object),
        pd.Series(["f", "m", "x", None]),
        pd.Series(["f", "m", "x", None], dtype="category"),
        pd.Series(["f", "m", "x", pd.NA], dtype="string"),
        pl.Series(["f", "m", "x", None]),
        pa.array(["f", "m", "x", None]),
        np.ma.masked_array(["f", "m", "x", "m"], mask=[False, False, False, True]),
    ],
    ids=lambda column: type(column).__name__,
)
@pytest.mark.parametrize("way", ["locate", "clamp"])
def test_words_are_found_in_declared_order(column, way):
    (position,), inside = getattr(SEX, way)(column)
    assert position.tolist() == [1, 0, 0, 0]
    assert inside.tolist() == [True, True, False, False]


@pytest.mark.parametrize(
    "column",
    [
        [13, 1, 2, None],
        [13.0, 1.0, 1.5, np.nan],
        np.array([13, 1, 0, 14], dtype=np.uint8),
        pd.Series([13, 1, 2, None], dtype="Int64"),
        pl.Series([13, 1, 2, None]),
    ],
    ids=lambda column: type(column).__name__,
)
def test_whole_numbers_are_found(column):
    (position,), inside = Categories([13, 1]).locate(column)
    assert position.tolist() == [0, 1, 0, 0]
    assert inside.tolist() == [True, True, False, False]


def test_another_kind_of_value_is_outside():
    assert not SEX.locate([1, 2])[1].any()
    assert not Categories([1, 2]).locate(["x", "1.5", "", "nan", "1_0", "1e400"])[1].any()


def test_text_is_the_whole_number_it_says():
    """As tables read it from CSV; weights refused such text."""
    for texts in (["1", "01", "+1", "1e0", "1.0", "１", " 1"], np.array(["1", "01"]), np.array(["1", 1], dtype=object)):
        (position,), known = Categories([2, 1]).positions(texts)
        assert known.all()
        assert set(position.tolist()) == {1}
    assert SEX.locate([])[1].shape == (0,)


def test_a_longer_word_does_not_match_its_beginning():
    assert Categories(["a", "ab"]).locate(np.array(["a", "ab", "abc"]))[0][0].tolist() == [0, 1, 0]
    assert Categories(["a", "ab"]).locate(np.array(["abc"]))[1].tolist() == [False]


def test_labels_are_the_values():
    assert SEX.labels([1, 0]).tolist() == ["f", "m"]
    assert Categories([13, 1]).labels([1]).tolist() == [1]


def test_json_gives_an_equal_attribute():
    for attribute in (SEX, Categories([3, 1]), Categories(np.array(["男", "女"]))):
        assert attribute_from_json(attribute.to_json()) == attribute
    assert Categories(["f", "m"]) != SEX
    assert str(SEX.describe()) == "2 categories"
    assert str(Categories([1]).describe()) == "1 category"
    assert (SEX.size, SEX.lengths, SEX.spatial) == (2, (2,), False)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ([], "there are no categories (allowed: at least one value)"),
        ("fm", "categories are not a list (got 'fm'). Write the values in brackets."),
        (3, "categories are not a list (got 3). Write the values in brackets."),
        (["f", "m", "f"], "a category is declared twice (got 'f')"),
        (["f", 1], "categories are not all of one kind (got ['int', 'str']; allowed: all str or all int)"),
        ([True, False], "categories are not all of one kind (got ['bool']; allowed: all str or all int)"),
        ([1.5], "categories are not all of one kind (got ['float']; allowed: all str or all int)"),
        (["a\0"], "a category holds the character NUL (got 'a\\x00')"),
        ([2**53], f"a category is too large (got {2**53}; allowed: less than 2**53 in size)"),
        (range(2**20 + 1), f"there are too many categories (got {2**20 + 1}; allowed: at most 2**20)"),
    ],
)
def test_mistakes_end_in_one_sentence(values, sentence):
    with pytest.raises(DomainError) as caught:
        Categories(values)
    assert str(caught.value) == sentence
