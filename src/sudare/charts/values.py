"""How large the error is in cells of every size: do small counts grow and large ones shrink?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sudare.charts.filling import Spec, fill
from sudare.errors import ParameterError
from sudare.words import ENGLISH, Words


@dataclass(frozen=True)
class Bars:
    """One method's errors: both (k,), one per range of true counts."""

    method: str
    root_mean_square_error: ArrayLike
    mean_error: ArrayLike


def error_by_value(
    bars: Sequence[Bars],
    ranges: Sequence[str],
    *,
    title: str | None = None,
    subtitle: str = "",
    range_title: str | None = None,
    value_title: str | None = None,
    width: int = 330,
    height: int = 220,
    narrow: bool = False,
    words: Words = ENGLISH,
) -> Spec:
    """RMSE and mean error as bars, grouped by ``ranges`` (k,) of the true count, one colour per method.

    What is not finite (a range without cells) is left out. ``narrow`` puts the mean error below.

    >>> spec = error_by_value([Bars("Simplex", [1.5, 4.0], [0.2, -3.0])], ["0", "1 or more"])
    >>> spec["datasets"]["errors"][3]
    {'method': 'Simplex', 'metric': 'ME', 'range': '1 or more', 'value': -3.0}
    """
    if not bars:
        raise ParameterError("there is no method to draw", allowed="at least one")
    rows: list[dict[str, Any]] = []
    for one in bars:
        for metric, values in (("RMSE", one.root_mean_square_error), ("ME", one.mean_error)):
            numbers = np.asarray(values, dtype=np.float64)
            if numbers.shape != (len(ranges),):
                raise ParameterError(
                    "the errors of {method!r} do not fit the ranges",
                    value=numbers.shape,
                    allowed=[len(ranges)],
                    method=one.method,
                )
            rows += [
                {"method": one.method, "metric": metric, "range": name, "value": number}
                for name, number in zip(ranges, numbers.tolist(), strict=True)
                if np.isfinite(number)
            ]
    return fill(
        "error_by_value",
        words,
        errors=rows,
        columns=1 if narrow else 2,
        title=words("chart.error_by_value") if title is None else title,
        subtitle=subtitle,
        range_title=words("chart.true_count") if range_title is None else range_title,
        value_title=words("chart.people_per_cell") if value_title is None else value_title,
        width=width,
        height=height,
    )
