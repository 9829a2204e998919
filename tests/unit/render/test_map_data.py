"""The content of maps: every kind of place, its codes, where it lies, and what the packing says."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sudare as sd
from map_reading import unpacked, values_of
from sudare.render.drawing import View
from sudare.render.map_data import _ALONE, frame_of, map_shift, matrix, mercator, places_of
from sudare.render.map_pages import map_frame_page
from sudare.render.outlines import Outline, countries
from sudare.render.packing import packed

BRITAIN = (-7.6, 49.9, 1.8, 55.0)


@given(st.lists(st.integers(-(2**50), 2**50)), st.booleans())
def test_whole_numbers_are_packed_and_read_back(numbers, steps):
    assert unpacked(packed(np.array(numbers, dtype=np.int64), steps=steps)) == numbers


def test_other_numbers_are_floats():
    assert unpacked(packed([0.5, -2.25])) == [0.5, -2.25]
    assert packed([1.0, 2.0])["form"] == "whole"


@pytest.fixture
def regions(tmp_path):
    boxes = {"a": (-1, 51), "b": (0, 51), "c": (0, 52)}
    features = [
        {
            "type": "Feature",
            "properties": {"code": code, "name": f"Region {code}"},
            "geometry": {"type": "Polygon", "coordinates": [[[x, y], [x + 1, y], [x + 1, y + 1], [x, y + 1], [x, y]]]},
        }
        for code, (x, y) in boxes.items()
    ]
    path = tmp_path / "regions.geojson"
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features}), encoding="utf-8")
    return path


def code(frame, place):
    """As map.js names a place of rows and columns."""
    row, column = divmod(place, frame["columns"])
    row, column = frame["row_names"][row], frame["column_names"][column]
    if frame["join"] == "digits":
        zero = frame["row_names"][0]
        return "".join(str(int(a) + int(b) - int(c)) for a, b, c in zip(row, column, zero, strict=True))
    return row + column


@pytest.mark.parametrize(
    "place",
    [
        sd.LatLon(step=0.25, window=BRITAIN),
        sd.LatLon(step=2, window=(170, -20, -170, 0)),
        sd.Tiles(zoom=8, window=BRITAIN),
        sd.EuropeGrid("50km", window=BRITAIN),
        sd.Mesh("500m", rows=(8480, 8492), columns=(6300, 6317)),
    ],
    ids=["degrees", "antimeridian", "tiles", "europe", "mesh"],
)
def test_rows_and_columns_have_the_codes_of_their_cells(place):
    frame = frame_of(place).content
    cells = place.cell(np.arange(place.size))
    every = places_of(place, cells)
    assert [code(frame, each) for each in every.tolist()] == [str(name) for name in place.labels(*cells).tolist()]
    assert frame["rows"] * frame["columns"] == place.size


def test_a_map_of_tiles_is_in_the_plane_of_mercator():
    tiles = sd.Tiles(zoom=6, window=BRITAIN)
    frame = frame_of(tiles).content
    south, west, north, east = (float(edge[0]) for edge in tiles.corners([1], [2]))
    low, high = mercator(np.array([[west, south], [east, north]]))
    assert frame["south"] + frame["cell_height"] == pytest.approx(low[1])
    assert frame["west"] + 3 * frame["cell_width"] == pytest.approx(high[0])


def test_a_mask_is_said(tmp_path):
    codes = tmp_path / "codes.txt"
    codes.write_text("N50E000\nN51E002\n", encoding="utf-8")
    place = sd.LatLon(step=1, window=(0, 50, 3, 52), mask=codes)
    allowed = np.zeros(6, dtype=bool)
    at = 0
    for run, length in enumerate(unpacked(frame_of(place).content["allowed"])):
        allowed[at : at + length] = run % 2
        at += length
    assert np.flatnonzero(allowed).tolist() == [0, 5]


def rings_of(frame):
    """Points of each place's polygons, as map.js finds them: x and y upwards."""
    x, y = (np.array(unpacked(frame[axis])) for axis in "xy")
    lengths, steps = unpacked(frame["rings"]), np.array(unpacked(frame["points"])).reshape(-1, 2)
    shapes, at, place = [], 0, 0
    while place < len(lengths):
        number, place = lengths[place], place + 1
        size = sum(lengths[place : place + number])
        shapes.append(np.cumsum(steps[at : at + size], axis=0))
        at, place = at + size, place + number
    origin = np.array(frame["origin"])
    own = [shapes[shape] for shape in unpacked(frame["shape"])]
    return [(each + np.array([x[i], y[i]])) * frame["unit"] + origin for i, each in enumerate(own)]


def test_regions_lie_where_they_are(regions):
    place = sd.Regions(regions, key="code")
    frame = frame_of(place).content
    for name, ring in zip(frame["codes"].split("\n"), rings_of(frame), strict=True):
        low = {"a": (-1, 51), "b": (0, 51), "c": (0, 52)}[name]
        corner = mercator(np.array([low], dtype=float))[0]
        assert ring.min(axis=0) == pytest.approx(corner, abs=1e-4)


def test_hexagons_that_share_a_shape_are_off_by_little(monkeypatch):
    place = sd.H3(resolution=6, window=(-1, 51, 1, 52))
    alone = rings_of(frame_of(place).content)
    monkeypatch.setattr("sudare.render.map_data._ALONE", 0)
    shared = frame_of(place).content
    assert len(set(unpacked(shared["shape"]))) < place.size / 20
    size = np.ptp(alone[0][:, 0])
    apart = [
        np.abs(one.mean(axis=0) - two.mean(axis=0)).max() for one, two in zip(alone, rings_of(shared), strict=True)
    ]
    assert max(apart) < 0.06 * size
    assert place.size < _ALONE


def test_many_hexagons_are_drawn_as_coarser_ones(monkeypatch):
    place = sd.H3(resolution=6, window=(-1, 51, 1, 52))
    monkeypatch.setattr("sudare.render.map_data.MOST_CELLS", place.size)
    domain = sd.Domain(place=place)
    table = sd.CountTable(domain, domain.cells(np.arange(domain.size)), np.ones(domain.size, dtype=np.int64))
    assert map_shift(place) == 3
    drawn = View.of(domain).map({"all": table})
    assert drawn["frame"]["h3"]["resolution"] == 5
    assert sum(values_of(drawn).values()) == domain.size


def test_places_come_before_grids_and_regions_without_polygons_are_no_map(regions):
    place = sd.Regions(regions, key="code")
    assert View.of(sd.Domain(cell=sd.Grid(4, 4), place=place)).name == "place"
    bare = sd.Regions.from_json({key: value for key, value in place.to_json().items() if key != "type"})
    assert not bare.drawable
    assert View.of(sd.Domain(place=bare, cell=sd.Grid(4, 4))).name == "cell"


def test_outlines_of_a_file_have_names_and_surround_the_map(regions):
    place = sd.LatLon(step=0.5, window=(-1, 51, 1, 53))
    frame = frame_of(place)
    drawn = Outline.of(regions).content(frame.project, frame.box)
    assert [label[0] for label in drawn["names"]] == ["Region a", "Region b", "Region c"]
    [layer] = drawn["layers"]
    assert (unpacked(layer["lines"]), layer["filled"], layer["accuracy"]) == ([5, 5, 5], 0, 0.0)
    first = np.array(unpacked(layer["points"]))[:2] * drawn["unit"] + drawn["origin"]
    assert first == pytest.approx([-1, 51], abs=1e-4)


def test_countries_are_there_with_the_extra():
    found = countries()
    assert found is not None
    frame = frame_of(sd.EuropeGrid("100km", window=(5, 50, 10, 55)))
    names = {label[0] for label in found.content(frame.project, frame.box)["names"]}
    assert {"Germany", "France"} <= names
    assert "Australia" not in names


def test_a_map_in_a_notebook_is_sandboxed_and_holds_everything():
    domain = sd.Domain(place=sd.LatLon(step=1, window=(0, 50, 3, 52)))
    content = View.of(domain).map({"</script>": sd.CountTable(domain, [0], [3])})
    page = map_frame_page(content, "a <b>", 300)
    assert page.startswith('<iframe title="a &lt;b&gt;" sandbox="allow-scripts"')
    assert "default-src &#x27;none&#x27;" in page
    assert "http" not in page.replace("http-equiv", "")


def test_a_matrix_has_its_first_row_on_top():
    frame = matrix(["f", "m"], ["0-14", "15-64", "65+"])
    assert (frame["rows"], frame["columns"], frame["row_names"]) == (2, 3, ["m", "f"])
