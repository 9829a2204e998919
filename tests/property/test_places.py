"""Places: every engine and NumPy put a point into the same cell, whatever its degrees; codes lead back."""

from __future__ import annotations

import json
import math
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.domain import H3, Domain, EuropeGrid, LatLon, Line, Mesh, Place, Regions, Tiles
from sudare.engines import read

FEW = settings(max_examples=15, deadline=None)

PLACES: dict[str, Place] = {
    "New York by degrees": LatLon(step=0.01, window=(-74.3, 40.5, -73.7, 41.0)),
    "Great Britain by metres": LatLon(metres=5000, window=(-7.6, 49.9, 1.8, 60.9)),
    "Fiji by degrees": LatLon(step=0.7, window=(170, -50, -160, -10)),
    "the globe by degrees": LatLon(step=7, window=(-180, -90, 180, 90)),
    "New York by tiles": Tiles(14, (-74.3, 40.5, -73.7, 41.0)),
    "Fiji by tiles": Tiles(6, (170, -60, -150, 60)),
    "the globe by tiles": Tiles(9, (-180, -90, 180, 90)),
    "Great Britain by the European grid": EuropeGrid("5km", window=(-7.6, 49.9, 1.8, 60.9)),
    "Berlin by the European grid": EuropeGrid("100m", window=(13.3, 52.4, 13.5, 52.6)),
    "Tokyo by meshes": Mesh("1km", codes=["5339", "533800", "5440"]),
}


def wedges() -> Place:
    """Regions that share the globe: 24 wedges of longitude, each in three zones."""
    features = [
        {
            "type": "Feature",
            "properties": {"code": f"{zone}{west}", "zone": zone},
            "geometry": json.loads(shapely.to_geojson(shapely.box(west, -90 + 60 * zone, west + 15, -30 + 60 * zone))),
        }
        for west in range(-180, 180, 15)
        for zone in range(3)
    ]
    with TemporaryDirectory() as folder:
        file = Path(folder) / "wedges.geojson"
        file.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
        return Regions(file, key="code", parent="zone")


try:
    import h3  # noqa: F401 - of the extra places
    import shapely

    PLACES["the globe by regions"] = wedges()
    PLACES["Tokyo in the old datum"] = Mesh("1km", codes=["5339"], crs="EPSG:4301")
    PLACES["New York by tiles in NAD27"] = Tiles(14, (-74.3, 40.5, -73.7, 41.0), crs="EPSG:4267")
    PLACES["Manhattan by hexagons"] = H3(resolution=8, window=(-74.05, 40.70, -73.93, 40.80))
    PLACES["Fiji by hexagons"] = H3(resolution=3, window=(170, -50, -160, -10))
    PLACES["the globe by hexagons"] = H3(resolution=2, window=(-180, -90, 180, 90))
except ImportError:
    pass
degrees = st.one_of(
    st.floats(-180, 180),
    st.integers(-1800, 1800).map(lambda tenths: tenths / 10),
    st.sampled_from([90.0, -90.0, 180.0, -180.0, -0.0, 360.0, math.nan, math.inf, -math.inf, 1e300]),
    st.none(),
)


def points_of(place: Place, seed: int = 1, number: int = 600) -> tuple[Any, Any]:
    """Points all over the globe, in and around the place's cells, on their corners, and a hair beside them."""
    random = np.random.default_rng(seed)
    latitude = np.degrees(np.arcsin(random.uniform(-1, 1, number)))
    longitude = random.uniform(-180, 180, number)
    cells = place.cell(random.integers(0, place.size, number))
    middle = place.centres(*cells)
    corners = place.outlines(*cells).points[:: max(1, place.outlines(*cells).points.shape[0] // number)]
    hair = random.uniform(-1e-8, 1e-8, len(corners))
    off = random.normal(0, 0.3, (2, number))
    return (
        np.concatenate([latitude, middle[0], middle[0] + off[0], corners[:, 1], corners[:, 1] + hair]),
        np.concatenate([longitude, middle[1], middle[1] + off[1], corners[:, 0], corners[:, 0] + hair]),
    )


def agree(place: Place, latitude: Any, longitude: Any, engine: str = "duckdb") -> None:
    row = np.arange(len(latitude))
    domain = Domain(None, row=Line(row.size), value=place)
    table = pyarrow.table({"row": row, "lat": pyarrow.array(latitude, pyarrow.float64()), "lon": longitude})
    records = read(table, engine=engine)
    for outside, located in (("drop", domain.locate), ("clamp", domain.clamp)):
        index, inside = located({"row": row, "value": (latitude, longitude)})
        counted = records.count(domain, columns={"value": ("lat", "lon")}, outside=outside)
        assert counted.index.tolist() == sorted(index[inside].tolist())


@pytest.mark.parametrize("name", PLACES)
def test_duckdb_and_numpy_agree(name: str) -> None:
    agree(PLACES[name], *points_of(PLACES[name]))


@FEW
@given(st.sampled_from(sorted(PLACES)), st.lists(st.tuples(degrees, degrees), min_size=1, max_size=40))
def test_whatever_the_columns_hold(name: str, drawn: list[tuple[Any, Any]]) -> None:
    columns = (np.array([pair[axis] for pair in drawn], dtype=object) for axis in (0, 1))
    latitude, longitude = (np.array([math.nan if x is None else x for x in column]) for column in columns)
    agree(PLACES[name], latitude, longitude)


@pytest.mark.slow
def test_spark_and_numpy_agree(spark: Any) -> None:
    for name in (
        "Great Britain by metres",
        "Fiji by tiles",
        "Berlin by the European grid",
        "Fiji by hexagons",
        "the globe by regions",
        "Tokyo in the old datum",
    ):
        agree(PLACES[name], *points_of(PLACES[name], number=60), engine="spark")


@pytest.mark.parametrize("name", PLACES)
def test_codes_lead_back_in_numpy_and_in_an_engine(name: str) -> None:
    place = PLACES[name]
    cells = place.cell(np.random.default_rng(5).integers(0, place.size, 300))
    codes = place.labels(*cells)
    again, inside = place.locate(codes)
    assert inside.all()
    assert all(np.array_equal(*pair) for pair in zip(again, cells, strict=True))
    counted = read(pyarrow.table({"code": codes.astype(object)})).count(Domain(code=place))
    assert counted.index.tolist() == np.unique(Domain(code=place).index(*cells)).tolist()


@pytest.mark.parametrize("name", [name for name in PLACES if "globe" in name])
def test_every_point_of_the_globe_has_one_cell(name: str) -> None:
    place = PLACES[name]
    latitude, longitude = points_of(place, seed=3)
    latitude = np.concatenate([np.clip(latitude, -90, 90), [90, -90, 0, 0]])
    longitude = np.concatenate([longitude, [12, -12, 180, -180]])
    _, inside = place.locate(latitude, longitude)
    assert inside.all() if not isinstance(place, Tiles) else (inside == (np.abs(latitude) <= 85.05112877980659)).all()


@pytest.mark.parametrize("name", [name for name, place in PLACES.items() if place.crs is None])
def test_a_cell_holds_its_centre_and_its_polygon_its_points(name: str) -> None:
    shapely = pytest.importorskip("shapely")
    place = PLACES[name]
    latitude, longitude = points_of(place, seed=2)
    cells, inside = place.locate(latitude, longitude)
    cells = tuple(axis[inside] for axis in cells)
    shapes = shapely.from_wkb(place.outlines(*cells).wkb())
    turned = [shapely.points(longitude[inside] + turn, latitude[inside]) for turn in (-360, 0, 360)]
    beside = np.min([shapely.distance(shapes, points) for points in turned], axis=0)
    # Sides of hexagons are great circles, those of the European grid curves in degrees; both are drawn straight.
    _, south, _, north = shapely.bounds(shapes).T
    hair = 0.05 if isinstance(place, H3) else 0.001 if isinstance(place, EuropeGrid) else 1e-7
    assert (beside <= hair * (north - south)).all()
    again, known = place.locate(*place.centres(*cells))
    assert known.all()
    assert all(np.array_equal(*pair) for pair in zip(again, cells, strict=True))
