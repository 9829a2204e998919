"""Outlines around the places of a map: countries by default, or what a public file of the publisher has.

The countries are those of Natural Earth at 1:110 million (public domain), which the package pyogrio brings with it for
its own tests; around a map of a part of the world, `sudare.render.coasts` draws finer lines. Both are looked up in
installed packages, by the extra ``maps``; without it, a map has no outlines.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from sudare.arrays import Floats
from sudare.domain.public_polygons import Polygons, read_polygons
from sudare.errors import MissingExtraError
from sudare.render.coasts import LEVELS, Box, Geometry, Projection, Strokes, coasts_around

_COUNTRIES = "tests/fixtures/naturalearth_lowres/naturalearth_lowres.shp"
_COUNTRIES_ACCURACY = 0.2
"""Degrees: 0.2 mm on paper at 1:110 million."""
_NAMES = ("name", "NAME", "Name", "名称")
_FINEST = 1 << 22
"""Steps along the longer side of a map that outlines are drawn with."""
_MOST_POINTS = 200_000
_COLLECTION = 7  # of different geometries, as Shapely numbers them


@dataclass(frozen=True, eq=False)
class Outline:
    """Lines on a map: ``polygons`` in degrees, and what the larger ones are called."""

    polygons: Polygons
    countries: int = 0
    """How many of the last polygons are the countries of the world, for which finer coasts may stand near a map."""

    @classmethod
    def of(cls, file: str | Path | None) -> Outline | None:
        """Of a public file of polygons or lines; of countries where none is given, if they are installed."""
        return _read(str(file)) if file is not None else countries()

    def beside(self, other: Outline | None) -> Outline:
        """These outlines followed by others."""
        if other is None:
            return self
        geometry = np.concatenate([self.polygons.geometry, other.polygons.geometry])
        return Outline(Polygons(geometry, {"name": [*self._names, *other._names]}), other.countries)

    def content(self, project: Projection, box: Box) -> dict[str, Any]:
        """What the map draws, as map.js reads it; ``box`` is west, south, east and north of the map in degrees."""
        import shapely

        geometry, names = self.polygons.geometry, self._names
        ends = project(np.array([box[:2], box[2:]]))
        unit = float(np.nanmax(np.abs(ends[1] - ends[0]))) / _FINEST * 64
        own = len(geometry) - self.countries
        layers = []
        for shapes, accuracy in ((geometry[:own], 0.0), (geometry[own:], _COUNTRIES_ACCURACY)):
            if not len(shapes):
                continue
            layer = Strokes.of(_beyond(shapes, box))
            if accuracy and (found := coasts_around(box)) is not None:
                accuracy, around, fine = found
                layer = fine.beside(Strokes.cut(_beyond(shapes, box), around, inside=False))
            elif not accuracy and shapely.get_num_coordinates(shapes).sum() > _MOST_POINTS:
                layer = Strokes.of(_reduced(_beyond(shapes, box), box))
            layers.append({"accuracy": accuracy, **layer.content(project, ends[0], unit)})
        return {
            "origin": ends[0].tolist(),
            "unit": unit,
            "layers": layers,
            "coasts": any(layer["accuracy"] in (level.accuracy for level in LEVELS) for layer in layers),
            "names": [
                [name, *(float(f"{number:.7g}") for number in _around(boxes))]
                for name, shape in zip(names * 2 if box[2] > 180 else names, _beyond(geometry, box), strict=True)
                if name and (boxes := _boxes(shape, project))
            ],
        }

    def write(self, path: Path, box: Box) -> None:
        """A GeoJSON file of what lies around ``box`` (west, south, east, north), simplified to a 4000th of it."""
        import shapely

        west, south, east, north = box
        room = max(east - west, north - south)
        around = west - room, max(south - room, -90.0), east + room, min(north + room, 90.0)
        kept = shapely.simplify(shapely.clip_by_rect(self.polygons.geometry, *around), room / 4000)
        features = [
            {"type": "Feature", "properties": {"name": name}, "geometry": json.loads(shapely.to_geojson(shape))}
            for name, shape in zip(self._names, kept, strict=True)
            if not shapely.is_empty(shape) and shapely.get_type_id(shape) != _COLLECTION
        ]
        text = json.dumps({"type": "FeatureCollection", "features": features}, ensure_ascii=False)
        path.write_text(text + "\n", encoding="utf-8", newline="\n")

    @property
    def _names(self) -> list[str]:
        found = next((name for name in _NAMES if name in self.polygons.properties), None)
        if found is None:
            return [""] * len(self.polygons.geometry)
        return ["" if name is None else str(name) for name in self.polygons.properties[found]]


def _beyond(geometry: Geometry, box: Box) -> Geometry:
    """Polygons, and once more those beyond the antimeridian where a map reaches over it."""
    import shapely

    if box[2] <= 180:
        return geometry
    return np.concatenate([geometry, shapely.transform(geometry, lambda points: points + np.array([360.0, 0.0]))])


def _reduced(geometry: Geometry, box: Box) -> Geometry:
    """What lies around a map, to a 4000th of it."""
    import shapely

    room = max(box[2] - box[0], box[3] - box[1])
    around = box[0] - room, box[1] - room, box[2] + room, box[3] + room
    return np.asarray(shapely.simplify(shapely.clip_by_rect(geometry, *around), room / 4000))


def _boxes(shape: Any, project: Projection) -> list[tuple[float, Floats, Floats]]:
    """The size and the corners of each polygon of a shape on a map."""
    import shapely

    found = []
    for part in shapely.get_parts(shape):
        line = project(shapely.get_coordinates(shapely.get_exterior_ring(part)))
        line = line[np.isfinite(line).all(axis=1)]
        if len(line) > 1:
            low, high = line.min(axis=0), line.max(axis=0)
            found.append((float(np.prod(high - low)), low, high))
    return found


def _around(boxes: list[tuple[float, Floats, Floats]]) -> list[float]:
    """The corners of a box around the largest of several and those near it, and the middle of the largest.

    Japan is four islands, but France does not reach to South America. Near is half the size of the largest or closer.
    """
    _, low, high = max(boxes, key=lambda box: box[0])
    room = (high - low) / 2
    near = [box for box in boxes if (box[2] >= low - room).all() and (box[1] <= high + room).all()]
    corners = np.min([box[1] for box in near], axis=0), np.max([box[2] for box in near], axis=0)
    return [*corners[0].tolist(), *corners[1].tolist(), *((low + high) / 2).tolist()]


@cache
def countries() -> Outline | None:
    """Countries of the world, where the extra ``maps`` is installed."""
    found = find_spec("pyogrio")
    file = Path(found.origin).parent / _COUNTRIES if found is not None and found.origin else None
    if file is None or not file.exists():
        return None
    try:
        polygons = read_polygons(file, lines=True)
        return Outline(polygons, countries=len(polygons.geometry))
    except MissingExtraError:
        return None


@cache
def _read(file: str) -> Outline:
    return Outline(read_polygons(file, lines=True))
