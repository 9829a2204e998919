"""Sections laid out as a page that holds everything it shows: one template for each report."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from sudare.charts import html
from sudare.errors import ParameterError
from sudare.report.parts import Section
from sudare.words import Words

if TYPE_CHECKING:
    from jinja2 import Environment

POLICY = "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src data:"
"""A browser keeps to it even if a page were wrong: nothing is loaded from anywhere. (Vega compiles its expressions.)"""


def lay_out(template: str, sections: Sequence[Section], words: Words, **more: Any) -> str:
    """The page of a template, with ``more`` of its own."""
    charts: dict[str, Any] = {}
    for section in sections:
        if twice := charts.keys() & section.charts.keys():
            raise ParameterError("two charts of a page have one name", value=min(twice))
        charts |= section.charts
    embedded = html(charts, words) if charts else None
    page: str = (
        _environment()
        .get_template(template)
        .render(
            sections=sections,
            figures=embedded.figures if embedded else {},
            script=embedded.script if embedded else "",
            words=words,
            policy=POLICY,
            **more,
        )
    )
    return page


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("sudare.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
