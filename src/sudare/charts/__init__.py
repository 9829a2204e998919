"""Charts as Vega-Lite: a chart is a JSON file with named gaps, and drawing it is filling the gaps.

The specs lie in ``charts/specs`` and can be read without Python. `fill` puts data into one; `render_png` and
`render_svg` draw it here, `html` lets a browser draw it; neither ever uses the network. `side_by_side`,
`panels` and `error_by_area` know what the gaps of their charts mean.
"""

from sudare.charts.areas import Curve, error_by_area
from sudare.charts.embedding import Embedded, html
from sudare.charts.filling import Spec, chart_names, csv_text, fill, stack
from sudare.charts.maps import Frame, side_by_side
from sudare.charts.panels import Panel, panels
from sudare.charts.profiles import profile
from sudare.charts.rendering import render_png, render_svg

__all__ = [
    "Curve",
    "Embedded",
    "Frame",
    "Panel",
    "Spec",
    "chart_names",
    "csv_text",
    "error_by_area",
    "fill",
    "html",
    "panels",
    "profile",
    "render_png",
    "render_svg",
    "side_by_side",
    "stack",
]
