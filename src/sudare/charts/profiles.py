"""True and released values one after the other, for what is not a map: a line, categories, bins."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from sudare.charts.filling import Spec, fill


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
) -> Spec:
    """Grey bars for the true values, blue strokes for the released ones, in the order of ``labels``.

    >>> spec = profile(["f", "m"], [3, 4], [2, 5], label_title="sex")
    >>> spec["datasets"]["places"][1]
    {'label': 'm', 'truth': 4.0, 'released': 5.0}
    """
    columns = zip(labels, np.asarray(truth, float).tolist(), np.asarray(released, float).tolist(), strict=True)
    return fill(
        "profile",
        places=[{"label": label, "truth": true, "released": out} for label, true, out in columns],
        label_title=label_title,
        value_title=what,
        subtitle=subtitle,
        width=width,
        height=height,
    )
