"""Charts as Vega-Lite specs: filled with data, drawn as a picture here, or embedded into a page for a browser to draw.

Fill the gaps of a spec.

A gap is written ``{{name}}``. Where it is the whole of a JSON string it becomes the value itself, of whatever
type; inside a longer string (an expression) only a number may stand. A gap ``{{@key}}`` is a message of the catalogue
in the language of the page.

Draw a filled spec as a picture, without a browser and without the network.

Charts inside a web page that opens without a network: data, Vega and all in the page itself.
"""

from __future__ import annotations

import html as escaping
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from sudare.errors import ParameterError, did_you_mean
from sudare.language.catalogue import ENGLISH, Words

Spec: TypeAlias = dict[str, Any]
_GAP = re.compile(r"\{\{(\w+)\}\}")
_MESSAGE = re.compile(r"\{\{@([\w.]+)\}\}")
_SUFFIX = ".vl.json"


def chart_names() -> list[str]:
    """The charts there are.

    >>> {"map", "profile"} <= set(chart_names())
    True
    """
    folder = files("sudare.render") / "specs"
    return sorted(entry.name.removesuffix(_SUFFIX) for entry in folder.iterdir() if entry.name.endswith(_SUFFIX))


def fill(spec_name: str, words: Words = ENGLISH, **data: Any) -> Spec:
    """The spec ``spec_name`` with every gap filled by the keyword of its name or by ``words``, and the house's theme.

    Refuses a chart that does not exist, a gap without data and data without a gap.
    """
    if spec_name not in chart_names():
        raise ParameterError(
            "there is no such chart",
            value=spec_name,
            allowed=chart_names(),
            hint=did_you_mean(spec_name, chart_names()),
        )
    text = _text(spec_name + _SUFFIX)
    gaps = set(_GAP.findall(text))
    if missing := sorted(gaps - data.keys()):
        raise ParameterError(
            "chart {spec_name!r} lacks data", value=missing[0], allowed=sorted(gaps), spec_name=spec_name
        )
    if unknown := sorted(data.keys() - gaps):
        raise ParameterError(
            "chart {spec_name!r} has no such gap",
            value=unknown[0],
            allowed=sorted(gaps),
            hint=did_you_mean(unknown[0], gaps),
            spec_name=spec_name,
        )
    filled: Spec = _filled(json.loads(text), data, words)
    return {**filled, "config": _filled(json.loads(_text("theme.json")), {}, words)}


def stack(*specs: Spec, title: str = "", spacing: int = 30) -> Spec:
    """Filled specs one above the other, as one spec, under a title if there is one."""
    parts = [{key: value for key, value in spec.items() if key not in _TOP_LEVEL} for spec in specs]
    datasets = {name: rows for spec in specs for name, rows in spec.get("datasets", {}).items()}
    top = {key: specs[0][key] for key in ("$schema", "config")}
    if title:
        top["title"] = {"text": title, "fontSize": 20, "offset": 18}
    independent = {"scale": {"color": "independent", "shape": "independent", "strokeDash": "independent"}}
    return {**top, "datasets": datasets, "vconcat": parts, "spacing": spacing, "resolve": independent}


_TOP_LEVEL = ("$schema", "config", "datasets", "usermeta", "autosize")


def csv_text(columns: Mapping[str, ArrayLike]) -> str:
    """Columns of numbers as CSV, the most compact form in which a spec can hold many rows.

    >>> csv_text({"row": [0, 1], "truth": [2.5, 3]})
    'row,truth\\n0,2.5\\n1,3\\n'
    """
    texts = [[_digits(value) for value in np.asarray(column).tolist()] for column in columns.values()]
    lines = [",".join(columns), *(",".join(row) for row in zip(*texts, strict=True))]
    return "\n".join(lines) + "\n"


def _digits(number: float) -> str:
    """A number as short as it can be: whole floats without a fraction, others with six digits."""
    if not math.isfinite(number):
        raise ParameterError("a chart cannot show a number that is not finite")
    return str(int(number)) if number == int(number) else f"{number:.6g}"


@cache
def _text(name: str) -> str:
    return (files("sudare.render") / "specs" / name).read_text(encoding="utf-8")


def _filled(part: Any, data: Mapping[str, Any], words: Words) -> Any:
    if isinstance(part, dict):
        return {key: _filled(value, data, words) for key, value in part.items()}
    if isinstance(part, list):
        return [_filled(value, data, words) for value in part]
    if isinstance(part, str):
        if message := _MESSAGE.fullmatch(part):
            return words(message[1])
        if whole := _GAP.fullmatch(part):
            return data[whole[1]]
        return _GAP.sub(lambda gap: _number(gap[1], data[gap[1]]), part)
    return part


def _number(name: str, value: Any) -> str:
    # Text inside an expression would be code.
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ParameterError("the gap {name!r} inside an expression takes a finite number", value=value, name=name)
    return repr(value)


def render_png(spec: Spec, scale: float = 2.0) -> bytes:
    """A PNG with ``scale`` pixels per unit of the spec: 2 is sharp on screens and in print."""
    import vl_convert

    if not 0 < scale <= 10:
        raise ParameterError("scale is not a sensible magnification", value=scale, allowed="0 < scale <= 10")
    # An empty list of addresses: data that lies elsewhere is refused, not fetched.
    return bytes(vl_convert.vegalite_to_png(spec, scale=scale, allowed_base_urls=[]))


def render_svg(spec: Spec) -> str:
    """An SVG document."""
    import vl_convert

    return str(vl_convert.vegalite_to_svg(spec, allowed_base_urls=[]))


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

    drawing = (files("sudare.render") / "draw.js").read_text(encoding="utf-8")
    return f'<script type="module">{vl_convert.javascript_bundle(drawing)}</script>'
