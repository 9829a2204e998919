import pytest

from sudare.render.charts import render_svg
from sudare.render.error_charts import Curve, error_by_area

TREE = Curve("Tree", [1, 4, 16], [4.0, 6.0, 0.0], [2.0, 3.0, float("nan")])


def test_rows_carry_method_metric_area_and_value():
    rows = error_by_area([TREE], width=300)["datasets"]["errors"]
    assert rows[0] == {"method": "Tree", "metric": "RMSE", "area": 1.0, "value": 4.0}
    assert [row["metric"] for row in rows] == ["RMSE"] * 3 + ["MAE"] * 2


@pytest.mark.slow
def test_one_colour_per_method_and_both_axes_logarithmic():
    spec = error_by_area([TREE, Curve("Laplace", [1], [9.0], [7.0])], width=300)
    encoding = spec["layer"][1]["encoding"]
    assert encoding["color"]["field"] == "method"
    assert encoding["x"]["scale"]["type"] == encoding["y"]["scale"]["type"] == "log"
    svg = render_svg(spec)
    assert "#0072b2" in svg
    assert "#d55e00" in svg


def test_axes_hold_errors_and_reference():
    spec = error_by_area([TREE], reference=([1, 4, 16], [100, 400, 1600]), width=300)
    low, high = spec["layer"][1]["encoding"]["y"]["scale"]["domain"]
    assert low < 2
    assert high > 1600
    assert "average true count" in render_svg(spec)


def test_without_reference_its_line_is_not_in_the_legend():
    assert "average true count" not in render_svg(error_by_area([TREE], width=300))


def test_ticks_stay_few_and_readable():
    spec = error_by_area([Curve("Tree", [1, 2**40], [1.0, 1e9], [1.0, 1e9])], width=300)
    encoding = spec["layer"][1]["encoding"]
    assert encoding["y"]["axis"]["values"] == [10.0**power for power in range(10)]
    near = error_by_area([Curve("Tree", [3, 6], [1.0, 2.0], [1.0, 2.0])], width=300)
    assert near["layer"][1]["encoding"]["x"]["axis"]["values"] == [3, 4, 5, 6, 7, 8]


@pytest.mark.parametrize("error", [0.0, float("nan")])
def test_a_perfect_release_can_be_drawn(error):
    assert "<svg" in render_svg(error_by_area([Curve("exact", [1, 4], [error] * 2, [error] * 2)], width=300))


def test_a_closer_look_is_linear_and_cuts_off_what_is_above():
    spec = error_by_area([Curve("Tree", [1, 4], [400.0, 9000.0], [300.0, 7000.0])], width=300, up_to=800)
    scale = spec["layer"][1]["encoding"]["y"]["scale"]
    assert (scale["type"], scale["domain"]) == ("linear", [0, 800])
    assert all(layer["mark"]["clip"] for layer in spec["layer"])
    assert "<svg" in render_svg(spec)
