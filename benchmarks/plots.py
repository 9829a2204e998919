"""The plots of the scoreboard, in the house's style, drawn from kept rows alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from growth import Growth
from row import Row
from sudare.render.charts import Spec, render_png
from sudare.render.curves import COLOURS, Series, beside, curves

SHORT = {"type": "log", "nice": False}


def powers(low: float, high: float) -> list[float]:
    """Powers of ten between two positive numbers; where those are fewer than three, 2 and 5 times them too.

    >>> powers(0.8, 1300), powers(3, 30)
    ([1.0, 10.0, 100.0, 1000.0], [5.0, 10.0, 20.0])
    """
    ticks: list[float] = []
    for multiples in ((1,), (1, 2, 5)):
        every = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        ticks = [multiple * 10.0**power for power in every for multiple in multiples]
        ticks = [tick for tick in ticks if low <= tick <= high]
        if len(ticks) >= 3:
            break
    return ticks


def logarithmic(spec: Spec, axis: str, low: float, high: float, expression: str | None = None) -> None:
    """Make an axis of a filled chart logarithmic."""
    ticks = powers(low, high)
    own = spec["encoding"][axis]
    own["scale"] = {**SHORT, "domain": [low, high]}
    own["axis"] = {"title": own["axis"]["title"], "values": ticks, "format": "~s"}
    if expression:
        own["axis"] = {"title": own["axis"]["title"], "values": ticks, "labelExpr": expression}


POWER = "format(datum.value, '.0e')"
PLAIN = "datum.value >= 1 ? format(datum.value, ',') : format(datum.value, '~r')"


def grown(found: Sequence[Growth], *, title: str, x_title: str, y_title: str, binary: bool = False) -> Spec:
    """Values against sizes, both logarithmic; the legend gives the exponents. ``binary``: sizes as powers of two."""
    lines = [
        Series(
            f"{curve.name}  (power {curve.exponent:.2f})" if curve.exponent is not None else curve.name,
            [math.log2(at) for at in curve.at] if binary else curve.at,
            curve.value,
        )
        for curve in found
    ]
    spec = curves(lines, title=title, x_title=x_title, y_title=y_title, width=430, height=270)
    values = [value for curve in found for value in curve.value]
    logarithmic(spec, "y", min(values) / 1.6, max(values) * 1.6, PLAIN)
    if not binary:
        places = [at for curve in found for at in curve.at]
        logarithmic(spec, "x", min(places) / 1.3, max(places) * 1.3, POWER)
    return spec


def regret(rows: Sequence[Row]) -> Spec:
    """Regret by block size, one line per method; 1 is the oracle."""
    names = list(dict.fromkeys(row.series for row in rows if row.series))
    points = {name: [(row.at, row.value) for row in rows if row.series == name] for name in names}
    lines = [Series(name, [at for at, _ in points[name]], [value for _, value in points[name]]) for name in names]
    title, below = (
        "Error against the best of the papers' methods for tables, chosen by the truth",
        "below 1: better than the oracle",
    )
    spec = curves(lines, title=title, subtitle=below, x_title="cells of a block", y_title="RMSE over the oracle's")
    places, values = ([part for name in names for part in zip(*points[name], strict=True)][side::2] for side in (0, 1))
    logarithmic(spec, "x", 0.8, max(map(max, places)) * 1.3)
    spec["encoding"]["x"]["axis"] |= {"values": sorted(set(places[0])), "format": ","}
    logarithmic(spec, "y", min(map(min, values)) / 1.3, max(map(max, values)) * 1.3, PLAIN)
    return spec


def peers(ratios: Sequence[dict[str, Any]]) -> Spec:
    """How many times as long a peer takes, one dot a comparison, peers in order of their median."""
    spec = curves([Series("-", [1], [1])], title="-", x_title="-", y_title="-")
    low, high = min(0.5, *(row["times"] for row in ratios)) / 1.3, 1.5 * max(row["times"] for row in ratios)
    x = {
        "field": "times",
        "type": "quantitative",
        "scale": {"type": "log", "domain": [low, high], "nice": False},
        "axis": {"title": "its time over ours, for the same work", "values": powers(low, high), "labelExpr": PLAIN},
    }
    y = {
        "field": "peer",
        "type": "nominal",
        "sort": {"field": "times", "op": "median", "order": "descending"},
        "axis": {"title": None, "labelLimit": 260, "grid": True},
    }
    names = list(dict.fromkeys(row["what"] for row in ratios))
    colours = [COLOURS[place % len(COLOURS)] for place in range(len(names))]
    marks = [("circle", "diamond", "triangle-up")[place // len(COLOURS) % 3] for place in range(len(names))]
    what = {"field": "what", "type": "nominal", "sort": None, "title": None}
    shown, form = ({**what, "scale": {"domain": names, "range": values}} for values in (colours, marks))
    rule = {"data": {"values": [{"one": 1}]}, "mark": {"type": "rule", "strokeDash": [4, 3], "color": "#6b7280"}}
    dots = {"type": "point", "filled": True, "size": 80, "opacity": 0.85}
    below = "right of 1: Sudare is faster; DuckDB and NumPy do the bare work, without privacy"
    return {
        "$schema": spec["$schema"],
        "config": spec["config"],
        "title": {"text": "Time of other software for the same work", "subtitle": below},
        "width": 430,
        "height": {"step": 26},
        "layer": [
            {**rule, "encoding": {"x": {"field": "one", "type": "quantitative", "scale": x["scale"]}}},
            {
                "data": {"values": list(ratios)},
                "mark": dots,
                "encoding": {"x": x, "y": y, "color": shown, "shape": form},
            },
        ],
    }


def draw(spec: Spec, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(render_png(spec, 1.6))


__all__ = ["beside", "draw", "grown", "peers", "regret"]
