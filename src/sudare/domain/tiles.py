"""Tiles: the square tiles of Web Mercator maps, with quadkeys as codes."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sudare.arrays import Booleans, Floats, Integers
from sudare.domain.columns import index_range, whole_number
from sudare.domain.formula import NumpyCalculator, atanh, cosine, sine
from sudare.domain.place import UNIT, Lattice, Squares, degrees_window
from sudare.domain.regions import Box, Region
from sudare.errors import DomainError, Message
from sudare.language.messages import PageMessage
from sudare.privacy import Number

FINEST = 26
"""The largest zoom: tiles of half a metre."""
TOLERANCE = 1e-9
"""In tiles: what is added before rounding down."""
NORTHERNMOST = 85.05112877980659
"""Web Mercator ends here; the caps around the poles are in no tile."""


@dataclass(frozen=True)
class Tiles(Lattice):
    """Tiles of one ``zoom`` that ``window=(west, south, east, north)`` in degrees touches.

    Or ``rows`` and ``columns``, half-open ranges of the tiles' own numbers: columns count from longitude -180
    eastwards, rows from 85.05 degrees north southwards. The cells of the domain begin in the south-west of the window,
    as those of a mesh do, and the index is the Morton position, row first: a block is a tile of a smaller zoom where
    the window begins at one. A tile holds its northern and western edge, as usual for tiles. The code of a tile is its
    quadkey, ``zoom`` digits from 0 to 3. ``mask`` is a public file of polygons or codes outside of which nobody can be,
    ``crs`` the system that coordinates are in.

    >>> tiles = Tiles(zoom=14, window=(-74.3, 40.5, -73.7, 41.0))
    >>> tiles.lengths, tiles.labels(*tiles.locate([40.7484], [-73.9857])[0]).tolist()
    ((31, 28), ['03201011013202'])
    """

    kind: ClassVar[str] = "tiles"
    plane: ClassVar[str] = "mercator"

    zoom: int
    rows: tuple[int, int]
    columns: tuple[int, int]
    region: Region = field(repr=False)

    def __init__(
        self,
        zoom: int,
        window: Sequence[Number] | None = None,
        *,
        rows: Sequence[int] | None = None,
        columns: Sequence[int] | None = None,
        mask: Any = None,
        crs: str | int | None = None,
    ) -> None:
        level = whole_number(zoom, Message("the zoom"))
        if level > FINEST:
            raise DomainError("the zoom is too large", value=zoom, allowed="0 to {most}", most=FINEST)
        if window is not None and rows is None and columns is None:
            ranges = _touched(window, level)
        elif window is None and rows is not None and columns is not None:
            ranges = index_range(rows, "rows", 2**level), index_range(columns, "columns", 2**level, beyond=2**level)
        else:
            raise DomainError(
                "declare tiles by a window, or by rows and columns",
                hint="Write Tiles(zoom=14, window=(-74.3, 40.5, -73.7, 41.0)).",
            )
        self.settle(Box.over(*ranges), mask, crs, zoom=level, rows=ranges[0], columns=ranges[1])

    def formula(self, by: Any, latitude: Any, longitude: Any) -> tuple[Any, Any]:
        tiles = 2**self.zoom
        down = by.floor(_from_north(by, latitude) * float(tiles) + TOLERANCE)
        across = by.floor((by.within(longitude, -360, 360) + 180.0) / 360.0 * float(tiles) + TOLERANCE)
        around = by.let(across - float(self.columns[0]))
        around = by.let(around - by.floor(around / tiles) * float(tiles))
        turn = (self.lengths[1] + tiles) / 2
        around = around - by.floor(by.clip(around / turn, 0.0, 1.0)) * float(tiles)
        return float(self.rows[1] - 1) - down, around

    def read_code(self, code: str) -> tuple[int, int] | None:
        if len(code) != self.zoom or re.fullmatch("[0-3]*", code) is None:
            return None
        row, column = _row_and_column(code)
        return self.rows[1] - 1 - row, (column - self.columns[0]) % 2**self.zoom

    def squares(self, codes: list[Any]) -> tuple[list[Squares], Booleans]:
        """See `Place`: quadkeys of the attribute's own zoom or a smaller one."""
        texts = [code if isinstance(code, str) and re.fullmatch("[0-3]*", code) else None for code in codes]
        lengths = np.array([-1 if text is None else len(text) for text in texts], dtype=np.int64)
        read = (lengths >= 0) & (lengths <= self.zoom)
        found = []
        for zoom in np.unique(lengths[read]).tolist():
            which = np.flatnonzero(lengths == zoom)
            side = 2 ** (self.zoom - zoom)
            row, column = np.array([_row_and_column(texts[place] or "") for place in which], dtype=np.int64).T
            column += np.where((column + 1) * side <= self.columns[0], 2**zoom, 0)
            origin = 2**self.zoom - self.rows[1], self.columns[0]
            found.append(Squares(side, origin, which, (2**zoom - 1 - row, column)))
        return found, read

    def names(self, *coordinates: Integers) -> NDArray[Any]:
        row, column = self._tiles(coordinates)
        digits = np.zeros((row.size, max(self.zoom, 1)), dtype="U1")
        for place in range(self.zoom):
            bit = self.zoom - 1 - place
            digits[:, place] = (((row >> bit) & 1) * 2 + ((column >> bit) & 1)).astype("U1")
        return digits.view(f"U{max(self.zoom, 1)}").reshape(-1)

    def corners(self, *coordinates: Any) -> tuple[Floats, Floats, Floats, Floats]:
        row, column = self._cells(coordinates)
        top, left = self.rows[1] - 1 - row, column + self.columns[0]
        west, east = (360 * (left + side) / 2**self.zoom - 180 for side in (0, 1))
        return _latitudes(top + 1, self.zoom), west, _latitudes(top, self.zoom), east

    def centres(self, *coordinates: Any) -> tuple[Floats, Floats]:
        row, column = self._cells(coordinates)
        middle = 360 * (column + self.columns[0] + 0.5) / 2**self.zoom - 180
        latitude = _latitudes(self.rows[1] - row - 0.5, self.zoom)
        return latitude, np.where(middle >= 180, middle - 360, middle)

    @property
    def cell_name(self) -> str:
        return f"z{self.zoom}"

    def to_json(self) -> dict[str, Any]:
        ranges = {"rows": list(self.rows), "columns": list(self.columns)}
        return {"type": self.kind, "zoom": self.zoom, **ranges, **self.mask_json()}

    def describe(self) -> PageMessage:
        rows, columns = self.lengths
        return self.masked(PageMessage("described.tiles", zoom=self.zoom, rows=rows, columns=columns))

    def _tiles(self, coordinates: tuple[Integers, ...]) -> tuple[Integers, Integers]:
        return self.rows[1] - 1 - coordinates[0], (coordinates[1] + self.columns[0]) % 2**self.zoom


def _row_and_column(quadkey: str) -> tuple[int, int]:
    row, column = (int("0" + "".join(str(int(digit) >> bit & 1) for digit in quadkey), 2) for bit in (1, 0))
    return row, column


def _from_north(by: Any, latitude: Any) -> Any:
    """The place between the northern and the southern end of Web Mercator, from 0 to 1.

    1 / 2 - atanh(tan(latitude / 2)) / pi. Latitudes beyond 86 degrees are taken as 86, which is beyond the end.
    """
    half = by.let(by.clip(by.within(latitude, -90, 90), -86.0, 86.0) * (math.pi / 360))
    return by.let(0.5 - atanh(by, by.let(sine(by, half) / cosine(by, half)), 3) * (1 / math.pi))


def _latitudes(edges: Any, zoom: int) -> Floats:
    """Latitudes of northern edges of rows."""
    return np.asarray(np.degrees(np.arctan(np.sinh(np.pi * (1 - 2 * np.asarray(edges) / 2**zoom)))))


def _touched(window: Any, zoom: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """Rows and columns of the tiles that a window touches."""
    declared, tiles = degrees_window(window), 2**zoom
    ends = np.array([declared.north, declared.south]) / UNIT
    north, south = (_from_north(NumpyCalculator(), ends) * tiles).tolist()
    first, last = max(0, math.floor(north + TOLERANCE)), min(tiles, math.ceil(south - TOLERANCE))
    if first >= last:
        raise DomainError("the window lies outside Web Mercator", value=list(window), allowed="latitudes to 85.05")
    west, east = ((number / UNIT + 180) / 360 * tiles for number in (declared.west, declared.east))
    left = math.floor(west + TOLERANCE)
    right = min(math.ceil(east - TOLERANCE), left + tiles)
    return (first, last), (left % tiles, left % tiles + right - left)
