"""The reports: what the publisher sees inside, and what goes out with a release.

A report is a list of `Section`s made of small typed parts; each kind of release fills its own. `public_page` lays out
what may be public, `internal_page` what shows true values beside released ones. The two never share a template, and
the public one refuses an internal section, so that nothing true can slip from the inner one into the outer one.
"""

from sudare.report.books import ledger_section
from sudare.report.comparison import comparison_picture, comparison_sections
from sudare.report.internal import internal_page
from sudare.report.marginals import marginal
from sudare.report.parts import Chart, Facts, Lead, Points, Section, Table, Text, Tiles
from sudare.report.promise import guarantee_sections
from sudare.report.public import Cover, public_page
from sudare.report.table_public import table_sections

__all__ = [
    "Chart",
    "Cover",
    "Facts",
    "Lead",
    "Points",
    "Section",
    "Table",
    "Text",
    "Tiles",
    "comparison_picture",
    "comparison_sections",
    "guarantee_sections",
    "internal_page",
    "ledger_section",
    "marginal",
    "public_page",
    "table_sections",
]
