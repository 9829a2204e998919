"""Charts, maps, sections and pages: everything that people see of a release, in the language of the reader.

A chart is a Vega-Lite file with named gaps (``render/specs``); `fill` puts data into one, `render_png` and `render_svg`
draw it here, `html` lets a browser draw it; neither ever uses the network. A report is a list of `Section`s made of
small typed parts, which each kind of release fills for itself: `public_page` lays out what may be public,
`internal_page` what shows true values beside released ones. The two never share a template, and the public one refuses
an internal section. `text` is the sentence of an error or a message in any language of the catalogue.
"""

from sudare.language import text
from sudare.render.charts import Embedded, Spec, chart_names, csv_text, fill, html, render_png, render_svg, stack
from sudare.render.curves import bars, profile
from sudare.render.drawing import View, map_frame
from sudare.render.error_charts import Bars, Curve, error_by_area, error_by_value, expected_error
from sudare.render.maps import Frame, Panel, panels, released_map, side_by_side
from sudare.render.promise import guarantee_sections
from sudare.render.reports import Cover, internal_page, ledger_section, public_page
from sudare.render.sections import Chart, Facts, Lead, Points, Section, Table, Text, Tiles

__all__ = [
    "Bars",
    "Chart",
    "Cover",
    "Curve",
    "Embedded",
    "Facts",
    "Frame",
    "Lead",
    "Panel",
    "Points",
    "Section",
    "Spec",
    "Table",
    "Text",
    "Tiles",
    "View",
    "bars",
    "chart_names",
    "csv_text",
    "error_by_area",
    "error_by_value",
    "expected_error",
    "fill",
    "guarantee_sections",
    "html",
    "internal_page",
    "ledger_section",
    "map_frame",
    "panels",
    "profile",
    "public_page",
    "released_map",
    "render_png",
    "render_svg",
    "side_by_side",
    "stack",
    "text",
]
