"""Rows outside the domain: refused without a value, dropped, or clamped."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow
import pytest

from sudare.domain import Bins, Categories, Domain, Grid, Line, Mesh
from sudare.errors import InputError

HINT = (
    ' outside="drop" leaves such rows out; outside="clamp" moves numbers to the nearest cell and drops what is '
    "missing or unknown."
)
INSIDE = {"place": [1, 2], "sex": ["f", "m"], "age": [3.0, 80.0], "who": [1, 2]}
DOMAIN = Domain(place=Line(8), sex=Categories(["f", "m"]), age=Bins(0, 100, step=5))


def with_row(**changes: Any) -> dict[str, list[Any]]:
    """Rows that are inside, and one more that differs."""
    row = {"place": 5, "sex": "f", "age": 30.0, "who": 3} | changes
    return {name: [*values, row[name]] for name, values in INSIDE.items()}


@pytest.mark.parametrize(
    ("changes", "concerned"),
    [
        ({"place": 8}, "place (from column 'place')"),
        ({"place": -7123}, "place (from column 'place')"),
        ({"place": None}, "place (from column 'place')"),
        ({"sex": "unheard-of"}, "sex (from column 'sex')"),
        ({"sex": None}, "sex (from column 'sex')"),
        ({"age": 7123.5}, "age (from column 'age')"),
        ({"age": float("nan")}, "age (from column 'age')"),
        ({"age": float("-inf")}, "age (from column 'age')"),
        ({"place": 7123, "sex": None}, None),
    ],
)
def test_a_row_outside_is_refused_without_its_value(
    records: Any, changes: dict[str, Any], concerned: str | None
) -> None:
    every = "place (from column 'place'), sex (from column 'sex')"
    with pytest.raises(InputError) as refusal:
        records(with_row(**changes)).count(DOMAIN, unit="who")
    assert str(refusal.value) == f"some rows lie outside the domain: {concerned or every}.{HINT}"
    assert "7123" not in str(refusal.value)


def test_the_refusal_is_the_same_however_many_rows_lie_outside(records: Any) -> None:
    sentences = set()
    for outside in ([9], [9, 10, 11], [-1] * 50):
        with pytest.raises(InputError) as refusal:
            records({"place": [1, *outside]}).count(Domain(place=Line(8)))
        sentences.add(str(refusal.value))
    assert sentences == {f"some rows lie outside the domain: place (from column 'place').{HINT}"}


def test_a_person_with_a_row_outside_is_refused_too(records: Any) -> None:
    with pytest.raises(InputError, match="place"):
        records({"place": [1, 1, 99], "who": [1, 1, 1]}).count(Domain(place=Line(8)), unit="who")


@pytest.mark.parametrize(
    "changes",
    [{"place": 8}, {"place": None}, {"sex": "x"}, {"sex": None}, {"age": -1.0}, {"age": float("nan")}],
)
def test_such_rows_are_dropped_when_asked(records: Any, changes: dict[str, Any]) -> None:
    dropped = records(with_row(**changes)).count(DOMAIN, unit="who", outside="drop")
    assert dropped == records(INSIDE).count(DOMAIN, unit="who")


def test_numbers_are_clamped_when_asked(records: Any) -> None:
    held = records({"place": [-5, 3, 99, None], "age": [250.0, float("inf"), -0.5, 1.0]})
    domain = Domain(place=Line(8), age=Bins(0, 100, step=50))
    dense = held.count(domain, outside="clamp").to_array()
    assert {tuple(cell.tolist()) for cell in np.argwhere(dense)} == {(0, 1), (3, 1), (7, 0)}


def test_a_fraction_is_no_position(records: Any) -> None:
    domain = Domain(cell=Grid(4, 4))
    held = records({"row": [1.0, 1.5], "column": [2.0, 2.0]})
    with pytest.raises(InputError, match=r"cell \(from columns 'row', 'column'\)"):
        held.count(domain, columns={"cell": ("row", "column")})
    for outside in ("drop", "clamp"):
        assert held.count(domain, columns={"cell": ("row", "column")}, outside=outside).total == 1


def test_masked_cells_lie_outside(records: Any) -> None:
    domain = Domain(place=Line(4, mask=[True, False, True, True]))
    held = records({"place": [0, 1, 2, 9], "who": [1, 1, 2, 3]})
    with pytest.raises(InputError, match="place"):
        held.count(domain, unit="who")
    assert held.count(domain, unit="who", outside="drop").to_array().tolist() == [1, 0, 1, 0]
    assert held.count(domain, unit="who", outside="clamp").to_array().tolist() == [1, 0, 1, 1]


def test_a_mesh_under_codes_is_exactly_those_meshes(records: Any) -> None:
    domain = Domain(mesh=Mesh("1km", codes=["5339", "5440"]))
    held = records({"code": [53394611, 54400000, 53400000, 54390000, 12345678]})
    with pytest.raises(InputError, match="mesh"):
        held.count(domain, columns={"mesh": "code"})
    table = held.count(domain, columns={"mesh": "code"}, outside="drop")
    assert sorted(domain.labels(table.index)["mesh"].tolist()) == [53394611, 54400000]


def test_degrees_at_the_border_of_the_window(records: Any) -> None:
    domain = Domain(home=Mesh("500m", codes=["533946"]))
    latitude, longitude = [35.675, 35.6, 36.0], [139.7625, 139.76, 139.76]
    held = records({"lat": latitude, "lon": longitude})
    with pytest.raises(InputError, match=r"home \(from columns 'lat', 'lon'\)"):
        held.count(domain, columns={"home": ("lat", "lon")})
    table = held.count(domain, columns={"home": ("lat", "lon")}, outside="drop")
    assert domain.labels(table.index)["home"].tolist() == [533946111]
    clamped = held.count(domain, columns={"home": ("lat", "lon")}, outside="clamp")
    assert sorted(domain.labels(clamped.index)["home"].tolist()) == [533946002, 533946111, 533946904]


def test_one_column_may_serve_two_attributes(records: Any) -> None:
    domain = Domain(decade=Bins(0, 100, step=10), adult=Bins(edges=[0, 18, None]))
    table = records({"age": [17, 18]}).count(domain, columns={"decade": "age", "adult": "age"})
    assert table.to_array()[1].tolist() == [1, 1]


def test_strange_column_names_are_only_names(records: Any) -> None:
    names = ['a "b"; DROP TABLE x', "unit", "cell", "a0_value", "it's", "名前", "SELECT"]
    for name in names:
        for person in ("who", "placed"):
            held = records({name: [1, 2, 2], person: ["x", "y", "y"], "spread": pyarrow.array([1, 2, 3])})
            table = held.count(Domain(place=Line(4)), columns={"place": name}, unit=person)
            assert table.to_array().tolist() == [0, 1, 1, 0]
