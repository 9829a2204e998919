from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sudare.domain import Mesh
from sudare.domain.mesh_attribute import by_level
from sudare.errors import DomainError

CODES = [533946113, None, 533946114]


def read_codes(column, size, leading_zeros=False):
    mesh = Mesh(size, rows=(0 if leading_zeros else 8000, 16000), columns=(0, 16000))
    assert mesh.leading_zeros == leading_zeros
    (row, mesh_column), valid = mesh.positions(column)
    return np.where(valid, row + mesh.rows[0], 0), np.where(valid, mesh_column, 0), valid


@pytest.mark.parametrize(
    "column",
    [
        CODES,
        ["533946113", None, "533946114"],
        ["533946113", 5, 533946114],
        [533946113.0, np.nan, Decimal(533946114)],
        np.array([533946113, 0, 533946114]),
        np.array([533946113, 0, 533946114], dtype=np.uint64),
        np.array([533946113, np.inf, 533946114]),
        np.array(["533946113", "５３３９４６１１", "533946114"]),
        np.array(["533946113", "5339461141", "533946114"]),
        np.array(["533946113", "53394611", "533946114"]),
        np.array(["533946113", " 53394611", "533946114"]),
        np.array(["533946113", "-53394611", "533946114"]),
        np.array(["533946113", "", "533946114"], dtype=">U20"),
        np.array(["533946113", "x" * 500, "533946114"], dtype=object),
        np.array([533946113, Decimal("NaN"), 533946114], dtype=object),
        np.array([533946113, Decimal("Infinity"), "533946114"], dtype=object),
        np.array([533946113, 10**5000, 533946114], dtype=object),
        np.array([533946113, True, 533946114], dtype=object),
        np.array([533946113, 533946113.5, 533946114], dtype=object),
        np.array([533946113, 533946113.5, 533946114]),
        np.array(["533946113", "bad", "533946114"], dtype=np.dtypes.StringDType()),
        np.ma.masked_array([533946113, 533946113, 533946114], mask=[False, True, False]),
        pd.Series(CODES, dtype="Int64"),
        pd.Series(["533946113", None, "533946114"], dtype="string"),
        pl.Series(CODES),
        pl.Series(["533946113", None, "533946114"]),
        pa.array(CODES),
        pa.array(["533946113", None, "533946114"]),
    ],
)
def test_codes_are_read_whatever_they_come_in(column):
    row, mesh_column, valid = read_codes(column, "500m")
    assert valid.tolist() == [True, False, True]
    assert row.tolist() == [8563, 0, 8563]
    assert mesh_column.tolist() == [6362, 0, 6363]


def test_a_column_of_something_else_has_no_codes():
    assert not read_codes(np.array([True, False]), "500m")[2].any()
    assert not read_codes(np.array(["2020-01-01"], dtype="datetime64[D]"), "500m")[2].any()
    assert read_codes([], "500m")[2].shape == (0,)
    assert read_codes(np.array(["5339"]), "500m")[2].tolist() == [False]


def test_a_number_of_another_level_is_not_padded_with_zeros():
    # 53361111 is a code of 1 km; with a zero before it, it would be one of 500 m near the equator.
    assert read_codes([53361111], "500m")[2].tolist() == [False]
    assert read_codes([53361111], "500m", leading_zeros=True)[2].tolist() == [True]
    assert read_codes([None, 53361111, "53361111"], "500m", leading_zeros=True)[2].tolist() == [False, True, False]
    assert read_codes(["053361111"], "500m")[2].tolist() == [True]


def test_declared_codes_are_sorted_out_by_level():
    found, read = by_level(["5339", 53394611, "533946113", "5340"], "250m")
    assert {size: rows.tolist() for size, (_, rows, _) in found.items()} == {
        "80km": [53, 53],
        "1km": [4281],
        "500m": [8563],
    }
    assert [each.tolist() for each in found["80km"][::2]] == [[0, 3], [39, 40]]
    assert read.all()


@pytest.mark.parametrize(
    ("codes", "finest", "sentence"),
    [
        ([], "500m", "there are no mesh codes (allowed: at least one)"),
        (
            ["5339", "53x9", "y"],
            "10km",
            "a declared code is not a code of the 10km mesh or a coarser one "
            "(got '53x9'; allowed: JIS X 0410 codes of 4, 6 digits)",
        ),
        (
            [533946113],
            "1km",
            "a declared code is not a code of the 1km mesh or a coarser one "
            "(got 533946113; allowed: JIS X 0410 codes of 4, 6, 8 digits)",
        ),
        (
            [533986],
            "10km",
            "a declared code is not a code of the 10km mesh or a coarser one "
            "(got 533986; allowed: JIS X 0410 codes of 4, 6 digits)",
        ),
        (
            [5339, None],
            "80km",
            "a declared code is not a code of the 80km mesh or a coarser one "
            "(got None; allowed: JIS X 0410 codes of 4 digits)",
        ),
        (
            np.ma.masked_array([5339, 5340], mask=[False, True]),
            "80km",
            "a declared code is not a code of the 80km mesh or a coarser one "
            "(got 5340; allowed: JIS X 0410 codes of 4 digits)",
        ),
    ],
)
def test_the_first_declared_code_that_is_none_is_named(codes, finest, sentence):
    with pytest.raises(DomainError) as caught:
        Mesh(finest, codes=codes)
    assert str(caught.value) == sentence
