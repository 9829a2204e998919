"""Charts as SVG, drawn by the server: the page then needs no script that evaluates code."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sudare.domain import Domain, Grid
from sudare.language.catalogue import Words
from sudare.render.charts import Spec, render_svg
from sudare.render.error_charts import Bars, Curve, error_by_value
from sudare.render.error_charts import error_by_area as area_chart
from sudare.studio.models import AreaError
from sudare.studio.refusals import RequestError
from sudare.tables.synthetic import synthetic_table

_BY_VALUE = ("root_mean_square_error", "mean_error")


def expected_svg(rows: list[AreaError], method: str, words: Words, width: int) -> str:
    """Expected error of a method where people are, by size: of the best and the worst scenario where they differ."""
    if not rows:
        raise RequestError(404, "there are no errors by area to draw")
    ground = [row.square_km for row in rows if row.square_km is not None]
    in_km = len(ground) == len(rows)
    area = ground if in_km else [row.cells for row in rows]
    ends = [[math.nan if (one := row.with_people[end]) is None else one for row in rows] for end in (0, 1)]
    people = [row.people[0] for row in rows]
    one = ends[0] == ends[1]
    names = [method] if one else [words("studio.forecast.best"), words("studio.forecast.worst")]
    curves = [Curve(name, area, end, [math.nan] * len(rows)) for name, end in zip(names, ends, strict=False)]
    return render_svg(_areas(curves, in_km, words, width, (area, people) if one and None not in people else None))


def concentration_svg(concentration: str) -> str:
    """A small picture of invented people: how uneven they live, a darker square has more of them.

    >>> concentration_svg("low").count("<rect") > 100
    True
    """
    side = 20
    grid = Domain(cell=Grid(side, side))
    counts = synthetic_table(grid, 20_000, 4, 0.45, concentration).to_array()
    shade = np.log1p(counts) / math.log1p(1200)
    squares = "".join(
        f'<rect x="{column}" y="{row}" width="1" height="1" opacity="{min(1.0, float(shade[row, column])):.2f}"/>'
        for row, column in zip(*np.nonzero(counts), strict=True)
    )
    size = f'width="72" height="72" viewBox="0 0 {side} {side}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} fill="#1c4a5c" aria-hidden="true">{squares}</svg>'


def rehearsed_svg(found: list[dict[str, Any]], words: Words, width: int) -> str:
    """Errors of one or two rehearsals by size of area."""
    tables = [one for one in found if one["kind"] == "table"]
    if not tables:
        raise RequestError(404, "only rehearsals of tables have errors by area")
    curves = [
        Curve(
            _called(one, words),
            [row["cells"] for row in one["errors"]],
            [row["root_mean_square_error"] for row in one["errors"]],
            [row["mean_absolute_error"] for row in one["errors"]],
        )
        for one in tables
    ]
    return render_svg(_areas(curves, False, words, width, None))


def values_svg(found: list[dict[str, Any]], words: Words, width: int) -> str:
    """Errors of one or two rehearsals by the true count of a cell."""
    tables = [one for one in found if one["by_value"]]
    if not tables:
        raise RequestError(404, "only rehearsals of tables have errors by value")
    bars = [
        Bars(
            _called(one, words),
            *([math.nan if row[key] is None else row[key] for row in one["by_value"]] for key in _BY_VALUE),
        )
        for one in tables
    ]
    names = [_range(row) for row in tables[0]["by_value"]]
    narrow = width < 700
    own = width - 120 if narrow else (width - 200) // 2
    return render_svg(error_by_value(bars, names, width=own, narrow=narrow, words=words))


def _areas(curves: list[Curve], in_km: bool, words: Words, width: int, reference: Any) -> Spec:
    title = words("chart.square_km" if in_km else "chart.cells_in_block")
    narrow = width < 620
    own = width - (90 if narrow else 240)
    return area_chart(curves, reference=reference, area_title=title, width=own, height=280, narrow=narrow, words=words)


def _called(one: dict[str, Any], words: Words) -> str:
    """A rehearsal in a legend: its version, method and cost."""
    method = words.label("method_name", one["method"] or "")
    return f"{one['version']}: {method}, {one['cost']}"


def _range(row: dict[str, Any]) -> str:
    low, high = int(row["lower"]), row["upper"]
    if high is None:
        return f"{low:,}+"
    return f"{low:,}" if int(high) == low + 1 else f"{low:,}–{int(high) - 1:,}"
