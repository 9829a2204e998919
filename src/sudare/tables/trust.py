"""How far to trust a released number: from the error bars of the release, which need no truth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sudare.language.catalogue import Words
from sudare.measure.blocks import GOOD, MOST, smallest_publishable
from sudare.render.charts import Spec
from sudare.render.error_charts import expected_error
from sudare.render.sections import Chart, Part, Section, Table, Text
from sudare.tables.area_sizes import AreaSize, area_sizes
from sudare.tables.examples import block_bars, examples
from sudare.tables.release import Release

LEVEL = 0.9
RANGES = (1, 10, 100, 1000)


@dataclass(frozen=True)
class UsualError:
    """What is usual in areas of one size that are released with people: medians over ``areas`` of them.

    ``relative_most`` is the relative error that nine of ten of them keep to: what is said of a size holds for those.
    """

    size: AreaSize
    areas: int
    number: float
    expected: float
    half_width: float
    relative: float
    relative_most: float


def usual_errors(release: Release) -> list[UsualError]:
    """One entry per size of area at which something is released."""
    rows = []
    for size in area_sizes(release.table.domain):
        bars = block_bars(release, size.level, LEVEL)
        shown = bars.value > 0
        if not shown.any():
            continue
        number, expected = bars.value[shown].astype(np.float64), bars.expected_error[shown]
        columns = (number, expected, (bars.high - bars.low)[shown] / 2, expected / number)
        most = float(np.quantile(columns[-1], MOST, method="higher"))
        middle = [float(np.median(column)) for column in columns]
        rows.append(UsualError(size, int(shown.sum()), middle[0], middle[1], middle[2], middle[3], most))
    return rows


def smallest_good(rows: list[UsualError], share: float = GOOD) -> UsualError | None:
    """The smallest size from which on nine of ten areas have an expected error of at most ``share`` of the number."""
    found = smallest_publishable([row.size.cells for row in rows], [row.relative_most for row in rows], share)
    return None if found is None else rows[found[0]]


def trust_section(release: Release, words: Words) -> Section:
    """Error by size of area, by released number, and examples."""
    rows = usual_errors(release)
    level = words.percent(LEVEL)
    paragraphs = [words("trust.text", level=level), _where_good(rows, words)]
    if {fact.code for fact in release.guarantee.public} & {"agreed", "areas"}:
        paragraphs.append(words("trust.totals"))
    parts: list[Part] = [Text.of(*paragraphs)]
    if len(rows) > 1:
        parts.append(Chart("expected", {560: _chart(rows, level, words), 0: _chart(rows, level, words, height=240)}))
    tables = (_sizes(rows, level, words), _values(release, level, words), _examples(release, level, words))
    parts += [table for table in tables if table.rows]
    return Section(words("trust.title"), tuple(parts), chapter="trust")


def _where_good(rows: list[UsualError], words: Words) -> str:
    good, share = smallest_good(rows), words.percent(GOOD)
    if good is None:
        return words("trust.never", share=share)
    if good is rows[0]:
        return words("trust.everywhere", share=share)
    return words("trust.smallest", area=good.size.text(words), share=share)


def _chart(rows: list[UsualError], level: str, words: Words, height: int = 300) -> Spec:
    # An axis has one unit: square kilometres where the sizes have some, and then not the single cells of a place.
    areas = [row for row in rows if row.size.square_km is not None]
    in_km = len(areas) > 1
    shown = areas if in_km else rows
    return expected_error(
        [row.size.square_km or row.size.cells if in_km else row.size.cells for row in shown],
        *([getattr(row, name) for row in shown] for name in ("expected", "half_width", "number")),
        area_title=words("chart.square_km" if in_km else "chart.cells_in_area"),
        level=level,
        height=height,
        words=words,
    )


def _sizes(rows: list[UsualError], level: str, words: Words) -> Table:
    header = (
        words("trust.size"),
        words("trust.areas"),
        words("trust.number"),
        words("trust.expected"),
        words("trust.half_width", level=level),
        words("trust.relative"),
    )
    lines = tuple(
        (
            row.size.text(words),
            words.number(row.areas),
            words.number(row.number),
            words.number(row.expected),
            words.number(row.half_width),
            words.percent(row.relative),
        )
        for row in rows
    )
    return Table(words("trust.sizes_caption"), header, lines)


def _values(release: Release, level: str, words: Words) -> Table:
    """Single cells by their released number: of each range the cell in the middle."""
    bars = block_bars(release, 0, LEVEL)
    unlisted = release.table.domain.size - len(release.table)
    rows = []
    if unlisted:
        none = bars.elsewhere
        rows.append((words("trust.not_listed"), unlisted, 0, none.expected_error[0], none.low[0], none.high[0]))
    place = np.searchsorted(RANGES, bars.value, side="right") - 1
    for number, low in enumerate(RANGES):
        here = np.flatnonzero(place == number)
        if not len(here):
            continue
        one = here[np.argsort(bars.value[here], kind="stable")[len(here) // 2]]
        name = words("compare.and_more", low=low)
        if number + 1 < len(RANGES):
            name = words("trust.from_to", low=low, high=RANGES[number + 1] - 1)
        rows.append((name, len(here), bars.value[one].item(), bars.expected_error[one], bars.low[one], bars.high[one]))
    header = (
        words("trust.range"),
        words("trust.cells"),
        words("trust.middle"),
        words("trust.expected"),
        words("trust.interval", level=level),
    )
    lines = tuple(
        (name, words.number(cells), words.number(value), words.number(float(error)), interval(low, high, words))
        for name, cells, value, error, low, high in rows
    )
    return Table(words("trust.values_caption"), header, lines)


def _examples(release: Release, level: str, words: Words) -> Table:
    header = (words("trust.area"), words("trust.number"), words("trust.interval", level=level), words("trust.expected"))
    lines = tuple(
        (one.name, words.number(one.value), interval(one.low, one.high, words), words.number(one.expected_error))
        for one in examples(release, LEVEL, words)
    )
    return Table(words("trust.examples_caption"), header, lines)


def interval(low: float, high: float, words: Words) -> str:
    """From one number to another.

    >>> interval(3.0, 12.5, Words("en"))
    '3 to 12.5'
    """
    return words("trust.from_to", low=words.number(float(low)), high=words.number(float(high)))
