from __future__ import annotations

import json
import pickle

import numpy as np
import pyarrow
import pytest

from sudare.domain import Domain, Regions, attribute_from_json
from sudare.engines import read
from sudare.errors import DomainError

shapely = pytest.importorskip("shapely")


def square(west: float, south: float, side: float = 1.0) -> dict:
    ring = [[west, south], [west + side, south], [west + side, south + side], [west, south + side], [west, south]]
    return {"type": "Polygon", "coordinates": [ring]}


@pytest.fixture
def file(tmp_path):
    """Sixteen squares west of Greenwich, in four quarters; one of them is two pieces."""
    features = []
    for place in range(16):
        row, column = divmod(place, 4)
        geometry = square(column - 6, row + 50)
        if place == 0:
            pieces = [geometry["coordinates"], square(-9, 50)["coordinates"]]
            geometry = {"type": "MultiPolygon", "coordinates": pieces}
        quarter = "SN"[row // 2] + "WE"[column // 2]
        about = {"code": f"{place:02}", "quarter": quarter, "number": place}
        features.append({"type": "Feature", "properties": about, "geometry": geometry})
    path = tmp_path / "wards.geojson"
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features}), encoding="utf-8")
    return path


def test_points_and_codes_find_the_same_region(file):
    wards = Regions(file, key="code")
    assert (wards.size, wards.lengths) == (16, (16,))
    cells, inside = wards.locate([50.5, 50.5, 53.5, 40.0, np.nan, 91], [-5.5, -8.5, -2.5, 0.0, 0.0, 0.0])
    assert inside.tolist() == [True, True, True, False, False, False]
    assert wards.labels(cells[0][:3]).tolist() == ["00", "00", "15"]
    assert np.array_equal(wards.locate(["00", "00", "15"])[0][0], cells[0][:3])
    assert wards.locate(["99", "", None])[1].tolist() == [False] * 3


def test_every_point_has_one_region_also_on_borders(file):
    wards = Regions(file, key="code")
    latitude, longitude = (axis.reshape(-1) for axis in np.meshgrid(np.arange(50, 54.5, 0.5), np.arange(-6, -1.5, 0.5)))
    cells, inside = wards.locate(latitude, longitude)
    assert inside.all()
    shapes = shapely.from_wkb(wards.shapes(*cells).wkb())
    assert shapely.intersects(shapes, shapely.points(longitude, latitude)).all()


def test_neighbours_on_the_curve_touch(file):
    wards = Regions(file, key="number")
    numbers = wards.labels(np.arange(1, 16)).astype(int)
    centres = np.stack(np.divmod(numbers, 4))
    assert (np.abs(np.diff(centres, axis=1)).sum(axis=0) <= 2).all()


def test_parents_are_blocks_and_areas(file):
    wards = Regions(file, key="code", parent="quarter")
    assert [len(codes) for _, codes in wards.groups] == [4, 4, 4, 4]
    domain = Domain(ward=wards)
    labels = domain.labels(np.arange(16))["ward"].reshape(4, 4)
    for block, (_, codes) in zip(labels, wards.groups, strict=True):
        assert block.tolist() == list(codes)
    squares, read_ = wards.squares(["SW", "03", "XX"])
    assert read_.tolist() == [True, True, False]
    assert [group.side for group in squares] == [1, 4]


def test_parents_of_different_sizes_leave_places_that_hold_nobody(file):
    content = json.loads(file.read_text())
    content["features"] = content["features"][:11]
    file.write_text(json.dumps(content))
    wards = Regions(file, key="code", parent="quarter")
    assert wards.size == 11
    assert wards.bits == 2
    assert int(wards.allowed(np.arange(wards.lengths[0])).sum()) == 11


def test_an_engine_places_points_and_codes(file):
    wards = Regions(file, key="code", parent="quarter")
    random = np.random.default_rng(1)
    table = pyarrow.table({"lat": random.uniform(49, 55, 3000), "lon": random.uniform(-7, -1, 3000)})
    counted = read(table).count(Domain(ward=wards), columns={"ward": ("lat", "lon")}, outside="drop")
    index, inside = Domain(ward=wards).locate({"ward": (table["lat"].to_numpy(), table["lon"].to_numpy())})
    assert counted.total == int(inside.sum())
    assert counted.index.tolist() == np.unique(index[inside]).tolist()
    codes = read(pyarrow.table({"ward": ["03", "03", "15"]})).count(Domain(ward=wards))
    assert codes.count.tolist() in ([2, 1], [1, 2])


def test_json_keeps_codes_and_the_file_keeps_polygons(file):
    wards = Regions(file, key="code", parent="quarter")
    again = attribute_from_json(json.loads(json.dumps(wards.to_json())))
    assert again == wards
    assert again.locate(["03"])[1].all()
    with pytest.raises(DomainError, match="no polygons"):
        again.shapes([0])
    assert again.with_polygons(file).shapes([0]).points.tolist() == wards.shapes([0]).points.tolist()
    assert pickle.loads(pickle.dumps(wards)) == wards  # noqa: S301 - our own bytes


def test_areas(file):
    # A square of one degree at 50 degrees north has 7,890 square kilometres.
    assert Regions(file, key="code").square_km == pytest.approx(17 * 7750, rel=0.05)


def test_a_mask(file, tmp_path):
    codes = tmp_path / "codes.csv"
    codes.write_text("code\n03\n04\n", encoding="utf-8")
    wards = Regions(file, key="code", mask=codes)
    assert wards.size == 2
    assert attribute_from_json(wards.to_json()) == wards
    assert wards.locate(["03", "05"])[1].tolist() == [True, False]


def test_geoparquet_and_shapefile(file, tmp_path):
    geopandas = pytest.importorskip("geopandas")
    frame = geopandas.GeoDataFrame.from_features(json.loads(file.read_text())["features"], crs=4326)
    expected = Regions(file, key="code")
    frame.to_parquet(tmp_path / "wards.parquet")
    assert Regions(tmp_path / "wards.parquet", key="code") == expected
    frame.to_crs(3857).to_parquet(tmp_path / "metres.parquet")
    metres = Regions(tmp_path / "metres.parquet", key="code")
    assert metres.locate([50.5], [-5.5])[0] == expected.locate([50.5], [-5.5])[0]
    shapefile = pytest.importorskip("shapefile")
    with shapefile.Writer(str(tmp_path / "wards.shp")) as writer:
        writer.field("code", "C")
        for feature in json.loads(file.read_text())["features"]:
            writer.shape(feature["geometry"])
            writer.record(feature["properties"]["code"])
    assert Regions(tmp_path / "wards.shp", key="code") == expected


def test_mistakes(file, tmp_path):
    with pytest.raises(DomainError, match=r"no such property.*Did you mean 'code'"):
        Regions(file, key="cod")
    with pytest.raises(DomainError, match="two regions have the same code"):
        Regions(file, key="quarter")
    with pytest.raises(DomainError, match="no such file"):
        Regions(tmp_path / "none.geojson", key="code")
    (tmp_path / "broken.geojson").write_text("{", encoding="utf-8")
    with pytest.raises(DomainError, match="cannot be read"):
        Regions(tmp_path / "broken.geojson", key="code")
    with pytest.raises(DomainError, match="not a file of polygons"):
        Regions(tmp_path / "wards.xlsx", key="code")
