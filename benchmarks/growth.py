"""Curves of the scoreboard: points that rows mark by ``series`` and ``at``, and the power by which they grow."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from row import Row


@dataclass(frozen=True)
class Growth:
    """One series: places ascending, values, and the exponent b of the fitted value ~ place**b (None of one point)."""

    name: str
    unit: str
    at: tuple[float, ...]
    value: tuple[float, ...]
    exponent: float | None


def growths(rows: Iterable[Row]) -> list[Growth]:
    """All curves, fitted by least squares on logarithms.

    >>> rows = [Row("a", 2.0 * at**2, "s", series="square", at=at) for at in (1.0, 10.0, 100.0)]
    >>> [(curve.name, round(curve.exponent, 9)) for curve in growths(rows)]
    [('square', 2.0)]
    """
    found: dict[tuple[str, str], dict[float, float]] = {}
    for row in rows:
        if row.series and row.at and row.value and row.value > 0:
            found.setdefault((row.series, row.unit), {})[row.at] = row.value
    return [
        Growth(name, unit, tuple(sorted(points)), tuple(points[at] for at in sorted(points)), exponent(points))
        for (name, unit), points in found.items()
    ]


def exponent(points: dict[float, float]) -> float | None:
    """The slope of log value over log place."""
    if len(points) < 2:
        return None
    at, value = ([math.log(each) for each in part] for part in (points, points.values()))
    return float(np.polyfit(at, value, 1)[0])
