"""Small boxes of HTML for notebooks: everything inside, nothing loaded, colours that suit light and dark pages."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from html import escape

_LINE = "rgba(128,128,128,.35)"
_CELL = (
    f"padding:.2em .8em .2em 0;border-bottom:1px solid {_LINE};text-align:left;vertical-align:top;white-space:normal"
)


def card(title: str, *parts: str) -> str:
    """A box with a title around parts that are HTML already.

    >>> card("A & B", facts({"cells": "12"})).count("A &amp; B")
    1
    """
    heading = f'<div style="font-weight:600;margin-bottom:.4em">{escape(title)}</div>'
    style = f"border:1px solid {_LINE};border-radius:.5em;padding:.7em 1em;max-width:56em;overflow-x:auto"
    return f'<div style="{style}">{heading}{"".join(parts)}</div>'


def facts(rows: Mapping[str, str]) -> str:
    """Names and their values, one pair a line."""
    lines = (
        f'<tr><td style="{_CELL};opacity:.75;white-space:nowrap">{escape(name)}</td>'
        f'<td style="{_CELL}">{escape(value)}</td></tr>'
        for name, value in rows.items()
    )
    return f'<table style="border-collapse:collapse;margin:0">{"".join(lines)}</table>'


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Rows of text under a header."""
    head = "".join(f'<th style="{_CELL}">{escape(name)}</th>' for name in header)
    body = "".join(
        "<tr>" + "".join(f'<td style="{_CELL}">{escape(cell)}</td>' for cell in row) + "</tr>" for row in rows
    )
    style = "border-collapse:collapse;margin:.5em 0 0"
    return f'<table style="{style}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def picture(png: bytes, description: str) -> str:
    """A PNG inside the page."""
    address = base64.b64encode(png).decode("ascii")
    style = "max-width:100%;height:auto;margin-top:.6em;background:#fff"
    return f'<img alt="{escape(description)}" src="data:image/png;base64,{address}" style="{style}">'


def bar(share: float, description: str) -> str:
    """How much of a whole is used: blue up to ``share``, grey beyond.

    >>> "width:25%" in bar(0.25, "spent")
    True
    """
    used = f"{100 * min(max(share, 0.0), 1.0):.4g}%"
    filled = f'<div style="background:#0072b2;height:100%;width:{used}"></div>'
    outer = f"background:{_LINE};border-radius:.3em;height:.6em;max-width:24em;margin:.5em 0;overflow:hidden"
    return f'<div role="img" aria-label="{escape(description)}" style="{outer}">{filled}</div>'
