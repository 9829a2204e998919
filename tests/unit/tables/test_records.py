import numpy as np
import pyarrow.parquet as pq
import pytest

import sudare as sd
from recipes import village
from sudare.errors import ParameterError

DOMAIN = sd.Domain(
    mesh=sd.Mesh("1km", rows=(4240, 4256), columns=(3150, 3166)),
    sex=sd.Categories(["f", "m"]),
    age=sd.Bins(edges=[None, 15, 16, 65, None]),
    share=sd.Bins(0, 1, step=0.25),
)
COLUMNS = {"mesh": ("latitude", "longitude")}


@pytest.fixture(scope="module")
def release():
    rng = np.random.default_rng(3)
    cells = DOMAIN.cells(rng.choice(DOMAIN.size, 800, replace=False))
    return sd.release(sd.CountTable(DOMAIN, cells, rng.poisson(30, 800)), sd.Simplex(), epsilon=1, seed=1)


def test_counting_synthetic_people_gives_the_released_table_back(release):
    people = sd.synthesize(release, seed=4)
    counted = sd.read(people).count(DOMAIN, columns=COLUMNS)
    assert people.num_rows == release.table.total
    np.testing.assert_array_equal(counted.index, release.table.index)
    np.testing.assert_array_equal(counted.count, release.table.count)


def test_every_row_is_marked_and_names_its_cell(release):
    people = sd.synthesize(release, seed=4)
    assert people.column_names == ["mesh", "latitude", "longitude", "sex", "age", "share", "synthetic"]
    assert all(people.column("synthetic").to_pylist())


def test_people_are_spread_over_their_cell():
    one = sd.Domain(mesh=sd.Mesh("1km", rows=(4240, 4241), columns=(3150, 3151)))
    made = sd.release(sd.CountTable(one, [0], [20_000]), sd.Simplex(), epsilon=1, seed=1)
    people = sd.synthesize(made, seed=2)
    south, west, north, east = (float(edge[0]) for edge in one.attributes["mesh"].corners(np.array([0]), np.array([0])))
    for name, low, high in (("latitude", south, north), ("longitude", west, east)):
        share = (people.column(name).to_numpy() - low) / (high - low)
        # Deciles of 20,000 uniform draws have a standard error of 0.0035: six of them.
        np.testing.assert_allclose(np.quantile(share, np.arange(1, 10) / 10), np.arange(1, 10) / 10, atol=0.021)


def test_a_seed_makes_the_same_rows_and_none_others(release):
    assert sd.synthesize(release, seed=4) == sd.synthesize(release, seed=4)
    assert sd.synthesize(release) != sd.synthesize(release)


def test_nobody_makes_no_rows():
    nobody = sd.CountTable.released(sd.Domain(cell=sd.Line(4)), [], np.empty(0, dtype=np.int64))
    made = sd.release(sd.CountTable.from_array([1, 2]), epsilon=1, seed=1)
    assert sd.synthesize(type(made)(nobody, made.guarantee, made.method, made.budget)).num_rows == 0


def test_negative_and_fractional_counts_are_refused():
    noisy = sd.release(sd.CountTable.from_array(np.zeros(64, dtype=int)), sd.Laplace(), epsilon=1, seed=1)
    with pytest.raises(ParameterError, match="whole numbers >= 0"):
        sd.synthesize(noisy)


def test_a_release_may_hold_them_as_a_file(tmp_path):
    here = village(tmp_path)
    made = sd.publish(here.change(('"geojson"]', '"geojson", "records"]')))
    people = pq.read_table(made.folder / "records.parquet")
    assert people.num_rows == made.release.table.total
    assert made.certificate["files"]["records.parquet"]["format"] == "records"
    assert sd.verify(made.folder / "release.json").ok


@pytest.mark.parametrize(
    "place",
    [
        sd.Tiles(zoom=9, window=(-1.0, 51.0, 0.5, 52.0)),
        sd.LatLon(step=0.25, window=(179.0, -1.0, -179.0, 1.0)),
        sd.EuropeGrid("100km", window=(5.0, 45.0, 12.0, 52.0)),
        sd.H3(resolution=4, window=(5.0, 45.0, 7.0, 47.0)),
    ],
    ids=lambda place: place.kind,
)
def test_people_lie_in_their_cell_of_every_place(place):
    domain = sd.Domain(place=place)
    cells = domain.cells(np.arange(domain.size))
    made = sd.release(sd.CountTable(domain, cells, np.arange(domain.size) % 9), sd.Simplex(), epsilon=1, seed=1)
    people = sd.synthesize(made, seed=4)
    counted = sd.read(people).count(domain, columns={"place": ("latitude", "longitude")}, outside="drop")
    assert counted.total == people.num_rows == made.table.total
    assert np.array_equal(counted.index, made.table.index)
    assert np.array_equal(counted.count, made.table.count)
