"""Charts that are not maps: lines and points of one number against another, several side by side, and bars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from sudare.errors import ParameterError
from sudare.language.catalogue import ENGLISH, Words
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
    title: str,
    x_title: str,
    y_title: str,
    subtitle: str = "",
    width: int = 420,
    height: int = 280,
    x_domain: tuple[float, float] | None = None,
    y_domain: tuple[float, float] | None = None,
) -> Spec:
    """One chart of all ``series``; axes from their least to their largest number unless given.

    >>> chart = curves([Series("q", [1, 2], [0.3, 0.2])], title="Flips", x_title="epsilon", y_title="q")
    >>> chart["data"]["values"][1]
    {'series': 'q', 'kind': 'both', 'x': 2.0, 'y': 0.2}
    """
    if not series:
        raise ParameterError("there is no series to draw", allowed="at least one")
    points: list[dict[str, Any]] = []
    for one in series:
        pairs = zip(np.asarray(one.x, float).tolist(), np.asarray(one.y, float).tolist(), strict=True)
        points += [{"series": one.name, "kind": one.kind, "x": x, "y": y} for x, y in pairs if np.isfinite(y)]
    names = list(dict.fromkeys(one.name for one in series))
    dashed = {one.name for one in series if one.dashed}
    return fill(
        "curves",
        points=points,
        title=title,
        subtitle=subtitle,
        x_title=x_title,
        y_title=y_title,
        width=width,
        height=height,
        x_domain=list(x_domain or _range([point["x"] for point in points])),
        y_domain=list(y_domain or _range([point["y"] for point in points])),
        series=names,
        colours=[COLOURS[place % len(COLOURS)] for place in range(len(names))],
        dashes=[[5, 4] if name in dashed else [1, 0] for name in names],
    )


def beside(charts: Sequence[Spec], columns: int, *, title: str = "", subtitle: str = "") -> Spec:
    """Filled charts in rows of ``columns``, as one; each keeps its colours and its legend."""
    if not charts:
        raise ParameterError("there is no chart to draw", allowed="at least one")
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


def profile(
    labels: Sequence[str],
    truth: ArrayLike,
    released: ArrayLike,
    *,
    label_title: str,
    what: str = "people per cell",
    subtitle: str = "",
    width: int | str = "container",
    height: int = 280,
    words: Words = ENGLISH,
) -> Spec:
    """Grey bars for the true values, blue strokes for the released ones, in the order of ``labels``.

    >>> spec = profile(["f", "m"], [3, 4], [2, 5], label_title="sex")
    >>> spec["datasets"]["places"][1]
    {'label': 'm', 'truth': 4.0, 'released': 5.0}
    """
    columns = zip(labels, np.asarray(truth, float).tolist(), np.asarray(released, float).tolist(), strict=True)
    return fill(
        "profile",
        words,
        places=[{"label": label, "truth": true, "released": out} for label, true, out in columns],
        label_title=label_title,
        value_title=what,
        subtitle=subtitle,
        width=width,
        height=height,
    )


def bars(
    labels: Sequence[str],
    released: ArrayLike,
    low: ArrayLike | None = None,
    high: ArrayLike | None = None,
    *,
    other: ArrayLike | None = None,
    other_title: str = "",
    title: str | None = None,
    label_title: str,
    what: str = "people per cell",
    subtitle: str = "",
    width: int | str = "container",
    height: int = 280,
    words: Words = ENGLISH,
) -> Spec:
    """Bars for released values in the order of ``labels``, with a line from ``low`` to ``high`` where they are given,
    and a stroke at ``other`` values.

    >>> spec = bars(["f", "m"], [3, 4], [1, 2], [5, 6], label_title="sex")
    >>> spec["datasets"]["places"][1]
    {'label': 'm', 'value': 4.0, 'low': 2.0, 'high': 6.0, 'other': None}
    """
    values = np.asarray(released, float).tolist()
    nothing = [None] * len(values)
    lows = nothing if low is None else np.asarray(low, float).tolist()
    highs = nothing if high is None else np.asarray(high, float).tolist()
    others = nothing if other is None else np.asarray(other, float).tolist()
    names = ("label", "value", "low", "high", "other")
    spec = fill(
        "bars",
        words,
        places=[dict(zip(names, row, strict=True)) for row in zip(labels, values, lows, highs, others, strict=True)],
        title=words("chart.released_counts") if title is None else title,
        other_title=other_title,
        label_title=label_title,
        value_title=what,
        subtitle=subtitle,
        width=width,
        height=height,
    )
    absent = {name for name, given in (("low", low), ("high", high), ("other", other)) if given is None}
    spec["encoding"]["tooltip"] = [shown for shown in spec["encoding"]["tooltip"] if shown["field"] not in absent]
    return spec


def share_chart(name: str, labels: Sequence[str], shares: ArrayLike, words: Words, **more: Any) -> Chart:
    """The shares of a column's values as a part of a page, in a high and a low layout; ``more`` as in `bars`."""
    shared = {"label_title": name, "title": words("chart.shares_of", name=name), "what": words("chart.share"), **more}
    layouts = {
        least: bars(labels, shares, words=words, height=height, **shared) for least, height in ((560, 260), (0, 200))
    }
    return Chart(f"column-{name.encode().hex()}", layouts)
