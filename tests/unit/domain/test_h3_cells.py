from __future__ import annotations

import numpy as np
import pytest

from sudare.domain import H3, Domain, attribute_from_json
from sudare.errors import DomainError, MissingExtraError

h3 = pytest.importorskip("h3")
shapely = pytest.importorskip("shapely")
MANHATTAN = H3(resolution=8, window=(-74.05, 40.70, -73.93, 40.80))


def test_cells_are_those_of_the_library():
    random = np.random.default_rng(3)
    latitude, longitude = random.uniform(40.70, 40.80, 500), random.uniform(-74.05, -73.93, 500)
    cells, inside = MANHATTAN.locate(latitude, longitude)
    assert inside.all()
    expected = [h3.latlng_to_cell(*point, 8) for point in zip(latitude, longitude, strict=True)]
    assert MANHATTAN.labels(*cells).tolist() == expected


def test_codes_as_text_and_as_numbers():
    cells = MANHATTAN.cell(np.arange(MANHATTAN.size))
    codes = MANHATTAN.labels(*cells)
    for column in (codes, [int(code, 16) for code in codes], [str(int(code, 16)) for code in codes]):
        again, inside = MANHATTAN.locate(column)
        assert inside.all()
        assert np.array_equal(again[0], cells[0])
    coarse = h3.cell_to_parent(codes[0], 7)
    assert not MANHATTAN.locate([coarse, "882a100d2dffffg", "", None, "ffffffffffffffff"])[1].any()


def test_a_block_of_eight_is_a_coarser_cell():
    domain = Domain(place=MANHATTAN)
    cells = domain.cells(np.arange(domain.size))
    labels = domain.labels(cells)["place"]
    for block in np.unique(cells >> 3)[:20]:
        assert len({h3.cell_to_parent(code, 7) for code in labels[cells >> 3 == block]}) == 1
    squares, read = MANHATTAN.squares([h3.cell_to_parent(labels[0], 6), labels[1], "x"])
    assert read.tolist() == [True, True, False]
    assert [group.side for group in squares] == [64, 1]


def test_the_globe_is_covered_once_and_the_antimeridian_cuts():
    globe = H3(resolution=1, window=(-180, -90, 180, 90))
    assert globe.size == 842
    shapes = shapely.from_wkb(globe.shapes(*globe.cell(np.arange(globe.size))).wkb())
    assert shapely.is_valid(shapes).all()
    assert shapely.area(shapes).sum() == pytest.approx(360 * 180)
    assert globe.square_km == pytest.approx(510_065_622, rel=1e-6)


def test_json_is_compact_and_leads_back():
    assert attribute_from_json(MANHATTAN.to_json()) == MANHATTAN
    assert len(MANHATTAN.to_json()["cells"]) < MANHATTAN.size
    parent = "872a1008bffffff"
    assert H3(resolution=8, cells=[parent]).size == 7
    assert H3(resolution=8, cells=[parent]).to_json()["cells"] == [parent]


def test_a_mask_and_polygons(tmp_path):
    file = tmp_path / "park.geojson"
    ring = "[[-73.98, 40.765], [-73.95, 40.765], [-73.95, 40.80], [-73.98, 40.80], [-73.98, 40.765]]"
    file.write_text(f'{{"type": "Polygon", "coordinates": [{ring}]}}', encoding="utf-8")
    within = H3(resolution=8, within=file)
    masked = H3(resolution=8, window=(-74.05, 40.70, -73.93, 40.83), mask=file)
    assert within == masked or set(within.to_json()["cells"]) == set(masked.to_json()["cells"])
    codes = tmp_path / "codes.txt"
    codes.write_text("\n".join(MANHATTAN.labels(*MANHATTAN.cell(np.arange(5))).tolist()), encoding="utf-8")
    assert H3(resolution=8, window=(-74.05, 40.70, -73.93, 40.80), mask=codes).size == 5


@pytest.mark.parametrize(
    "arguments",
    [
        {"resolution": 16, "window": (0, 0, 1, 1)},
        {"resolution": 8},
        {"resolution": 8, "cells": []},
        {"resolution": 8, "cells": ["892a100d2d7ffff"]},
        {"resolution": 8, "cells": ["x"]},
        {"resolution": 15, "window": (0, 0, 10, 10)},
    ],
)
def test_wrong_declarations(arguments):
    with pytest.raises(DomainError):
        H3(**arguments)


def test_without_the_library_one_sentence(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "h3.api.numpy_int", None)
    with pytest.raises(MissingExtraError, match=r"h3 is not installed here. Run: pip install 'sudare\[places\]'"):
        H3(resolution=8, window=(0, 0, 1, 1))
