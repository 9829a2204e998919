import re

import numpy as np
import pytest

from sudare.errors import ParameterError
from sudare.render.charts import render_svg
from sudare.render.maps import Frame, side_by_side

TOKYO = Frame(128, 128, 35.3, 139.3, 1 / 240, 1 / 160, aspect=1.22)


def encodings(spec):
    return [panel["encoding"] for panel in spec["concat"]]


def test_a_cell_keeps_its_shape_on_the_ground():
    panel = side_by_side(TOKYO, [0], [0], [1], [1])["concat"][0]
    width, height = panel["width"] / 128, panel["height"] / 128
    assert width / height == pytest.approx(1.22, abs=0.005)


def test_a_tall_window_becomes_narrow_instead_of_endless():
    assert Frame(200, 10).pixels(400) == (32, 640)
    assert Frame(1, 1000).pixels(400) == (400, 12)


def test_both_maps_share_one_scale_that_spans_both():
    first, second = encodings(side_by_side(TOKYO, [0, 1], [0, 1], [9, 99], [999, 5]))
    assert first["color"]["scale"] == second["color"]["scale"]
    assert first["color"]["scale"]["domain"] == [0, pytest.approx(np.log(1000))]
    assert np.expm1(first["color"]["legend"]["values"]) == pytest.approx([1, 10, 100])


def test_axes_run_along_the_whole_window():
    scales = encodings(side_by_side(TOKYO, [0], [0], [1], [1]))[0]
    assert scales["x"]["scale"]["domain"] == pytest.approx([139.3, 140.1])
    assert scales["y"]["scale"]["domain"] == pytest.approx([35.3, 35.3 + 128 / 240])


def colours(texts):
    return np.array([[int(number) for number in re.findall(r"\d+", text)] for text in texts], dtype=float)


def test_cells_and_legend_have_the_same_colours():
    """Vega's own symlog scale fails this: its legend is grey where the map is blue."""
    svg = render_svg(side_by_side(Frame(1, 3), [0, 0, 0], [0, 1, 2], [1, 30, 999], [1, 30, 999], width=90))
    cells = colours(re.findall(r'aria-roledescription="rect mark"[^>]*fill="(rgb\([^"]*\))"', svg))[:3]
    stops = re.findall(r'<stop offset="([^"]*)" stop-color="(rgb\([^"]*\))"', svg)
    offsets = np.array([float(offset) for offset, _ in stops])
    for value, cell in zip((1, 30, 999), cells, strict=True):
        place = np.log1p(value) / np.log(1000)
        legend = [np.interp(place, offsets, band) for band in colours(stop for _, stop in stops).T]
        assert np.abs(cell - legend).max() < 6


def test_zeros_are_not_drawn():
    svg = render_svg(side_by_side(Frame(1, 3), [0, 0, 0], [0, 1, 2], [5, 0, 0], [5, 6, 0], width=90))
    assert svg.count('aria-roledescription="rect mark"') == 3


def test_negative_values_are_announced():
    subtitles = [side_by_side(TOKYO, [0], [0], [1], [value])["concat"][1]["title"]["subtitle"] for value in (1, -1)]
    assert ["negative values in red" in subtitle for subtitle in subtitles] == [False, True]


def test_a_map_without_people_can_be_drawn():
    assert "<svg" in render_svg(side_by_side(TOKYO, [], [], [], []))


def test_narrow_maps_lie_below_each_other():
    spec = side_by_side(TOKYO, [0], [0], [1], [1], narrow=True)
    assert spec["columns"] == 1
    assert encodings(spec)[0]["color"]["legend"]["orient"] == "top"


def test_a_frame_without_extent_is_refused():
    with pytest.raises(ParameterError, match=r"a map's aspect is not positive \(got 0\)"):
        Frame(2, 2, aspect=0)
