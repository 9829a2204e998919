"""Charts that are not maps: lines and points of one number against another, several side by side, and bars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from sudare.language.catalogue import Words
from sudare.render.charts import Spec, fill
from sudare.render.sections import Chart

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#6b7280", "#000000")
"""Told apart by most colour-blind readers (Okabe and Ito)."""


@dataclass(frozen=True)
class Series:
    """``x`` and ``y`` (k,) under a name, drawn as line, as points, or as both; dashed for what others report."""

    name: str
    x: ArrayLike
    y: ArrayLike
    kind: Literal["line", "points", "both"] = "both"
    dashed: bool = False


def curves(
    series: Sequence[Series],
    *,
    x_domain: tuple[float, float] | None = None,
    y_domain: tuple[float, float] | None = None,
    **look: Any,
) -> Spec:
    """One chart of all ``series``; axes from their least to their largest number unless given.

    ``look``: ``title``, ``x_title``, ``y_title``, and if need be ``subtitle``, ``width`` and ``height``.

    >>> chart = curves([Series("q", [1, 2], [0.3, 0.2])], title="Flips", x_title="epsilon", y_title="q")
    >>> chart["data"]["values"][1]
    {'series': 'q', 'kind': 'both', 'x': 2.0, 'y': 0.2}
    """
    points: list[dict[str, Any]] = []
    for one in series:
        pairs = zip(np.asarray(one.x, float).tolist(), np.asarray(one.y, float).tolist(), strict=True)
        points += [{"series": one.name, "kind": one.kind, "x": x, "y": y} for x, y in pairs if np.isfinite(y)]
    names = list(dict.fromkeys(one.name for one in series))
    dashed = {one.name for one in series if one.dashed}
    return fill(
        "curves",
        points=points,
        x_domain=list(x_domain or _range([point["x"] for point in points])),
        y_domain=list(y_domain or _range([point["y"] for point in points])),
        series=names,
        colours=[COLOURS[place % len(COLOURS)] for place in range(len(names))],
        dashes=[[5, 4] if name in dashed else [1, 0] for name in names],
        **look,
    )


def beside(charts: Sequence[Spec], columns: int, *, title: str = "", subtitle: str = "") -> Spec:
    """Filled charts in rows of ``columns``, as one; each keeps its colours and its legend."""
    shared = {key: charts[0][key] for key in ("$schema", "config")}
    inner = [{key: value for key, value in chart.items() if key not in (*shared, "usermeta")} for chart in charts]
    own = {"scale": {"color": "independent", "strokeDash": "independent"}}
    top: Spec = {**shared, "concat": inner, "columns": columns, "spacing": 26, "resolve": own}
    if title:
        top["title"] = {"text": title, "subtitle": subtitle, "fontSize": 18, "offset": 16}
    return top


def _range(numbers: list[float]) -> tuple[float, float]:
    """Around the numbers, with a margin; from 0 on where they come near it."""
    low, high = min(numbers), max(numbers)
    low = 0.0 if 0 <= low < 0.4 * high else low
    margin = 0.04 * (high - low) or 1.0
    return low if low == 0 else low - margin, high + margin


def profile(labels: Sequence[str], truth: ArrayLike, released: ArrayLike, **look: Any) -> Spec:
    """Grey bars for the true values, blue strokes for the released ones, in the order of ``labels``.

    ``look``: ``label_title``, ``words``, and if need be ``what`` is counted, ``subtitle``, ``width`` and ``height``.

    >>> spec = profile(["f", "m"], [3, 4], [2, 5], label_title="sex")
    >>> spec["datasets"]["places"][1]
    {'label': 'm', 'truth': 4.0, 'released': 5.0}
    """
    return fill("profile", places=_places(labels, truth=truth, released=released), **look)


def bars(
    labels: Sequence[str],
    released: ArrayLike,
    low: ArrayLike | None = None,
    high: ArrayLike | None = None,
    *,
    other: ArrayLike | None = None,
    **look: Any,
) -> Spec:
    """Bars for released values in the order of ``labels``, with a line from ``low`` to ``high`` where they are given,
    and a stroke at ``other`` values, called ``other_title``. ``look`` as in `profile`, and ``title``.

    >>> spec = bars(["f", "m"], [3, 4], [1, 2], [5, 6], label_title="sex")
    >>> spec["datasets"]["places"][1]
    {'label': 'm', 'value': 4.0, 'low': 2.0, 'high': 6.0, 'other': None}
    """
    spec = fill("bars", places=_places(labels, value=released, low=low, high=high, other=other), **look)
    absent = {name for name, given in (("low", low), ("high", high), ("other", other)) if given is None}
    spec["encoding"]["tooltip"] = [shown for shown in spec["encoding"]["tooltip"] if shown["field"] not in absent]
    return spec


def _places(labels: Sequence[str], **columns: ArrayLike | None) -> list[dict[str, Any]]:
    """A row for each label; a column that is not given is empty."""
    nothing = [None] * len(labels)
    values = [nothing if each is None else np.asarray(each, float).tolist() for each in columns.values()]
    return [dict(zip(("label", *columns), row, strict=True)) for row in zip(labels, *values, strict=True)]


def share_chart(name: str, labels: Sequence[str], shares: ArrayLike, words: Words, **more: Any) -> Chart:
    """The shares of a column's values as a part of a page, in a high and a low layout; ``more`` as in `bars`."""
    shared = {"label_title": name, "title": words("chart.shares_of", name=name), "what": words("chart.share"), **more}
    layouts = {
        least: bars(labels, shares, words=words, height=height, **shared) for least, height in ((560, 260), (0, 200))
    }
    return Chart(f"column-{name.encode().hex()}", layouts)
