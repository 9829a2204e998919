"""Charts, maps, sections and pages: everything that people see of a release, in the language of the reader.

A chart is a Vega-Lite file with named gaps (``render/specs``); `charts.fill` puts data into one, pictures are drawn
here, and `charts.html` lets a browser draw it; neither ever uses the network. A report is a list of `Section`s made of
small typed parts, which each kind of release fills for itself: `reports.public_page` lays out what may be public,
`reports.internal_page` what shows true values beside released ones. The two never share a template, and the public one
refuses an internal section. `text` is the sentence of an error or a message in any language of the catalogue.
"""

from typing import TYPE_CHECKING

from sudare.language.translation import text
from sudare.lazy import exports

if TYPE_CHECKING:
    from sudare.render.sections import Chart, Facts, Lead, Map, Points, Section, Table, Text, Tiles

__all__ = ["Chart", "Facts", "Lead", "Map", "Points", "Section", "Table", "Text", "Tiles", "text"]

__getattr__ = exports(__name__, {"sections": __all__[:-1]})
