"""The released table as files: Parquet, CSV, GeoParquet, GeoJSON. Only cells other than zero are listed.

What `verify` checks in the files of a table, piece by piece: a table may be larger than the memory.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sudare.domain import CountTable, Domain, Mesh
from sudare.errors import OutputError, SudareError, VerificationError
from sudare.language.messages import PageMessage

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


def check_table(folder: Path, certificate: dict[str, Any]) -> list[PageMessage]:
    """The table that is listed is one over the declared domain and has the certified sums and signs."""
    try:
        domain = Domain.from_json(certificate["domain"])
    except (SudareError, KeyError, TypeError, ValueError) as problem:
        raise VerificationError("the certificate states no valid domain: {reason}", reason=problem) from None
    summary, files = certificate["summary"], certificate["files"]
    checks = []
    listed = sorted(name for name, facts in files.items() if facts.get("format") == "parquet")
    if listed:
        found = _found(domain, [folder / name for name in listed])
        for name, value in found.items():
            if not _agrees(value, summary.get(name)):
                raise VerificationError("the table's {name} is not the certified one", value=value, name=name)
        where = listed[0] if len(listed) == 1 else PageMessage("verified.parts", parts=len(listed))
        checks.append(PageMessage("verified.cells", file=where))
    if FILE_OF["csv"] in files:
        import pyarrow.compute as pc
        import pyarrow.csv as csv

        counts = csv.read_csv(folder / FILE_OF["csv"]).column("count")
        if len(counts) != summary["nonzero_cells"] or (pc.sum(counts).as_py() or 0) != summary["total"]:
            raise VerificationError("the table's sum is not the certified one", value=FILE_OF["csv"])
        checks.append(PageMessage("verified.sum", file=FILE_OF["csv"]))
    return checks


def _agrees(value: Any, certified: Any) -> bool:
    """Equal; sums of floats may differ by the order in which they were added."""
    if isinstance(value, float) and isinstance(certified, float):
        return math.isclose(value, certified, rel_tol=1e-9, abs_tol=1e-6)
    return bool(value == certified)


def _found(domain: Domain, paths: list[Path]) -> dict[str, Any]:
    """What the files hold in the order of their names, in which cells must ascend."""
    cells, smallest, integers, last = 0, 0, True, -1
    total: int | float = 0
    for path in paths:
        for batch in _batches(path):
            index, count = (batch.column(name).to_numpy() for name in ("index", "count"))
            if not len(index):
                continue
            if index[0] <= last or not (index[1:] > index[:-1]).all():
                raise VerificationError("cells are listed twice or out of order", value=path.name)
            piece = CountTable.released(domain, index, count)
            cells, last, total = cells + len(piece), int(index[-1]), total + piece.total
            smallest = min(smallest, count.min().item())
            integers = integers and count.dtype.kind == "i"
    return {"nonzero_cells": cells, "total": total, "integers": integers, "smallest": smallest}


def _batches(path: Path) -> Iterator[pa.RecordBatch]:
    import pyarrow.parquet as pq

    yield from pq.ParquetFile(path).iter_batches(batch_size=1 << 20, columns=["index", "count"])
