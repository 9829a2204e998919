"""What all places share: columns in other coordinate reference systems."""

from __future__ import annotations

import numpy as np
import pyarrow
import pytest

from sudare.domain import Domain, LatLon, Mesh
from sudare.engines import read
from sudare.errors import DomainError

pytest.importorskip("pyproj")
LONDON = {"step": 0.001, "window": (-0.2, 51.4, 0, 51.6)}


def test_the_old_datum_of_tokyo():
    # The origin of latitudes and longitudes of Japan, in the old datum and in JGD2000.
    old = 35 + 39 / 60 + 17.5148 / 3600, 139 + 44 / 60 + 40.5020 / 3600
    new = 35 + 39 / 60 + 29.1572 / 3600, 139 + 44 / 60 + 28.8759 / 3600
    mesh = Mesh("125m", codes=["5339"], crs="EPSG:4301")
    found = mesh.degrees([old[0]], [old[1]])
    metres = np.hypot((found[0] - new[0]) * 111_000, (found[1] - new[1]) * 90_000)
    assert metres[0] < 15  # without a grid of differences PROJ knows it to 9 m
    plain = Mesh("125m", codes=["5339"])
    assert mesh == plain
    assert [axis.tolist() for axis in mesh.locate(*old)[0]] == [axis.tolist() for axis in plain.locate(*new)[0]]
    assert [axis.tolist() for axis in plain.locate(*old)[0]] != [axis.tolist() for axis in plain.locate(*new)[0]]


def test_metres_northing_first_in_numpy_and_in_an_engine():
    # Big Ben on the British National Grid.
    place = LatLon(**LONDON, crs=27700)
    assert place.labels(*place.locate([179_640], [530_269])[0]).tolist() == ["N51.500W000.125"]
    random = np.random.default_rng(1)
    north, east = random.uniform(168_000, 188_000, 5000), random.uniform(522_000, 540_000, 5000)
    north[:3] = np.nan, np.inf, -1e300
    index, inside = Domain(place=place).locate({"place": (north, east)})
    table = pyarrow.table({"north": north, "east": east})
    counted = read(table).count(Domain(place=place), columns={"place": ("north", "east")}, outside="drop")
    assert counted.total == int(inside.sum()) > 3000
    assert counted.index.tolist() == np.unique(index[inside]).tolist()


def test_systems_that_agree_with_wgs_84_are_read_as_they_are():
    assert LatLon(**LONDON, crs="EPSG:6668").crs is None


def test_a_system_that_does_not_exist():
    with pytest.raises(DomainError, match="coordinate reference system is not known"):
        LatLon(**LONDON, crs="EPSG:1")
