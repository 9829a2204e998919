from __future__ import annotations

import numpy as np
import pytest

from sudare.domain import EuropeGrid, attribute_from_json
from sudare.domain.europe_grid import to_degrees, to_metres
from sudare.domain.formula import NumpyCalculator
from sudare.errors import DomainError

BERLIN = EuropeGrid("1km", window=(13.0, 52.3, 13.8, 52.7))


def test_the_projection_is_that_of_pyproj():
    pyproj = pytest.importorskip("pyproj")
    random = np.random.default_rng(7)
    latitude, longitude = random.uniform(25, 73, 20_000), random.uniform(-35, 55, 20_000)
    east, north = pyproj.Transformer.from_crs(4258, 3035, always_xy=True).transform(longitude, latitude)
    ours = to_metres(NumpyCalculator(), latitude, longitude)
    assert np.abs(ours[0] - north).max() < 1e-6
    assert np.abs(ours[1] - east).max() < 1e-6
    back = to_degrees(*ours)
    assert np.abs(back[0] - latitude).max() < 1e-11
    assert np.abs(back[1] - longitude).max() < 1e-11


def test_the_example_of_the_guidance_note():
    # EPSG guidance note 7-2, method 9820: 50 N 5 E is E 3962799.45, N 2999718.85.
    north, east = to_metres(NumpyCalculator(), np.array([50.0]), np.array([5.0]))
    assert (float(east[0]), float(north[0])) == (
        pytest.approx(3962799.45, abs=0.005),
        pytest.approx(2999718.85, abs=0.005),
    )


def test_codes_in_both_forms():
    (row, column), inside = BERLIN.locate([52.5163], [13.3777])
    assert inside.all()
    assert BERLIN.labels(row, column).tolist() == ["CRS3035RES1000mN3272000E4550000"]
    codes = ["CRS3035RES1000mN3272000E4550000", "RES1000mN3272000E4550000", "1kmN3272E4550"]
    again, known = BERLIN.locate(codes)
    assert known.all()
    assert (set(again[0].tolist()), set(again[1].tolist())) == ({int(row[0])}, {int(column[0])})
    wrong = ["10kmN327E455", "CRS3035RES1000mN3272500E4550000", "1kmN3272", "3kmN1E1", "", None]
    assert not BERLIN.locate(wrong)[1].any()
    fine = EuropeGrid("250m", rows=(100, 110), columns=(200, 210))
    assert fine.locate(["250mN2525E5025"])[0] == (1, 1)


def test_coarser_codes_are_squares():
    squares, read = BERLIN.squares(["10kmN327E455", "1kmN3272E4550", "100mN32720E45500", 7])
    assert read.tolist() == [True, True, False, False]
    assert [group.side for group in squares] == [1, 10]


def test_squares_are_exact_in_metres_and_corners_in_degrees():
    shape = BERLIN.shapes([0], [0]).points
    assert np.ptp(shape, axis=0).tolist() == [1000.0, 1000.0]
    outline = BERLIN.outlines([0], [0]).points
    assert (np.abs(outline - [13.0, 52.3]) < 0.1).all()
    assert BERLIN.square_km == BERLIN.size


def test_every_point_of_the_window_is_inside():
    place = EuropeGrid("10km", window=(-10, 36, 32, 70))
    random = np.random.default_rng(9)
    edge, far = np.linspace(0, 1, 4001), np.ones(4001)
    up, across = 36 + 34 * edge, 42 * edge - 10
    latitude = np.concatenate([up, up, 36 * far, 70 * far, 36 + 34 * random.random(4001)])
    longitude = np.concatenate([-10 * far, 32 * far, across, across, 42 * random.random(4001) - 10])
    assert place.locate(latitude, longitude)[1].all()
    assert place.locate([-45.0, 0.0, np.nan], [-170.0, -170.0, 0.0])[1].tolist() == [False] * 3


def test_json_leads_back():
    assert attribute_from_json(BERLIN.to_json()) == BERLIN


@pytest.mark.parametrize(
    "arguments",
    [
        {"size": "3km", "window": (13, 52, 14, 53)},
        {"size": "1km"},
        {"size": "1km", "window": (139, 35, 140, 36)},
        {"size": "1km", "rows": (5, 3), "columns": (0, 3)},
        {"size": "1km", "rows": (0, 8_001), "columns": (0, 3)},
        {"size": "1km", "rows": 4, "columns": (0, 3)},
    ],
)
def test_wrong_declarations(arguments):
    with pytest.raises(DomainError):
        EuropeGrid(**arguments)


def test_ranges_end_where_the_grid_ends():
    with pytest.raises(DomainError, match=r"rows are not a range .got .8, 81.; allowed: 0 <= a < b <= 80"):
        EuropeGrid("100km", rows=(8, 81), columns=(0, 1))
