import numpy as np
import pandas
import polars
import pyarrow
import pytest

from sudare.engines import read
from sudare.errors import InputError
from sudare.reweight.hats import Hats
from sudare.reweight.rows import Rows, columns_of, read_rows
from sudare.reweight.space import STEPS, Space

SPACE = Space.declare({"age": (0, 100)}, {"sex": ["f", "m"]})
COLUMNS = {"age": [25.0, 50.0, 75.0], "sex": ["f", "m", "f"]}


@pytest.mark.parametrize(
    "data",
    [
        COLUMNS,
        pandas.DataFrame(COLUMNS),
        polars.DataFrame(COLUMNS),
        pyarrow.table(COLUMNS),
        read(pyarrow.table(COLUMNS)),
    ],
    ids=["dict", "pandas", "polars", "arrow", "records"],
)
def test_every_kind_of_data_gives_the_same_codes(data):
    assert read_rows(data, SPACE, "private").codes.tolist() == [[STEPS / 4, 0], [STEPS / 2, 1], [STEPS * 3 / 4, 0]]


def test_a_file(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("age,sex\n25,f\n50,m\n")
    assert len(read_rows(path, SPACE, "private").codes) == 2
    assert len(read_rows(str(path), SPACE, "private").codes) == 2


def test_arrays_have_one_column_for_each_pair_of_bounds():
    assert read_rows([1.0, 2.0], Space.declare([(0, 4)]), "public").codes.tolist() == [[STEPS / 4], [STEPS / 2]]
    with pytest.raises(InputError, match="the private array has another number of columns than are declared \\(got 2"):
        read_rows(np.ones((3, 2)), Space.declare([(0, 4)]), "private")
    with pytest.raises(InputError, match="not rows by columns"):
        read_rows(np.ones((3, 2, 1)), Space.declare([(0, 4)]), "private")
    with pytest.raises(InputError, match="the public array holds values that are not numbers"):
        read_rows([["a"]], Space.declare([(0, 4)]), "public")


@pytest.mark.parametrize("data", [{"age": [1.0]}, pandas.DataFrame({"age": [1.0], "sax": ["f"]})])
def test_a_missing_column_is_named(data):
    with pytest.raises(InputError, match="the private data have no such column \\(got 'sex'\\)"):
        columns_of(data, SPACE, "private")


def test_people_count_once_with_the_mean_of_their_rows():
    codes = np.array([[0.0], [STEPS], [0.0], [0.0], [STEPS / 2]])
    rows = Rows(codes, np.array([7, 7, 9, 9, 3]) // 2 - 1)
    basis = Hats.at(codes, np.array([STEPS / 2]))
    assert rows.people == 4
    assert Rows(codes, np.array([0, 0, 1, 1, 2])).people == 3
    total = Rows(codes, np.array([0, 0, 1, 1, 2])).total(basis) / 2**24
    assert total.tolist() == [1.5, 1.0, 0.5]
    assert Rows(codes, np.array([0, 0, 1, 1, 2])).shares.tolist() == pytest.approx([1 / 6, 1 / 6, 1 / 6, 1 / 6, 1 / 3])


def test_the_order_of_rows_and_chunks_do_not_matter(monkeypatch):
    generator = np.random.default_rng(1)
    codes = np.rint(generator.uniform(0, STEPS, (500, 1)))
    person = generator.integers(0, 60, 500)
    person = np.unique(person, return_inverse=True)[1]
    basis = Hats.at(codes, np.array([100.0, 5000.0]))
    total = Rows(codes, person).total(basis)
    order = generator.permutation(500)
    assert Rows(codes[order], person[order]).total(basis).tolist() == total.tolist()
    monkeypatch.setattr("sudare.reweight.rows._ROWS", 16)
    assert Rows(codes, person).total(basis).tolist() == total.tolist()


def test_at_most_so_many_rows_of_each_person():
    person = np.repeat(np.arange(50), 6)
    rows = Rows(np.arange(300.0)[:, None], person)
    kept = rows.chosen(2, np.random.default_rng(3))
    assert kept.person is None
    assert np.bincount(person[kept.codes[:, 0].astype(int)]).tolist() == [2] * 50
    # Every row of a person is as likely: 6000 draws of 2 of 6, each row expected 2000 times (sd 37).
    times = np.zeros(6)
    for seed in range(120):
        picked = rows.chosen(2, np.random.default_rng(seed)).codes[:, 0].astype(int)
        times += np.bincount(picked % 6, minlength=6)
    assert np.abs(times - 2000).max() < 220  # 6 standard deviations: false alarm below 1e-7


@pytest.mark.parametrize(
    ("unit", "sentence"),
    [
        (np.array([1, 2]), "unit is not one id per row"),
        (np.array([1.0, np.nan, 2.0]), "some rows have no unit: their ids are missing"),
        (np.array(["a", None, "b"], dtype=object), "some rows have no unit: their ids are missing"),
    ],
)
def test_ids_that_are_none(unit, sentence):
    with pytest.raises(InputError, match=sentence):
        read_rows(COLUMNS, SPACE, "private", unit)
