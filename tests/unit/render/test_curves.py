"""Curves, and charts beside each other."""

import pytest

from sudare.render.charts import render_png
from sudare.render.curves import Series, beside, curves


def test_series_keep_their_kind_colour_and_dash():
    chart = curves(
        [Series("here", [1, 2, 3], [5, float("nan"), 4]), Series("paper", [1, 3], [6, 4], "line", dashed=True)],
        title="Errors",
        x_title="epsilon",
        y_title="S",
    )
    points = chart["data"]["values"]
    assert [point["y"] for point in points if point["series"] == "here"] == [5.0, 4.0]
    assert {point["kind"] for point in points if point["series"] == "paper"} == {"line"}
    assert chart["encoding"]["color"]["scale"]["domain"] == ["here", "paper"]
    assert chart["encoding"]["strokeDash"]["scale"]["range"] == [[1, 0], [5, 4]]
    assert render_png(chart).startswith(b"\x89PNG")


def test_axes_begin_at_zero_where_numbers_come_near_it():
    near = curves([Series("a", [0, 1], [1, 10])], title="", x_title="", y_title="")
    assert near["encoding"]["y"]["scale"]["domain"][0] == 0
    far = curves([Series("a", [0, 1], [90, 100])], title="", x_title="", y_title="")
    assert 89 < far["encoding"]["y"]["scale"]["domain"][0] < 90
    flat = curves([Series("a", [1], [3])], title="", x_title="", y_title="")
    assert flat["encoding"]["y"]["scale"]["domain"] == [2.0, 4.0]


@pytest.mark.slow
def test_charts_beside_each_other():
    one = curves([Series("a", [0, 1], [1, 2])], title="one", x_title="x", y_title="y")
    both = beside([one, beside([one, one], 2)], 1, title="All", subtitle="of them")
    assert [len(part.get("concat", [0])) for part in both["concat"]] == [1, 2]
    assert "$schema" not in both["concat"][0]
    assert render_png(both).startswith(b"\x89PNG")
