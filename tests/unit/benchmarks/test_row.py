from __future__ import annotations

import json

import pytest


def test_a_ratio_is_to_the_row_of_that_name_in_the_same_case():
    from row import Row, ratio

    rows = [
        Row("Sudare", 2.0, "s", case="small"),
        Row("Sudare", 5.0, "s", case="large"),
        Row("peer", 30.0, "s", "Sudare", case="large"),
        Row("stranger", 30.0, "s", "nobody", case="large"),
        Row("silent", None, "s", "Sudare", "it did not install", "large"),
    ]
    assert [ratio(row, rows) for row in rows] == [None, None, 6.0, None, None]


@pytest.mark.parametrize(
    ("value", "bounds", "met"),
    [
        (3.0, {}, True),
        (3.0, {"at_most": 3}, True),
        (3.1, {"at_most": 3}, False),
        (0.9, {"at_least": 1}, False),
        (90.0, {"at_least": 85, "at_most": 97}, True),
        (98.0, {"at_least": 85, "at_most": 97}, False),
    ],
)
def test_goals(value, bounds, met):
    from row import Row

    assert Row("x", value, "times", **bounds).met is met


def test_a_figure_that_is_missing_meets_no_goal_and_says_why():
    from row import Row

    assert not Row("x", None, "s", note="no Java", at_most=3).met
    with pytest.raises(ValueError, match="says why"):
        Row("x", None, "s")


@pytest.mark.parametrize("wrong", [{"value": float("nan")}, {"name": ""}, {"unit": ""}, {"series": "x"}, {"at": 3.0}])
def test_rows_that_cannot_be(wrong):
    from row import Row

    with pytest.raises(ValueError, match=r"row|figure|curve"):
        Row(**{"name": "x", "value": 1.0, "unit": "s", **wrong})


def test_rows_survive_json():
    from row import Row, read_rows

    rows = [
        Row("a", 1.5, "s"),
        Row("b", None, "s", "a", "why", "case"),
        Row("c", 2.0, "MB", series="c", at=10.0, at_most=3),
    ]
    kept = json.loads(json.dumps([row.plain() for row in rows]))
    assert read_rows(kept) == rows
    assert set(kept[0]) == {"name", "value", "unit", "ratio_to", "note"}


def test_curves_have_the_exponent_of_their_power():
    from growth import growths
    from row import Row

    rows = [Row("x", 3e-7 * at**0.75, "s", series="tree", at=at) for at in (1e6, 1e4, 1e5)]
    rows += [Row("y", 1.0, "s", series="single", at=10.0), Row("z", 5.0, "s")]
    tree, single = growths(rows)
    assert tree.at == (1e4, 1e5, 1e6)
    assert tree.exponent == pytest.approx(0.75)
    assert single.exponent is None
