"""LatLon: a grid in degrees of latitude and longitude, anywhere on earth."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sudare.arrays import Floats, Integers
from sudare.domain.place import UNIT, Lattice, billionths, degrees_window
from sudare.domain.regions import Box, Region
from sudare.errors import DomainError, Message
from sudare.language.messages import PageMessage
from sudare.privacy import Number, positive

_CODE = re.compile(r"([NS])(\d{2}(?:\.\d{1,9})?)([EW])(\d{3}(?:\.\d{1,9})?)")


@dataclass(frozen=True)
class LatLon(Lattice):
    """Cells of ``step`` degrees from the south-west corner of ``window=(west, south, east, north)`` on.

    ``step`` is a number, or (latitude, longitude); ``metres=500`` takes the steps that are so long in the middle of the
    window. Cells that the window cuts are whole cells. A cell holds its southern and western edge, and the last row
    holds the pole. An east below the west crosses the antimeridian. Row 0 is in the south, column 0 in the west, and
    the index is the Morton position, row first. The code of a cell is its south-west corner. ``mask`` is a public file
    of polygons or codes outside of which nobody can be, ``crs`` the system that coordinates are in.

    >>> place = LatLon(step=0.01, window=(-74.3, 40.5, -73.7, 41.0))
    >>> place.lengths, place.labels([0], [0]).tolist()
    ((50, 60), ['N40.50W074.30'])
    >>> [axis.tolist() for axis in place.locate([40.7484, 51.5], [-73.9857, -0.1])[0]]
    [[24, 0], [31, 0]]
    """

    kind: ClassVar[str] = "latlon"
    joining: ClassVar[str] = "text"

    steps: tuple[int, int]
    """Latitude and longitude, in units of 1e-9 degrees."""
    window: tuple[int, int, int, int]
    """West, south, east and north in the same units."""
    region: Region = field(repr=False)

    def __init__(
        self,
        step: Number | Sequence[Number] | None = None,
        window: Sequence[Number] | None = None,
        *,
        metres: Number | None = None,
        mask: Any = None,
        crs: str | int | None = None,
    ) -> None:
        if (step is None) == (metres is None) or window is None:
            raise DomainError(
                "declare a grid in degrees by step or by metres, and by a window",
                hint="Write LatLon(step=0.01, window=(-74.3, 40.5, -73.7, 41.0)).",
            )
        declared = degrees_window(window)
        steps = _steps(step) if metres is None else _steps_of_metres(float(positive(metres, "metres")), declared)
        lengths = (
            -(-(declared.north - declared.south) // steps[0]),
            -(-(declared.east - declared.west) // steps[1]),
        )
        self.settle(Box(lengths), mask, crs, steps=steps, window=tuple(declared))

    def formula(self, by: Any, latitude: Any, longitude: Any) -> tuple[Any, Any]:
        west, south = self.window[0] / UNIT, self.window[1] / UNIT
        per_degree = UNIT / self.steps[0], UNIT / self.steps[1]
        # A decimal on an edge belongs to the cell north or east of it, even if its double is slightly below.
        tolerance = tuple(1e-9 + 6e-14 * number for number in per_degree)
        row = by.floor((by.within(latitude, -90, 90) - south) * per_degree[0] + tolerance[0])
        if self.window[3] == 90 * UNIT:
            row = by.clip(row, -math.inf, self.lengths[0] - 1)
        around = 360 * per_degree[1]
        east = by.let((by.within(longitude, -360, 360) - west) * per_degree[1] + tolerance[1])
        east = by.let(east - by.floor(east / around) * around)
        # Longitudes outside the window are nearer to its east or to its west.
        turn = (self.lengths[1] + around) / 2
        east = by.let(east - by.floor(by.clip(east / turn, 0.0, 1.0)) * around)
        return row, by.floor(east)

    def read_code(self, code: str) -> tuple[int, int] | None:
        found = _CODE.fullmatch(code)
        if found is None:
            return None
        north, latitude, east, longitude = found.groups()
        down, across = billionths(latitude, Message("a code")), billionths(longitude, Message("a code"))
        row, beyond = divmod((down if north == "N" else -down) - self.window[1], self.steps[0])
        from_west = ((across if east == "E" else -across) - self.window[0]) % (360 * UNIT)
        column, beside = divmod(from_west, self.steps[1])
        return None if beyond or beside else (row, column)

    def names(self, *coordinates: Integers) -> NDArray[Any]:
        """Codes such as N40.50W074.30, with the decimals that the corners need."""
        return np.char.add(*self.name_parts(*coordinates))

    def name_parts(self, row: Integers, column: Integers) -> tuple[NDArray[Any], NDArray[Any]]:
        west, south = self.window[0], self.window[1]
        return (
            _written(south + row * self.steps[0], "NS", 2, self._decimals),
            _written(_turned(west + column * self.steps[1]), "EW", 3, self._decimals),
        )

    def corners(self, *coordinates: Any) -> tuple[Floats, Floats, Floats, Floats]:
        row, column = self._cells(coordinates)
        west, south, _, _ = self.window
        ends = []
        for offset in (0, 1):
            ends.append(np.minimum(south + (row + offset) * self.steps[0], 90 * UNIT) / UNIT)
            ends.append(np.minimum(west + (column + offset) * self.steps[1], west + 360 * UNIT) / UNIT)
        return ends[0], ends[1], ends[2], ends[3]

    def centres(self, *coordinates: Any) -> tuple[Floats, Floats]:
        south, west, north, east = self.corners(*coordinates)
        middle = (west + east) / 2
        return (south + north) / 2, np.where(middle >= 180, middle - 360, middle)

    @property
    def cell_name(self) -> str:
        down, across = (f"{step / UNIT:g}" for step in self.steps)
        return f"{down}°" if down == across else f"{down}° x {across}°"

    def to_json(self) -> dict[str, Any]:
        west, south, east, north = self.window
        east = east - 360 * UNIT if east > 180 * UNIT else east
        steps = [step / UNIT for step in self.steps]
        return {
            "type": self.kind,
            "step": steps[0] if steps[0] == steps[1] else steps,
            "window": [number / UNIT for number in (west, south, east, north)],
            **self.mask_json(),
        }

    def describe(self) -> PageMessage:
        rows, columns = self.lengths
        return self.masked(PageMessage("described.latlon", size=self.cell_name, rows=rows, columns=columns))

    @property
    def _decimals(self) -> int:
        numbers = (*self.steps, *self.window[:2])
        return next(decimals for decimals in range(10) if all(number % 10 ** (9 - decimals) == 0 for number in numbers))


def _steps(step: Any) -> tuple[int, int]:
    both = tuple(step) if isinstance(step, list | tuple) else (step, step)
    if len(both) != 2:
        raise DomainError("a step is not one number or two", value=step, allowed="degrees, or (latitude, longitude)")
    north, east = (billionths(number, Message("the step")) for number in both)
    if not (1000 <= north <= 90 * UNIT and 1000 <= east <= 180 * UNIT):
        raise DomainError("a step is too small or too large", value=step, allowed="from 0.000001 to 90 degrees")
    return north, east


def _steps_of_metres(metres: float, window: Any) -> tuple[int, int]:
    """Degrees that have this length in metres in the middle of a window, to seven decimals, on WGS 84."""
    axis, eccentricity_squared = 6378137.0, 0.0066943799901413165
    latitude = math.radians((window.south + window.north) / 2 / UNIT)
    shrink = 1 - eccentricity_squared * math.sin(latitude) ** 2
    north = math.degrees(metres / (axis * (1 - eccentricity_squared) / shrink**1.5))
    east = math.degrees(metres / (axis * math.cos(latitude) / math.sqrt(shrink)))
    return _steps((round(north, 7), round(east, 7)))


def _turned(longitudes: Integers) -> Integers:
    return np.where(longitudes >= 180 * UNIT, longitudes - 360 * UNIT, longitudes)


def _written(angles: Integers, signs: str, digits: int, decimals: int) -> NDArray[Any]:
    """Angles as a letter and decimal degrees."""
    distinct, place = np.unique(angles, return_inverse=True)
    width = digits + decimals + (1 if decimals else 0)
    texts = [
        f"{signs[0] if angle >= 0 else signs[1]}{abs(angle) / UNIT:0{width}.{decimals}f}" for angle in distinct.tolist()
    ]
    return np.array(texts)[place] if texts else np.zeros(0, dtype="U1")
