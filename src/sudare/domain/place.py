"""Places: attributes whose cells lie on the earth, read from latitude and longitude or from codes.

Latitudes and longitudes are of WGS 84; JGD2011, ETRS89 and NAD83 agree with it within some metres and are read alike.
Columns in any other coordinate reference system are declared by ``crs``, and pyproj turns them into degrees.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudare.arrays import Booleans, Floats, Integers
from sudare.domain.attribute import Attribute
from sudare.domain.formula import NumpyCalculator, SqlCalculator, Term, read_degrees, whole_numbers
from sudare.domain.regions import Region
from sudare.domain.shapes import Shapes
from sudare.domain.sql import NUMBERS, AttributeSql, Dialect, Kind, SourceColumn, called, double
from sudare.errors import DomainError, Message
from sudare.privacy import exact

UNIT = 10**9
"""Declared degrees are whole numbers of 1e-9 degrees, a tenth of a millimetre."""
EUROPE = 3035
"""ETRS89-LAEA, the only system here that is not in degrees."""


class Squares(NamedTuple):
    """Places that are squares of ``side`` cells: ``which`` of those listed, and where on each axis.

    A cell lies in the square at (coordinate + origin) // side.
    """

    side: int
    origin: tuple[int, ...]
    which: Integers
    position: tuple[Integers, ...]


class Window(NamedTuple):
    """West, south, east and north in units of 1e-9 degrees; east may pass 180 degrees, and is above west."""

    west: int
    south: int
    east: int
    north: int

    @property
    def degrees(self) -> list[float]:
        """As it is declared: a window across the antimeridian has an east that is below its west."""
        east = self.east - 360 * UNIT if self.east > 180 * UNIT else self.east
        return [number / UNIT for number in (self.west, self.south, east, self.north)]


class Place(Attribute):
    """An attribute whose cells are polygons on the earth."""

    spatial: ClassVar[bool] = True
    has_codes: ClassVar[bool] = True
    columns_taken: ClassVar[tuple[int, ...]] = (1, 2)
    columns_example: ClassVar[str] = '("lat", "lon")'
    epsg: ClassVar[int] = 4326
    """The coordinate reference system of `shapes`."""
    crs: str | int | None = None
    """The system that columns of coordinates are in (such as "EPSG:4301", Tokyo 1918), if it is another one. It says
    how records are read and is no part of the declared cells: places that differ in it alone are equal."""

    @abstractmethod
    def shapes(self, *coordinates: Any) -> Shapes:
        """The polygons of cells, in the place's own coordinate reference system."""

    def outlines(self, *coordinates: Any) -> Shapes:
        """The polygons of cells in degrees: x is the longitude."""
        return self.shapes(*coordinates)

    @abstractmethod
    def centres(self, *coordinates: Any) -> tuple[Floats, Floats]:
        """Latitude and longitude of the middle of cells."""

    def squares(self, codes: list[Any]) -> tuple[list[Squares], Booleans]:
        """Codes of cells, and of whatever coarser squares the place knows, by their size; and which are codes."""
        position, inside = self.locate(codes)
        which = np.flatnonzero(inside)
        return [Squares(1, (0,) * len(position), which, tuple(axis[which] for axis in position))], inside

    @property
    @abstractmethod
    def square_km(self) -> float:
        """The area of all cells together on the ground, as if at sea level."""

    @property
    def cell_name(self) -> str:
        """The size of a cell in a few signs, such as "500m"; empty where cells differ."""
        return ""

    def settle(self, region: Region, mask: Any, crs: str | int | None, **declared: Any) -> None:
        """Give a new place what it declares, and its region, or what a public mask leaves of it (`masks`)."""
        for name, value in {**declared, "region": region}.items():
            object.__setattr__(self, name, value)
        if crs is not None:
            from sudare.domain.public_polygons import to_wgs84

            object.__setattr__(self, "crs", None if to_wgs84(crs) is None else crs)
        if mask is not None:
            from sudare.domain.masks import masked

            object.__setattr__(self, "region", masked(self, mask))

    def degrees(self, *columns: Any) -> tuple[Any, Any]:
        """Two columns, latitude or northing first, as latitudes and longitudes; NaN where there is none."""
        north, east = read_degrees(*columns)
        if self.crs is None:
            return north, east
        from sudare.domain.public_polygons import to_wgs84

        turn = to_wgs84(self.crs)
        longitude, latitude = (east, north) if turn is None else turn(east, north)
        known = np.isfinite(latitude) & np.isfinite(longitude)
        return np.where(known, latitude, np.nan), np.where(known, longitude, np.nan)

    def readable(self, columns: int) -> tuple[tuple[Kind, ...], Message]:
        if columns == 1:
            return ("whole", "text", "untyped"), Message("codes as text")
        return NUMBERS, Message("degrees as numbers")


class Lattice(Place):
    """A place whose cells are rows and columns of a formula of latitude and longitude."""

    plane: ClassVar[str] = "degrees"
    joining: ClassVar[str] = "digits"

    @abstractmethod
    def corners(self, *coordinates: Any) -> tuple[Floats, Floats, Floats, Floats]:
        """South, west, north and east of cells in degrees (`EuropeGrid`: in metres); longitudes may pass 180."""

    @abstractmethod
    def formula(self, by: Any, latitude: Any, longitude: Any) -> tuple[Any, Any]:
        """Row and column from the corner of the window, as whole doubles, computed by a `Calculator`."""

    def read_code(self, code: str) -> tuple[int, int] | None:  # noqa: ARG002 - a lattice may have no codes
        """Row and column from the corner of the window of a code; None if it is not a code, or has none here."""
        return None

    def positions(self, *columns: Any) -> tuple[tuple[Integers, ...], Booleans]:
        if len(columns) == 1:
            return read_texts(columns[0], self.read_code, 2)
        row, column = self.formula(NumpyCalculator(), *self.degrees(*columns))
        (rows, row_known), (places, column_known) = whole_numbers(row), whole_numbers(column)
        return (rows, places), row_known & column_known

    def name_parts(self, row: Integers, column: Integers) -> tuple[NDArray[Any], NDArray[Any]]:
        parts = self.labels(row, np.zeros_like(row)), self.labels(np.zeros_like(column), column)
        width = max(len(str(name)) for part in parts for name in part.tolist())
        rows, columns = (np.array([str(name).zfill(width) for name in part.tolist()]) for part in parts)
        return rows, columns

    def shapes(self, *coordinates: Any) -> Shapes:
        south, west, north, east = self.corners(*coordinates)
        return Shapes.boxes(west, south, east, north)

    @property
    def square_km(self) -> float:
        """See `Place`: all cells of a row have the same area."""
        rows = np.arange(self.lengths[0], dtype=np.int64)
        cells = self.block_counts((0, (self.lengths[1] - 1).bit_length()), rows, np.zeros_like(rows))
        south, west, north, east = self.corners(rows, np.zeros_like(rows))
        return float(cells @ ((strip_area(north) - strip_area(south)) * np.radians(east - west)))

    def sql(self, columns: Sequence[SourceColumn], prefix: str, dialect: Dialect) -> AttributeSql:
        """See `Attribute`: degrees by the same formula as in NumPy."""
        if len(columns) == 1 or self.crs is not None:
            return called(self, columns, prefix, dialect)
        names = f"{prefix}latitude", f"{prefix}longitude"
        by = SqlCalculator(prefix)
        raw = {name: double(column, dialect) for name, column in zip(names, columns, strict=True)}
        return by.axes(raw, *self.formula(by, *(Term(name, 0) for name in names)))


def read_texts(column: Any, read: Any, axes: int) -> tuple[tuple[Integers, ...], Booleans]:
    """A column of codes by ``read``, which takes a text and gives a position on each axis; each code is read once."""
    from sudare.domain.columns import read_column
    from sudare.domain.text import plain

    array, masked = read_column(column)
    found: dict[Any, tuple[int, ...] | None] = {}
    positions = np.zeros((array.size, axes), dtype=np.int64)
    known = np.zeros(array.size, dtype=bool)
    for place, value in enumerate(array.tolist()):
        if value is None or value != value or isinstance(value, bool):
            continue
        if value not in found:
            whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
            found[value] = read(plain(value) if isinstance(value, str) else str(int(value)) if whole else "")
        own = found[value]
        if own is not None:
            positions[place], known[place] = own, True
    return tuple(positions.T), known if masked is None else known & ~masked


def degrees_window(window: Any) -> Window:
    """A declared window (west, south, east, north) in degrees; an east below the west crosses the antimeridian.

    >>> degrees_window((-7.6, 49.9, 1.8, 60.9)).west
    -7600000000
    """
    try:
        west, south, east, north = (billionths(number, Message("an edge of the window")) for number in window)
    except (TypeError, ValueError):
        raise DomainError(
            "a window is not four numbers", value=window, allowed="(west, south, east, north) in degrees"
        ) from None
    if not (-90 * UNIT <= south < north <= 90 * UNIT):
        raise DomainError(
            "the latitudes of a window are not a range",
            value=(south / UNIT, north / UNIT),
            allowed="-90 <= south < north <= 90",
            hint="A window is (west, south, east, north): longitude first.",
        )
    if not (-180 * UNIT <= west <= 180 * UNIT and -180 * UNIT <= east <= 180 * UNIT and west != east):
        raise DomainError(
            "the longitudes of a window are not a range",
            value=(west / UNIT, east / UNIT),
            allowed="two different numbers from -180 to 180",
            hint="An east below the west crosses the antimeridian.",
        )
    return Window(west, south, east + 360 * UNIT if east < west else east, north)


def billionths(number: Any, what: Message) -> int:
    """Declared degrees in units of 1e-9, as they are written in decimals."""
    units = exact(number, what) * UNIT
    if units.denominator != 1:
        raise DomainError("{what} has too many decimals", value=number, allowed="at most 9 decimals", what=what)
    return int(units)


_SEMI_MAJOR_KM, _ECCENTRICITY = 6378.137, 0.0818191908426215


def strip_area(latitude: Floats) -> Floats:
    """Square kilometres between the equator and a latitude, one radian of longitude wide, on the ellipsoid of WGS 84.

    With s the sine of the latitude, they are b**2 / 2 * (s / (1 - e**2 s**2) + atanh(e s) / e).
    """
    sine = np.sin(np.radians(latitude))
    strip = sine / (1 - _ECCENTRICITY**2 * sine**2) + np.arctanh(_ECCENTRICITY * sine) / _ECCENTRICITY
    return np.asarray(_SEMI_MAJOR_KM**2 * (1 - _ECCENTRICITY**2) / 2 * strip)
