"""The released table as files (Parquet, CSV, GeoParquet, GeoJSON), and what `verify` checks in them.

Only cells other than zero are listed. Files are verified piece by piece: a table may be larger than the memory.
"""

from __future__ import annotations

import codecs
import hashlib
import json
import math
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.arrays import Integers
from sudare.domain import CountTable, Domain, Place
from sudare.domain.frames import cells_of_place, place_of
from sudare.domain.reference_systems import projjson
from sudare.errors import SudareError, VerificationError
from sudare.language.messages import PageMessage
from sudare.recipe.kind import ReleasedColumn

if TYPE_CHECKING:
    import pyarrow as pa


GEOJSON_LIMIT = 100_000
BARS = ("low", "high", "expected_error")
MOST_WITH_BARS = 1 << 17
"""The most listed cells with error bars in files: their time and memory grow with the number of cells."""
FILE_OF = {
    "parquet": "table.parquet",
    "csv": "table.csv",
    "geoparquet": "table.geo.parquet",
    "geojson": "table.geojson",
    "records": "records.parquet",
}
OUTLINE = "outline.geojson"
"""What maps of the release show around it, where the recipe gives a file."""


def write(table: CountTable, formats: tuple[str, ...], folder: Path, byte_order_mark: bool = False) -> dict[str, Path]:
    """Write ``table`` into ``folder`` in each format; format name to path. GeoJSON only for small tables.

    ``byte_order_mark`` begins the CSV file, for spreadsheets that take text for that of another encoding without it.
    """
    writers: dict[str, Callable[[CountTable, Path], None]] = {
        "parquet": _parquet,
        "csv": partial(_csv, byte_order_mark=byte_order_mark),
        "geoparquet": _geoparquet,
        "geojson": _geojson,
        "records": _records,
    }
    paths = {}
    for name in formats:
        if name == "geojson" and len(table) > GEOJSON_LIMIT:
            continue
        paths[name] = folder / FILE_OF[name]
        writers[name](table, paths[name])
    return paths


def columns(table: CountTable) -> pa.Table:
    """One row per listed cell: its index, what a person reads for each attribute, the count, and bars if it has any."""
    return table.to_arrow(index=True)


def described(table: CountTable) -> tuple[ReleasedColumn, ...]:
    """What the columns of the files mean."""
    made = [ReleasedColumn("index", "integer", PageMessage("column.index"))]
    for name, attribute in table.domain.attributes.items():
        about = PageMessage("column.attribute", name=name)
        if attribute.listed:
            values = tuple(attribute.labels(np.arange(attribute.size)).tolist())
            whole = isinstance(values[0], int)
            made.append(ReleasedColumn(name, "integer" if whole else "string", about, values, attribute.ordered))
        else:
            labels = attribute.labels(*(np.zeros(1, dtype=np.int64) for _ in attribute.lengths))
            kind = "integer" if labels.dtype.kind in "iu" else "string"
            made += [ReleasedColumn(column, kind, about) for column in attribute.label_columns(name)]
    whole = table.count.dtype.kind == "i"
    made.append(ReleasedColumn("count", "integer" if whole else "number", PageMessage("column.count")))
    if table.intervals is not None:
        bars = (PageMessage("column.low"), PageMessage("column.high"), PageMessage("column.expected_error"))
        made += [ReleasedColumn(name, "number", each) for name, each in zip(BARS, bars, strict=True)]
    return tuple(made)


def _parquet(table: CountTable, path: Path) -> None:
    import pyarrow.parquet as pq

    pq.write_table(columns(table), path, compression="zstd")


def _csv(table: CountTable, path: Path, *, byte_order_mark: bool = False) -> None:
    import pyarrow.csv as csv

    with path.open("wb") as file:
        file.write(codecs.BOM_UTF8 if byte_order_mark else b"")  # so that Excel knows that the text is UTF-8
        csv.write_csv(table.to_arrow(), file)


def _records(table: CountTable, path: Path) -> None:
    """Synthetic people, one row each; their places follow from the released table, so that they are the same again."""
    import pyarrow.parquet as pq

    from sudare.tables.records import person_batches

    seed = int.from_bytes(hashlib.sha256(table.index.tobytes() + table.count.tobytes()).digest()[:8], "big")
    batches = person_batches(table, seed)
    first = next(batches)
    with pq.ParquetWriter(path, first.schema, compression="zstd") as writer:
        for batch in chain([first], batches):
            writer.write_batch(batch)


def _with_centres(table: CountTable, place: Place, cells: list[Integers], which: Integers) -> pa.Table:
    """The columns of a table, and latitude and longitude of the middle of each row's cell."""
    import pyarrow as pa

    frame, name = columns(table), place_of(table)
    for axis, degrees in zip(("latitude", "longitude"), place.centres(*cells), strict=True):
        frame = frame.append_column(f"{name}_{axis}", pa.array(degrees[which]))
    return frame


def _geoparquet(table: CountTable, path: Path) -> None:
    """GeoParquet 1.1: the columns of the Parquet file and a WKB polygon per cell, in the place's own system."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    place, cells, which = cells_of_place(table)
    shapes = place.shapes(*cells)
    several = bool((np.diff(shapes.shapes) > 1).any())
    about: dict[str, Any] = {
        "encoding": "WKB",
        "geometry_types": ["Polygon", "MultiPolygon"] if several else ["Polygon"],
        "crs": projjson(place.epsg),
        "edges": "planar",
    }
    if len(shapes):
        about["bbox"] = shapes.bounds
    meta = {"version": "1.1.0", "primary_column": "geometry", "columns": {"geometry": about}}
    frame = _with_centres(table, place, cells, which).append_column("geometry", shapes.wkb().take(pa.array(which)))
    pq.write_table(frame.replace_schema_metadata({"geo": json.dumps(meta)}), path, compression="zstd")


def _geojson(table: CountTable, path: Path) -> None:
    """One feature per cell (RFC 7946; its WGS 84 agrees with JGD2011 and ETRS89 within a metre)."""
    place, cells, which = cells_of_place(table)
    geometries = place.outlines(*cells).geojson()
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write('{"type": "FeatureCollection", "features": [')
        rows = _with_centres(table, place, cells, which).to_pylist()
        for number, (properties, cell) in enumerate(zip(rows, which.tolist(), strict=True)):
            file.write(", " if number else "")
            about = json.dumps(properties, ensure_ascii=False)
            file.write(f'{{"type": "Feature", "properties": {about}, "geometry": {geometries[cell]}}}')
        file.write("]}\n")


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
            index, count = (np.from_dlpack(batch.column(name)) for name in ("index", "count"))
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
