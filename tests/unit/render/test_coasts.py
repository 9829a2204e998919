"""Coasts near a map: fine enough for a city, cut without a line along the cut, and named with their licence."""

from __future__ import annotations

import re

import numpy as np
import pytest

shapely = pytest.importorskip("shapely")

import sudare as sd  # noqa: E402
from sudare.language.catalogue import Words  # noqa: E402
from sudare.render.coasts import LEVELS, Strokes, coasts_around  # noqa: E402
from sudare.render.drawing import View  # noqa: E402
from sudare.render.map_data import degrees, world  # noqa: E402
from sudare.render.map_pages import MapPage  # noqa: E402
from sudare.render.outlines import countries  # noqa: E402
from sudare.render.reports import internal_page  # noqa: E402

CITIES = {"Tokyo": (139.4, 35.3, 140.1, 35.95), "New York": (-74.3, 40.5, -73.6, 41.0)}
installed = pytest.mark.skipif(
    countries() is None or coasts_around(CITIES["Tokyo"]) is None, reason="coasts are of the extra maps"
)


def is_land(drawn: Strokes, longitude: float, latitude: float) -> bool:
    """Whether a point is filled: it lies inside an odd number of rings, as the map's script fills them."""
    rings = shapely.polygons([shapely.linearrings(ring) for ring in drawn.filled + drawn.closed])
    return bool(shapely.contains_xy(rings, longitude, latitude).sum() % 2)


@installed
@pytest.mark.parametrize(
    ("city", "longitude", "latitude", "land"),
    [
        ("New York", -73.95, 40.65, True),  # Brooklyn
        ("New York", -73.985, 40.75, True),  # Manhattan
        ("New York", -74.03, 40.64, False),  # the Narrows
        ("New York", -73.8, 40.52, False),  # the Atlantic
        ("Tokyo", 139.75, 35.68, True),  # the palace
        ("Tokyo", 139.95, 35.5, False),  # the bay
        ("Tokyo", 140.1, 35.4, True),  # Boso
    ],
)
def test_land_and_sea_of_a_city_are_where_they_are(city, longitude, latitude, land):
    _, _, drawn = coasts_around(CITIES[city])
    assert is_land(drawn, longitude, latitude) is land


@installed
def test_a_map_of_the_world_has_countries_alone_and_one_of_a_city_is_small():
    far = world()["outline"]
    near = countries().content(degrees, CITIES["Tokyo"])
    assert [layer["accuracy"] for layer in far["layers"]] == [0.2]
    assert not far["coasts"]
    assert [layer["accuracy"] for layer in near["layers"]] == [coasts_around(CITIES["Tokyo"])[0]]
    assert near["coasts"]
    assert near["layers"][0]["accuracy"] <= 0.01
    assert len(near["layers"][0]["points"]["data"]) < 200_000


@installed
def test_wider_maps_have_coarser_coasts():
    found = [coasts_around((0.0, 40.0, wide, 45.0)) for wide in (5.0, 60.0, 120.0)]
    assert [each and each[0] for each in found] == [0.01, 0.05, None]
    assert [level.accuracy for level in LEVELS] == sorted(level.accuracy for level in LEVELS)


@installed
def test_coasts_go_on_beyond_the_antimeridian():
    _, _, drawn = coasts_around((176.0, -20.0, 182.0, -15.0))
    assert is_land(drawn, 178.0, -17.8)  # Viti Levu
    assert is_land(drawn, 180.0 + 0.07, -16.8) or is_land(drawn, 179.9, -16.75)  # Taveuni


def test_no_line_is_drawn_along_a_cut():
    square = np.array([shapely.box(0, 0, 10, 10)], dtype=object)
    for inside in (True, False):
        drawn = Strokes.cut(square, shapely.box(5, -5, 20, 20), inside=inside)
        lines = shapely.multilinestrings([shapely.linestrings(line) for line in drawn.opened])
        assert not drawn.closed
        assert len(drawn.filled) == 1
        assert shapely.length(lines) == pytest.approx(20.0)
        assert shapely.area(shapely.polygons(drawn.filled[0])) == pytest.approx(50.0)
        assert is_land(drawn, 7.0, 5.0) is inside


@installed
@pytest.mark.parametrize("language", ["en", "ja"])
def test_a_page_with_coasts_names_their_licence(language, tmp_path):
    domain = sd.Domain(place=sd.LatLon(step=0.05, window=CITIES["New York"]))
    words = Words(language)
    content = View.of(domain, words).map({"": sd.CountTable(domain, [0], [1])}, outline=countries())
    text = MapPage(content, "New York", 600).save(tmp_path / "map.html").read_text(encoding="utf-8")
    assert re.search(r"GSHHG.*lgpl-3\.0", text)


def test_reports_say_that_they_have_a_dark_form_as_their_maps_read_it():
    page = internal_page([], Words("en"), title="A map")
    assert '<meta name="color-scheme" content="light dark">' in page
    assert '<body class="dark-too">' in page
    assert "@media screen and (prefers-color-scheme: dark)" in page
