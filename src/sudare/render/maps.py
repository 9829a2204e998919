"""Pictures of maps, to look at only: one or several on one colour scale, for papers, the demonstration and files.

Each map is a picture of its cells with axes around it, so that a million cells are drawn as fast as ten.
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

from sudare.language.catalogue import ENGLISH, Words
from sudare.render.charts import Spec, fill

TALLEST = 1.6  # height of a map in widths, beyond which it gets narrower instead


@dataclass(frozen=True)
class Frame:
    """Where a map's cells lie: ``rows`` x ``columns`` of them from the corner (``south``, ``west``) on.

    ``cell_height`` and ``cell_width`` are in the units of the axes (degrees, or cells); ``aspect`` is the
    width of a cell over its height on the ground, so that the drawing is not distorted: 22.5 seconds of
    longitude by 15 of latitude are 1.5 at the equator and 1.22 in Tokyo.
    """

    rows: int
    columns: int
    south: float = 0.0
    west: float = 0.0
    cell_height: float = 1.0
    cell_width: float = 1.0
    aspect: float = 1.0
    x_title: str = "column"
    y_title: str = "row"

    @property
    def north(self) -> float:
        """The upper edge."""
        return self.south + self.rows * self.cell_height

    @property
    def east(self) -> float:
        """The right edge."""
        return self.west + self.columns * self.cell_width

    def axes(self, width: int) -> dict[str, Any]:
        """What every map's spec needs of its frame, for a map ``width`` pixels wide."""
        pixels = self.pixels(width)
        return {
            "west": self.west,
            "south": self.south,
            "x_domain": [self.west, self.east],
            "y_domain": [self.south, self.north],
            "x_title": self.x_title,
            "y_title": self.y_title,
            "width": pixels[0],
            "height": pixels[1],
        }

    def pixels(self, width: int) -> tuple[int, int]:
        """Width and height of the drawing: ``width`` wide, unless it would be much taller than wide."""
        height = width * self.rows / (self.columns * self.aspect)
        shrink = min(1.0, TALLEST * width / height)
        return max(12, round(width * shrink)), max(12, round(height * shrink))


def brightness(values: NDArray[np.number]) -> tuple[list[float], list[float]]:
    """The ends of the scale log(1 + value) for these values, and its ticks at 1, 10, 100, ...

    >>> [round(float(np.expm1(end))) for end in brightness(np.array([-3, 40]))[0]]
    [0, 40]
    """
    # At least 1, so that an empty map has a scale.
    top = max(1.0, float(values.max())) if len(values) else 1.0
    ticks = [10**power for power in range(int(np.log10(top)) + 1)]
    return [0.0, float(np.log1p(top))], np.log1p(ticks).tolist()


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

    Brightness is log(1 + value): linear near 0 and logarithmic above.

    >>> spec = panels(Frame(2, 2), [Panel("true", [[3, 0], [0, 1]]), Panel("noisy", [[2, -1], [0, 1]])])
    >>> spec["columns"], len(spec["concat"])
    (3, 2)
    """
    drawn = [np.asarray(panel.values).reshape(frame.rows, frame.columns) for panel in maps]
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
