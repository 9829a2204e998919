"""The released table as files: Parquet, CSV, GeoParquet, GeoJSON. Only cells other than zero are listed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sudare.domain import CountTable, Mesh
from sudare.errors import OutputError

if TYPE_CHECKING:
    import pyarrow as pa

GEOJSON_LIMIT = 100_000
FILE_OF = {
    "parquet": "table.parquet",
    "csv": "table.csv",
    "geoparquet": "table.geo.parquet",
    "geojson": "table.geojson",
}

# JGD2011, the datum of the mesh statistics since 2015 (EPSG 6668), as PROJJSON.
_JGD2011: dict[str, Any] = {
    "type": "GeographicCRS",
    "name": "JGD2011",
    "datum": {
        "type": "GeodeticReferenceFrame",
        "name": "Japanese Geodetic Datum 2011",
        "ellipsoid": {"name": "GRS 1980", "semi_major_axis": 6378137, "inverse_flattening": 298.257222101},
    },
    "coordinate_system": {
        "subtype": "ellipsoidal",
        "axis": [
            {"name": "Geodetic latitude", "abbreviation": "Lat", "direction": "north", "unit": "degree"},
            {"name": "Geodetic longitude", "abbreviation": "Lon", "direction": "east", "unit": "degree"},
        ],
    },
    "id": {"authority": "EPSG", "code": 6668},
}


def write(table: CountTable, formats: tuple[str, ...], folder: Path) -> dict[str, Path]:
    """Write ``table`` into ``folder`` in each format; format name to path. GeoJSON only for small tables."""
    writers: dict[str, Callable[[CountTable, Path], None]] = {
        "parquet": _parquet,
        "csv": _csv,
        "geoparquet": _geoparquet,
        "geojson": _geojson,
    }
    paths = {}
    for name in formats:
        if name == "geojson" and len(table) > GEOJSON_LIMIT:
            continue
        paths[name] = folder / FILE_OF[name]
        writers[name](table, paths[name])
    return paths


def columns(table: CountTable) -> pa.Table:
    """One row per listed cell: its index, what a person reads for each attribute, and the count."""
    import pyarrow as pa

    named: dict[str, Any] = {"index": table.index}
    for name, labels in table.domain.labels(table.index).items():
        if labels.ndim == 2:
            named |= {f"{name}_row": labels[:, 0], f"{name}_column": labels[:, 1]}
        else:
            named[name] = labels
    return pa.table({**named, "count": table.count})


def _parquet(table: CountTable, path: Path) -> None:
    import pyarrow.parquet as pq

    pq.write_table(columns(table), path, compression="zstd")


def _csv(table: CountTable, path: Path) -> None:
    import pyarrow.csv as csv

    csv.write_csv(columns(table).drop_columns(["index"]), path)


def mesh_of(table: CountTable) -> str:
    """The name of the first mesh attribute."""
    for name, attribute in table.domain.attributes.items():
        if isinstance(attribute, Mesh):
            return name
    raise OutputError("a map format needs a mesh in the domain")


def corners(table: CountTable) -> NDArray[np.float64]:
    """(cells, 4): west, south, east, north of each listed cell, degrees."""
    name = mesh_of(table)
    mesh = table.domain.attributes[name]
    assert isinstance(mesh, Mesh)  # noqa: S101 - mesh_of found it
    coordinates = table.domain.coordinates(table.index)
    row, column = (coordinates[i] for i, axis in enumerate(table.domain.axes) if axis[0] == name)
    south, west, north, east = mesh.corners(row, column)
    return np.stack([west, south, east, north], axis=1)


def polygons(box: NDArray[np.float64]) -> pa.Array:
    """Rectangles as WKB polygons: 93 bytes each, counter-clockwise, closed."""
    import pyarrow as pa

    west, south, east, north = box.T
    layout = np.dtype([("order", "u1"), ("type", "<u4"), ("rings", "<u4"), ("points", "<u4"), ("xy", "<f8", (5, 2))])
    shapes = np.zeros(len(box), dtype=layout)
    shapes["order"], shapes["type"], shapes["rings"], shapes["points"] = 1, 3, 1, 5
    for corner, (x, y) in enumerate(((west, south), (east, south), (east, north), (west, north), (west, south))):
        shapes["xy"][:, corner, 0], shapes["xy"][:, corner, 1] = x, y
    fixed = pa.FixedSizeBinaryArray.from_buffers(
        pa.binary(layout.itemsize), len(shapes), [None, pa.py_buffer(shapes.tobytes())]
    )
    return fixed.cast(pa.large_binary())


def _geoparquet(table: CountTable, path: Path) -> None:
    """GeoParquet 1.1: the columns of the Parquet file and a WKB polygon per cell, in JGD2011."""
    import pyarrow.parquet as pq

    box = corners(table)
    about: dict[str, Any] = {
        "encoding": "WKB",
        "geometry_types": ["Polygon"],
        "crs": _JGD2011,
        "edges": "planar",
    }
    if len(box):
        about["bbox"] = [*box[:, :2].min(axis=0).tolist(), *box[:, 2:].max(axis=0).tolist()]
    meta = {"version": "1.1.0", "primary_column": "geometry", "columns": {"geometry": about}}
    frame = columns(table).append_column("geometry", polygons(box))
    pq.write_table(frame.replace_schema_metadata({"geo": json.dumps(meta)}), path, compression="zstd")


def _geojson(table: CountTable, path: Path) -> None:
    """One feature per cell (RFC 7946; its WGS 84 and JGD2011 agree within a metre)."""
    features = [
        {
            "type": "Feature",
            "properties": properties,
            "geometry": {"type": "Polygon", "coordinates": [[[w, s], [e, s], [e, n], [w, n], [w, s]]]},
        }
        for properties, (w, s, e, n) in zip(columns(table).to_pylist(), corners(table).tolist(), strict=True)
    ]
    text = json.dumps({"type": "FeatureCollection", "features": features}, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8", newline="\n")
