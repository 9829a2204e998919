import numpy as np
import pytest

import sudare as sd
from map_reading import unpacked, values_of
from sudare.domain import Bins, Categories, CountTable, Domain, Grid, Line, Mesh
from sudare.errors import ParameterError
from sudare.language.catalogue import Words
from sudare.render.charts import render_svg
from sudare.render.drawing import View


def table(domain, *coordinates, count):
    return CountTable(domain, domain.index(*coordinates), count)


def test_a_map_sums_over_the_other_attributes():
    domain = Domain(sex=Categories(["f", "m"]), cell=Grid(4, 4))
    truth = table(domain, [0, 1], [2, 2], [3, 3], count=[5, 6])
    released = table(domain, [0], [0], [1], count=[4])
    view = View.of(domain)
    drawn = view.map({"true": truth, "released": released})
    assert (values_of(drawn), values_of(drawn, 1)) == ({2 * 4 + 3: 11}, {1: 4})
    assert view.note == "summed over sex"


def test_a_large_map_is_drawn_in_blocks_and_says_so():
    domain = Domain(cell=Grid(2000, 1000))
    truth = table(domain, [0, 1, 1999], [0, 1, 999], count=[1, 2, 4])
    view = View.of(domain)
    drawn = view.map({"true": truth})
    assert (drawn["frame"]["rows"], drawn["frame"]["columns"], drawn["frame"]["side"]) == (1000, 500, 2)
    assert values_of(drawn) == {0: 3, 999 * 500 + 499: 4}
    assert view.what == "people per 2 x 2 cells"
    assert view.note == "drawn in blocks of 2 x 2 cells"


def test_a_picture_of_a_mesh_has_degrees_and_its_shape_on_the_ground():
    domain = Domain(mesh=Mesh("500m", rows=(8480, 8608), columns=(6300, 6428)))
    truth = table(domain, [0], [0], count=[1])
    view = View.of(domain)
    panel = view.picture({"true": truth, "released": truth}, 430)["concat"][0]
    assert panel["width"] / panel["height"] == pytest.approx(1.5 * np.cos(np.radians(35.6)), abs=0.005)
    assert view.what == "people per 500 m cell"


def test_intervals_are_those_of_the_blocks_that_are_drawn():
    domain = Domain(cell=Grid(8, 8), sex=Categories(["f", "m"]))
    people = table(domain, [0, 0, 5], [0, 0, 6], [0, 1, 1], count=[50, 60, 70])
    made = sd.release(people, sd.Laplace(), epsilon=1, seed=5)
    drawn = View.of(domain).map({"released": made.table}, bars=lambda level: made.error(block_level=level))
    (panel,) = drawn["panels"]
    bars = made.error(block_level=1)
    rows, columns, _ = domain.coordinates(bars.block << 1)
    order = np.argsort(rows * 8 + columns)
    assert unpacked(panel["low"]) == pytest.approx(bars.low[order].tolist(), abs=0.01)
    assert unpacked(panel["high"]) == pytest.approx(bars.high[order].tolist(), abs=0.01)
    assert panel["elsewhere"] == [bars.elsewhere.low[0], bars.elsewhere.high[0]]


@pytest.mark.parametrize(("size", "words"), [("1km", "1 km"), ("125m", "125 m"), ("80km", "80 km")])
def test_the_size_of_a_mesh_is_spelled_out(size, words):
    domain = Domain(mesh=Mesh(size, codes=["5339"]))
    what = View.of(domain).what
    assert what.endswith(f"people per {words} cell") or f"of {words}" in what


def test_a_line_is_a_profile_with_a_bar_for_every_place():
    domain = Domain(cell=Line(600))
    truth = table(domain, [0, 599], count=[7, 9])
    view = View.of(domain)
    places = view.profile(truth, truth, width=300)["datasets"]["places"]
    assert len(places) == 150
    assert places[0] == {"label": "0", "truth": 7.0, "released": 7.0}
    assert places[-1]["truth"] == 9.0


def test_without_space_the_first_attribute_is_drawn_with_its_names():
    domain = Domain(sex=Categories(["f", "m"]), age=Bins(0, 90, step=30))
    truth = table(domain, [1], [2], count=[3])
    assert [place["label"] for place in View.of(domain).profile(truth, truth)["datasets"]["places"]] == ["f", "m"]


def test_a_released_line_has_a_bar_for_every_place():
    domain = Domain(sex=Categories(["f", "m"]))
    places = View.of(domain).profile(table(domain, [1], count=[3]))["datasets"]["places"]
    assert [(place["label"], place["value"]) for place in places] == [("f", 0.0), ("m", 3.0)]


def test_tables_of_another_domain_are_refused():
    domain, other = Domain(cell=Line(4)), Domain(cell=Line(8))
    with pytest.raises(ParameterError, match="the two tables are over different domains"):
        View.of(domain).profile(table(domain, [0], count=[1]), table(other, [0], count=[1]))


@pytest.mark.slow
def test_a_drawing_speaks_the_language_of_its_page():
    domain = Domain(mesh=Mesh("500m", rows=(8480, 8496), columns=(6300, 6316)), sex=Categories(["f", "m"]))
    view = View.of(domain, Words("ja"))
    released = table(domain, [0], [0], [0], count=[1])
    assert view.what == "500 m メッシュあたりの人数"
    svg = render_svg(view.picture({view.words("chart.released_counts"): released}, 300))
    assert "公表値" in svg
    assert "Released" not in svg
    assert view.map({"x": released})["words"]["map.zero"] == "無色は0"
