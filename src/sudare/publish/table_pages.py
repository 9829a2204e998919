"""What the public report says of a table: read back from the released files and the certificate, and nothing else."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sudare.domain import Bins, CountTable, Domain, Grid
from sudare.privacy import Adjacency, Budget, Guarantee
from sudare.publish.files import FILE_OF
from sudare.registry import METHODS
from sudare.report import Section, Text, Tiles, table_sections
from sudare.tables import Method, Release
from sudare.tables.method import cost_of_replacing
from sudare.words import Words

if TYPE_CHECKING:
    import pyarrow as pa

MOST_SHOWN = 2**20
"""Cells of a release in parts, as clusters write them, that a page is drawn from."""


def public_sections(folder: Path, certificate: dict[str, Any], words: Words) -> list[Section]:
    """Cells and total, the map, error bars, the method; without map and bars where it is too much to be shown."""
    files, summary = certificate["files"], certificate["summary"]
    in_parts = not files.keys() & FILE_OF.values()
    if files and not (in_parts and summary["nonzero_cells"] > MOST_SHOWN):
        return table_sections(read_release(folder, certificate), words)
    domain = Domain.from_json(certificate["domain"])
    numbers = {"total": summary["total"], "cells": domain.size, "listed": summary["nonzero_cells"]}
    tiles = Tiles(tuple((words.number(number), words(f"table.{name}")) for name, number in numbers.items()))
    text = Text.of(words("table.text", names=words.listing(list(domain.attributes))))
    return [Section(words("table.title"), (text, tiles))]


def read_release(folder: Path, certificate: dict[str, Any]) -> Release:
    """The release as the publisher had it: its table, promise, method and budget."""
    summary, domain = certificate["summary"], Domain.from_json(certificate["domain"])
    guarantee = Guarantee.from_json(certificate["guarantee"])
    method: Method = METHODS[summary["method"]](**summary["parameters"])
    budget = Budget(epsilon=guarantee.epsilon) if guarantee.rho is None else Budget(rho=guarantee.rho)
    if guarantee.adjacency == Adjacency.REPLACED:  # the exact total is public, and the promise is that of a replacement
        budget = budget.times(1 / Fraction(cost_of_replacing(method, domain, budget)))
    index, count = _cells(folder, certificate["files"], domain)
    values = count if summary["integers"] else count.astype(np.float64)
    return Release(CountTable.released(domain, index, values), guarantee, method, budget)


def _cells(folder: Path, files: dict[str, Any], domain: Domain) -> tuple[NDArray[Any], NDArray[Any]]:
    """Index and count of the listed cells, from whichever of the files has them."""
    import pyarrow as pa
    import pyarrow.csv as csv
    import pyarrow.parquet as pq

    named = {form: sorted(name for name in files if files[name]["format"] == form) for form in FILE_OF}
    if listed := named["parquet"] or named["geoparquet"]:
        rows = pa.concat_tables(pq.read_table(folder / name, columns=["index", "count"]) for name in listed)
    elif named["geojson"]:
        features = json.loads((folder / named["geojson"][0]).read_text(encoding="utf-8"))["features"]
        rows = pa.Table.from_pylist([feature["properties"] for feature in features], _schema(features))
    else:
        texts = csv.open_csv(path := folder / named["csv"][0]).schema.names[:-1]
        rows = csv.read_csv(path, convert_options=csv.ConvertOptions(column_types=dict.fromkeys(texts, pa.string())))
        rows = rows.append_column("index", pa.array(_index(domain, rows)))
    index, count = (rows.column(name).to_numpy() for name in ("index", "count"))
    return index, count


def _schema(features: list[Any]) -> pa.Schema:
    import pyarrow as pa

    whole = all(isinstance(feature["properties"]["count"], int) for feature in features)
    return pa.schema([("index", pa.int64()), ("count", pa.int64() if whole else pa.float64())])


def _index(domain: Domain, rows: pa.Table) -> NDArray[np.int64]:
    """The cells of a CSV file, which names them by what a person reads."""
    axes: list[NDArray[np.int64]] = []
    for name, attribute in domain.attributes.items():
        pair = (f"{name}_row", f"{name}_column") if isinstance(attribute, Grid) else (name,)
        columns = [rows.column(each).to_numpy(zero_copy_only=False) for each in pair]
        if isinstance(attribute, Bins):
            place = {label: at for at, label in enumerate(attribute.labels(range(attribute.size)).tolist())}
            axes.append(np.array([place[label] for label in columns[0]], dtype=np.int64))
        else:
            axes += attribute.locate(*(each.astype(np.int64) if attribute.spatial else each for each in columns))[0]
    return domain.index(*axes)
