from __future__ import annotations

import numpy as np
import pytest

from sudare.domain import LatLon, attribute_from_json
from sudare.errors import DomainError

NEW_YORK = LatLon(step=0.01, window=(-74.3, 40.5, -73.7, 41.0))


def test_rows_count_from_the_south_and_columns_from_the_west():
    assert (NEW_YORK.lengths, NEW_YORK.size, NEW_YORK.spatial) == ((50, 60), 3000, True)
    (row, column), inside = NEW_YORK.locate([40.5, 40.99, 41.0, 40.6], [-74.3, -73.71, -74.0, -73.7])
    assert inside.tolist() == [True, True, False, False]
    assert (row.tolist()[:2], column.tolist()[:2]) == ([0, 49], [0, 59])


def test_decimals_on_an_edge_go_to_its_northern_and_eastern_side():
    edges = np.arange(4050, 4100) / 100
    (row, column), inside = NEW_YORK.locate(edges, -np.arange(7430, 7380, -1) / 100)
    assert inside.all()
    assert row.tolist() == column.tolist() == list(range(50))


def test_the_code_is_the_south_west_corner_and_leads_back():
    cells = np.unravel_index(np.arange(NEW_YORK.size), NEW_YORK.lengths)
    codes = NEW_YORK.labels(*cells)
    assert codes[[0, -1]].tolist() == ["N40.50W074.30", "N40.99W073.71"]
    coordinates, inside = NEW_YORK.locate(codes)
    assert inside.all()
    assert all(np.array_equal(*pair) for pair in zip(coordinates, cells, strict=True))
    assert NEW_YORK.locate(["N40.505W074.30", "40.5,-74.3", "", None])[1].tolist() == [False] * 4


def test_metres_are_those_in_the_middle_of_the_window():
    place = LatLon(metres=500, window=(-7.6, 49.9, 1.8, 60.9))
    assert place.steps == (4491100, 7891900)
    south, west, north, east = place.corners(*([length // 2] for length in place.lengths))
    radius = 6371e3
    assert radius * np.radians(north - south) == pytest.approx(500, rel=0.003)
    assert radius * np.cos(np.radians(south)) * np.radians(east - west) == pytest.approx(500, rel=0.005)


def test_a_window_across_the_antimeridian():
    place = LatLon(step=0.7, window=(170, -50, -160, -10))
    assert place.lengths == (58, 43)
    (_, column), inside = place.locate([-20] * 5, [170, 180, -180, -160.1, 169.9])
    assert (column.tolist(), inside.tolist()) == ([0, 14, 14, 42, 0], [True] * 4 + [False])
    assert place.clamp([-20, -20], [169, -150])[0][1].tolist() == [0, 42]
    assert place.to_json()["window"] == [170, -50, -160, -10]
    cut = next(place.shapes([0], [14]).nested())
    assert [(ring[:, 0].min(), ring[:, 0].max()) for (ring,) in cut] == [
        (179.8, 180.0),
        (-180.0, pytest.approx(-179.5)),
    ]


def test_the_whole_globe_has_one_cell_for_each_point():
    globe = LatLon(step=7, window=(-180, -90, 180, 90))
    latitude = np.array([90, -90, 0, 0, 89.999, np.nan, 91, 45, np.inf])
    longitude = np.array([180, -180, 180, -180, 360, 0, 0, np.nan, 0])
    coordinates, inside = globe.locate(latitude, longitude)
    assert inside.tolist() == [True] * 5 + [False] * 4
    assert coordinates[1][:4].tolist() == [0, 0, 0, 0]
    assert coordinates[0][:2].tolist() == [globe.lengths[0] - 1, 0]


def test_area_of_the_globe():
    assert LatLon(step=10, window=(-180, -90, 180, 90)).square_km == pytest.approx(510_065_622, rel=1e-7)


@pytest.mark.parametrize(
    "place", [NEW_YORK, LatLon(metres=500, window=(-7.6, 49.9, 1.8, 60.9)), LatLon((0.5, 1), (170, -5, -170, 5))]
)
def test_json_leads_back(place):
    assert attribute_from_json(place.to_json()) == place


@pytest.mark.parametrize(
    "arguments",
    [
        {"window": (0, 0, 1, 1)},
        {"step": 0.1},
        {"step": 0.1, "metres": 5, "window": (0, 0, 1, 1)},
        {"step": 0, "window": (0, 0, 1, 1)},
        {"step": 1 / 3, "window": (0, 0, 1, 1)},
        {"step": 0.1, "window": (40.5, -74.3, 41, -73)[::-1]},
        {"step": 0.1, "window": (0, 0, 1)},
        {"step": 0.1, "window": (0, 0, 0, 1)},
        {"step": 0.1, "window": (-200, 0, 1, 1)},
        {"step": 0.1, "window": (0, "a", 1, 1)},
    ],
)
def test_wrong_declarations(arguments):
    with pytest.raises((DomainError, ValueError)):
        LatLon(**arguments)


def test_a_mask_of_codes_and_a_mask_as_an_array(tmp_path):
    file = tmp_path / "land.csv"
    file.write_text("code,name\nN40.50W074.30,a\nN40.99W073.71,b\n", encoding="utf-8")
    masked = LatLon(step=0.01, window=(-74.3, 40.5, -73.7, 41.0), mask=str(file))
    assert masked.size == 2
    assert masked.locate([40.505, 40.515], [-74.295, -74.295])[1].tolist() == [True, False]
    assert attribute_from_json(masked.to_json()) == masked
    assert "2 cells under a mask" in str(masked.describe())
    every = np.zeros((50, 60), dtype=bool)
    every[0, 0] = every[49, 59] = True
    assert LatLon(step=0.01, window=(-74.3, 40.5, -73.7, 41.0), mask=every) == masked
    file.write_text("N40.50W074.30\nN40.5001W074.30\n", encoding="utf-8")
    with pytest.raises(DomainError, match="not a code"):
        LatLon(step=0.01, window=(-74.3, 40.5, -73.7, 41.0), mask=str(file))
    with pytest.raises(DomainError, match="no such file"):
        LatLon(step=0.01, window=(-74.3, 40.5, -73.7, 41.0), mask=str(tmp_path / "none.csv"))


def test_a_mask_of_polygons_keeps_what_it_touches(tmp_path):
    pytest.importorskip("shapely")
    file = tmp_path / "land.geojson"
    ring = "[[-74.295, 40.505], [-74.275, 40.505], [-74.275, 40.515], [-74.295, 40.515], [-74.295, 40.505]]"
    file.write_text(f'{{"type": "Polygon", "coordinates": [{ring}]}}', encoding="utf-8")
    masked = LatLon(step=0.01, window=(-74.3, 40.5, -73.7, 41.0), mask=file)
    assert masked.size == 6
    assert masked.allowed([0, 1, 2], [0, 2, 0]).tolist() == [True, True, False]
