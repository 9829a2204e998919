import base64
import re
import struct
import zlib

import numpy as np
import pytest

from sudare.render.charts import render_png, render_svg
from sudare.render.maps import COLOURS, EMPTY, NEGATIVE, Frame, Panel, panels

VALUES = np.array([[0, 1, 30], [-5, 999, 0]])


def picture(spec, number=0):
    """The pixels of a map, read back from the PNG in its address."""
    address = spec["concat"][number]["layer"][0]["mark"]["url"]
    content = base64.b64decode(address.removeprefix("data:image/png;base64,"))
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", content[16:24])
    (length,) = struct.unpack(">I", content[33:37])
    lines = np.frombuffer(zlib.decompress(content[41 : 41 + length]), np.uint8).reshape(height, 1 + 3 * width)
    assert not lines[:, 0].any()
    return lines[:, 1:].reshape(height, width, 3)


def cells(spec, number=0):
    """One colour per cell, row 0 in the south, as in the values."""
    pixels = picture(spec, number)
    side = pixels.shape[1] // 3
    return pixels[side // 2 :: side, side // 2 :: side][::-1]


def rgb(colour):
    return list(bytes.fromhex(colour[1:]))


def test_every_cell_has_its_colour_with_north_up():
    drawn = cells(panels(Frame(2, 3), [Panel("one", VALUES)]))
    assert drawn[0, 0].tolist() == drawn[1, 2].tolist() == rgb(EMPTY)
    assert drawn[1, 0].tolist() == rgb(NEGATIVE)
    assert drawn[1, 1].tolist() == rgb(COLOURS[-1])
    place = np.log(31) / np.log(1000) * (len(COLOURS) - 1)
    lower, upper = (np.array(rgb(COLOURS[int(place) + step])) for step in (0, 1))
    assert np.abs(drawn[0, 2] - (lower + (upper - lower) * (place - int(place)))).max() <= 1


def test_the_legend_has_the_colours_of_the_cells():
    spec = panels(Frame(2, 3), [Panel("one", VALUES)])
    scale = spec["concat"][0]["layer"][1]["encoding"]["color"]["scale"]
    assert tuple(scale["range"]) == COLOURS
    assert scale["domain"] == pytest.approx(np.linspace(0, np.log(1000), len(COLOURS)))
    svg = render_svg(spec)
    stops = re.findall(r'<stop offset="[^"]*" stop-color="rgb\((\d+), (\d+), (\d+)\)"', svg)
    assert [int(part) for part in stops[0]] == rgb(COLOURS[0])
    assert [int(part) for part in stops[-1]] == rgb(COLOURS[-1])


def test_all_maps_share_the_scale_of_the_brightest():
    spec = panels(Frame(2, 3), [Panel("dim", np.minimum(VALUES, 30)), Panel("bright", VALUES)], columns=2)
    first, second = (part["layer"][1]["encoding"]["color"] for part in spec["concat"])
    assert first == second
    assert np.array_equal(cells(spec, 0)[0], cells(spec, 1)[0])
    assert render_svg(spec).count('aria-label="Title text') == 2


@pytest.mark.slow
def test_a_quarter_of_a_million_cells_are_drawn():
    values = np.random.default_rng(1).integers(-9, 10**4, (512, 512))
    spec = panels(Frame(512, 512, 35.1, 137.8, 1 / 240, 1 / 160, aspect=1.22), [Panel("window", values)] * 2)
    assert render_png(spec, 1).startswith(b"\x89PNG")
    assert spec["concat"][0]["width"] == 380
    assert spec["concat"][0]["height"] == round(380 / 1.22)
