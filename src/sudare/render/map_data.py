"""The content of a map: where places lie, what they are called, and what each table counts there.

`render/map/map.js` draws it, in reports, notebooks and the studio. Rows and columns (mesh, degrees, tiles, the grid of
Europe) are drawn as a picture with a pixel each; hexagons and regions as polygons around their centres, of which
neighbouring hexagons share one. All numbers are packed: half a million cells are some two megabytes of a page.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.arrays import Floats, Integers
from sudare.domain import Regions
from sudare.domain.europe_grid import to_degrees, to_metres
from sudare.domain.formula import NumpyCalculator
from sudare.domain.h3_cells import H3
from sudare.domain.shapes import Shapes
from sudare.language.catalogue import Words
from sudare.render.coasts import Box
from sudare.render.outlines import Outline
from sudare.render.packing import packed

MOST_CELLS = 1 << 20
"""The most cells of rows and columns, or hexagons, that are drawn singly; more are drawn in blocks."""
WORLD: Box = (-180.0, -85.0, 360.0, 85.0)
"""What a map without places shows; its eastern part twice."""
_ALONE = 20_000
"""Hexagons up to which each has a shape of its own."""
_LIKE = 3 * 3
"""Bits of the position of a hexagon below which others have the same shape: three resolutions."""
_FINE = 1 << 20
"""Steps along the longer side of a map that polygons are drawn with."""


@dataclass(frozen=True, eq=False)
class Layer:
    """One table on a map: ``values`` at ``places``, and intervals there if there are any, and for all other places."""

    title: str
    subtitle: str
    places: Integers
    values: NDArray[Any]
    low: Floats | None = None
    high: Floats | None = None
    elsewhere: tuple[float, float] | None = None

    def content(self) -> dict[str, Any]:
        """As map.js reads it."""
        made: dict[str, Any] = {"title": self.title, "subtitle": self.subtitle}
        made |= {"cells": packed(self.places, steps=True), "values": packed(self.values)}
        if self.low is not None and self.high is not None:
            made |= {"low": packed(np.round(self.low, 2)), "high": packed(np.round(self.high, 2))}
            made["elsewhere"] = self.elsewhere and [float(end) for end in self.elsewhere]
        return made


def map_shift(attribute: Any) -> int:
    """Bits of each axis that are summed over, so that a map does not have too many places."""
    shift = 0
    if isinstance(attribute, H3):
        while attribute.size // 7 ** (shift // 3) > MOST_CELLS // 2:
            shift += 3
    elif len(attribute.lengths) == 2:
        while np.prod([((length - 1) >> shift) + 1 for length in attribute.lengths]) > MOST_CELLS:
            shift += 1
    return shift


def map_content(
    attribute: Any, layers: Sequence[Layer], words: Words, *, what: str, outline: Outline | None = None
) -> dict[str, Any]:
    """A map of ``layers`` over an attribute; ``what`` says what a value counts."""
    frame = frame_of(attribute)
    made = {"frame": frame.content, "what": what, "panels": [layer.content() for layer in layers]}
    if outline is not None and frame.project is not None:
        made["outline"] = outline.content(frame.project, frame.box)
    return made | {"words": words.messages("map.")}


@dataclass(frozen=True, eq=False)
class MapFrame:
    """What map.js reads of the places, where degrees lie on the map if anywhere, and west, south, east and north."""

    content: dict[str, Any]
    project: Any
    box: tuple[float, float, float, float]


def frame_of(attribute: Any) -> MapFrame:
    """Where the places of an attribute lie; more than `MOST_CELLS` in blocks of `map_shift`."""
    shift = map_shift(attribute)
    if len(attribute.lengths) == 2:
        return _lattice(attribute, shift)
    if isinstance(attribute, H3):
        return _hexagons(attribute.coarser(shift // 3) if shift else attribute)
    if isinstance(attribute, Regions) and attribute.geometry is not None:
        return _regions(attribute)
    return MapFrame(matrix([""], _labels(attribute)), None, (0.0, 0.0, 0.0, 0.0))


def matrix(rows: Sequence[str], columns: Sequence[str]) -> dict[str, Any]:
    """A frame of rows and columns by name, the first row on top; one row is drawn as a band."""
    wide = (1.6 * len(rows) if len(rows) > 1 else 12) / len(columns)
    names = {"row_names": list(rows)[::-1], "column_names": list(columns), "join": "named"}
    place = {"plane": "matrix", "narrowing": 1.0, "west": 0.0, "south": 0.0, "cell_width": wide, "cell_height": 1.0}
    return {"rows": len(rows), "columns": len(columns), "side": 1, **names, **place}


def _labels(attribute: Any) -> list[str]:
    return [str(label) for label in attribute.labels(np.arange(attribute.lengths[0])).tolist()]


def places_of(attribute: Any, coordinates: Sequence[Integers]) -> Integers:
    """The number of a place on the map of `frame_of`, for cells of the attribute."""
    shift = map_shift(attribute)
    if len(attribute.lengths) == 2:
        columns = ((attribute.lengths[1] - 1) >> shift) + 1
        return np.asarray((coordinates[0] >> shift) * columns + (coordinates[1] >> shift))
    if not attribute.drawable:
        return coordinates[0]
    if not shift:
        return np.asarray(np.searchsorted(attribute.region.positions, coordinates[0]))
    kept = np.unique((attribute.region.positions + attribute.origin) >> shift)
    return np.asarray(np.searchsorted(kept, (coordinates[0] + attribute.origin) >> shift))


def place_count(attribute: Any) -> int:
    """How many places the map of an attribute has."""
    shift = map_shift(attribute)
    if len(attribute.lengths) == 2:
        return int(np.prod([((length - 1) >> shift) + 1 for length in attribute.lengths]))
    if not shift:
        return int(attribute.size if attribute.drawable else attribute.lengths[0])
    return len(np.unique((attribute.region.positions + attribute.origin) >> shift))


def world(further: Outline | None = None, around: Box = WORLD) -> dict[str, Any]:
    """A map of the earth without places, on which a window is drawn: countries, and ``further`` outlines.

    Coasts ``around`` a part of the earth are as fine as they are on a map of it.
    """
    from sudare.render.outlines import countries

    outline = countries() if further is None else further.beside(countries())
    made: dict[str, Any] = {"frame": {"plane": "mercator", "narrowing": 1.0}, "panels": []}
    return made if outline is None else made | {"outline": outline.content(mercator, around)}


def degrees(points: Floats) -> Floats:
    """Longitude and latitude as they are."""
    return points


def mercator(points: Floats) -> Floats:
    """Longitude, and the latitude stretched as Web Mercator does; both are degrees at the equator."""
    latitude = np.radians(np.clip(points[:, 1], -85.05, 85.05))
    return np.stack([points[:, 0], np.degrees(np.arcsinh(np.tan(latitude)))], axis=1)


def europe(points: Floats) -> Floats:
    """Metres of ETRS89-LAEA; not a number farther than 60 degrees from the middle."""
    far = (np.abs(points[:, 0] - 10) > 80) | (points[:, 1] < 10)
    north, east = to_metres(NumpyCalculator(), points[:, 1], points[:, 0])
    return np.stack([np.where(far, np.nan, east), np.where(far, np.nan, north)], axis=1)


_PROJECTIONS = {"europe": europe, "mercator": mercator, "degrees": degrees}


def edges(attribute: Any) -> tuple[float, float, float, float]:
    """South, west, north and east of a place with two axes, in its own units; the east may pass 180 degrees."""
    south, west, north, east = attribute.corners(*([0, length - 1] for length in attribute.lengths))
    return float(south[0]), float(west[0]), float(north[1]), float(east[1])


def _lattice(attribute: Any, shift: int) -> MapFrame:
    rows, columns = (((length - 1) >> shift) + 1 for length in attribute.lengths)
    content: dict[str, Any] = {"rows": rows, "columns": columns, "side": 1 << shift, **_names(attribute, shift)}
    project: Any = None
    box = (0.0, 0.0, 0.0, 0.0)
    west, south, wide, tall, narrowing, plane = 0.0, 0.0, 1.0, 1.0, 1.0, "grid"
    if attribute.plane != "grid":
        south, west, north, east = edges(attribute)
        box, plane, project = (west, south, east, north), attribute.plane, _PROJECTIONS[attribute.plane]
        if plane == "europe":
            latitude, longitude = to_degrees(np.array([south, north]), np.array([west, east]))
            box = float(longitude[0]), float(latitude[0]), float(longitude[1]), float(latitude[1])
        elif plane == "mercator":
            south, north = mercator(np.array([[0.0, south], [0.0, north]]))[:, 1].tolist()
        else:
            narrowing = float(np.cos(np.radians((south + north) / 2)))
        wide, tall = (east - west) / attribute.lengths[1], (north - south) / attribute.lengths[0]
    content |= {
        "plane": plane,
        "narrowing": narrowing,
        "west": west,
        "south": south,
        "cell_width": wide * (1 << shift),
        "cell_height": tall * (1 << shift),
    }
    if attribute.size < attribute.lengths[0] * attribute.lengths[1]:
        every = np.unravel_index(np.arange(rows * columns), (rows, columns))
        allowed = attribute.block_counts((shift, shift), *every) > 0
        changes = np.flatnonzero(np.diff(allowed.astype(np.int8), prepend=0))
        content["allowed"] = packed(np.diff([0, *changes.tolist(), len(allowed)]))
    return MapFrame(content, project, box)


def _names(attribute: Any, shift: int) -> dict[str, Any]:
    """What rows and columns are called, and how the names of cells are made of both."""
    row, column = (np.arange(((length - 1) >> shift) + 1) << shift for length in attribute.lengths)
    rows, columns = attribute.name_parts(row, column)
    return {"join": attribute.joining, "row_names": rows.tolist(), "column_names": columns.tolist()}


def _hexagons(attribute: H3) -> MapFrame:
    positions = attribute.region.positions
    groups = positions if len(positions) <= _ALONE else (positions + attribute.origin) >> _LIKE
    _, first, shape = np.unique(groups, return_index=True, return_inverse=True)
    latitude, longitude = attribute.centres(positions)
    middle = _middle(longitude)
    centres = mercator(np.stack([_near(longitude, middle), latitude], axis=1))
    shapes = attribute.shapes(positions[first])
    rings = []
    for place, nested in zip(first.tolist(), shapes.nested(), strict=True):
        points = np.concatenate([ring for polygon in nested for ring in polygon])
        points = np.stack([_near(points[:, 0], float(_near(longitude[place : place + 1], middle)[0])), points[:, 1]], 1)
        rings.append([mercator(points)[:-1] - centres[place]])
    found = {"positions": packed(positions + attribute.origin, steps=True), "resolution": attribute.resolution}
    return _polygons(centres, np.asarray(shape), rings, {"h3": found}, latitude)


def _regions(attribute: Regions) -> MapFrame:
    positions = attribute.region.positions
    latitude, longitude = attribute.centres(positions)
    centres = mercator(np.stack([longitude, latitude], axis=1))
    shapes: Shapes = attribute.shapes(positions)
    rings = [
        [mercator(ring)[:-1] - centres[place] for polygon in nested for ring in polygon]
        for place, nested in enumerate(shapes.nested())
    ]
    codes = "\n".join(str(code).replace("\n", " ") for code in attribute.labels(positions).tolist())
    return _polygons(centres, np.arange(len(positions)), rings, {"codes": codes}, latitude)


def _polygons(
    centres: Floats, shape: Integers, rings: list[list[Floats]], more: dict[str, Any], north: Floats
) -> MapFrame:
    low, high = centres.min(axis=0), centres.max(axis=0)
    reach = max(float(np.abs(ring).max()) for own in rings for ring in own)
    unit = (float((high - low).max()) + 2 * reach) / _FINE
    lengths: list[int] = []
    steps = []
    for own in rings:
        lengths.append(len(own))
        before = np.zeros((1, 2), dtype=np.int64)
        for ring in own:
            whole = np.rint(ring / unit).astype(np.int64)
            kept = np.ones(len(whole), dtype=bool)
            kept[1:] = (np.diff(whole, axis=0) != 0).any(axis=1)
            whole = whole[kept]
            steps.append(np.diff(whole, axis=0, prepend=before))
            before = whole[-1:]
            lengths.append(len(whole))
    content = {
        "plane": "mercator",
        "narrowing": 1.0,
        "unit": unit,
        "origin": low.tolist(),
        "x": packed(np.rint((centres[:, 0] - low[0]) / unit), steps=True),
        "y": packed(np.rint((centres[:, 1] - low[1]) / unit), steps=True),
        "shape": packed(shape, steps=True),
        "rings": packed(lengths),
        "points": packed(np.concatenate(steps).reshape(-1)),
        **more,
    }
    ends = float(low[0] - reach), float(north.min()), float(high[0] + reach), float(north.max())
    return MapFrame(content, mercator, ends)


def _middle(longitude: Floats) -> float:
    """A longitude in the middle of all: degrees are turned about it, so that nothing is torn at the antimeridian."""
    angle = np.radians(longitude)
    return float(np.degrees(np.arctan2(np.sin(angle).mean(), np.cos(angle).mean())))


def _near(longitude: Floats, middle: float) -> Floats:
    return np.asarray((longitude - middle + 180) % 360 - 180 + middle)
