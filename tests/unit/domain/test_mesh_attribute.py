from __future__ import annotations

import numpy as np
import pytest

from sudare.domain import Mesh, attribute_from_json
from sudare.domain.mesh import children
from sudare.errors import DomainError

TOKYO = Mesh("500m", rows=(8426, 8938), columns=(6044, 6556))


def test_a_window_has_half_open_ranges():
    assert (TOKYO.lengths, TOKYO.size, TOKYO.spatial) == ((512, 512), 2**18, True)
    (row, column), inside = TOKYO.locate([533946113, "533946113"])
    assert (row.tolist(), column.tolist()) == ([8563 - 8426] * 2, [6362 - 6044] * 2)
    assert inside.all()


def test_codes_and_coordinates_find_the_same_cell():
    row, column = np.divmod(np.arange(0, TOKYO.size, 37), 512)
    codes = TOKYO.labels(row, column)
    assert codes.dtype == np.int64
    south, west, north, east = TOKYO.corners(row, column)
    centre_latitude, centre_longitude = TOKYO.centres(row, column)
    for located in (
        TOKYO.locate(codes),
        TOKYO.locate(codes.astype(str)),
        TOKYO.locate(south, west),
        TOKYO.locate(centre_latitude, centre_longitude),
        TOKYO.locate((south + 2 * north) / 3, (west + 2 * east) / 3),
    ):
        assert located[1].all()
        assert np.array_equal(located[0][0], row)
        assert np.array_equal(located[0][1], column)


def test_what_is_outside_is_outside_and_clamps_to_the_border():
    codes = [533946113, 303650151, 684827001, 999, None]
    assert TOKYO.locate(codes)[1].tolist() == [True, False, False, False, False]
    (row, column), inside = TOKYO.clamp(codes)
    assert inside.tolist() == [True, True, True, False, False]
    assert (row[1], column[1]) == (0, 0)
    assert (row[2], column[2]) == (511, 511)
    (row, column), inside = TOKYO.clamp([35.7, 99.0, -np.inf, np.nan], [200.0, 139.7, 0.0, 139.7])
    assert (row.tolist()[1:], column.tolist()[:1]) == ([511, 0, 0], [511])
    assert inside.tolist() == [True, True, True, False]


def test_a_code_of_another_level_is_not_moved_to_the_border():
    assert TOKYO.clamp([53361111, 5339])[1].tolist() == [False, False]


def test_a_window_near_the_equator_reads_numbers_without_their_zeros():
    south = Mesh("1km", rows=(0, 4), columns=(0, 4))
    assert (south.leading_zeros, TOKYO.leading_zeros) == (True, False)
    row, column = np.divmod(np.arange(16), 4)
    (row_again, column_again), inside = south.locate(south.labels(row, column))
    assert inside.all()
    assert np.array_equal(row_again, row)
    assert np.array_equal(column_again, column)


def test_first_level_codes_make_a_masked_window():
    mesh = Mesh("500m", codes=["5339", "5440"])
    assert mesh.lengths == (320, 320)
    assert mesh.size == 2 * 160**2
    assert mesh.codes == ("5339", "5440")
    assert mesh.allowed([0, 0, 200, 200], [0, 200, 0, 200]).tolist() == [True, False, False, True]
    assert mesh.locate([533946113, 534046113, 543946113, 544046113])[1].tolist() == [True, False, False, True]
    assert mesh.clamp([544046113, 543946113])[1].tolist() == [True, False]


def test_codes_that_fill_their_window_are_a_window():
    mesh = Mesh("500m", codes=["5339", "5340"])
    assert mesh.codes is None
    assert mesh == Mesh("500m", rows=(8480, 8640), columns=(6240, 6560))
    assert hash(mesh) == hash(Mesh("500m", rows=(8480, 8640), columns=(6240, 6560)))
    assert mesh == Mesh("500m", codes=children(np.array([5339, 5340]), "80km", "1km").reshape(-1))


def test_one_code_is_a_list_of_one():
    assert Mesh("500m", codes="5339") == Mesh("500m", codes=[5339]) == Mesh("500m", codes=(c for c in ["5339"]))


@pytest.mark.parametrize(
    "mesh",
    [TOKYO, Mesh("125m", codes=["5339", "543946", "54394611"]), Mesh("80km", codes=["0012", "1200"])],
)
def test_json_gives_an_equal_attribute(mesh):
    again = attribute_from_json(mesh.to_json())
    assert again == mesh
    assert (again.rows, again.columns, again.size) == (mesh.rows, mesh.columns, mesh.size)


def test_a_mesh_prints_as_it_is_declared():
    assert repr(TOKYO) == "Mesh('500m', rows=(8426, 8938), columns=(6044, 6556))"
    assert str(TOKYO.describe()) == "500m mesh of 512 x 512"
    islands = Mesh("1km", codes=["5339", "3622"])
    assert repr(islands) == "Mesh('1km', codes=['3622', '5339'])"
    assert str(islands.describe()) == "1km mesh of 1,440 x 1,440 with 12,800 cells under codes"
    scattered = Mesh("1km", codes=[53394611, 53394613, 53394615, 53394617, 53394619])
    assert repr(scattered) == "Mesh('1km', codes=['53394611', ... 5 codes])"


HOW = 'Write codes=["5339"], or rows=(8480, 8640) and columns=(6240, 6400).'


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda: Mesh("50m", codes=["5339"]),
            "there is no such mesh size (got '50m'; allowed: 80km, 10km, 1km, 500m, 250m, 125m). Did you mean '500m'?",
        ),
        (
            lambda: Mesh("500m"),
            f"declare a mesh by rows and columns, or by codes, not both (allowed: rows and columns, or codes). {HOW}",
        ),
        (
            lambda: Mesh("500m", rows=(0, 1)),
            f"declare a mesh by rows and columns, or by codes, not both (allowed: rows and columns, or codes). {HOW}",
        ),
        (
            lambda: Mesh("500m", rows=(0, 1), columns=(0, 1), codes=["5339"]),
            f"declare a mesh by rows and columns, or by codes, not both (allowed: rows and columns, or codes). {HOW}",
        ),
        (
            lambda: Mesh("500m", rows=(5, 5), columns=(0, 1)),
            "rows are not a range (got (5, 5); allowed: 0 <= a < b <= 16000)",
        ),
        (
            lambda: Mesh("1km", rows=(0, 1), columns=(0, 8001)),
            "columns are not a range (got (0, 8001); allowed: 0 <= a < b <= 8000)",
        ),
        (
            lambda: Mesh("1km", rows=(0, 1, 2), columns=(0, 1)),
            "rows are not a pair (got (0, 1, 2); allowed: (first, one after last))",
        ),
        (
            lambda: Mesh("1km", rows=3, columns=(0, 1)),
            "rows are not a pair (got 3; allowed: (first, one after last))",
        ),
        (
            lambda: Mesh("1km", rows=(0, 1.5), columns=(0, 1)),
            "an end of the rows is not a whole number (got 1.5; allowed: a whole number from 0 on)",
        ),
        (
            lambda: Mesh("1km", codes=["5339", "bad"]),
            "a declared code is not a code of the 1km mesh or a coarser one "
            "(got 'bad'; allowed: JIS X 0410 codes of 4, 6, 8 digits)",
        ),
        (
            lambda: TOKYO.locate([1], [2], [3]),
            "a mesh attribute takes another number of columns (got 3; allowed: 1 or 2)",
        ),
        (lambda: TOKYO.corners([512], [0]), "a coordinate is outside the mesh (allowed: 0 to 511)"),
        (lambda: TOKYO.labels([0], [-1]), "a coordinate is outside the mesh (allowed: 0 to 511)"),
    ],
)
def test_mistakes_end_in_one_sentence(call, sentence):
    with pytest.raises(DomainError) as caught:
        call()
    assert str(caught.value) == sentence
