"""Any number of maps beside each other, on one colour scale: the data, and what several methods make of them.

Each map is a picture of its cells with axes around it, so that a million of them are drawn as fast as ten.
"""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sudare.charts.filling import Spec, fill
from sudare.charts.maps import Frame, brightness
from sudare.errors import ParameterError
from sudare.words import ENGLISH, Words

COLOURS = ("#440154", "#472d7b", "#3b528b", "#2c728e", "#21918c", "#28ae80", "#5ec962", "#addc30", "#fde725")
"""Dark to bright, evenly spaced; between two of them colours are mixed in proportion."""
EMPTY, NEGATIVE = "#120a24", "#ff7f6e"
_SHARP = 1500  # pixels along a picture, below which cells are enlarged: drawing it blurs less than a pixel


@dataclass(frozen=True)
class Panel:
    """One map: ``values`` (rows, columns), row 0 in the south; 0 is dark and what is negative is red."""

    title: str
    values: ArrayLike
    subtitle: str = ""


def panels(
    frame: Frame,
    maps: Sequence[Panel],
    *,
    columns: int = 3,
    what: str = "people per cell",
    width: int = 380,
    words: Words = ENGLISH,
) -> Spec:
    """Maps of one frame in rows of ``columns``, read left to right; ``width`` is one map's in pixels.

    Brightness is log(1 + value), as in `side_by_side`.

    >>> spec = panels(Frame(2, 2), [Panel("true", [[3, 0], [0, 1]]), Panel("noisy", [[2, -1], [0, 1]])])
    >>> spec["columns"], len(spec["concat"])
    (3, 2)
    """
    if not maps:
        raise ParameterError("there is no map to draw", allowed="at least one panel")
    drawn = [np.asarray(panel.values) for panel in maps]
    for panel, values in zip(maps, drawn, strict=True):
        if values.shape != (frame.rows, frame.columns):
            raise ParameterError(
                "the map {title!r} does not fill its frame",
                value=values.shape,
                allowed="{rows} x {columns}",
                title=panel.title,
                rows=frame.rows,
                columns=frame.columns,
            )
    (_, top), ticks = brightness(np.concatenate([values.ravel() for values in drawn]))
    pixels = frame.pixels(width)
    parts = []
    for panel, values in zip(maps, drawn, strict=True):
        part = fill(
            "panel",
            words,
            title=panel.title,
            subtitle=panel.subtitle,
            **frame.axes(width),
            colour_title=what,
            colours=COLOURS,
            brightness_domain=np.linspace(0, top, len(COLOURS)).tolist(),
            brightness_ticks=ticks,
            legend_length=min(200, pixels[1]),
        )
        # The one address in any spec, and it holds the picture itself.
        part["layer"][0]["mark"]["url"] = _address(_coloured(values, top))
        parts.append(part)
    shared = {key: parts[0][key] for key in ("$schema", "config")}
    return {
        **shared,
        "description": words("chart.maps_description", titles=words.listing([panel.title for panel in maps])),
        "concat": [{key: value for key, value in part.items() if key not in shared} for part in parts],
        "columns": columns,
        "spacing": 28,
        "resolve": {
            "scale": {"color": "shared", "x": "independent", "y": "independent"},
            "legend": {"color": "shared"},
        },
    }


def _coloured(values: NDArray[Any], top: float) -> NDArray[np.uint8]:
    """Red, green and blue (rows, columns, 3) of the cells, north up."""
    place = np.log1p(np.clip(values, 0, None)) / top * (len(COLOURS) - 1)
    knots = np.arange(len(COLOURS))
    ramp = np.array([_rgb(colour) for colour in COLOURS]).T
    pixels = np.stack([np.interp(place, knots, band) for band in ramp], axis=-1).round().astype(np.uint8)
    pixels[values == 0] = _rgb(EMPTY)
    pixels[values < 0] = _rgb(NEGATIVE)
    enlarged = -(-_SHARP // max(values.shape))
    return pixels[::-1].repeat(enlarged, axis=0).repeat(enlarged, axis=1)


def _rgb(colour: str) -> list[int]:
    return list(bytes.fromhex(colour[1:]))


def _address(pixels: NDArray[np.uint8]) -> str:
    """A picture as a PNG inside an address (RFC 2397)."""
    height, width, _ = pixels.shape
    # Each line begins with the number of its filter: 0, none.
    lines = np.concatenate([np.zeros((height, 1), dtype=np.uint8), pixels.reshape(height, -1)], axis=1)
    chunks = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(lines.tobytes())),
        (b"IEND", b""),
    )
    png = b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
        for kind, content in chunks
    )
    return "data:image/png;base64," + base64.b64encode(png).decode("ascii")
