import numpy as np
import pytest

from sudare.domain import Bins, Categories, CountTable, Domain, Grid, Line, Mesh
from sudare.report.drawing import draw


def table(domain, *coordinates, count):
    return CountTable(domain, domain.index(*coordinates), count)


def cells_of(spec):
    lines = spec["datasets"]["cells"].splitlines()
    return {tuple(map(float, line.split(","))) for line in lines[1:]}


def test_a_map_sums_over_the_other_attributes():
    domain = Domain(sex=Categories(["f", "m"]), cell=Grid(4, 4))
    truth = table(domain, [0, 1], [2, 2], [3, 3], count=[5, 6])
    released = table(domain, [0], [0], [1], count=[4])
    drawing = draw(truth, released)
    assert cells_of(drawing.chart()) == {(2, 3, 11, 0), (0, 1, 0, 4)}
    assert drawing.note == "summed over sex"


def test_a_large_map_is_drawn_in_blocks_and_says_so():
    domain = Domain(cell=Grid(300, 300))
    truth = table(domain, [0, 1, 299], [0, 1, 299], count=[1, 2, 4])
    drawing = draw(truth, truth)
    assert cells_of(drawing.chart()) == {(0, 0, 3, 3), (149, 149, 4, 4)}
    assert drawing.what == "people per 2 x 2 cells"
    assert drawing.note == "drawn in blocks of 2 x 2 cells"
    assert drawing.chart()["concat"][0]["encoding"]["x"]["scale"]["domain"] == [0, 300]


def test_a_mesh_has_degrees_and_its_shape_on_the_ground():
    domain = Domain(mesh=Mesh("500m", rows=(8480, 8608), columns=(6300, 6428)))
    truth = table(domain, [0], [0], count=[1])
    drawing = draw(truth, truth)
    panel = drawing.chart()["concat"][0]
    assert panel["encoding"]["x"]["scale"]["domain"] == pytest.approx([139.375, 140.175])
    assert panel["encoding"]["y"]["axis"]["title"] == "latitude (°N)"
    assert panel["width"] / panel["height"] == pytest.approx(1.5 * np.cos(np.radians(35.6)), abs=0.005)
    assert drawing.what == "people per 500 m cell"
    assert drawing.cell_km2 == pytest.approx(0.4633 * 0.5651, rel=1e-3)


@pytest.mark.parametrize(("size", "words"), [("1km", "1 km"), ("125m", "125 m"), ("80km", "80 km")])
def test_the_size_of_a_mesh_is_spelled_out(size, words):
    domain = Domain(mesh=Mesh(size, codes=["5339"]))
    empty = CountTable(domain, [], [])
    assert draw(empty, empty).what.endswith(f"people per {words} cell") or f"of {words}" in draw(empty, empty).what


def test_a_line_is_a_profile_with_a_bar_for_every_place():
    domain = Domain(cell=Line(600))
    truth = table(domain, [0, 599], count=[7, 9])
    drawing = draw(truth, truth)
    places = drawing.chart(width=300)["datasets"]["places"]
    assert len(places) == 150
    assert places[0] == {"label": "0", "truth": 7.0, "released": 7.0}
    assert places[-1]["truth"] == 9.0
    assert drawing.cell_km2 is None


def test_without_space_the_first_attribute_is_drawn_with_its_names():
    domain = Domain(sex=Categories(["f", "m"]), age=Bins(0, 90, step=30))
    truth = table(domain, [1], [2], count=[3])
    assert [place["label"] for place in draw(truth, truth).chart()["datasets"]["places"]] == ["f", "m"]
