"""Polygons of a public file: GeoJSON, GeoParquet or a zipped Shapefile, in degrees of WGS 84.

Shapely does the geometry, pyproj turns other coordinate reference systems into degrees, pyshp reads Shapefiles.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sudare.arrays import Floats
from sudare.errors import DomainError, Message, MissingExtraError

_LIKE_WGS84 = (4326, 4979, 4258, 6668, 4612, 4269, 6318)
"""Geographic systems that agree with WGS 84 within some metres: ETRS89, JGD2011, JGD2000, NAD83."""


class Polygons(NamedTuple):
    """Geometries of Shapely (n,), and what the file says of each by name of the property."""

    geometry: NDArray[Any]
    properties: dict[str, list[Any]]


def shapely_of() -> Any:
    """Shapely, or the refusal that says how to install it."""
    return MissingExtraError.load("shapely", Message("Shapely"), "places")


def pyproj_of() -> Any:
    """pyproj, or the refusal that says how to install it."""
    return MissingExtraError.load("pyproj", Message("pyproj"), "places")


_POLYGONS, _LINES = (3, 6), (1, 5)


def read_polygons(path: Any, *, lines: bool = False) -> Polygons:
    """The polygons of a file, and its ``lines`` if they are wanted, valid and in degrees; refuses one without any."""
    file = Path(path)
    shapely = shapely_of()
    readers = {".geojson": _geojson, ".json": _geojson, ".parquet": _geoparquet, ".zip": _shapefile, ".shp": _shapefile}
    if file.suffix.lower() not in readers:
        raise DomainError("this is not a file of polygons", value=file.name, allowed=sorted(readers))
    try:
        geometry, properties, system = readers[file.suffix.lower()](file, shapely)
    except FileNotFoundError:
        raise DomainError("there is no such file of polygons", value=str(path)) from None
    except (OSError, ValueError, KeyError, TypeError, shapely.errors.ShapelyError) as problem:
        raise DomainError(
            "the polygons of {file} cannot be read", value=type(problem).__name__, file=file.name
        ) from None
    kept = np.isin(shapely.get_type_id(geometry), _POLYGONS + (_LINES if lines else ()))
    if not kept.any():
        raise DomainError("a file has no polygons", value=file.name)
    found = geometry[kept]
    if system is not None:
        found = _in_degrees(found, system, shapely)
    rows = np.flatnonzero(kept).tolist()
    named = {name: [values[row] for row in rows] for name, values in properties.items()}
    return Polygons(shapely.make_valid(found), named)


def _geojson(file: Path, shapely: Any) -> tuple[NDArray[Any], dict[str, list[Any]], Any]:
    content = json.loads(file.read_text(encoding="utf-8-sig"))
    features = content["features"] if content.get("type") == "FeatureCollection" else [content]
    if features and "geometry" not in features[0]:
        features = [{"geometry": each, "properties": {}} for each in features]
    geometry = np.array(
        [None if each["geometry"] is None else shapely.from_geojson(json.dumps(each["geometry"])) for each in features],
        dtype=object,
    )
    names = dict.fromkeys(name for each in features for name in each.get("properties") or {})
    properties = {name: [(each.get("properties") or {}).get(name) for each in features] for name in names}
    system = content.get("crs", {}) or {}
    name = system.get("properties", {}).get("name") if isinstance(system, dict) else None
    return geometry, properties, None if name is None or "CRS84" in name else name


def _geoparquet(file: Path, shapely: Any) -> tuple[NDArray[Any], dict[str, list[Any]], Any]:
    pq = MissingExtraError.load("pyarrow.parquet", Message("pyarrow"), "frames")
    table = pq.read_table(file)
    about = json.loads((table.schema.metadata or {})[b"geo"])
    column = about["primary_column"]
    geometry = shapely.from_wkb(np.array(table.column(column).to_pylist(), dtype=object))
    properties = {name: table.column(name).to_pylist() for name in table.column_names if name != column}
    return geometry, properties, about["columns"][column].get("crs")


def _shapefile(file: Path, shapely: Any) -> tuple[NDArray[Any], dict[str, list[Any]], Any]:
    import zipfile

    shapefile = MissingExtraError.load("shapefile", Message("pyshp"), "places")
    with shapefile.Reader(str(file)) as reader:
        geometry = np.array(
            [shapely.from_geojson(json.dumps(each.__geo_interface__)) for each in reader.shapes()], dtype=object
        )
        names = [each[0] for each in reader.fields if each[0] != "DeletionFlag"]
        records = reader.records()
        properties = {name: [record[place] for record in records] for place, name in enumerate(names)}
    system = None
    if file.suffix.lower() == ".zip":
        with zipfile.ZipFile(file) as archive:
            for name in archive.namelist():
                if name.lower().endswith(".prj"):
                    system = archive.read(name).decode("utf-8", errors="replace")
    elif file.with_suffix(".prj").exists():
        system = file.with_suffix(".prj").read_text(encoding="utf-8", errors="replace")
    return geometry, properties, system


def rings_of(shape: Any) -> list[list[Floats]]:
    """The polygons of a geometry as rings, the outer ones counter-clockwise and holes clockwise."""
    shapely = shapely_of()
    filled = (part for part in shapely.get_parts(shape) if part.geom_type == "Polygon" and not part.is_empty)
    turned = map(shapely.geometry.polygon.orient, filled)
    return [list(map(shapely.get_coordinates, shapely.get_rings(part))) for part in turned]


Turn: TypeAlias = Callable[[Floats, Floats], tuple[Floats, Floats]]


@lru_cache
def to_wgs84(system: str | int) -> Turn | None:
    """What turns x and y of a coordinate reference system into longitude and latitude; None where they are these.

    >>> longitude, latitude = to_wgs84("EPSG:4301")(np.array([139.745]), np.array([35.6585]))  # Tokyo 1918
    >>> longitude.round(4).tolist(), latitude.round(4).tolist()
    ([139.7418], [35.6617])
    """
    pyproj = pyproj_of()
    try:
        given = pyproj.CRS.from_user_input(system)
    except pyproj.exceptions.CRSError:
        raise DomainError(
            "the coordinate reference system is not known", value=system, hint='Write its number, such as "EPSG:27700".'
        ) from None
    if given.to_epsg() in _LIKE_WGS84:
        return None
    transformer = pyproj.Transformer.from_crs(given, 4326, always_xy=True)
    return lambda x, y: _thread_of(os.getpid()).submit(transformer.transform, x, y).result()


@lru_cache
def _thread_of(process: int) -> ThreadPoolExecutor:  # noqa: ARG001 - a forked process needs a thread of its own
    """The only thread in which coordinates are turned: pyproj keeps something for every thread, and crashes in those
    of an engine, which Python did not start.
    """
    return ThreadPoolExecutor(1, "coordinates")


def _in_degrees(geometry: NDArray[Any], system: Any, shapely: Any) -> NDArray[Any]:
    turn = to_wgs84(json.dumps(system) if isinstance(system, dict) else system)
    if turn is None:
        return geometry

    def degrees(points: Any) -> Any:
        return np.stack(turn(points[:, 0], points[:, 1]), axis=1)

    return np.asarray(shapely.transform(geometry, degrees))
