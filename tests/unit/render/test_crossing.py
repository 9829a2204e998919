"""Flows between two places and cross tables: sums of both sides and margins agree with the table."""

from dataclasses import replace

import numpy as np
import pytest

import sudare as sd
from map_reading import unpacked, values_of
from sudare.language.catalogue import Words
from sudare.render.crossing import cross_tables, flow_map, flow_maps, flow_matrix, flow_places

WORDS = Words("en")
PLACES = {
    "degrees": sd.LatLon(step=1, window=(-3, 50, 3, 54)),
    "tiles": sd.Tiles(zoom=7, window=(-3, 50, 3, 54)),
    "europe": sd.EuropeGrid("100km", window=(-3, 50, 3, 54)),
    "hexagons": sd.H3(resolution=3, window=(-3, 50, 3, 54)),
}


def flows(place, other=None):
    domain = sd.Domain(home=place, work=other or place, sex=sd.Categories(["f", "m"]))
    rng = np.random.default_rng(1)
    index = np.unique(domain.cells(rng.integers(0, domain.size, 300)))
    return sd.CountTable(domain, index, rng.integers(1, 9, len(index)))


@pytest.mark.parametrize("kind", PLACES)
def test_leaving_and_arriving_agree_with_the_flows_of_each_place(kind):
    table = flows(PLACES[kind])
    assert flow_places(table) == ("home", "work")
    drawn = flow_map(table, ("home", "work"), WORDS, None)
    leaving, arriving = values_of(drawn), values_of(drawn, 1)
    assert sum(leaving.values()) == sum(arriving.values()) == table.total
    start, end, people = (np.array(unpacked(drawn["flows"][key])) for key in ("from", "to", "values"))
    assert {place: people[start == place].sum() for place in leaving} == leaving
    assert {place: people[end == place].sum() for place in arriving} == arriving


def test_a_matrix_holds_the_flows_of_the_largest_places():
    table = flows(PLACES["degrees"])
    drawn = flow_matrix(table, ("home", "work"), WORDS)
    assert (drawn["frame"]["rows"], drawn["frame"]["columns"]) == (24, 24)
    assert sum(values_of(drawn).values()) == table.total
    assert drawn["frame"]["column_names"][0] == "N50W003"


def test_cross_tables_have_every_pair_and_its_margins():
    domain = sd.Domain(sex=sd.Categories(["f", "m"]), age=sd.Bins(0, 90, step=30), long=sd.Line(500))
    table = sd.CountTable(domain, domain.index([0, 1, 1], [0, 2, 2], [7, 7, 9]), [3, 4, 5])
    (choice,) = cross_tables(table, WORDS)["choices"]
    assert choice["label"] == "sex × age"
    frame = choice["frame"]
    assert (frame["row_names"], frame["column_names"][-1]) == (["all", "m", "f"], "all")
    found = values_of(choice)
    named = {(frame["row_names"][at // 4], at % 4): value for at, value in found.items()}
    assert named == {
        ("f", 0): 3, ("f", 3): 3, ("m", 2): 9, ("m", 3): 9, ("all", 0): 3, ("all", 2): 9, ("all", 3): 12,
    }  # fmt: skip


def test_one_attribute_has_no_cross_table():
    domain = sd.Domain(sex=sd.Categories(["f", "m"]))
    assert cross_tables(sd.CountTable(domain, [0], [3]), WORDS) is None


def test_places_that_are_not_alike_have_a_map_each_and_a_matrix():
    home = sd.LatLon(step=0.5, window=(0, 50, 2, 51))
    domain = sd.Domain(home=home, work=sd.Tiles(zoom=6, window=(0, 50, 20, 55)))
    cells = {"home": ([50.1, 50.1, 50.6], [0.1, 0.1, 1.9]), "work": ([52.0, 52.0, 51.0], [12.0, 12.0, 1.0])}
    index, inside = domain.locate(cells)
    assert inside.all()
    own, count = np.unique(index, return_counts=True)
    table = sd.CountTable(domain, own, count)
    assert flow_places(table) == ("home", "work")
    leaving, arriving = flow_maps(table, ("home", "work"), WORDS, None)
    assert [made["frame"]["plane"] for made in (leaving, arriving)] == ["degrees", "mercator"]
    for made, filled in ((leaving, {0: 2, 7: 1}), (arriving, None)):
        [panel] = made["panels"]
        found = dict(zip(unpacked(panel["cells"]), unpacked(panel["values"]), strict=True))
        assert sorted(found.values()) == [1, 2]
        assert filled is None or found == filled
    matrix = flow_matrix(table, ("home", "work"), WORDS)
    assert (matrix["frame"]["rows"], matrix["frame"]["columns"]) == (8, domain.attributes["work"].size)
    assert sorted(unpacked(matrix["panels"][0]["values"])) == [1, 2]


@pytest.mark.parametrize("language", ["en", "ja"])
def test_maps_name_what_is_counted(language):
    words = replace(Words(language), counted="commuter")
    assert "commuter" in words("map.flow_what")
    assert "commuter" in words("map.cell_what")
    assert "commuter" in words("table.flow")
