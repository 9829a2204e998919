"""Draw a filled spec as a picture, without a browser and without the network."""

from __future__ import annotations

from sudare.charts.filling import Spec
from sudare.errors import ParameterError


def render_png(spec: Spec, scale: float = 2.0) -> bytes:
    """A PNG with ``scale`` pixels per unit of the spec: 2 is sharp on screens and in print."""
    import vl_convert

    if not 0 < scale <= 10:
        raise ParameterError("scale is not a sensible magnification", value=scale, allowed="0 < scale <= 10")
    # An empty list of addresses: data that lies elsewhere is refused, not fetched.
    return bytes(vl_convert.vegalite_to_png(spec, scale=scale, allowed_base_urls=[]))


def render_svg(spec: Spec) -> str:
    """An SVG document."""
    import vl_convert

    return str(vl_convert.vegalite_to_svg(spec, allowed_base_urls=[]))
