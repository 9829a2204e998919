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

from sudare.errors import ParameterError
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
    area_title: str | None = None,
    title: str | None = None,
    subtitle: str = "",
    width: int | str = "container",
    height: int = 300,
    narrow: bool = False,
    up_to: float | None = None,
    words: Words = ENGLISH,
) -> Spec:
    """RMSE and MAE against the size of an area, both axes logarithmic, one colour per method.

    ``reference`` is what an average area of each size truly holds, drawn as a dotted line: above it, a
    figure is mostly noise. What is exactly 0 has no place on a logarithmic axis and is left out. ``narrow``
    puts the legends below. ``up_to`` looks closer: errors from 0 to there on a linear axis, the rest cut off.

    >>> spec = error_by_area([Curve("Tree", [1, 4], [2.0, 3.0], [1.5, 2.5])])
    >>> len(spec["datasets"]["errors"])
    4
    """
    if not curves:
        raise ParameterError("there is no method to draw", allowed="at least one curve")
    rows = []
    for curve in curves:
        rows += _rows(curve.area, curve.root_mean_square_error, method=curve.method, metric="RMSE")
        rows += _rows(curve.area, curve.mean_absolute_error, method=curve.method, metric="MAE")
    average = words("chart.average_true")
    true = [] if reference is None else _rows(*reference, metric=average)
    areas = _range([row["area"] for row in rows])
    values = _range([row["value"] for row in rows + true])
    if up_to is not None:
        if not 0 < up_to < math.inf:
            raise ParameterError(
                "up_to is not the largest error of a chart", value=up_to, allowed="a finite number > 0"
            )
        values = [0.0, up_to]
    return fill(
        "error_by_area",
        words,
        errors=rows,
        reference=true,
        metrics=["RMSE", "MAE", average] if true else ["RMSE", "MAE"],
        area_title=words("chart.cells_in_area") if area_title is None else area_title,
        value_title=words("chart.error_people"),
        title=words("chart.error_by_area") if title is None else title,
        subtitle=subtitle,
        width=width,
        height=height,
        area_domain=areas,
        area_ticks=_ticks(*areas),
        value_domain=values,
        value_ticks=_ticks(*values) if up_to is None else np.linspace(0, up_to, 9).tolist(),
        value_scale="log" if up_to is None else "linear",
        legend_orient="bottom" if narrow else "right",
    )


def expected_error(
    area: ArrayLike,
    expected: ArrayLike,
    half_width: ArrayLike,
    released: ArrayLike,
    *,
    area_title: str,
    level: str,
    width: int | str = "container",
    height: int = 300,
    words: Words = ENGLISH,
) -> Spec:
    """How far a released number may be off, all (k,) against the size of an area: known without the truth.

    ``expected`` is the error to expect, ``half_width`` half of the interval that holds the truth with the chance
    ``level`` says, ``released`` the number itself, dotted. Both axes are logarithmic.

    >>> spec = expected_error([1, 4], [2.0, 3.0], [4.0, 6.0], [10, 40], area_title="cells", level="90 %")
    >>> len(spec["datasets"]["lines"])
    6
    """
    names = [words("chart.expected"), words("chart.half_width", level=level), words("chart.number_itself")]
    rows = [row for name, values in zip(names, (expected, half_width, released), strict=True)
            for row in _rows(area, values, line=name)]  # fmt: skip
    areas, values = (_range([row[name] for row in rows]) for name in ("area", "value"))
    return fill(
        "expected_error",
        words,
        lines=rows,
        names=names,
        title=words("chart.expected_title"),
        subtitle="",
        area_title=area_title,
        value_title=words("chart.people"),
        width=width,
        height=height,
        area_domain=areas,
        area_ticks=_ticks(*areas),
        value_domain=values,
        value_ticks=_ticks(*values),
    )


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
