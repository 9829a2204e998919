import struct
import xml.etree.ElementTree as ElementTree

import pytest

from sudare.errors import ParameterError
from sudare.render.charts import render_png, render_svg
from sudare.render.curves import profile

SPEC = profile(["f", "m"], [3, 4], [2, 5], label_title="sex", width=120, height=60)


def size_of(png):
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    return struct.unpack(">II", png[16:24])


@pytest.mark.slow
def test_scale_multiplies_the_pixels():
    width, height = size_of(render_png(SPEC, scale=1))
    assert size_of(render_png(SPEC, scale=3)) == pytest.approx((3 * width, 3 * height), abs=3)


def test_svg_is_a_document_with_the_axis_titles():
    texts = [element.text for element in ElementTree.fromstring(render_svg(SPEC)).iter() if element.text]  # noqa: S314 - our own drawing
    assert "sex" in texts
    assert "people per cell" in texts


def test_data_elsewhere_is_not_fetched():
    spec = {**SPEC, "data": {"url": "http://192.0.2.1/data.csv"}}
    with pytest.raises(ValueError, match="not allowed"):
        render_svg(spec)


@pytest.mark.parametrize("scale", [0, -1, 11, float("nan")])
def test_a_senseless_scale_is_refused(scale):
    with pytest.raises(ParameterError, match="the magnification scale is out of range"):
        render_png(SPEC, scale=scale)
