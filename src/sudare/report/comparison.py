"""The comparison of a true and a released table: a page and a picture for the publisher's own eyes.

Both contain true values. They belong to rehearsals, demonstrations and internal reports; neither is ever
part of a release.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sudare.charts import Curve, Spec, error_by_area, html, render_png, stack
from sudare.domain import CountTable, Domain
from sudare.measure import BlockErrors, density, error_by_block, error_by_value, l1_accuracy, support
from sudare.report.drawing import Drawing, draw
from sudare.report.numbers import number, percent

BANNER = "INTERNAL: contains true values"
MAP_LAYOUTS = (
    (1150, 430, False),
    (900, 305, False),
    (760, 235, False),
    (510, 430, True),
    (420, 340, True),
    (338, 260, True),
    (0, 220, True),
)
"""What a layout needs in pixels, the width of its maps, and whether they lie below each other."""


def comparison_page(
    truth: CountTable,
    released: CountTable,
    *,
    title: str,
    facts: Mapping[str, str] | None = None,
    method: str = "released",
) -> str:
    """A self-contained HTML page: both maps, error by area, tables by block size and by true value.

    ``facts`` are shown as they are (epsilon, unit, date, ...). The page loads nothing from elsewhere, fits a
    phone and prints.
    """
    drawing = draw(truth, released)
    errors = error_by_block(drawing.truth, drawing.released, _levels(drawing.truth.domain))
    charts = html(
        {
            "tables": {needed: drawing.chart(width, narrow) for needed, width, narrow in MAP_LAYOUTS}
            if drawing.is_map
            else {0: drawing.chart()},
            "errors": {560: _chart(drawing, errors, method), 0: _chart(drawing, errors, method, narrow=True)},
        }
    )
    blocks = error_by_block(truth, released, _levels(truth.domain))
    page: str = _template().render(
        banner=BANNER,
        title=title,
        facts=dict(facts or {}),
        domain=truth.domain.describe(),
        figures=charts.figures,
        script=charts.script,
        drawing=drawing,
        truth=truth,
        released=released,
        accuracy=l1_accuracy(truth, released),
        densities=(density(truth), density(released)),
        support=support(truth, released),
        blocks=blocks.rows(),
        values=error_by_value(truth, released).rows(),
    )
    return page


def comparison_picture(
    truth: CountTable,
    released: CountTable,
    *,
    title: str = "",
    method: str = "released",
    scale: float = 2.0,
) -> bytes:
    """A PNG: both maps side by side above the error by area, under ``title`` if there is one."""
    drawing = draw(truth, released)
    errors = error_by_block(drawing.truth, drawing.released, _levels(drawing.truth.domain))
    upper = drawing.chart() if drawing.is_map else drawing.chart(width=900)
    return render_png(stack(upper, _chart(drawing, errors, method, width=900), title=title), scale)


def _chart(
    drawing: Drawing, errors: BlockErrors, method: str, width: int | str = "container", narrow: bool = False
) -> Spec:
    """The chart of error by area: in square kilometres where a cell has some, else in cells."""
    size = drawing.cell_km2
    # What a block has on average, not 2**level: at the rim much of it may be padding or masked.
    area = drawing.truth.domain.size / errors.blocks * (size or 1.0)
    return error_by_area(
        [Curve(method, area, errors.root_mean_square_error, errors.mean_absolute_error)],
        reference=(area, errors.mean_truth),
        title=f"Error by size of {'area' if drawing.is_map else 'block'}",
        area_title="cells in a block" if size is None else "area (km²)",
        subtitle=f"summed over {' and '.join(drawing.others)}" if drawing.others else "",
        width=width,
        height=260,
        narrow=narrow,
    )


def _levels(domain: Domain) -> list[int]:
    """Single cells, then blocks four times as large each, and the whole."""
    return sorted({*range(0, domain.bits + 1, 2), domain.bits})


def _template() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("sudare.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(number=number, percent=percent)
    return environment.get_template("comparison.html")
