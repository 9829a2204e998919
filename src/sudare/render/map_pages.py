"""Maps inside a page: their content, the style and the script that draws them, nothing loaded from elsewhere."""

from __future__ import annotations

import html as escaping
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from sudare.errors import OutputError, system_reason
from sudare.render.charts import Embedded

POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"
"""Of a page with a map alone: nothing is loaded, and no text becomes code."""


def embed_maps(maps: Mapping[str, Mapping[str, Any]]) -> Embedded:
    """Fragments for maps by name, as `map_data.map_content` gives them."""
    return Embedded({name: _figure(name, content) for name, content in maps.items()}, _script() if maps else "")


def map_style() -> str:
    """The style sheet of maps."""
    return _text("map.css")


@dataclass(frozen=True)
class MapPage:
    """A map as a page of its own, ``height`` pixels high: a notebook shows it, `save` writes it."""

    content: Mapping[str, Any]
    title: str
    height: int

    def _repr_html_(self) -> str:
        return map_frame_page(self.content, self.title, self.height)

    def save(self, path: str | Path) -> Path:
        """Write the page, one HTML file that loads nothing; its path."""
        target = Path(path)
        try:
            target.write_text(_page(self.content, self.title, self.height), encoding="utf-8", newline="\n")
        except OSError as problem:
            raise OutputError(
                "the page cannot be written: {reason}", value=str(target), reason=system_reason(problem)
            ) from None
        return target


def _page(content: Mapping[str, Any], title: str, height: int) -> str:
    drawn = embed_maps({"map": content})
    return (
        f'<!DOCTYPE html><html class="dark-too"><head><meta charset="utf-8"><title>{escaping.escape(title)}</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}"><meta name="color-scheme" content="light dark">'
        f"<style>body{{margin:.3rem;font-family:Helvetica,Arial,sans-serif}}{map_style()}"
        f".sudare-map canvas{{max-height:{height - 210}px}}</style></head>"
        f"<body>{drawn.figures['map']}{drawn.script}</body></html>"
    )


def map_frame_page(content: Mapping[str, Any], title: str, height: int) -> str:
    """A map in a frame of its own, for notebooks: an ``iframe`` that holds a whole page and may only run its script."""
    page = _page(content, title, height)
    return (
        f'<iframe title="{escaping.escape(title)}" sandbox="allow-scripts" loading="lazy" '
        f'style="width:100%;height:{height}px;border:0" srcdoc="{escaping.escape(page)}"></iframe>'
    )


def _figure(name: str, content: Mapping[str, Any]) -> str:
    # "<" never appears as itself, so no text in the data can end the script.
    data = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    place = escaping.escape(f"map-{name}")
    return f'<div id="{place}"></div>\n<script type="application/json" data-map="{place}">{data}</script>'


def _script() -> str:
    return f'<script type="module">{_text("map.js")}</script>'


@cache
def _text(name: str) -> str:
    return (files("sudare.render") / "map" / name).read_text(encoding="utf-8")
