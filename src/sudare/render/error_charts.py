"""Charts of errors, by the size of an area and by the size of a count.

The second shows a bias: whether small counts grow and large ones shrink.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sudare.language.catalogue import ENGLISH, Words
from sudare.render.charts import Spec, fill


@dataclass(frozen=True)
class Curve:
    """One method's errors: ``area`` (k,) in any unit, and the two errors (k,) in areas of that size."""

    method: str
    area: ArrayLike
    root_mean_square_error: ArrayLike
    mean_absolute_error: ArrayLike


def error_by_area(
    curves: Sequence[Curve],
    *,
    reference: tuple[ArrayLike, ArrayLike] | None = None,
    narrow: bool = False,
    up_to: float | None = None,
    words: Words = ENGLISH,
    **look: Any,
) -> Spec:
    """RMSE and MAE against the size of an area, both axes logarithmic, one colour per method.

    ``reference`` is what an average area of each size truly holds, drawn as a dotted line: above it, a
    figure is mostly noise. What is exactly 0 has no place on a logarithmic axis and is left out. ``narrow``
    puts the legends below. ``up_to`` looks closer: errors from 0 to there on a linear axis, the rest cut off.
    ``look``: if need be ``title``, ``subtitle``, ``area_title``, ``width`` and ``height``.

    >>> spec = error_by_area([Curve("Tree", [1, 4], [2.0, 3.0], [1.5, 2.5])])
    >>> len(spec["datasets"]["errors"])
    4
    """
    rows = []
    for curve in curves:
        rows += _rows(curve.area, curve.root_mean_square_error, method=curve.method, metric="RMSE")
        rows += _rows(curve.area, curve.mean_absolute_error, method=curve.method, metric="MAE")
    average = words("chart.average_true")
    true = [] if reference is None else _rows(*reference, metric=average)
    areas = _range([row["area"] for row in rows])
    values = _range([row["value"] for row in rows + true]) if up_to is None else [0.0, up_to]
    return fill(
        "error_by_area",
        words,
        errors=rows,
        reference=true,
        metrics=["RMSE", "MAE", average] if true else ["RMSE", "MAE"],
        area_domain=areas,
        area_ticks=_ticks(*areas),
        value_domain=values,
        value_ticks=_ticks(*values) if up_to is None else np.linspace(0, up_to, 9).tolist(),
        value_scale="log" if up_to is None else "linear",
        legend_orient="bottom" if narrow else "right",
        **look,
    )


def expected_error(
    area: ArrayLike,
    expected: ArrayLike,
    half_width: ArrayLike,
    released: ArrayLike,
    *,
    level: str,
    words: Words = ENGLISH,
    **look: Any,
) -> Spec:
    """How far a released number may be off, all (k,) against the size of an area: known without the truth.

    ``expected`` is the error to expect, ``half_width`` half of the interval that holds the truth with the chance
    ``level`` says, ``released`` the number itself, dotted. Both axes are logarithmic.
    ``look``: ``area_title``, and if need be ``width`` and ``height``.

    >>> spec = expected_error([1, 4], [2.0, 3.0], [4.0, 6.0], [10, 40], area_title="cells", level="90 %")
    >>> len(spec["datasets"]["lines"])
    6
    """
    names = [words("chart.expected"), words("chart.half_width", level=level), words("chart.number_itself")]
    lines = zip(names, (expected, half_width, released), strict=True)
    rows = [row for name, values in lines for row in _rows(area, values, line=name)]
    areas, values = (_range([row[name] for row in rows]) for name in ("area", "value"))
    axes = {"area_domain": areas, "area_ticks": _ticks(*areas), "value_domain": values, "value_ticks": _ticks(*values)}
    return fill("expected_error", words, lines=rows, names=names, **axes, **look)


def _rows(area: ArrayLike, value: ArrayLike, **names: str) -> list[dict[str, Any]]:
    pairs = zip(np.asarray(area, float).tolist(), np.asarray(value, float).tolist(), strict=True)
    return [{**names, "area": size, "value": amount} for size, amount in pairs if np.isfinite(amount)]


def _range(numbers: list[float]) -> list[float]:
    """A logarithmic axis around the positive numbers, with a margin; a decade each way from 1 without any."""
    positive = [number for number in numbers if number > 0]
    return [min(positive) / 1.4, max(positive) * 1.4] if positive else [0.1, 10.0]


def _ticks(low: float, high: float) -> list[float]:
    """Powers of ten between two positive numbers; where those are fewer than three, multiples of them too."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks: list[float] = []
    for multiples in ((1,), (1, 2, 5), range(1, 10)):
        ticks = [multiple * 10.0**power for power in powers for multiple in multiples]
        ticks = [tick for tick in ticks if low <= tick <= high]
        if len(ticks) >= 3:
            break
    return ticks


@dataclass(frozen=True)
class Bars:
    """One method's errors: both (k,), one per range of true counts."""

    method: str
    root_mean_square_error: ArrayLike
    mean_error: ArrayLike


def error_by_value(
    bars: Sequence[Bars], ranges: Sequence[str], *, narrow: bool = False, words: Words = ENGLISH, **look: Any
) -> Spec:
    """RMSE and mean error as bars, grouped by ``ranges`` (k,) of the true count, one colour per method.

    What is not finite (a range without cells) is left out. ``narrow`` puts the mean error below.
    ``look``: if need be ``title`` and ``width``.

    >>> spec = error_by_value([Bars("Simplex", [1.5, 4.0], [0.2, -3.0])], ["0", "1 or more"])
    >>> spec["datasets"]["errors"][3]
    {'method': 'Simplex', 'metric': 'ME', 'range': '1 or more', 'value': -3.0}
    """
    rows = [
        {"method": one.method, "metric": metric, "range": name, "value": number}
        for one in bars
        for metric, values in (("RMSE", one.root_mean_square_error), ("ME", one.mean_error))
        for name, number in zip(ranges, np.asarray(values, float).tolist(), strict=True)
        if np.isfinite(number)
    ]
    return fill("error_by_value", words, errors=rows, columns=1 if narrow else 2, **look)
