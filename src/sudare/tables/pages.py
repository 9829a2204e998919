"""What reports and notebooks show of a released table, from the release alone.

The sections of a released table that may be public: all of it from the `Release` alone.

What the public report says of a table: read back from the released files and the certificate, and nothing else.

A release as a small box for notebooks: its facts and its map.
"""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sudare.domain import Bins, Categories, CountTable, Domain, Grid, Line, Mesh
from sudare.domain.attribute import Attribute
from sudare.language.cards import card, facts, picture
from sudare.language.catalogue import Words
from sudare.privacy import Adjacency, Budget, Fact, Guarantee, readable
from sudare.privacy.notebook import headline, unit_words
from sudare.registry import METHODS
from sudare.render.charts import render_png
from sudare.render.drawing import View
from sudare.render.sections import Chart, Facts, Part, Section, Table, Text, Tiles
from sudare.tables import Method, Release
from sudare.tables.files import FILE_OF
from sudare.tables.method import cost_of_replacing
from sudare.tables.trust import trust_section

if TYPE_CHECKING:
    import pyarrow as pa

    from sudare.tables.release import Release


MAP_LAYOUTS = (
    (900, 760, False),
    (700, 560, False),
    (510, 430, True),
    (420, 340, True),
    (338, 268, True),
    (0, 220, True),
)
"""What a layout needs in pixels, the width of its map, and whether the legend lies above it."""
_SHOWN_VALUES = 12


def table_sections(release: Release, words: Words) -> list[Section]:
    """What was released, the map, how far to trust it, and the method."""
    return [
        _released(release, words),
        _picture(release, words),
        trust_section(release, words),
        _method(release, words),
    ]


def _released(release: Release, words: Words) -> Section:
    table = release.table
    parts: list[Part] = [
        Text.of(words("table.text", names=words.listing(list(table.domain.attributes)))),
        Tiles(
            (
                (words.number(table.total), words("table.total")),
                (words.number(table.domain.size), words("table.cells")),
                (words.number(len(table)), words("table.listed")),
            )
        ),
        attributes_table(table.domain, words),
    ]
    if release.summary["smallest"] < 0:
        parts.append(Text.of(words("table.negative")))
    return Section(words("table.title"), tuple(parts))


def _picture(release: Release, words: Words) -> Section:
    view = View.of(release.table.domain, words)
    if not view.is_map:
        return Section(words("table.profile_title"), (Chart("released", {0: view.released(release.table)}),))
    layouts = {needed: view.released(release.table, width, narrow) for needed, width, narrow in MAP_LAYOUTS}
    return Section(words("table.map_title"), (Text.of(words("table.map")), Chart("released", layouts)))


def _method(release: Release, words: Words) -> Section:
    method, budget = release.method, release.budget
    gaussian = budget.rho is not None
    public_total = Fact("total") in release.guarantee.public
    given = ", ".join(f"{name} = {_written(value)}" for name, value in method.parameters.items() if value is not None)
    facts = {
        words("method.name"): words.label("method_name", method.name),
        words("method.parameters"): given or words("method.no_parameters"),
        words("method.budget"): words(f"method.{budget.currency}", amount=readable(budget.amount)),
        words("method.noise"): words("method.gaussian_noise" if gaussian else "method.laplace_noise"),
        words("method.total"): words("method.total_public" if public_total else "method.total_noisy"),
    }
    text = words.label("method_text", method.name)
    parts = (Text.of("" if text == method.name else text), Facts(facts))
    return Section(words("method.title"), parts, chapter="method")


def attributes_table(domain: Domain, words: Words) -> Table:
    """The declared attributes: what a cell is."""
    rows = tuple((name, *_attribute(attribute, words)) for name, attribute in domain.attributes.items())
    header = (words("attribute.title"), words("attribute.kind"), words("attribute.values"))
    return Table(words("table.attributes_caption"), header, rows, numbers=False)


def _attribute(attribute: Attribute, words: Words) -> tuple[str, str]:
    """The kind of an attribute, and its values."""
    if isinstance(attribute, Mesh | Grid):
        size = attribute.cell_size if isinstance(attribute, Mesh) else ""
        kind = words("attribute.mesh", size=size) if size else words("attribute.grid")
        rows, columns = attribute.lengths
        if attribute.size < rows * columns:
            return kind, words("attribute.squares_under", number=attribute.size, rows=rows, columns=columns)
        return kind, words("attribute.square", rows=rows, columns=columns)
    if isinstance(attribute, Line):
        return words("attribute.line"), words.number(attribute.size)
    kind = words("attribute.bins" if isinstance(attribute, Bins) else "attribute.categories")
    if not isinstance(attribute, Bins | Categories):
        return type(attribute).__name__, words.number(attribute.size)
    names = [str(name) for name in attribute.labels(range(min(attribute.size, _SHOWN_VALUES))).tolist()]
    some = "、".join(names) if words.language == "ja" else ", ".join(names)
    if attribute.size > len(names):
        return kind, words("attribute.more", some=some, number=attribute.size)
    return kind, some


def _written(value: object) -> str:
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_written(one) for one in value) + "]"
    return str(value)


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


_MAP_WIDTH, _PROFILE_WIDTH = 330, 560


def release_card(release: Release, words: Words) -> str:
    """What is promised, to whom, and what came out; nothing is loaded from elsewhere."""
    table = release.table
    lines = {
        words("guarantee.promise"): headline(release.guarantee, words),
        words("guarantee.unit"): unit_words(release.guarantee.unit, words),
        words("method.name"): words.label("method_name", release.method.name),
        words("table.total"): words.number(table.total),
        words("table.cells"): words.number(table.domain.size),
        words("table.listed"): words.number(len(table)),
    }
    if release.guarantee.in_no_ledger:
        lines[words("guarantee.ledger")] = words("guarantee.in_no_ledger")
    view = View.of(table.domain, words)
    drawn = view.still(table, _MAP_WIDTH if view.is_map else _PROFILE_WIDTH)
    return card(words("table.title"), facts(lines), picture(render_png(drawn, 1.0), drawn["description"]))
