import numpy as np
import pytest

from sudare.errors import InputError, ParameterError
from sudare.reweight.answers import Public
from sudare.reweight.basis import GRID
from sudare.reweight.hats import Hats
from sudare.reweight.kernel import Kernel
from sudare.reweight.space import STEPS, Space

GENERATOR = np.random.default_rng(14)
SPACE = Space.declare({"age": (0, 100)}, {"sex": ["f", "m", "x"]})
COLUMNS = {
    "age": GENERATOR.uniform(20, 60, 200),
    "sex": np.where(GENERATOR.random(200) < 0.5, "f", "m"),
    "note": np.full(200, "n"),
}
CODES = SPACE.encode(COLUMNS)
HATS = Hats.of(SPACE, CODES, pairs=[(0, 1)])
PUBLIC = Public(SPACE, HATS, CODES, COLUMNS)
FEATURES = HATS.steps(CODES) / GRID


def test_a_declared_number_is_a_combination_of_hats_anywhere():
    found = PUBLIC.queries("age")
    assert found.names == ("age",)
    assert (found.low, found.high) == (0, 100)
    assert FEATURES @ found.known[:, 0] == pytest.approx(COLUMNS["age"], abs=0.01)
    far = HATS.steps(np.array([[0.97 * STEPS, 2.0]])) / GRID
    assert (far @ found.known)[0, 0] == pytest.approx(97, abs=0.01)
    assert np.array_equal(PUBLIC.queries(COLUMNS["age"]).known, found.known)


def test_a_function_of_one_category_is_known_where_there_are_rows_of_it():
    found = PUBLIC.queries(COLUMNS["sex"] == "f")
    cells = found.known[:, 0].reshape(-1, 3)
    assert (cells[:, 0] == 1).all()
    assert (cells[:, 1] == 0).all()
    assert np.isnan(cells[:, 2]).all()
    assert (found.low, found.high) == (0, 1)


@pytest.mark.parametrize(
    "values", [COLUMNS["age"] > 40, COLUMNS["age"] ** 2, np.zeros(200), (COLUMNS["age"] > 40) & (COLUMNS["sex"] == "f")]
)
def test_of_any_other_function_nothing_is_known_but_its_bounds(values):
    found = PUBLIC.queries(values)
    assert np.isnan(found.known).all()
    assert PUBLIC.queries(values, (-1, 1e5)).high == 1e5
    assert np.isnan(Public(SPACE, Kernel(SPACE, CODES[:3], 1e5), CODES, COLUMNS).queries("age").known).all()


def test_a_number_beyond_its_bounds_is_not_what_was_measured():
    columns = {**COLUMNS, "age": np.where(np.arange(200) == 3, 130.0, COLUMNS["age"])}
    found = Public(SPACE, HATS, SPACE.encode(columns), columns).queries("age")
    assert np.isnan(found.known).all()
    assert found.high == 130


@pytest.mark.parametrize(
    ("ask", "error", "sentence"),
    [
        (lambda: PUBLIC.queries("sex"), InputError, "not a column of numbers"),
        (lambda: PUBLIC.queries("agee"), InputError, "Did you mean 'age'"),
        (lambda: PUBLIC.queries(COLUMNS["age"], (0, 30)), ParameterError, "outside its extremes"),
        (lambda: PUBLIC.queries(COLUMNS["age"], (0, np.nan)), ParameterError, "outside its extremes"),
        (lambda: PUBLIC.queries(COLUMNS["age"], (0, 1, 2)), ParameterError, "not two numbers for each query"),
        (lambda: PUBLIC.queries(COLUMNS["age"], "all"), ParameterError, "not two numbers for each query"),
    ],
)
def test_mistakes(ask, error, sentence):
    with pytest.raises(error, match=sentence):
        ask()
