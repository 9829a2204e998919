"""Charts as Vega-Lite: a chart is a JSON file with named gaps, and drawing it is filling the gaps.

The specs lie in ``charts/specs`` and can be read without Python. `fill` puts data into one; `render_png` and
`render_svg` draw it here, `html` lets a browser draw it; neither ever uses the network. `side_by_side`,
`panels` and `error_by_area` know what the gaps of their charts mean, and a `View` what of a table can be drawn.
Texts come from the catalogue, in the language of the `Words` that a function is given.
"""

from sudare.charts.areas import Curve, error_by_area, expected_error
from sudare.charts.drawing import View, map_frame
from sudare.charts.embedding import Embedded, html
from sudare.charts.filling import Spec, chart_names, csv_text, fill, stack
from sudare.charts.maps import Frame, released_map, side_by_side
from sudare.charts.panels import Panel, panels
from sudare.charts.profiles import bars, profile
from sudare.charts.rendering import render_png, render_svg
from sudare.charts.values import Bars, error_by_value

__all__ = [
    "Bars",
    "Curve",
    "Embedded",
    "Frame",
    "Panel",
    "Spec",
    "View",
    "bars",
    "chart_names",
    "csv_text",
    "error_by_area",
    "error_by_value",
    "expected_error",
    "fill",
    "html",
    "map_frame",
    "panels",
    "profile",
    "released_map",
    "render_png",
    "render_svg",
    "side_by_side",
    "stack",
]
