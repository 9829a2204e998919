import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

import sudare as sd
from sudare.errors import MissingExtraError

DOMAIN = sd.Domain(
    place=sd.Grid(2, 3), age=sd.Bins(edges=[0, 15, 65, None]), sex=sd.Categories(["f", "m"]), work=sd.Categories([1, 2])
)


def table() -> sd.CountTable:
    cells = DOMAIN.index([1, 0], [2, 1], [2, 0], [1, 0], [0, 1])
    return sd.CountTable(DOMAIN, cells, [7, 5], sd.Unit("person"))


def test_a_row_has_what_a_person_reads_and_the_count():
    rows = sorted(table().to_arrow().to_pylist(), key=lambda row: row["count"])
    assert rows == [
        {"place_row": 0, "place_column": 1, "age": "0-14", "sex": "f", "work": 2, "count": 5},
        {"place_row": 1, "place_column": 2, "age": "65+", "sex": "m", "work": 1, "count": 7},
    ]


def test_bins_are_ordered_categories_with_all_their_names():
    frame = table().to_pandas()
    assert frame["age"].cat.ordered
    assert frame["age"].cat.categories.tolist() == ["0-14", "15-64", "65+"]
    assert not frame["sex"].cat.ordered


def test_the_position_is_there_when_asked_for():
    assert table().to_arrow(index=True).column("index").to_pylist() == table().index.tolist()
    assert "index" not in table().to_arrow().column_names


@pytest.mark.parametrize(
    "read",
    [
        pd.DataFrame,
        pd.DataFrame.from_arrow,
        lambda made: pl.DataFrame(made).to_pandas(),
        lambda made: duckdb.sql("select * from made").df(),
        lambda made: made.to_polars().to_pandas(),
    ],
)
def test_frames_take_a_table_as_it_is(read):
    found = read(table()).sort_values("count")
    assert found["count"].tolist() == [5, 7]
    assert found["sex"].tolist() == ["f", "m"]


def test_the_table_of_a_release_has_its_error_bars():
    made = sd.release(table(), sd.Simplex(), epsilon=1, seed=3)
    frame, bars = made.table.to_arrow(index=True).to_pandas(), made.error(block_level=0)
    assert frame["index"].tolist() == bars.block.tolist()
    assert frame["low"].tolist() == bars.low.tolist()
    assert frame["high"].tolist() == bars.high.tolist()
    np.testing.assert_allclose(frame["expected_error"], bars.expected_error, atol=0.005)
    assert made.table.plain.to_arrow().column_names[-1] == "count"


def test_an_empty_table_has_its_columns():
    nobody = sd.CountTable(DOMAIN, [], [])
    assert nobody.to_arrow().column_names == ["place_row", "place_column", "age", "sex", "work", "count"]
    assert nobody.to_pandas().empty


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "polars", None)
    with pytest.raises(MissingExtraError, match=r"polars is not installed here. Run: pip install polars"):
        table().to_polars()


def test_polygons_hold_the_centres_of_their_cells():
    geopandas = pytest.importorskip("geopandas")
    domain = sd.Domain(tile=sd.Tiles(zoom=10, window=(-0.5, 51.2, 0.3, 51.7)), sex=sd.Categories(["f", "m"]))
    made = sd.CountTable(domain, domain.cells([0, 1, 5]), [3, 4, 5]).to_geopandas()
    assert isinstance(made, geopandas.GeoDataFrame)
    assert made.crs.to_epsg() == 4326
    assert made.geometry.is_valid.all()
    tile = domain.attributes["tile"]
    (row, column), _ = tile.locate(made["tile"].tolist())
    latitude, longitude = tile.centres(row, column)
    points = geopandas.GeoSeries(geopandas.points_from_xy(longitude, latitude), crs=4326)
    assert made.geometry.contains(points).all()
