import numpy as np
import pytest

from sudare.domain import Categories
from sudare.errors import InputError, ParameterError
from sudare.reweight.space import CATEGORY, STEPS, Space


def test_numbers_are_steps_between_their_bounds_and_clamped():
    space = Space.declare([(-4, 6)])
    assert space.encode({"x0": [-4, 1, 6, -9, np.inf]})[:, 0].tolist() == [0, STEPS / 2, STEPS, 0, STEPS]
    assert space.attributes[0].decode(np.array([0.0, STEPS / 2])).tolist() == [-4, 1]


def test_one_pair_of_bounds_needs_no_list():
    assert Space.declare((0, 1)) == Space.declare([(0, 1)])


def test_categories_are_ranks_and_as_far_apart_as_bounds():
    space = Space.declare({"age": (0, 10)}, {"sex": Categories(["f", "m", "x"])})
    codes = space.encode({"age": [0, 10], "sex": ["m", "x"]})
    assert codes.tolist() == [[0, 1], [STEPS, 2]]
    points = space.embed(codes)
    assert points.tolist() == [[0, 0, CATEGORY, 0], [STEPS, 0, 0, CATEGORY]]
    assert abs(2 * CATEGORY**2 / STEPS**2 - 1) < 1e-5


def test_text_is_read_as_the_number_it_says():
    assert Space.declare({"age": (0, 2)}).encode({"age": np.array(["1", "2"], dtype=object)})[:, 0].tolist() == [
        STEPS / 2,
        STEPS,
    ]


@pytest.mark.parametrize(
    ("column", "sentence"),
    [
        ([1.0, np.nan], "a column holds missing values \\(got 'age'"),
        ([1.0, None], "a column holds missing values"),
        (np.ma.masked_array([1.0, 2.0], [False, True]), "a column holds missing values"),
        (["1", "secret"], "a column holds values that are not numbers \\(got 'age'; allowed: numbers\\)$"),
        ([1j], "values that are not numbers"),
        ([[1.0], [2.0]], "not one value per row"),
    ],
)
def test_what_is_no_number_is_refused_without_showing_it(column, sentence):
    with pytest.raises(InputError, match=sentence) as caught:
        Space.declare({"age": (0, 10)}).encode({"age": column})
    assert "secret" not in str(caught.value)


def test_unseen_categories_are_refused_without_showing_them():
    with pytest.raises(
        InputError, match="a column holds values outside its declared categories \\(got 'sex'\\)"
    ) as caught:
        Space.declare(None, {"sex": ["f", "m"]}).encode({"sex": ["f", "secret"]})
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("bounds", "categories", "sentence"),
    [
        (None, None, "no column is declared"),
        ([(1, 1)], None, "bounds of column 'x0' are not in order"),
        ([(0, np.inf)], None, "a bound of column 'x0' is not a finite number"),
        ([(0, 1, 2)], None, "bounds of column 'x0' are not two numbers"),
        ({"a": ("low", 2)}, None, "a bound of column 'a' is not a finite number"),
        ({"a": (-1e308, 1e308)}, None, "too wide"),
        (None, {"sex": ["f"]}, "column 'sex' has one category"),
        ({"a": (0, 1)}, {"a": ["f", "m"]}, "a column is declared twice"),
    ],
)
def test_declarations_that_cannot_be(bounds, categories, sentence):
    with pytest.raises(ParameterError, match=sentence):
        Space.declare(bounds, categories)


def test_columns_of_different_lengths():
    with pytest.raises(InputError, match="different lengths"):
        Space.declare([(0, 1), (0, 1)]).encode({"x0": [0.1], "x1": [0.1, 0.2]})
