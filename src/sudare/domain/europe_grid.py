"""EuropeGrid: the grid of INSPIRE and GEOSTAT, squares of whole metres in ETRS89-LAEA (EPSG 3035).

The projection is Lambert's azimuthal equal-area one around 52 degrees north, 10 degrees east, on the ellipsoid GRS80
(EPSG guidance note 7-2, method 9820). Cells have the same area everywhere.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sudare.arrays import Booleans, Floats, Integers
from sudare.domain.columns import index_range
from sudare.domain.formula import NumpyCalculator, atanh, sine
from sudare.domain.place import EUROPE, UNIT, Lattice, Squares, degrees_window
from sudare.domain.regions import Box, Region
from sudare.domain.shapes import Shapes
from sudare.errors import DomainError, did_you_mean
from sudare.language.messages import PageMessage
from sudare.privacy import Number

SIZES = {
    **{f"{metres}m": metres for metres in (100, 200, 250, 500)},
    **{f"{metres // 1000}km": metres for metres in (1000, 2000, 5000, 10_000, 20_000, 25_000, 50_000, 100_000)},
}
"""Sides of cells in metres, fine to coarse."""
TOLERANCE = 1e-9
"""In cells: what is added before rounding down."""
LIMIT = 8_000_000
"""The largest easting and northing, in metres."""

_AXIS, _SQUARED = 6378137.0, 0.0066943800229007877
_E = math.sqrt(_SQUARED)
_EAST, _NORTH, _LONGITUDE = 4321000.0, 3210000.0, 10.0


def _authalic(by: Any, sine_of_latitude: Any) -> Any:
    """The q of the guidance note: (1 - e**2) * (s / (1 - e**2 s**2) + atanh(e s) / e)."""
    square = by.let(sine_of_latitude * sine_of_latitude)
    eccentric = atanh(by, by.let(sine_of_latitude * _E), 0)
    return by.let((sine_of_latitude / (1.0 - square * _SQUARED) + eccentric / _E) * (1 - _SQUARED))


_POLE = float(_authalic(NumpyCalculator(), np.float64(1.0)))
_SINE_0 = math.sin(math.radians(52))
_BETA_SINE = float(_authalic(NumpyCalculator(), np.float64(_SINE_0))) / _POLE
_BETA_COSINE = math.sqrt(1 - _BETA_SINE**2)
_RADIUS = _AXIS * math.sqrt(_POLE / 2)
_SCALE = _AXIS * math.cos(math.radians(52)) / (math.sqrt(1 - _SQUARED * _SINE_0**2) * _RADIUS * _BETA_COSINE)


def to_metres(by: Any, latitude: Any, longitude: Any) -> tuple[Any, Any]:
    """Northing and easting of degrees; not known farther than 120 degrees of arc from the middle."""
    beta_sine = by.let(_authalic(by, sine(by, by.within(latitude, -90, 90) * (math.pi / 180))) * (1 / _POLE))
    beta_cosine = by.let(by.sqrt(by.clip(1.0 - beta_sine * beta_sine, 0.0, 1.0)))
    turned = by.let(by.within(longitude, -360, 360) - _LONGITUDE)
    turned = by.let(turned - by.floor((turned + 180.0) / 360.0) * 360.0)
    half = sine(by, turned * (math.pi / 360))
    other_half = by.let(by.sqrt(by.clip(1.0 - half * half, 0.0, 1.0)))
    along = by.let(1.0 - half * half * 2.0)
    nearness = by.let(beta_sine * _BETA_SINE + beta_cosine * along * _BETA_COSINE)
    length = by.let(by.sqrt(2.0 / by.within(nearness + 1.0, 0.5, 3.0)) * _RADIUS)
    north = length * (beta_sine * _BETA_COSINE - beta_cosine * along * _BETA_SINE) / _SCALE + _NORTH
    east = length * beta_cosine * (half * other_half * 2.0) * _SCALE + _EAST
    return by.let(north), by.let(east)


def to_degrees(north: Any, east: Any) -> tuple[Floats, Floats]:
    """Latitude and longitude of northings and eastings; the inverse of `to_metres`."""
    x = (np.asarray(east, dtype=np.float64) - _EAST) / _SCALE
    y = (np.asarray(north, dtype=np.float64) - _NORTH) * _SCALE
    distance = np.hypot(x, y)
    arc = 2 * np.arcsin(np.clip(distance / (2 * _RADIUS), -1, 1))
    safe = np.where(distance > 0, distance, 1.0)
    beta_sine = np.cos(arc) * _BETA_SINE + np.where(distance > 0, y * np.sin(arc) * _BETA_COSINE / safe, 0.0)
    longitude = _LONGITUDE + np.degrees(
        np.arctan2(x * np.sin(arc), distance * _BETA_COSINE * np.cos(arc) - y * _BETA_SINE * np.sin(arc))
    )
    latitude_sine = np.clip(beta_sine, -1, 1)
    for _ in range(8):  # Newton's method; q is nearly 2 s, with the derivative 2 (1 - e**2) / (1 - e**2 s**2)**2
        wrong = _authalic(NumpyCalculator(), latitude_sine) - _POLE * beta_sine
        slope = 2 * (1 - _SQUARED) / (1 - _SQUARED * latitude_sine**2) ** 2
        latitude_sine = np.clip(latitude_sine - wrong / slope, -1, 1)
    return np.degrees(np.arcsin(latitude_sine)), longitude


@dataclass(frozen=True)
class EuropeGrid(Lattice):
    """Squares of one ``size`` ("100m" to "100km") that ``window=(west, south, east, north)`` in degrees touches.

    Or ``rows`` and ``columns``, half-open ranges of northings and eastings in cells. The window becomes a rectangle in
    metres around it, which is somewhat larger. Row 0 is in the south; the index is the Morton position, row first. A
    cell holds its southern and western edge. Its code is ``CRS3035RES1000mN2689000E4337000``, the south-west corner in
    metres; the short form ``1kmN2689E4337`` is read too. ETRS89 is read as WGS 84, from which it differs by less than a
    metre. ``mask`` is a public file of polygons or codes outside of which nobody can be, ``crs`` the system that
    coordinates are in.

    >>> grid = EuropeGrid("1km", window=(13.0, 52.3, 13.8, 52.7))
    >>> grid.lengths, grid.labels(*grid.locate([52.5163], [13.3777])[0]).tolist()
    ((48, 58), ['CRS3035RES1000mN3272000E4550000'])
    """

    kind: ClassVar[str] = "europe_grid"
    plane: ClassVar[str] = "europe"
    joining: ClassVar[str] = "text"
    epsg: ClassVar[int] = EUROPE

    cell_size: str
    rows: tuple[int, int]
    columns: tuple[int, int]
    region: Region = field(repr=False)

    def __init__(
        self,
        size: str,
        window: Sequence[Number] | None = None,
        *,
        rows: Sequence[int] | None = None,
        columns: Sequence[int] | None = None,
        mask: Any = None,
        crs: str | int | None = None,
    ) -> None:
        if size not in SIZES:
            raise DomainError(
                "there is no such size of cells", value=size, allowed=SIZES, hint=did_you_mean(str(size), SIZES)
            )
        if window is not None and rows is None and columns is None:
            ranges = _touched(window, SIZES[size])
        elif window is None and rows is not None and columns is not None:
            limit = LIMIT // SIZES[size]
            ranges = index_range(rows, "rows", limit), index_range(columns, "columns", limit)
        else:
            raise DomainError(
                "declare a European grid by a window, or by rows and columns",
                hint='Write EuropeGrid("1km", window=(13.0, 52.3, 13.8, 52.7)).',
            )
        self.settle(Box.over(*ranges), mask, crs, cell_size=size, rows=ranges[0], columns=ranges[1])

    def formula(self, by: Any, latitude: Any, longitude: Any) -> tuple[Any, Any]:
        north, east = to_metres(by, latitude, longitude)
        size = float(SIZES[self.cell_size])
        return (
            by.floor(north / size + TOLERANCE) - float(self.rows[0]),
            by.floor(east / size + TOLERANCE) - float(self.columns[0]),
        )

    def read_code(self, code: str) -> tuple[int, int] | None:
        found = _read_code(code)
        if found is None or found[0] != SIZES[self.cell_size]:
            return None
        return found[1] - self.rows[0], found[2] - self.columns[0]

    def squares(self, codes: list[Any]) -> tuple[list[Squares], Booleans]:
        """See `Place`: codes of the attribute's own size or a multiple of it."""
        own = SIZES[self.cell_size]
        found = [_read_code(code) if isinstance(code, str) else None for code in codes]
        sizes = np.array([0 if each is None or each[0] % own else each[0] for each in found], dtype=np.int64)
        groups = []
        for size in np.unique(sizes[sizes > 0]).tolist():
            which = np.flatnonzero(sizes == size)
            row, column = np.array([found[place][1:] for place in which], dtype=np.int64).T  # type: ignore[index]
            groups.append(Squares(size // own, (self.rows[0], self.columns[0]), which, (row, column)))
        return groups, sizes > 0

    def names(self, *coordinates: Integers) -> NDArray[Any]:
        return np.char.add(*self.name_parts(*coordinates))

    def name_parts(self, row: Integers, column: Integers) -> tuple[NDArray[Any], NDArray[Any]]:
        metres = SIZES[self.cell_size]
        north, east = ((self.rows[0] + row) * metres, (self.columns[0] + column) * metres)
        return np.char.add(f"CRS3035RES{metres}mN", north.astype(str)), np.char.add("E", east.astype(str))

    def corners(self, *coordinates: Any) -> tuple[Floats, Floats, Floats, Floats]:
        metres = SIZES[self.cell_size]
        row, column = self._cells(coordinates)
        south = ((self.rows[0] + row) * metres).astype(np.float64)
        west = ((self.columns[0] + column) * metres).astype(np.float64)
        return south, west, south + metres, west + metres

    def shapes(self, *coordinates: Any) -> Shapes:
        """See `Place`: squares in metres."""
        south, west, north, east = self.corners(*coordinates)
        return Shapes.rectangles(west, south, east, north)

    def outlines(self, *coordinates: Any) -> Shapes:
        """See `Place`: the corners in degrees."""
        squares = self.shapes(*coordinates)
        latitude, longitude = to_degrees(squares.points[:, 1], squares.points[:, 0])
        return squares.moved(np.stack([longitude, latitude], axis=1))

    def centres(self, *coordinates: Any) -> tuple[Floats, Floats]:
        south, west, north, east = self.corners(*coordinates)
        return to_degrees((south + north) / 2, (west + east) / 2)

    @property
    def square_km(self) -> float:
        """See `Place`: exact, the projection keeps areas."""
        return self.size * (SIZES[self.cell_size] / 1000) ** 2

    @property
    def cell_name(self) -> str:
        return self.cell_size

    def to_json(self) -> dict[str, Any]:
        ranges = {"rows": list(self.rows), "columns": list(self.columns)}
        return {"type": self.kind, "size": self.cell_size, **ranges, **self.mask_json()}

    def describe(self) -> PageMessage:
        rows, columns = self.lengths
        return self.masked(PageMessage("described.europe_grid", size=self.cell_size, rows=rows, columns=columns))


_LONG = re.compile(r"(?:CRS3035)?RES(\d+)mN(\d+)E(\d+)")
_SHORT = re.compile(r"(\d+k?m)N(\d+)E(\d+)")


def _read_code(code: str) -> tuple[int, int, int] | None:
    """The size in metres, row and column that a code says, in either form."""
    if (found := _LONG.fullmatch(code)) is not None:
        metres, north, east = map(int, found.groups())
    elif (found := _SHORT.fullmatch(code)) is not None and found[1] in SIZES:
        metres = SIZES[found[1]]
        # Coordinates are written without the zeros that the size ends in.
        zeros = 10 ** (len(str(metres)) - len(str(metres).rstrip("0")))
        north, east = int(found[2]) * zeros, int(found[3]) * zeros
    else:
        return None
    if metres not in SIZES.values() or north % metres or east % metres:
        return None
    return metres, north // metres, east // metres


def _touched(window: Any, metres: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """Rows and columns of a rectangle around a window, whose edges are curves in metres."""
    west, south, east, north = (number / UNIT for number in degrees_window(window))
    across, up = np.linspace(west, east, 2001), np.linspace(south, north, 2001)
    latitude = np.concatenate([np.full(2001, south), np.full(2001, north), up, up, [min(max(52.0, south), north)]])
    middle = min(max(_LONGITUDE, west), east)
    longitude = np.concatenate([across, across, np.full(2001, west), np.full(2001, east), [middle]])
    y, x = to_metres(NumpyCalculator(), latitude, longitude)
    ends = []
    for edges in (y, x):
        # Between two of the points an edge bends by less than a metre.
        low, high = float(np.min(edges)) - 1, float(np.max(edges)) + 1
        if not (low >= 0 and high <= LIMIT):
            raise DomainError(
                "the window lies outside the European grid",
                value=list(window),
                hint="The grid is for Europe: eastings and northings from 0 to 8,000 km.",
            )
        ends.append((math.floor(low / metres), math.ceil(high / metres)))
    return ends[0], ends[1]
