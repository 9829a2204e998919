"""A published table of flows between regions: its report, drawn from the released files, has both ends on a map."""

from __future__ import annotations

import json

import pytest

import sudare as sd
from sudare.render.crossing import flow_places
from sudare.tables.pages import read_release

pytest.importorskip("shapely")
RECIPE = """
kind = "table"
dataset = "commuters"
[data]
path = "flows.csv"
[domain.home]
type = "regions"
file = "wards.geojson"
key = "code"
[domain.work]
type = "regions"
file = "wards.geojson"
key = "code"
[privacy]
epsilon = 10
[ledger]
path = "ledger.db"
cap = { epsilon = 10 }
[output]
folder = "release"
"""


def test_origin_and_destination_have_polygons(tmp_path):
    squares = {f"w{x}": [[[x, 50], [x + 1, 50], [x + 1, 51], [x, 51], [x, 50]]] for x in range(3)}
    features = [
        {"type": "Feature", "properties": {"code": code}, "geometry": {"type": "Polygon", "coordinates": rings}}
        for code, rings in squares.items()
    ]
    (tmp_path / "wards.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    people = ["w0,w1"] * 300 + ["w1,w1"] * 200 + ["w2,w0"] * 400
    (tmp_path / "flows.csv").write_text("home,work\n" + "\n".join(people) + "\n")
    (tmp_path / "recipe.toml").write_text(RECIPE)
    sd.publish(tmp_path / "recipe.toml")
    folder = tmp_path / "release"
    release = read_release(folder, json.loads((folder / "release.json").read_text()))
    assert flow_places(release.table) == ("home", "work")
    report = (folder / "report.html").read_text()
    assert '"flows"' in report
