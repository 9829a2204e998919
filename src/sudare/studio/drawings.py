"""Charts as SVG: the specs of the house, drawn here so that the page needs no script that evaluates code."""

from __future__ import annotations

import math
from typing import Any

from sudare.language.catalogue import Words
from sudare.render.charts import Spec, render_svg
from sudare.render.error_charts import Bars, Curve, error_by_value
from sudare.render.error_charts import error_by_area as area_chart
from sudare.studio.models import AreaError
from sudare.studio.refusals import RequestError

_WIDTHS = (240, 1400)
_BY_VALUE = ("root_mean_square_error", "mean_error")


def expected_svg(rows: list[AreaError], method: str, words: Words, width: int) -> str:
    """Expected error of a method by size of area, with what an average area holds."""
    if not rows:
        raise RequestError(404, "there are no errors by area to draw")
    ground = [row.square_km for row in rows if row.square_km is not None]
    in_km = len(ground) == len(rows)
    area = ground if in_km else [row.cells for row in rows]
    # The law of the noise gives the root mean square alone.
    absolute = [math.nan if row.expected == row.root_mean_square else row.expected for row in rows[:-1]]
    absolute.append(rows[-1].expected if not all(map(math.isnan, absolute)) else math.nan)
    curve = Curve(method, area, [row.root_mean_square for row in rows], absolute)
    reference = area, [row.people for row in rows]
    return _drawn(_areas([curve], in_km, words, width, reference), width)


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
    return _drawn(_areas(curves, False, words, width, None), width)


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
    return _drawn(error_by_value(bars, names, width=own, narrow=narrow, words=words), width)


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


def _drawn(spec: Spec, width: int) -> str:
    if not _WIDTHS[0] <= width <= _WIDTHS[1]:
        raise RequestError(
            422,
            "a chart is not drawn as wide as that",
            value=width,
            allowed="{widths} to {second_widths}",
            widths=_WIDTHS[0],
            second_widths=_WIDTHS[1],
        )
    return render_svg(spec)
