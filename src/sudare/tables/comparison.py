"""A released table compared with the true one: sections and a picture for the publisher only.

All of it contains true values. It belongs to rehearsals, demonstrations and internal reports; none is ever part of
a release, and the public report refuses such a section.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.domain import CountTable, Domain
from sudare.errors import ParameterError, did_you_mean
from sudare.language.catalogue import ENGLISH, Words
from sudare.measure import BlockErrors, density, error_by_block, error_by_value, l1_accuracy
from sudare.measure.blocks import square_km
from sudare.measure.comparison import support
from sudare.render.charts import Spec, render_png, stack
from sudare.render.drawing import View
from sudare.render.error_charts import Bars, Curve, error_by_area
from sudare.render.error_charts import error_by_value as value_chart
from sudare.render.outlines import Outline, countries
from sudare.render.sections import Chart, Map, Part, Section, Table, Text, Tiles


def marginal(table: CountTable, *names: str) -> CountTable:
    """The table over the attributes ``names`` only, in that order, summed over all others.

    >>> from sudare.domain import Categories, Line
    >>> domain = Domain(place=Line(3), sex=Categories(["f", "m"]))
    >>> table = CountTable(domain, domain.index([0, 0, 2], [0, 1, 1]), [5, 6, 7])
    >>> marginal(table, "place").to_array().tolist()
    [11, 0, 7]
    """
    attributes = table.domain.attributes
    for name in names:
        if name not in attributes:
            hint = did_you_mean(name, attributes)
            raise ParameterError("there is no such attribute", value=name, allowed=attributes, hint=hint)
    if names == tuple(attributes):
        return table
    coordinates = table.domain.coordinates(table.index)
    domain = Domain(None, **{name: attributes[name] for name in names})
    index = domain.index(*(coordinates[table.domain.axes.index(axis)] for axis in domain.axes))
    ascending = np.argsort(index, kind="stable")
    index, count = index[ascending], table.count[ascending]
    first = np.flatnonzero(np.diff(index, prepend=-1))
    sums: NDArray[Any] = np.add.reduceat(count, first) if len(first) else count
    return CountTable(domain, index[first], sums, table.unit, private=table.private, bounded=True)


VALUE_LAYOUTS = ((1000, 400, False), (860, 330, False), (640, 230, False), (420, 320, True), (0, 230, True))
"""What a layout of the two charts of error by value needs in pixels, their width, and whether they are stacked."""


def comparison_sections(
    truth: CountTable,
    released: CountTable,
    words: Words = ENGLISH,
    *,
    method: str = "released",
    outline: Outline | None = None,
) -> list[Section]:
    """Both maps, error by area and by true value with its bias, cells that appear or vanish."""
    view = View.of(truth.domain, words)
    blocks = error_by_block(truth, released, _levels(truth.domain))
    return [
        Section(words("compare.title"), tuple(_pictures(truth, released, view, blocks, outline)), internal=True),
        _areas(truth, released, view, blocks, method),
        _values(truth, released, words, method),
        _support(truth, released, words),
    ]


def comparison_picture(
    truth: CountTable,
    released: CountTable,
    *,
    title: str = "",
    method: str = "released",
    scale: float = 2.0,
    words: Words = ENGLISH,
) -> bytes:
    """A PNG: both maps side by side above the error by area, under ``title`` if there is one."""
    view = View.of(truth.domain, words)
    titled = {words("chart.true_counts"): truth, words("chart.released_counts"): released}
    rows = len(view.domain.attributes[view.name].lengths) == 2
    upper = view.picture(titled, 430) if rows else view.profile(truth, released, width=900)
    return render_png(stack(upper, _area_chart(truth, released, view, method, width=900), title=title), scale)


def _pictures(
    truth: CountTable, released: CountTable, view: View, blocks: BlockErrors, outline: Outline | None
) -> list[Part]:
    words = view.words
    tiles = Tiles(
        (
            (words.number(truth.total), words("compare.people_true")),
            (words.number(released.total), words("compare.people_released")),
            (words.percent(l1_accuracy(truth, released)), words("compare.accuracy")),
            (words.number(float(blocks.root_mean_square_error[0])), words("compare.cell_error")),
            (words.percent(density(truth)), words("compare.density_true")),
            (words.percent(density(released)), words("compare.density_released")),
        )
    )
    note = words("compare.picture", note=view.note) if view.note else ""
    text = Text.of(words("compare.map" if view.is_map else "compare.profile"), note)
    if not view.is_map:
        return [tiles, text, Chart("tables", {0: view.profile(truth, released)})]
    titled = {words("chart.true_counts"): truth, words("chart.released_counts"): released}
    return [tiles, text, Map("tables", view.map(titled, outline=outline or countries()))]


def _areas(truth: CountTable, released: CountTable, view: View, blocks: BlockErrors, method: str) -> Section:
    words = view.words
    layouts = {
        560: _area_chart(truth, released, view, method),
        0: _area_chart(truth, released, view, method, narrow=True),
    }
    in_km = square_km(truth.domain, 0) is not None
    names = ("mean_truth", "root_mean_square_error", "mean_absolute_error", "mean_error")
    header = [words("compare.cells_in_block"), *([words("chart.square_km")] if in_km else []), words("compare.blocks")]
    header += [words(f"compare.{name}") for name in (*names, "relative_error")]
    rows = []
    for row in blocks.rows():
        line = [words.number(row["cells"])]
        area = square_km(truth.domain, row["level"])
        if in_km and area is not None:
            line.append(words.number(area))
        line += [words.number(row[name]) for name in ("blocks", *names)]
        rows.append((*line, words.percent(row["relative_error"])))
    return Section(
        words("compare.trust_title"),
        (
            Text.of(words("compare.trust")),
            Chart("errors", layouts),
            Table(words("compare.blocks_caption"), tuple(header), tuple(rows)),
        ),
        internal=True,
    )


def _area_chart(
    truth: CountTable,
    released: CountTable,
    view: View,
    method: str,
    width: int | str = "container",
    narrow: bool = False,
) -> Spec:
    """The chart of error by area: in square kilometres where a cell has some, else in cells."""
    words = view.words
    drawn = marginal(truth, view.name), marginal(released, view.name)
    domain = drawn[0].domain
    errors = error_by_block(*drawn, _levels(domain))
    ground = square_km(domain, domain.bits)
    # What a block has on average, not 2**level: at the rim much of it may be padding or masked.
    area = (domain.size if ground is None else ground) / errors.blocks
    return error_by_area(
        [Curve(method, area, errors.root_mean_square_error, errors.mean_absolute_error)],
        reference=(area, errors.mean_truth),
        area_title=words("chart.cells_in_block" if ground is None else "chart.square_km"),
        subtitle=words("chart.summed", names=words.listing(view.others)) if view.others else "",
        width=width,
        height=260,
        narrow=narrow,
        words=words,
    )


def _values(truth: CountTable, released: CountTable, words: Words, method: str) -> Section:
    errors = error_by_value(truth, released)
    names = [_range(row, words) for row in errors.rows()]
    bars = [Bars(method, errors.root_mean_square_error, errors.mean_error)]
    short = [_short(row) for row in errors.rows()]
    layouts = {
        needed: value_chart(bars, short, width=width, narrow=narrow, words=words)
        for needed, width, narrow in VALUE_LAYOUTS
    }
    columns = ("cells", "root_mean_square_error", "mean_absolute_error", "mean_error")
    rows = tuple(
        (name, *(words.number(row[column]) for column in columns))
        for name, row in zip(names, errors.rows(), strict=True)
    )
    header = (words("compare.true_count"), *(words(f"compare.{column}") for column in columns))
    parts = (
        Text.of(words("compare.values")),
        Chart("values", layouts),
        Table(words("compare.values_caption"), header, rows),
    )
    return Section(words("compare.values_title"), parts, internal=True)


def _range(row: Mapping[str, Any], words: Words) -> str:
    low, high = int(row["lower"]), row["upper"]
    if high == low + 1:
        return words.number(low)
    if high == float("inf"):
        return words("compare.and_more", low=low)
    return words("compare.from_to", low=low, high=int(high) - 1)


def _short(row: Mapping[str, Any]) -> str:
    """A range as it fits below a bar: 0, 1–9, 100+."""
    low, high = int(row["lower"]), row["upper"]
    if high == low + 1:
        return f"{low:,}"
    return f"{low:,}+" if high == float("inf") else f"{low:,}–{int(high) - 1:,}"


def _support(truth: CountTable, released: CountTable, words: Words) -> Section:
    found = support(truth, released)
    vanish, appear = found.false_negative_rate, found.false_positive_rate
    rows = tuple(
        (words(f"compare.{name}"), words.number(cells), words.percent(share))
        for name, cells, share in (
            ("kept", found.true_positives, 1 - vanish),
            ("vanish", found.false_negatives, vanish),
            ("appear", found.false_positives, appear),
            ("empty", found.true_negatives, 1 - appear),
        )
    )
    header = (words("compare.cell"), words("compare.cells"), words("compare.share"))
    part = Table(words("compare.support_caption"), header, rows)
    return Section(words("compare.support_title"), (part,), internal=True)


def _levels(domain: Domain) -> list[int]:
    """Single cells, then blocks four times as large each, and the whole."""
    return sorted({*range(0, domain.bits + 1, 2), domain.bits})
