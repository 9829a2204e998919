import numpy as np

from sudare.render.charts import render_svg
from sudare.render.error_charts import Bars, error_by_value

RANGES = ["0", "1-9"]


def test_every_method_metric_and_range_has_a_bar():
    spec = error_by_value([Bars("A", [1, 2], [0, -1]), Bars("B", [3, 4], [1, -2])], RANGES, title="Bars")
    drawn = {(row["method"], row["metric"], row["range"]): row["value"] for row in spec["datasets"]["errors"]}
    assert len(drawn) == 8
    assert drawn["B", "ME", "1-9"] == -2
    svg = render_svg(spec)
    assert svg.count('aria-roledescription="bar"') == 8
    assert "Bars" in svg


def test_a_range_without_cells_has_no_bar():
    spec = error_by_value([Bars("A", [1, np.nan], [0, np.nan])], RANGES)
    assert [row["range"] for row in spec["datasets"]["errors"]] == ["0", "0"]
