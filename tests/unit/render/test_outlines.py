"""Outlines around places: what is near belongs to a name, and a publisher's file stands before the countries."""

from __future__ import annotations

import numpy as np
import pytest

shapely = pytest.importorskip("shapely")

from sudare.domain.public_polygons import Polygons  # noqa: E402
from sudare.render.map_data import mercator, world  # noqa: E402
from sudare.render.outlines import Outline, countries  # noqa: E402


def outline(name, *boxes):
    geometry = np.array([shapely.multipolygons([shapely.box(*box) for box in boxes])], dtype=object)
    return Outline(Polygons(geometry, {"name": [name]}))


def test_a_name_is_the_box_around_its_largest_part_and_those_near_it():
    islands = outline("Islands", (0, 0, 10, 10), (11, 4, 13, 6), (-60, 0, -55, 5))
    [found] = islands.content(lambda points: points, (-180.0, -85.0, 180.0, 85.0))["names"]
    assert found == ["Islands", 0, 0, 13, 10, 5, 5]


@pytest.mark.skipif(countries() is None, reason="countries are of the extra maps")
def test_japan_has_four_islands_and_france_is_in_europe():
    names = {each[0]: each[1:5] for each in reversed(world()["outline"]["names"])}
    west, south, east, north = names["Japan"]
    assert (west, east) == pytest.approx((129.4, 145.5), abs=0.1)
    low, high = mercator(np.array([[0.0, 31.0], [0.0, 45.6]]))[:, 1]
    assert (south, north) == pytest.approx((low, high), abs=0.2)
    assert names["France"][0] > -10


def test_a_file_of_the_publisher_stands_before_the_countries():
    names = [each[0] for each in world(outline("Our town", (0, 0, 1, 1)))["outline"]["names"]]
    assert names[0] == "Our town"
    assert ("Japan" in names) == (countries() is not None)
