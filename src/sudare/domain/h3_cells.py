"""H3: hexagons of Uber's hierarchical grid, by the library h3.

A cell of resolution r is one of 122 base cells and r digits from 0 to 6. Its position is the base cell and the digits
with three bits each: seven children in eight places, so that a block of 8**k positions is a cell k resolutions coarser.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, repeat
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sudare.arrays import Booleans, Floats, Integers
from sudare.domain.columns import whole_number
from sudare.domain.place import UNIT, Place, Squares, degrees_window, read_texts
from sudare.domain.public_polygons import read_polygons, rings_of, shapely_of
from sudare.domain.regions import Listed
from sudare.domain.shapes import Shapes
from sudare.errors import DomainError, Message, MissingExtraError, SudareError
from sudare.language.messages import PageMessage
from sudare.privacy import Number

FINEST = 15
MOST_CELLS = 1 << 24
_EXACT_AREAS = 50_000


def h3_of() -> Any:
    """The library h3 with whole numbers for cells, or the refusal that says how to install it."""
    return MissingExtraError.load("h3.api.numpy_int", Message("h3"), "places")


@dataclass(frozen=True)
class H3(Place):
    """Hexagons of one ``resolution``: those in ``cells`` (of that resolution or coarser), or that a window touches.

    ``window=(west, south, east, north)`` in degrees, or ``within`` a public file of polygons. Cells stand in the order
    of their hierarchy: base cells, and seven children in eight places. The code of a cell is its H3 index. ``mask`` is
    a public file of polygons or codes outside of which nobody can be, ``crs`` the system that coordinates are in.

    >>> place = H3(resolution=8, window=(-74.05, 40.70, -73.93, 40.80))
    >>> place.size, place.labels(*place.locate([40.7484], [-73.9857])[0]).tolist()
    (182, ['882a100d2dfffff'])
    """

    kind: ClassVar[str] = "h3"

    resolution: int
    origin: int = field(repr=False)
    """The position of the first cell of the axis in the whole system."""
    region: Listed = field(repr=False)

    def __init__(
        self,
        resolution: int,
        *,
        window: Sequence[Number] | None = None,
        cells: Iterable[str] | Iterable[int] | None = None,
        within: Any = None,
        mask: Any = None,
        crs: str | int | None = None,
    ) -> None:
        level = whole_number(resolution, Message("the resolution"))
        if level > FINEST:
            raise DomainError("the resolution is too large", value=resolution, allowed="0 to {most}", most=FINEST)
        ways = {"window": window, "cells": cells, "within": within}
        given = [name for name, value in ways.items() if value is not None]
        if len(given) != 1:
            raise DomainError(
                "declare hexagons by a window, by cells, or within polygons",
                value=given,
                hint="Write H3(resolution=8, window=(-74.05, 40.70, -73.93, 40.80)).",
            )
        if window is not None:
            found = _in_window(window, level)
        else:
            found = _listed(cells, level) if cells is not None else _in_polygons(read_polygons(within).geometry, level)
        positions = np.unique(_positions(found, level))
        bits = int(positions[0] ^ positions[-1]).bit_length()
        bits = -(-bits // 3) * 3 if bits <= 3 * level else bits
        origin = int(positions[0]) >> bits << bits
        region = Listed(int(positions[-1]) - origin + 1, positions - origin)
        self.settle(region, mask, crs, resolution=level, origin=origin)

    def positions(self, *columns: Any) -> tuple[tuple[Integers, ...], Booleans]:
        if len(columns) == 1:
            return read_texts(columns[0], self._read_code, 1)
        latitude, longitude = self.degrees(*columns)
        known = (np.abs(latitude) <= 90) & (np.abs(longitude) <= 360)
        cells = np.zeros(known.shape, dtype=np.uint64)
        points = latitude[known].tolist(), longitude[known].tolist()
        cells[known] = np.fromiter(map(h3_of().latlng_to_cell, *points, repeat(self.resolution)), np.uint64)
        return (np.where(known, _positions(cells, self.resolution) - self.origin, 0),), known

    def _read_code(self, code: str) -> tuple[int] | None:
        index = _index(code)
        if index is None or h3_of().get_resolution(index) != self.resolution:
            return None
        return (int(_positions(np.array([index], dtype=np.uint64), self.resolution)[0]) - self.origin,)

    def names(self, *coordinates: Integers) -> NDArray[Any]:
        return np.array([f"{index:x}" for index in self._indices(coordinates[0]).tolist()])

    def shapes(self, *coordinates: Any) -> Shapes:
        """See `Place`: cut where they cross the antimeridian."""
        h3 = h3_of()
        rings = (h3.cell_to_boundary(index) for index in self._indices(self._cells(coordinates)[0]))
        return Shapes.of(_on_the_map(np.array(ring)[:, ::-1]) for ring in rings)

    def centres(self, *coordinates: Any) -> tuple[Floats, Floats]:
        h3 = h3_of()
        found = np.array([h3.cell_to_latlng(index) for index in self._indices(self._cells(coordinates)[0])])
        return (found[:, 0], found[:, 1]) if found.size else (np.zeros(0), np.zeros(0))

    def squares(self, codes: list[Any]) -> tuple[list[Squares], Booleans]:
        """See `Place`: cells of the attribute's own resolution or a coarser one."""
        h3 = h3_of()
        indices = [_index(code if isinstance(code, str) else str(code)) for code in codes]
        levels = np.array([-1 if index is None else h3.get_resolution(index) for index in indices], dtype=np.int64)
        read = (levels >= 0) & (levels <= self.resolution)
        found = []
        for level in np.unique(levels[read]).tolist():
            which = np.flatnonzero(levels == level)
            own = np.array([indices[place] for place in which], dtype=np.uint64)
            side = 8 ** (self.resolution - level)
            found.append(Squares(side, (self.origin,), which, (_positions(own, level),)))
        return found, read

    @property
    def square_km(self) -> float:
        """See `Place`: of each cell where there are few, else by the mean of their resolution."""
        h3 = h3_of()
        if self.size > _EXACT_AREAS:
            return float(self.size * h3.average_hexagon_area(self.resolution, unit="km^2"))
        return float(sum(h3.cell_area(index, unit="km^2") for index in self._indices(self.region.positions)))

    @property
    def drawable(self) -> bool:
        return True

    @property
    def cell_name(self) -> str:
        return f"H3 {self.resolution}"

    def to_json(self) -> dict[str, Any]:
        compact = np.sort(h3_of().compact_cells(self._indices(self.region.positions)))
        return {"type": self.kind, "resolution": self.resolution, "cells": [f"{index:x}" for index in compact.tolist()]}

    def describe(self) -> PageMessage:
        return PageMessage("described.h3", cells=self.size, resolution=self.resolution)

    def coarser(self, levels: int) -> H3:
        """The cells so many resolutions coarser that hold these, 8**levels positions each."""
        parents = np.unique((self.region.positions + self.origin) >> (3 * levels))
        return H3(self.resolution - levels, cells=_of_positions(parents, self.resolution - levels).tolist())

    def _indices(self, coordinate: Integers) -> NDArray[np.uint64]:
        return _of_positions(coordinate + self.origin, self.resolution)


def _positions(indices: NDArray[np.uint64], resolution: int) -> Integers:
    """Base cell and digits of H3 indices as one number."""
    shifted = indices >> np.uint64(45 - 3 * resolution)
    return (shifted & np.uint64((1 << (7 + 3 * resolution)) - 1)).astype(np.int64)


def _of_positions(positions: Integers, resolution: int) -> NDArray[np.uint64]:
    """H3 indices: mode 1, the resolution, base cell and digits, and 7 for every finer digit."""
    spare = 45 - 3 * resolution
    head = np.uint64((1 << 59) | (resolution << 52) | ((1 << spare) - 1))
    return np.asarray((positions.astype(np.uint64) << np.uint64(spare)) | head, dtype=np.uint64)


def _index(code: str) -> int | None:
    """The H3 index that a text says: 15 or 16 hexadecimal digits, or 18 and more decimal ones."""
    try:
        index = int(code, 16) if len(code) <= 16 else int(code)
    except ValueError:
        return None
    return index if 0 < index < 2**63 and h3_of().is_valid_cell(index) else None


def _listed(cells: Any, resolution: int) -> NDArray[np.uint64]:
    h3 = h3_of()
    if isinstance(cells, str | int):
        cells = [cells]
    indices = []
    for code in cells:
        index = _index(code if isinstance(code, str) else str(code))
        if index is None or h3.get_resolution(index) > resolution:
            raise DomainError(
                "a declared cell is not one of resolution {resolution} or coarser",
                value=code,
                allowed="H3 indices",
                resolution=resolution,
            )
        indices.append(index)
    if not indices:
        raise DomainError("there are no cells", allowed="at least one")
    _refuse_many(sum(h3.cell_to_children_size(index, resolution) for index in indices))
    return np.asarray(h3.uncompact_cells(np.array(indices, dtype=np.uint64), resolution), dtype=np.uint64)


def _in_window(window: Any, resolution: int) -> NDArray[np.uint64]:
    """Cells that a window touches; it is cut into pieces narrow enough for the library to read them correctly."""
    h3 = h3_of()
    west, south, east, north = (number / UNIT for number in degrees_window(window))
    if (east - west, south, north) == (360, -90, 90):
        _refuse_many(h3.get_num_cells(resolution))
        return np.asarray(h3.uncompact_cells(h3.get_res0_cells(), resolution), dtype=np.uint64)
    pieces = max(1, int(-(-(east - west) // 60)))
    ends = sorted({*np.linspace(west, east, pieces + 1).tolist(), *([180.0] if west < 180 < east else [])})
    found = []
    for left, right in pairwise(ends):
        turn = 360 if left >= 180 else 0
        ring = [(y, x - turn) for y, x in ((south, left), (south, right), (north, right), (north, left))]
        found.append(_overlapping(h3, h3.LatLngPoly(ring), resolution))
    for pole, there in ((90, north == 90), (-90, south == -90)):
        if there:
            found.append(np.asarray(h3.grid_disk(h3.latlng_to_cell(pole, 0, resolution), 1), dtype=np.uint64))
    return np.concatenate(found)


def _in_polygons(geometry: NDArray[Any], resolution: int) -> NDArray[np.uint64]:
    """Cells that polygons touch."""
    h3 = h3_of()
    return np.concatenate([_overlapping(h3, h3.geo_to_h3shape(each), resolution) for each in geometry])


def _overlapping(h3: Any, shape: Any, resolution: int) -> NDArray[np.uint64]:
    try:
        cells = h3.h3shape_to_cells_experimental(shape, resolution, "overlap")
    except SudareError:
        raise
    except Exception as problem:  # the library has an error class of its own for each cause
        raise DomainError("the cells of a polygon cannot be found", value=type(problem).__name__) from None
    _refuse_many(len(cells))
    return np.asarray(cells, dtype=np.uint64)


def _refuse_many(number: int) -> None:
    if number > MOST_CELLS:
        raise DomainError("there are too many cells", value=number, allowed="at most {most:,}", most=MOST_CELLS)


def _on_the_map(ring: Floats) -> list[list[Floats]]:
    """The polygons of a ring of (longitude, latitude): two where it crosses the antimeridian, up to a pole within."""
    steps = (np.diff(ring[:, 0], append=ring[0, 0]) + 180) % 360 - 180
    x = ring[0, 0] + np.concatenate([[0.0], np.cumsum(steps)])
    y = np.append(ring[:, 1], ring[0, 1])
    if abs(x[-1] - x[0]) > 180:  # round a pole
        pole = 90.0 if y.mean() > 0 else -90.0
        order = np.argsort((x[:-1] + 180) % 360)
        east, north = ((x[:-1] + 180) % 360 - 180)[order], y[:-1][order]
        edge = float(np.interp(180.0, [east[-1], east[0] + 360], [north[-1], north[0]]))
        around = [(-180.0, edge), *zip(east, north, strict=True), (180.0, edge), (180.0, pole), (-180.0, pole)]
        closed = np.array([*around, around[0]])
        return [[closed if pole > 0 else closed[::-1]]]
    x[-1] = x[0]
    closed = np.stack([x, y], axis=1)
    if x.min() >= -180 and x.max() <= 180:
        return [[closed]]
    shapely, parts = shapely_of(), []
    for middle in (-360.0, 0.0, 360.0):
        cut = shapely.intersection(shapely.polygons(closed), shapely.box(middle - 180, -90, middle + 180, 90))
        parts += [[own - (middle, 0.0) for own in polygon] for polygon in rings_of(cut)]
    return parts
