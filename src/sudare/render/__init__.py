"""Charts, maps, sections and pages: everything that people see of a release, in the language of the reader.

A chart is a Vega-Lite file with named gaps (``render/specs``); `fill` puts data into one, `render_png` and `render_svg`
draw it here, `html` lets a browser draw it; neither ever uses the network. A report is a list of `Section`s made of
small typed parts, which each kind of release fills for itself: `public_page` lays out what may be public,
`internal_page` what shows true values beside released ones. The two never share a template, and the public one refuses
an internal section. `text` is the sentence of an error or a message in any language of the catalogue.
"""

from typing import TYPE_CHECKING

from sudare.language.translation import text
from sudare.lazy import exports

if TYPE_CHECKING:
    from sudare.render.charts import Embedded, Picture, Spec, chart_names, fill, html, render_png, render_svg, stack
    from sudare.render.curves import bars, profile
    from sudare.render.drawing import View, map_frame
    from sudare.render.error_charts import Bars, Curve, error_by_area, error_by_value, expected_error
    from sudare.render.map_data import map_content
    from sudare.render.map_pages import map_frame_page
    from sudare.render.maps import Frame, Panel, panels
    from sudare.render.outlines import Outline
    from sudare.render.promise import guarantee_sections
    from sudare.render.reports import Cover, internal_page, ledger_section, public_page
    from sudare.render.sections import Chart, Facts, Lead, Map, Points, Section, Table, Text, Tiles

__all__ = [
    "Bars",
    "Chart",
    "Cover",
    "Curve",
    "Embedded",
    "Facts",
    "Frame",
    "Lead",
    "Map",
    "Outline",
    "Panel",
    "Picture",
    "Points",
    "Section",
    "Spec",
    "Table",
    "Text",
    "Tiles",
    "View",
    "bars",
    "chart_names",
    "error_by_area",
    "error_by_value",
    "expected_error",
    "fill",
    "guarantee_sections",
    "html",
    "internal_page",
    "ledger_section",
    "map_content",
    "map_frame",
    "map_frame_page",
    "panels",
    "profile",
    "public_page",
    "render_png",
    "render_svg",
    "stack",
    "text",
]

__getattr__ = exports(
    __name__,
    {
        "charts": ("Embedded", "Picture", "Spec", "chart_names", "fill", "html", "render_png", "render_svg", "stack"),
        "curves": ("bars", "profile"),
        "drawing": ("View", "map_frame"),
        "error_charts": ("Bars", "Curve", "error_by_area", "error_by_value", "expected_error"),
        "map_data": ("map_content",),
        "map_pages": ("map_frame_page",),
        "maps": ("Frame", "Panel", "panels"),
        "outlines": ("Outline",),
        "promise": ("guarantee_sections",),
        "reports": ("Cover", "internal_page", "ledger_section", "public_page"),
        "sections": ("Chart", "Facts", "Lead", "Map", "Points", "Section", "Table", "Text", "Tiles"),
    },
)
