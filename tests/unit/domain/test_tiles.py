from __future__ import annotations

import numpy as np
import pytest

from sudare.domain import Domain, Tiles, attribute_from_json
from sudare.domain.tiles import NORTHERNMOST
from sudare.errors import DomainError

NEW_YORK = Tiles(zoom=14, window=(-74.3, 40.5, -73.7, 41.0))


def test_known_tiles():
    # The tile of the Empire State Building at zoom 14 is 4824/6157 (OpenStreetMap's formula).
    (row, column), inside = NEW_YORK.locate([40.7484], [-73.9857])
    assert inside.all()
    assert (NEW_YORK.rows[1] - 1 - row[0], NEW_YORK.columns[0] + column[0]) == (6157, 4824)
    assert NEW_YORK.labels(row, column).tolist() == ["03201011013202"]


def test_quadkeys_lead_back_and_others_are_not_known():
    cells = np.unravel_index(np.arange(NEW_YORK.size), NEW_YORK.lengths)
    coordinates, inside = NEW_YORK.locate(NEW_YORK.labels(*cells))
    assert inside.all()
    assert all(np.array_equal(*pair) for pair in zip(coordinates, cells, strict=True))
    assert NEW_YORK.locate(["0320", "0320101101320x", "", None])[1].tolist() == [False] * 4


def test_every_point_up_to_the_end_of_mercator_has_one_tile_and_lies_in_it():
    random = np.random.default_rng(3)
    latitude, longitude = random.uniform(-85.05, 85.05, 5000), random.uniform(-180, 180, 5000)
    world = Tiles(zoom=11, window=(-180, -90, 180, 90))
    assert world.size == 4**11
    cells, inside = world.locate(latitude, longitude)
    assert inside.all()
    south, west, north, east = world.corners(*cells)
    assert ((south <= latitude) & (latitude <= north) & (west <= longitude) & (longitude < east)).all()


def test_the_caps_of_the_globe_are_outside():
    world = Tiles(zoom=3, window=(-180, -90, 180, 90))
    ends = [NORTHERNMOST - 1e-6, NORTHERNMOST + 1e-6, -NORTHERNMOST + 1e-6, -NORTHERNMOST - 1e-6, 90, -90]
    assert world.locate(ends, [0.0] * 6)[1].tolist() == [True, False, True, False, False, False]


def test_the_antimeridian():
    place = Tiles(zoom=6, window=(170, -60, -150, 60))
    (_, column), inside = place.locate([0.0] * 4, [180, -180, -150.1, 168])
    assert inside.tolist() == [True, True, True, False]
    assert column[0] == column[1]
    assert attribute_from_json(place.to_json()) == place
    west = place.shapes([0, 0], [0, place.lengths[1] - 1]).points[:, 0]
    assert west.min() >= -180
    assert west.max() <= 180
    squares, read = place.squares(["1", "0", "3"])
    assert read.all()
    assert squares[0].side == 32


def test_a_block_is_a_tile_of_a_smaller_zoom_where_the_window_begins_at_one():
    place = Tiles(zoom=5, rows=(8, 16), columns=(16, 24))
    domain = Domain(place=place)
    blocks = np.arange(64) >> 2
    codes = domain.labels(np.arange(64))["place"]
    for block in range(16):
        assert len({code[:4] for code in codes[blocks == block]}) == 1


@pytest.mark.parametrize(
    "arguments",
    [
        {"zoom": 27, "window": (0, 0, 1, 1)},
        {"zoom": -1, "window": (0, 0, 1, 1)},
        {"zoom": 3},
        {"zoom": 3, "rows": (0, 9), "columns": (0, 8)},
        {"zoom": 3, "rows": (0, 8), "columns": (8, 9)},
        {"zoom": 3, "rows": (0, 8), "columns": (3, 12)},
        {"zoom": 3, "rows": 3, "columns": (3, 12)},
        {"zoom": 3, "window": (0, 86, 1, 88)},
    ],
)
def test_wrong_declarations(arguments):
    with pytest.raises(DomainError):
        Tiles(**arguments)


def test_ranges_end_where_the_grid_ends():
    with pytest.raises(DomainError, match=r"rows are not a range .got .8, 33.; allowed: 0 <= a < b <= 32"):
        Tiles(zoom=5, rows=(8, 33), columns=(0, 1))
