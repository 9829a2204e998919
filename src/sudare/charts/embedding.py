"""Charts inside a web page that opens without a network: data, Vega and all in the page itself."""

from __future__ import annotations

import html as escaping
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from sudare.charts.filling import Spec
from sudare.errors import ParameterError
from sudare.words import ENGLISH, Words

_NOT_TWICE = ("$schema", "datasets")
"""The data are stored once for all layouts; the address of the schema is not needed, and a page has no addresses."""


@dataclass(frozen=True)
class Embedded:
    """HTML fragments: ``figures[name]`` for each chart, to be placed anywhere, and one ``script`` after them.

    ``str()`` of it is everything in order.
    """

    figures: dict[str, str]
    script: str

    def __str__(self) -> str:
        return "\n".join([*self.figures.values(), self.script])


def html(charts: Mapping[str, Mapping[int, Spec]], words: Words = ENGLISH) -> Embedded:
    """Fragments for charts by name, each in layouts by the width in pixels that they need: ``{0: spec}`` if one.

    Layouts of one chart share the data of the widest, which is stored once; the browser draws the widest
    layout that fits. Nothing is loaded from elsewhere.
    """
    return Embedded({name: _figure(name, layouts, words) for name, layouts in charts.items()}, _script())


def _figure(name: str, layouts: Mapping[int, Spec], words: Words) -> str:
    if not layouts:
        raise ParameterError("a chart has no layout", value=name)
    widest_first = [(width, layouts[width]) for width in sorted(layouts, reverse=True)]
    content = {
        "datasets": widest_first[0][1].get("datasets", {}),
        "layouts": [
            {"width": width, "spec": {key: value for key, value in one.items() if key not in _NOT_TWICE}}
            for width, one in widest_first
        ],
    }
    # "<" never appears as itself, so no text in the data can end the script.
    data = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    description = escaping.escape(str(widest_first[0][1].get("description", name)))
    place = escaping.escape(f"chart-{name}")
    failed = escaping.escape(words("chart.failed"))
    return (
        f'<div class="chart" id="{place}" role="img" aria-label="{description}" data-failed="{failed}"></div>\n'
        f'<script type="application/json" data-chart="{place}">{data}</script>'
    )


@cache
def _script() -> str:
    import vl_convert

    drawing = (files("sudare.charts") / "draw.js").read_text(encoding="utf-8")
    return f'<script type="module">{vl_convert.javascript_bundle(drawing)}</script>'
