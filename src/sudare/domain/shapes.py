"""Polygons of many places as flat arrays, and the two forms in which files hold them: WKB and GeoJSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from struct import pack
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.arrays import Floats, Integers


@dataclass(frozen=True, eq=False)
class Shapes:
    """One shape for each place: one or more polygons of one or more rings (the first outside, the others holes).

    ``points`` (points, 2) are x and y of all rings, each closed and the outer ones counter-clockwise. Ring r is
    ``points[rings[r]:rings[r + 1]]``; polygons are runs of rings and shapes runs of polygons in the same way.
    """

    points: Floats
    rings: Integers
    polygons: Integers
    shapes: Integers

    @classmethod
    def boxes(cls, west: Floats, south: Floats, east: Floats, north: Floats) -> Shapes:
        """One rectangle each. Longitudes may pass 180: such a box is moved by 360 degrees, or cut in two at 180."""
        moved = np.where(west >= 180, 360.0, 0.0)
        west, east = west - moved, east - moved
        cut = east > 180
        ends = np.where(cut, 180.0, east)
        order = np.argsort(np.concatenate([np.arange(west.size), np.flatnonzero(cut)]), kind="stable")

        def both(first: Floats, second: Floats | float) -> Floats:
            return np.concatenate([first, np.broadcast_to(second, cut.shape)[cut]])[order]

        parts = cls.rectangles(both(west, -180.0), both(south, south), both(ends, east - 360), both(north, north))
        shapes = np.concatenate([[0], np.cumsum(1 + cut)]).astype(np.int64)
        return cls(parts.points, parts.rings, parts.polygons, shapes)

    @classmethod
    def rectangles(cls, west: Floats, south: Floats, east: Floats, north: Floats) -> Shapes:
        """One rectangle each, in any system of coordinates."""
        x = np.stack([west, east, east, west, west], axis=1)
        y = np.stack([south, south, north, north, south], axis=1)
        each = np.arange(west.size + 1, dtype=np.int64)
        return cls(np.stack([x.reshape(-1), y.reshape(-1)], axis=1), each * 5, each, each)

    def moved(self, points: Floats) -> Shapes:
        return Shapes(points, self.rings, self.polygons, self.shapes)

    @classmethod
    def of(cls, shapes: Iterable[Sequence[Sequence[Any]]]) -> Shapes:
        """From nested lists: shapes of polygons of rings of (x, y)."""
        points: list[Any] = []
        rings, polygons, ends = [0], [0], [0]
        for shape in shapes:
            for polygon in shape:
                for ring in polygon:
                    points.append(np.asarray(ring, dtype=np.float64))
                    rings.append(rings[-1] + len(ring))
                polygons.append(len(rings) - 1)
            ends.append(len(polygons) - 1)
        flat = np.concatenate(points) if points else np.zeros((0, 2))
        return cls(flat, *(np.array(each, dtype=np.int64) for each in (rings, polygons, ends)))

    def __len__(self) -> int:
        return len(self.shapes) - 1

    @property
    def bounds(self) -> list[float]:
        return [*self.points.min(axis=0).tolist(), *self.points.max(axis=0).tolist()]

    def nested(self) -> Iterator[list[list[Floats]]]:
        for first, last in zip(self.shapes[:-1].tolist(), self.shapes[1:].tolist(), strict=True):
            yield [
                [self.points[slice(*self.rings[ring : ring + 2])] for ring in range(*self.polygons[each : each + 2])]
                for each in range(first, last)
            ]

    @property
    def _alike(self) -> int:
        """The number of points of each shape if all are one ring of the same length, else 0."""
        lengths = np.diff(self.rings)
        single = lengths.size == len(self) and (np.diff(self.shapes) == 1).all() and (np.diff(self.polygons) == 1).all()
        return int(lengths[0]) if single and lengths.size and (lengths == lengths[0]).all() else 0

    def wkb(self) -> NDArray[np.object_]:
        """Well-known binary: a Polygon each, or a MultiPolygon where there are several."""
        made = np.empty(len(self), dtype=object)
        if not (number := self._alike):
            made[:] = [_wkb(shape) for shape in self.nested()]
            return made
        layout = np.dtype(
            [("order", "u1"), ("type", "<u4"), ("rings", "<u4"), ("points", "<u4"), ("xy", "<f8", (number, 2))]
        )
        packed = np.zeros(len(self), dtype=layout)
        packed["order"], packed["type"], packed["rings"], packed["points"] = 1, 3, 1, number
        packed["xy"] = self.points.reshape(-1, number, 2)
        every, width = packed.tobytes(), layout.itemsize
        made[:] = [every[start : start + width] for start in range(0, len(every), width)]
        return made

    def geojson(self) -> list[str]:
        """The geometry of each shape as the text of a GeoJSON object."""
        texts = []
        for shape in self.nested():
            coordinates: Any = [[ring.tolist() for ring in polygon] for polygon in shape]
            kind = "Polygon" if len(coordinates) == 1 else "MultiPolygon"
            geometry = {"type": kind, "coordinates": coordinates[0] if len(coordinates) == 1 else coordinates}
            texts.append(json.dumps(geometry, separators=(",", ":")))
        return texts


def _wkb(shape: list[list[Floats]]) -> bytes:
    polygons = [
        pack("<BII", 1, 3, len(polygon))
        + b"".join(pack("<I", len(ring)) + np.ascontiguousarray(ring, dtype="<f8").tobytes() for ring in polygon)
        for polygon in shape
    ]
    return polygons[0] if len(polygons) == 1 else pack("<BII", 1, 6, len(polygons)) + b"".join(polygons)
