"""Places by name."""

from sudare.render.charts import render_png
from sudare.render.place_charts import TileLayout, TileMap, estimates, tile_maps

TOWN = TileLayout(["north", "south", "east"], [0, 1, 1], [0, 0, 1])


def test_tiles_with_their_own_and_a_given_scale():
    spec = tile_maps(
        TOWN, [TileMap("truth", [5, 1, 3]), TileMap("noisy", [9, -4, 3], "red", (0, 5))], columns=2, title="T"
    )
    scales = [part["layer"][0]["encoding"]["color"]["scale"]["domain"] for part in spec["concat"]]
    assert (scales[0][0], scales[0][-1]) == (1, 5)
    assert (scales[1][0], scales[1][-1]) == (0, 5)
    assert spec["concat"][1]["data"]["values"][1] == {"label": "south", "row": 1, "column": 0, "value": -4.0}
    assert render_png(spec).startswith(b"\x89PNG")


def test_estimates_per_place():
    spec = estimates(["a", "b"], [3, 1], {"MLE": [4, -1], "EM": [3, 1]}, title="People", label_title="ward")
    assert [point["value"] for point in spec["layer"][1]["data"]["values"]] == [4.0, -1.0, 3.0, 1.0]
    assert spec["layer"][1]["encoding"]["color"]["scale"]["domain"] == ["MLE", "EM"]
    assert render_png(spec).startswith(b"\x89PNG")
