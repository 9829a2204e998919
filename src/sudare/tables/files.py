"""The released table as files (Parquet, CSV, GeoParquet, GeoJSON), and what `verify` checks in them.

Only cells other than zero are listed. Files are verified piece by piece: a table may be larger than the memory.
"""

from __future__ import annotations

import codecs
import csv
import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.domain import CountTable, Domain, Place
from sudare.domain.frames import cells_of_place, place_of, to_columns
from sudare.domain.parquet import Coded, pieces, staged, values_of
from sudare.domain.reference_systems import projjson
from sudare.engines.scratch import PrivateFolder
from sudare.errors import SudareError, VerificationError
from sudare.language.messages import PageMessage
from sudare.recipe.kind import ReleasedColumn

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
    wanted = [name for name in formats if name != "geojson" or len(table) <= GEOJSON_LIMIT]
    paths = {name: folder / FILE_OF[name] for name in wanted}
    if "geojson" in paths:
        _geojson(table, paths["geojson"])
    if "records" in paths:
        _records(table, paths["records"])
    if "parquet" in paths or "csv" in paths or "geoparquet" in paths:
        with PrivateFolder.within() as own:
            _tables(table, paths, own.path, byte_order_mark)
    return paths


def _tables(table: CountTable, paths: dict[str, Path], own: Path, byte_order_mark: bool) -> None:
    """The formats that have one row per listed cell, from one pass over these."""
    outlines = Outlines(table) if "geoparquet" in paths else None
    listed = to_columns(table) if outlines is None else map(outlines.added, to_columns(table))
    with staged(listed, own) as rows:
        names = [name for name in rows.columns if outlines is None or name not in outlines.names]
        if "parquet" in paths:
            rows.to_parquet(paths["parquet"], names, {})
        if "csv" in paths:
            begin = codecs.BOM_UTF8 if byte_order_mark else b""  # so that Excel knows that the text is UTF-8
            rows.to_csv(paths["csv"], [name for name in names if name != "index"], begin)
        if outlines is not None:
            rows.to_parquet(paths["geoparquet"], list(rows.columns), {"geo": json.dumps(outlines.metadata)})


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


def _records(table: CountTable, path: Path) -> None:
    """Synthetic people, one row each; their places follow from the released table, so that they are the same again."""
    from sudare.tables.records import person_pieces

    seed = int.from_bytes(hashlib.sha256(table.index.tobytes() + table.count.tobytes()).digest()[:8], "big")
    with PrivateFolder.within() as own, staged(person_pieces(table, seed), own.path) as rows:
        rows.to_parquet(path, list(rows.columns), {})


class Outlines:
    """GeoParquet 1.1: columns of degrees and of WKB polygons in the place's own system, and what the file says of them.

    The polygons of each piece are made when it is written.
    """

    def __init__(self, table: CountTable) -> None:
        self.table, self.place_name = table, place_of(table)
        self.names = (*(f"{self.place_name}_{axis}" for axis in ("latitude", "longitude")), "geometry")
        self.boxes: list[list[float]] = []
        self.several = False
        self.done = 0

    def added(self, piece: Mapping[str, NDArray[Any] | Coded]) -> dict[str, NDArray[Any] | Coded]:
        """A piece with its outlines."""
        place, cells, which = cells_of_place(self.table, piece["index"])
        shapes = place.shapes(*cells)
        self.several = self.several or bool((np.diff(shapes.shapes) > 1).any())
        self.boxes += [shapes.bounds] if len(shapes) else []
        degrees = [axis[which] for axis in place.centres(*cells)]
        return {**piece, **dict(zip(self.names, [*degrees, shapes.wkb()[which]], strict=True))}

    @property
    def metadata(self) -> dict[str, Any]:
        """What stands in the file under "geo", once all pieces are there."""
        place = self.table.domain.attributes[self.place_name]
        assert isinstance(place, Place)  # noqa: S101 - it was found as one
        about: dict[str, Any] = {
            "encoding": "WKB",
            "geometry_types": ["Polygon", "MultiPolygon"] if self.several else ["Polygon"],
            "crs": projjson(place.epsg),
            "edges": "planar",
        }
        if self.boxes:
            corners = np.array(self.boxes)
            about["bbox"] = [*corners[:, :2].min(axis=0).tolist(), *corners[:, 2:].max(axis=0).tolist()]
        return {"version": "1.1.0", "primary_column": "geometry", "columns": {"geometry": about}}


def _geojson(table: CountTable, path: Path) -> None:
    """One feature per cell (RFC 7946; its WGS 84 agrees with JGD2011 and ETRS89 within a metre)."""
    name = place_of(table)
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write('{"type": "FeatureCollection", "features": [')
        between = ""
        for piece in to_columns(table):
            place, cells, which = cells_of_place(table, piece["index"])
            geometries = np.array(place.outlines(*cells).geojson(), dtype=object)
            columns = {key: values_of(column) for key, column in piece.items()}
            for axis, degrees in zip(("latitude", "longitude"), place.centres(*cells), strict=True):
                columns[f"{name}_{axis}"] = degrees[which]
            texts = [_properties(key, column) for key, column in columns.items()]
            for *properties, geometry in zip(*texts, geometries[which].tolist(), strict=True):
                about = ", ".join(properties)
                file.write(f'{between}{{"type": "Feature", "properties": {{{about}}}, "geometry": {geometry}}}')
                between = ", "
        file.write("]}\n")


def _properties(name: str, column: NDArray[Any]) -> list[str]:
    """A property of each feature, as JSON: each distinct text is written once."""
    key = json.dumps(name, ensure_ascii=False)
    if column.dtype.kind != "U":
        return [f"{key}: {value!r}" for value in column.tolist()]
    texts = {text: f"{key}: {json.dumps(text, ensure_ascii=False)}" for text in set(column.tolist())}
    return [texts[text] for text in column.tolist()]


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
        counts = counts_of(read_csv(folder / FILE_OF["csv"], ["count"])["count"])
        if len(counts) != summary["nonzero_cells"] or not _agrees(counts.sum().item(), summary["total"]):
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
        for piece in pieces(path, ["index", "count"]):
            index, count = piece["index"], piece["count"]
            if not len(index):
                continue
            if index[0] <= last or not (index[1:] > index[:-1]).all():
                raise VerificationError("cells are listed twice or out of order", value=path.name)
            part = CountTable.released(domain, index, count)
            cells, last, total = cells + len(part), int(index[-1]), total + part.total
            smallest = min(smallest, count.min().item())
            integers = integers and count.dtype.kind == "i"
    return {"nonzero_cells": cells, "total": total, "integers": integers, "smallest": smallest}


def read_csv(path: Path, names: Sequence[str] | None = None) -> dict[str, list[str]]:
    """Columns of a CSV file as text: all, or those named."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = csv.reader(file)
        header = next(rows)
        wanted = list(names or header)
        first, *others = map(header.index, wanted)
        if not others:
            return {wanted[0]: list(map(itemgetter(first), rows))}
        found = list(zip(*map(itemgetter(first, *others), rows), strict=True))
    return {name: list(column) for name, column in zip(wanted, found or [()] * len(wanted), strict=True)}


def counts_of(counts: Sequence[str]) -> NDArray[Any]:
    """Counts as they are written in a file: as int64, or as float64 where one is no whole number."""
    try:
        return np.array(list(map(int, counts)), dtype=np.int64)
    except ValueError:
        return np.array(list(map(float, counts)), dtype=np.float64)
