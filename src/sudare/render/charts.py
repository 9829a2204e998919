"""Charts as Vega-Lite specs, in three steps: fill a spec with data, then draw it as a picture or embed it into a page.

A gap of a spec is written ``{{name}}``. Where it is the whole of a JSON string it becomes the value itself, of whatever
type; inside a longer string (an expression) only a number may stand. A gap ``{{@key}}`` is a message of the catalogue
in the language of the page. Pictures are drawn without a browser. An embedded chart carries its data and Vega itself,
so that the page opens without a network.
"""

from __future__ import annotations

import hashlib
import html as escaping
import json
import math
import os
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeAlias

from sudare.errors import Message, MissingExtraError, ParameterError
from sudare.language.catalogue import ENGLISH, Words
from sudare.privacy.private_files import write_secret

Spec: TypeAlias = dict[str, Any]
_GAP = re.compile(r"\{\{(\w+)\}\}")
_MESSAGE = re.compile(r"\{\{@([\w.]+)\}\}")
_SUFFIX = ".vl.json"


def fill(spec_name: str, words: Words = ENGLISH, **data: Any) -> Spec:
    """The spec ``spec_name`` with every gap filled by the keyword of its name or by ``words``, and the house's theme.

    A gap without a keyword takes what the spec's own ``defaults`` say. Refuses a gap without either and data without a
    gap.
    """
    text = _text(spec_name + _SUFFIX)
    spec, gaps = json.loads(text), set(_GAP.findall(text))
    given = {**_filled(spec.pop("defaults", {}), {}, words), **data}
    if wrong := sorted(gaps ^ given.keys()):
        raise ParameterError(
            "the data of chart {spec_name!r} do not fit its gaps",
            value=wrong,
            allowed=sorted(gaps),
            spec_name=spec_name,
        )
    filled: Spec = _filled(spec, given, words)
    return {**filled, "config": _filled(json.loads(_text("theme.json")), {}, words)}


def stack(*specs: Spec, title: str = "") -> Spec:
    """Filled specs one above the other, as one spec, under a title if there is one."""
    parts = [{key: value for key, value in spec.items() if key not in _TOP_LEVEL} for spec in specs]
    datasets = {name: rows for spec in specs for name, rows in spec.get("datasets", {}).items()}
    top = {key: specs[0][key] for key in ("$schema", "config")}
    if title:
        top["title"] = {"text": title, "fontSize": 20, "offset": 18}
    independent = {"scale": {"color": "independent", "shape": "independent", "strokeDash": "independent"}}
    return {**top, "datasets": datasets, "vconcat": parts, "spacing": 30, "resolve": independent}


_TOP_LEVEL = ("$schema", "config", "datasets", "usermeta", "autosize")


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


def _vega() -> Any:
    return MissingExtraError.load("vl_convert", Message("Vega, which draws charts,"), "report")


def render_png(spec: Spec, scale: float = 2.0) -> bytes:
    """A PNG with ``scale`` pixels per unit of the spec: 2 is sharp on screens and in print."""
    vl_convert = _vega()
    if not 0 < scale <= 10:
        raise ParameterError("the magnification scale is out of range", value=scale, allowed="0 < scale <= 10")
    # An empty list of addresses: data that lies elsewhere is refused, not fetched.
    return bytes(vl_convert.vegalite_to_png(spec, scale=scale, allowed_base_urls=[]))


@dataclass(frozen=True)
class Picture:
    """A chart that notebooks show: its ``spec`` is drawn when it is looked at."""

    spec: Spec

    def _repr_png_(self) -> bytes:
        return render_png(self.spec)

    def save(self, path: str | Path) -> Path:
        """Write it as PNG, or as SVG where ``path`` ends so."""
        target = Path(path)
        svg = target.suffix == ".svg"
        target.write_bytes(render_svg(self.spec).encode() if svg else render_png(self.spec))
        return target


def render_svg(spec: Spec) -> str:
    """An SVG document."""
    vl_convert = _vega()
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
    """Vega and `draw.js` in one module script.

    Compiling it takes more than a second, so the user's cache folder keeps it, by the version of Vega's package and the
    hash of `draw.js`. Only a file that nobody else can have written is read, since it becomes part of public pages; one
    that is not there, not whole, or cannot be written changes nothing.
    """
    vl_convert = _vega()
    drawing = (files("sudare.render") / "draw.js").read_bytes()
    name = f"charts-{version('vl-convert-python')}-{hashlib.sha256(drawing).hexdigest()[:16]}.js"
    path = (folder := _cache_folder()) and folder / name
    if path and (kept := _kept(path)):
        return kept
    script = f'<script type="module">{vl_convert.javascript_bundle(drawing.decode())}</script>'
    if path:
        with suppress(OSError):
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.unlink(missing_ok=True)
            write_secret(path, f"{script}\n{hashlib.sha256(script.encode()).hexdigest()}".encode())
    return script


def _cache_folder() -> Path | None:
    usual = Path("~/Library/Caches" if sys.platform == "darwin" else "~/.cache")
    with suppress(RuntimeError):  # a user without a home
        usual = usual.expanduser()
    bases = (os.environ.get("XDG_CACHE_HOME"), os.environ.get("LOCALAPPDATA"), usual)
    return next((Path(base) / "sudare" for base in bases if base and Path(base).is_absolute()), None)


def _kept(path: Path) -> str:
    """The text of a file that ends in the hash of what stands before, which finds damage.

    "" where it is not whole, a link, of another user, or open to the writing of others: who can write to files of this
    user can as well change Sudare itself.
    """
    with suppress(OSError, UnicodeDecodeError):
        # Without waiting: a pipe in its place is open at once, and empty.
        flags = [getattr(os, name, 0) for name in ("O_BINARY", "O_NOFOLLOW", "O_NONBLOCK")]
        handle = os.open(path, os.O_RDONLY | sum(flags))
        with os.fdopen(handle, "rb") as file:
            facts = os.fstat(handle)
            own = sys.platform == "win32" or (facts.st_uid == os.geteuid() and not facts.st_mode & 0o022)
            script, _, sha256 = file.read().decode().rpartition("\n") if own else ("", "", "")
        if hashlib.sha256(script.encode()).hexdigest() == sha256:
            return script
    return ""
