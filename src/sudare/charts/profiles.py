"""Values one after the other, for what is not a map: a line, categories, bins."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from sudare.charts.filling import Spec, fill
from sudare.words import ENGLISH, Words


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
    label_title: str,
    what: str = "people per cell",
    subtitle: str = "",
    width: int | str = "container",
    height: int = 280,
    words: Words = ENGLISH,
) -> Spec:
    """Bars for released values in the order of ``labels``, with a line from ``low`` to ``high`` where they are given.

    >>> spec = bars(["f", "m"], [3, 4], [1, 2], [5, 6], label_title="sex")
    >>> spec["datasets"]["places"][1]
    {'label': 'm', 'value': 4.0, 'low': 2.0, 'high': 6.0}
    """
    values = np.asarray(released, float).tolist()
    nothing = [None] * len(values)
    lows = nothing if low is None else np.asarray(low, float).tolist()
    highs = nothing if high is None else np.asarray(high, float).tolist()
    columns = zip(labels, values, lows, highs, strict=True)
    return fill(
        "bars",
        words,
        places=[
            {"label": label, "value": value, "low": below, "high": above} for label, value, below, above in columns
        ],
        label_title=label_title,
        value_title=what,
        subtitle=subtitle,
        width=width,
        height=height,
    )
