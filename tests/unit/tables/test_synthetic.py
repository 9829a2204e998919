import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from sudare.domain import CountTable, Domain, Mesh
from sudare.errors import OutputError, ParameterError
from sudare.tables import synthetic
from sudare.tables.synthetic import city, city_pieces, write_city

PEOPLE = 3_000_000
CITY = city()
DOMAIN = Domain(mesh=Mesh("500m", rows=(8480, 8608), columns=(6300, 6428)))


def column(name):
    return CITY.column(name).to_numpy()


def counted():
    index, inside = DOMAIN.locate({"mesh": (column("latitude"), column("longitude"))})
    assert inside.all()
    cell, count = np.unique(index, return_counts=True)
    return CountTable(DOMAIN, cell, count)


def test_one_row_per_person_in_no_order():
    ids = column("person_id")
    assert np.array_equal(np.sort(ids), np.arange(1, PEOPLE + 1))
    # Half of all neighbours ascend in random order, give or take 6 standard deviations (sqrt(n / 12)).
    assert abs((np.diff(ids) > 0).sum() - PEOPLE / 2) < 6 * (PEOPLE / 12) ** 0.5


def test_columns_have_their_types():
    assert CITY.schema.types == [pa.int64(), pa.float64(), pa.float64(), pa.string(), pa.int16()]
    assert set(CITY.column("sex").unique().to_pylist()) == {"f", "m"}
    assert column("age").min() == 0
    assert column("age").max() <= 99


def test_homes_stay_in_their_cells_with_six_decimals():
    latitude = column("latitude")
    assert np.array_equal(latitude, latitude.round(6))
    place = synthetic.landscape()
    row = np.floor((latitude * 240 - 8480) * 4).astype(int)
    col = np.floor(((column("longitude") - 100) * 160 - 6300) * 4).astype(int)
    assert (place.density[row, col] > 0).all()


def test_counts_look_like_a_census():
    count = counted().count
    assert 0.38 < len(count) / DOMAIN.size < 0.46
    assert 35 < np.median(count) < 50
    assert 10_000 < count.max() < 15_000
    assert count.mean() > 5 * np.median(count)


def test_age_and_sex_depend_on_the_place():
    near = np.hypot(column("latitude") - 35.6532, (column("longitude") - 139.7009) * 0.813) < 0.01
    student = (column("age") >= 18) & (column("age") < 26)
    female = column("sex") == "f"
    assert near.sum() > 2000
    assert student[near].mean() > 2 * student[~near].mean()
    assert female[near].mean() < female[~near].mean() - 0.02
    old = column("age") >= 85
    assert female[old].mean() > 0.58
    assert abs(female.mean() - 0.505) < 0.01


def test_the_same_seed_is_the_same_city():
    assert city(1000).equals(city(1000))
    assert not city(1000, seed=1).equals(city(1000, seed=2))


def test_batches_are_the_city(monkeypatch):
    monkeypatch.setattr(synthetic, "BATCH_ROWS", 300)
    pieces = list(city_pieces(1000))
    assert [len(piece["age"]) for piece in pieces] == [300, 300, 300, 100]
    assert len(np.unique(np.concatenate([piece["person_id"] for piece in pieces]))) == 1000


def test_a_city_without_people_is_a_table_without_rows():
    assert city(0).num_rows == 0


def test_a_city_is_written_as_csv_too(tmp_path):
    path = write_city(tmp_path / "people.csv", people=1000)
    assert pyarrow.csv.read_csv(path).to_pylist() == city(people=1000).to_pylist()


def test_the_file_holds_the_city(tmp_path):
    path = write_city(tmp_path / "people.parquet", people=1000)
    assert pq.read_table(path).equals(city(1000))
    assert pq.read_metadata(path).row_group(0).column(1).compression == "ZSTD"
    assert [entry.name for entry in tmp_path.iterdir()] == ["people.parquet"]


def test_a_file_that_cannot_be_written_leaves_nothing(tmp_path):
    with pytest.raises(OutputError, match="the city cannot be written: No such file or directory"):
        write_city(tmp_path / "missing" / "people.parquet", people=10)
    assert not list(tmp_path.iterdir())


def test_a_failure_in_the_middle_keeps_the_old_file(tmp_path, monkeypatch):
    path = write_city(tmp_path / "people.parquet", people=10)
    before = path.read_bytes()

    some = next(city_pieces(5))

    def broken(people, seed):
        yield some
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(synthetic, "city_pieces", broken)
    with pytest.raises(OutputError, match="No space left on device"):
        write_city(path, people=10)
    assert path.read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("people", [-1, 2.5, True, "many"])
def test_a_senseless_number_of_people_is_refused(people):
    with pytest.raises(ParameterError, match="people is not a number of people"):
        city(people)
