"""Regions: the polygons of a public file (wards, counties, sales areas), as cells of a domain."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sudare.arrays import Booleans, Floats, Integers
from sudare.domain.place import Place, Squares, read_texts, strip_area
from sudare.domain.public_polygons import read_polygons, rings_of, shapely_of
from sudare.domain.regions import Listed
from sudare.domain.shapes import Shapes
from sudare.domain.text import plain, twice
from sudare.errors import DomainError, did_you_mean
from sudare.language.messages import PageMessage

_HILBERT_BITS = 16
_PREPARING = Lock()


@dataclass(frozen=True)
class Regions(Place):
    """The polygons of a file: GeoJSON, GeoParquet, or a Shapefile (zipped or not); ``key`` names their codes.

    ``parent`` names the property that says which larger area a region belongs to: parents are then blocks of the index
    (each has as many places as the largest needs, a power of two). Parents, and regions inside them, follow a Hilbert
    curve through their centres, so that neighbours stand together. A point on a border belongs to the first region on
    it in that order. From codes, no polygons are needed: a domain that was read back from JSON has none until
    `with_polygons` gives them. ``mask`` is a public file of polygons or codes outside of which nobody can be, ``crs``
    the system that coordinates are in.
    """

    kind: ClassVar[str] = "regions"

    groups: tuple[tuple[str, tuple[str, ...]], ...]
    """Parents with the codes of their regions; one parent "" where none are declared."""
    region: Listed = field(repr=False)
    geometry: NDArray[Any] | None = field(repr=False, compare=False)
    """A polygon of Shapely for each code in order, in degrees."""
    key: str = field(default="", compare=False)

    def __init__(
        self, file: Any, key: str, parent: str | None = None, *, mask: Any = None, crs: str | int | None = None
    ) -> None:
        polygons = read_polygons(file)
        codes = [plain(str(code)) for code in _property(polygons.properties, key, file)]
        if (again := twice(codes)) is not None:
            raise DomainError("two regions have the same code", value=again, hint="Give a key that tells them apart.")
        parents = [""] * len(codes)
        if parent is not None:
            parents = [plain(str(each)) for each in _property(polygons.properties, parent, file)]
        shapely = shapely_of()
        along = _along_hilbert(shapely.get_coordinates(shapely.centroid(polygons.geometry)))
        first: dict[str, int] = {}
        for each, place in zip(parents, along.tolist(), strict=True):
            first[each] = min(place, first.get(each, place))
        order = sorted(range(len(codes)), key=lambda one: (first[parents[one]], parents[one], along[one], codes[one]))
        named: dict[str, list[str]] = {}
        for one in order:
            named.setdefault(parents[one], []).append(codes[one])
        self._declare(tuple((each, tuple(own)) for each, own in named.items()), polygons.geometry[order], key)
        self.settle(self.region, mask, crs)

    def _declare(self, groups: tuple[tuple[str, tuple[str, ...]], ...], geometry: Any, key: str) -> None:
        object.__setattr__(self, "groups", groups)
        object.__setattr__(self, "geometry", geometry)
        object.__setattr__(self, "key", key)
        positions = [(rank << self.bits) + place for rank, (_, own) in enumerate(groups) for place in range(len(own))]
        object.__setattr__(self, "region", Listed(positions[-1] + 1, np.array(positions, dtype=np.int64)))

    @classmethod
    def from_json(cls, arguments: dict[str, Any]) -> Regions:
        made = object.__new__(cls)
        groups = tuple((str(name), tuple(map(str, codes))) for name, codes in arguments["groups"])
        if not groups or not all(codes for _, codes in groups):
            raise DomainError("there are no regions")
        made._declare(groups, None, str(arguments.get("key", "")))
        if arguments.get("positions") is not None:
            kept = np.array(arguments["positions"], dtype=np.int64)
            object.__setattr__(made, "region", Listed(made.region.length, kept))
        return made

    def to_json(self) -> dict[str, Any]:
        """``groups`` of codes by parent, ``key``, and the positions that a mask keeps; polygons stay in their file."""
        listed = [[name, list(codes)] for name, codes in self.groups]
        masked = {} if self.size == len(self._codes) else {"positions": self.region.positions.tolist()}
        return {"type": self.kind, "groups": listed, "key": self.key, **masked}

    def with_polygons(self, file: Any, key: str | None = None, *, some: bool = False) -> Regions:
        """The same regions with the polygons of a file that has all their codes under ``key``.

        ``some`` takes a file that lacks some: those regions have an empty polygon.
        """
        shapely, polygons = shapely_of(), read_polygons(file)
        found = _property(polygons.properties, self.key if key is None else key, file)
        codes = {plain(str(code)): place for place, code in enumerate(found)}
        missing = [code for code in self._codes if code not in codes]
        if missing and not some:
            raise DomainError("a region is not in the file", value=missing[0])
        geometry = np.append(polygons.geometry, shapely.Polygon())
        made = object.__new__(type(self))
        made._declare(self.groups, geometry[[codes.get(code, -1) for code in self._codes]], self.key)
        object.__setattr__(made, "region", self.region)
        object.__setattr__(made, "crs", self.crs)
        return made

    @property
    def drawable(self) -> bool:
        return self.geometry is not None

    @property
    def bits(self) -> int:
        """Each parent has 2**bits places."""
        return (max(len(codes) for _, codes in self.groups) - 1).bit_length()

    def positions(self, *columns: Any) -> tuple[tuple[Integers, ...], Booleans]:
        if len(columns) == 1:
            return read_texts(columns[0], lambda code: self._places.get(code), 1)
        latitude, longitude = self.degrees(*columns)
        known = (np.abs(latitude) <= 90) & (np.abs(longitude) <= 360)
        x = (longitude[known] + 180) % 360 - 180
        found = np.full(known.shape, len(self._codes), dtype=np.int64)
        found[known] = self._first_of(x, latitude[known])
        known = found < len(self._codes)
        return (self._positions[np.where(known, found, 0)],), known

    def _first_of(self, x: Floats, y: Floats) -> Integers:
        """The first region that holds each point, the number of regions where none does."""
        shapely, geometry = shapely_of(), self._geometry()
        with _PREPARING:
            tree = self._tree
        point, region = tree.query(shapely.points(x, y))
        touched = shapely.intersects_xy(geometry[region], x[point], y[point])
        found = np.full(x.shape, len(geometry), dtype=np.int64)
        np.minimum.at(found, point[touched], region[touched])
        return found

    @cached_property
    def _tree(self) -> Any:
        """The boxes of all polygons, which are prepared for many questions, each with one asked already.

        The first question builds an index inside the polygon, which two threads of an engine must not do at once.
        """
        shapely, geometry = shapely_of(), self._geometry()
        shapely.prepare(geometry)
        west, south, east, north = shapely.bounds(geometry).T
        shapely.intersects_xy(geometry, (west + east) / 2, (south + north) / 2)
        return shapely.STRtree(geometry)

    def names(self, *coordinates: Integers) -> NDArray[Any]:
        """The codes; empty for places between the regions of two parents."""
        ranks = np.minimum(np.searchsorted(self._positions, coordinates[0]), len(self._codes) - 1)
        return np.where(self._positions[ranks] == coordinates[0], np.array(self._codes)[ranks], "")

    def shapes(self, *coordinates: Any) -> Shapes:
        ranks = np.searchsorted(self._positions, self._cells(coordinates)[0])
        return Shapes.of(map(rings_of, self._geometry()[ranks]))

    def centres(self, *coordinates: Any) -> tuple[Floats, Floats]:
        """See `Place`: a point inside each region."""
        shapely, geometry = shapely_of(), self._geometry()
        ranks = np.searchsorted(self._positions, self._cells(coordinates)[0])
        found = shapely.get_coordinates(shapely.point_on_surface(geometry[ranks]))
        return found[:, 1], found[:, 0]

    def squares(self, codes: list[Any]) -> tuple[list[Squares], Booleans]:
        """See `Place`: codes of regions, and names of parents."""
        texts = [plain(str(code)) for code in codes]
        parents = {name: rank for rank, (name, _) in enumerate(self.groups) if name}
        own = np.array([place for place, text in enumerate(texts) if text in self._places], dtype=np.int64)
        coarse = np.array(
            [place for place, text in enumerate(texts) if text in parents and text not in self._places], dtype=np.int64
        )
        read = np.isin(np.arange(len(texts)), np.concatenate([own, coarse]))
        found = []
        if own.size:
            found.append(Squares(1, (0,), own, (np.array([self._places[texts[place]][0] for place in own]),)))
        if coarse.size:
            ranks = np.array([parents[texts[place]] for place in coarse])
            found.append(Squares(1 << self.bits, (0,), coarse, (ranks,)))
        return found, read

    @property
    def square_km(self) -> float:
        """See `Place`: by an equal-area projection of the corners."""
        shapely = shapely_of()
        geometry = self._geometry()[np.searchsorted(self._positions, self.region.positions)]
        return float(shapely.area(shapely.transform(geometry, _equal_area)).sum())

    def describe(self) -> PageMessage:
        if len(self.groups) < 2:
            return PageMessage("described.regions", regions=self.size)
        return PageMessage("described.regions_in_areas", regions=self.size, areas=len(self.groups))

    def _geometry(self) -> NDArray[Any]:
        if self.geometry is None:
            raise DomainError("these regions have no polygons", hint="Give them: regions.with_polygons(file).")
        return self.geometry

    @cached_property
    def _codes(self) -> list[str]:
        return [code for _, codes in self.groups for code in codes]

    @cached_property
    def _positions(self) -> Integers:
        ranges = [(rank << self.bits) + np.arange(len(codes)) for rank, (_, codes) in enumerate(self.groups)]
        return np.concatenate(ranges).astype(np.int64)

    @cached_property
    def _places(self) -> dict[str, tuple[int]]:
        return {code: (int(place),) for code, place in zip(self._codes, self._positions, strict=True)}


def _property(properties: dict[str, list[Any]], name: str, file: Any) -> list[Any]:
    if name not in properties:
        raise DomainError(
            "the polygons of {file} have no such property",
            value=name,
            allowed=list(properties),
            hint=did_you_mean(str(name), properties),
            file=Path(file).name,
        )
    if any(value is None for value in properties[name]):
        raise DomainError("a polygon of {file} has no {name}", file=Path(file).name, name=name)
    return properties[name]


def _along_hilbert(points: Floats) -> Integers:
    """How far along a Hilbert curve over their bounding box points (n, 2) are.

    >>> _along_hilbert(np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 0.0]])).argsort().tolist()
    [0, 1, 2, 3]
    """
    low, high = points.min(axis=0), points.max(axis=0)
    scale = np.where(high > low, high - low, 1.0)
    x, y = (np.minimum((points - low) / scale * 2**_HILBERT_BITS, 2**_HILBERT_BITS - 1).astype(np.int64)).T
    along = np.zeros(len(points), dtype=np.int64)
    for bit in reversed(range(_HILBERT_BITS)):
        right, up = (x >> bit) & 1, (y >> bit) & 1
        along = along * 4 + ((3 * right) ^ up)
        turned = up == 0
        mask = (1 << bit) - 1
        flipped = turned & (right == 1)
        x, y = np.where(flipped, mask - (x & mask), x & mask), np.where(flipped, mask - (y & mask), y & mask)
        x, y = np.where(turned, y, x), np.where(turned, x, y)
    return along


def _equal_area(points: Floats) -> Floats:
    """Longitude and latitude as kilometres of an equal-area cylinder around the ellipsoid of WGS 84."""
    return np.stack([np.radians(points[:, 0]), strip_area(points[:, 1])], axis=1)
