from __future__ import annotations

import numpy as np
import pytest

from sudare.domain import Mesh
from sudare.domain.mesh import (
    LEVELS,
    centres,
    children,
    codes_of,
    corners,
    level_of_digits,
    mesh_level,
    parents,
    rows_and_columns,
)
from sudare.errors import DomainError

# Tokyo Station lies in 533946113; its coarser and finer codes are that one's beginnings and quarters.
TOKYO = {
    "80km": 5339,
    "10km": 533946,
    "1km": 53394611,
    "500m": 533946113,
    "250m": 5339461132,
    "125m": 53394611322,
}


def rows_and_columns_at(latitudes, longitudes, size):
    limit = LEVELS[size].limit
    (row, column), known = Mesh(size, rows=(0, limit), columns=(0, limit)).positions(latitudes, longitudes)
    return row, column, known


def by_the_formula(code: str) -> tuple[int, int]:
    """Row and column of a code, digit by digit, as the standard defines them."""
    row, column = int(code[:2]), int(code[2:4])
    if len(code) >= 6:
        row, column = row * 8 + int(code[4]), column * 8 + int(code[5])
    if len(code) >= 8:
        row, column = row * 10 + int(code[6]), column * 10 + int(code[7])
    for quarter in code[8:]:
        row, column = row * 2 + (int(quarter) - 1) // 2, column * 2 + (int(quarter) - 1) % 2
    return row, column


@pytest.mark.parametrize("size", LEVELS)
def test_codes_and_rows_at_every_level(size):
    code = TOKYO[size]
    row, column, valid = rows_and_columns(np.array([code]), size)
    assert (row.item(), column.item()) == by_the_formula(str(code))
    assert valid.all()
    assert codes_of(row, column, size).tolist() == [code]


@pytest.mark.parametrize("size", LEVELS)
def test_random_codes_agree_with_the_formula(size):
    random = np.random.default_rng(5)
    limit = LEVELS[size].limit
    rows, columns = random.integers(0, limit, 200), random.integers(0, limit, 200)
    rows[:2], columns[:2] = (0, limit - 1), (0, limit - 1)
    codes = codes_of(rows, columns, size)
    texts = [f"{code:0{LEVELS[size].digits}}" for code in codes.tolist()]
    assert [by_the_formula(text) for text in texts] == list(zip(rows.tolist(), columns.tolist(), strict=True))


def test_published_check_vectors():
    row, column, _ = rows_and_columns(np.array([533946113, 533946114]), "500m")
    assert row.tolist() == [8563, 8563]
    assert column.tolist() == [6362, 6363]
    latitude, longitude = centres(row[1:], column[1:], "500m")
    assert (latitude.item(), longitude.item()) == (35.68125, 139.771875)
    station = rows_and_columns_at([35.681236], [139.767125], "500m")
    assert codes_of(station[0], station[1], "500m").tolist() == [533946113]


@pytest.mark.parametrize(
    ("size", "code"),
    [
        ("80km", -1),
        ("80km", 10**4),
        ("10km", 533986),
        ("10km", 533948),
        ("1km", 53398611),
        ("1km", 533946113),
        ("500m", 533946110),
        ("500m", 533946115),
        ("250m", 5339461105),
        ("250m", 5339461110),
        ("125m", 53394611115),
        ("125m", 53394611999),
        ("125m", 53989999999),
    ],
)
def test_digits_out_of_range_make_no_code(size, code):
    row, column, valid = rows_and_columns(np.array([code, TOKYO[size]]), size)
    assert valid.tolist() == [False, True]
    assert (row[0], column[0]) == (0, 0)


@pytest.mark.parametrize("size", LEVELS)
def test_borders_belong_to_the_north_and_the_east(size):
    row, column, _ = rows_and_columns(np.array([TOKYO[size]]), size)
    south, west, north, east = corners(row, column, size)
    for latitude, longitude, up, right in ((south, west, 0, 0), (north, west, 1, 0), (south, east, 0, 1)):
        found = rows_and_columns_at(latitude, longitude, size)
        assert (found[0] - row).item() == up
        assert (found[1] - column).item() == right


def test_a_decimal_that_means_a_border_lands_on_its_northern_and_eastern_side():
    assert rows_and_columns_at([35.675], [140], "500m")[0].tolist() == [8562]
    rows = np.arange(7002, 11000, 3)  # every third border has an ending decimal, a multiple of 0.0125
    columns = np.arange(3500, 8000)
    latitudes, longitudes = np.round(rows / 240, 10), np.round(100 + columns / 160, 10)
    assert rows_and_columns_at(latitudes, np.full(rows.size, 140.0), "500m")[0].tolist() == rows.tolist()
    assert rows_and_columns_at(np.full(columns.size, 35.0), longitudes, "500m")[1].tolist() == columns.tolist()
    # Without the tolerance some of them would not.
    assert (np.floor(latitudes * 240) < rows).any()


def test_unknown_and_infinite_places():
    row, column, known = rows_and_columns_at([None, 35.0, np.inf], [139.0, np.nan, 139.0], "1km")
    assert known.tolist() == [False, False, True]
    assert row[2] == 90 * 120  # beyond the system's 8,000 rows
    assert column[2] == 39 * 80


def test_corners_are_half_a_minute_apart():
    south, west, north, east = corners([8562], [6362], "500m")
    assert (south.item(), west.item()) == (35.675, 139.7625)
    assert (north - south).item() == pytest.approx(15 / 3600)
    assert (east - west).item() == pytest.approx(22.5 / 3600)


def test_parents_and_children():
    code = np.array([TOKYO["125m"]])
    for size, parent in TOKYO.items():
        assert parents(code, "125m", size).tolist() == [parent]
    assert children(np.array([5339]), "80km", "10km").shape == (1, 64)
    cells = children(np.array([533946]), "10km", "500m")
    assert cells.shape == (1, 400)
    assert np.unique(cells).size == 400
    assert (parents(cells, "500m", "10km") == 533946).all()
    assert children(np.array([5339]), "80km", "80km").tolist() == [[5339]]


def test_levels_are_known_by_their_digits():
    assert [level_of_digits(digits) and level_of_digits(digits).name for digits in range(3, 13)] == [
        None, "80km", None, "10km", None, "1km", "500m", "250m", "125m", None,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda: mesh_level("500"),
            "there is no such mesh size (got '500'; allowed: 80km, 10km, 1km, 500m, 250m, 125m). Did you mean '500m'?",
        ),
        (
            lambda: mesh_level(None),
            "there is no such mesh size (got None; allowed: 80km, 10km, 1km, 500m, 250m, 125m)",
        ),
        (
            lambda: codes_of([16000], [0], "500m"),
            "a row or column is outside the 500m mesh (allowed: 0 to 15999)",
        ),
        (lambda: centres([0], [-1], "1km"), "a row or column is outside the 1km mesh (allowed: 0 to 7999)"),
        (
            lambda: parents(np.array([5339]), "80km", "1km"),
            "a mesh cannot be divided into meshes of a coarser size (got '80km'; allowed: 1km or finer)",
        ),
        (
            lambda: children(np.array([53394611]), "1km", "80km"),
            "a mesh cannot be divided into meshes of a coarser size (got '80km'; allowed: 1km or finer)",
        ),
        (
            lambda: children(np.array([53398611]), "1km", "500m"),
            "a code is not of the 1km mesh (got 53398611)",
        ),
        (
            lambda: rows_and_columns_at([35.0], [139.0, 140.0], "1km"),
            "latitudes and longitudes have different lengths",
        ),
        (
            lambda: rows_and_columns_at(["35"], [139.0], "1km"),
            "a latitude is not a column of numbers (got 'text'; allowed: whole numbers or floats)",
        ),
    ],
)
def test_mistakes_end_in_one_sentence(call, sentence):
    with pytest.raises(DomainError) as caught:
        call()
    assert str(caught.value) == sentence
