"""What the public report and notebooks show of a released table, from the released files and the certificate alone."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sudare.domain import Bins, Categories, CountTable, Domain, Grid, Line, Place, Regions
from sudare.domain.attribute import Attribute
from sudare.domain.parquet import pieces
from sudare.errors import MissingExtraError, ParameterError, did_you_mean
from sudare.language.cards import card, facts, picture
from sudare.language.catalogue import Words, current_language
from sudare.privacy import Adjacency, Budget, Fact, Guarantee, readable
from sudare.privacy.notebook import headline, unit_words
from sudare.registry import METHODS
from sudare.render.charts import Picture, render_png
from sudare.render.crossing import cross_tables, flow_maps, flow_matrix, flow_places
from sudare.render.drawing import LEVEL, View
from sudare.render.map_pages import MapPage
from sudare.render.outlines import Outline, countries
from sudare.render.sections import Chart, Facts, Map, Part, Section, Table, Text, Tiles
from sudare.tables.examples import block_bars
from sudare.tables.files import FILE_OF, OUTLINE, counts_of, read_csv
from sudare.tables.method import Method, cost_of_replacing
from sudare.tables.release import Release
from sudare.tables.trust import trust_section

if TYPE_CHECKING:
    from sudare.tables.release import Release


_SHOWN_VALUES = 12


def table_sections(release: Release, words: Words, outline: Outline | None = None) -> list[Section]:
    """What was released, the map, how far to trust it, and the method."""
    return [
        _released(release, words),
        _picture(release, words, outline or countries()),
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


def _picture(release: Release, words: Words, outline: Outline | None) -> Section:
    """Flows between two places, a map, or a cross table and a profile: what the domain has."""
    table = release.table
    view = View.of(table.domain, words)
    if (ends := flow_places(table)) is not None:
        names = ("released", "arriving")
        flows = [Map(name, made) for name, made in zip(names, flow_maps(table, ends, words, outline), strict=False)]
        matrix = Map("flows", flow_matrix(table, ends, words))
        return Section(words("table.flow_title"), (Text.of(words("table.flow")), *flows, matrix))
    if not view.is_map:
        parts: list[Part] = [Chart("released", {0: view.profile(table)})]
        if (crossed := cross_tables(table, words)) is not None:
            parts = [Text.of(words("table.cross")), Map("crossed", crossed), *parts]
        return Section(words("table.profile_title"), tuple(parts))
    bars = partial(block_bars, release, level=LEVEL)
    drawn = view.map({words("chart.released_counts"): table}, bars=bars, outline=outline)
    return Section(words("table.map_title"), (Text.of(words("table.map")), Map("released", drawn)))


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
    if isinstance(attribute, Place | Grid) and len(attribute.lengths) == 2:
        size = {"size": attribute.cell_name} if isinstance(attribute, Place) else {}
        kind = words(f"attribute.{attribute.kind}", **size)
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
        outline = Outline.of(folder / OUTLINE) if OUTLINE in files else None
        return table_sections(read_release(folder, certificate), words, outline)
    domain = Domain.from_json(certificate["domain"])
    numbers = {"total": summary["total"], "cells": domain.size, "listed": summary["nonzero_cells"]}
    tiles = Tiles(tuple((words.number(number), words(f"table.{name}")) for name, number in numbers.items()))
    text = Text.of(words("table.text", names=words.listing(list(domain.attributes))))
    return [Section(words("table.title"), (text, tiles))]


def read_release(folder: Path, certificate: dict[str, Any]) -> Release:
    """The release as the publisher had it: its table, promise, method and budget."""
    summary, domain = certificate["summary"], _with_polygons(folder, certificate)
    guarantee = Guarantee.from_json(certificate["guarantee"])
    method: Method = METHODS[summary["method"]](**summary["parameters"])
    budget = Budget(epsilon=guarantee.epsilon) if guarantee.rho is None else Budget(rho=guarantee.rho)
    if guarantee.adjacency == Adjacency.REPLACED:  # the exact total is public, and the promise is that of a replacement
        budget = budget.times(1 / Fraction(cost_of_replacing(method, domain, budget)))
    index, count = _cells(folder, certificate["files"], domain)
    values = count if summary["integers"] else count.astype(np.float64)
    return Release(CountTable.released(domain, index, values), guarantee, method, budget)


def _with_polygons(folder: Path, certificate: dict[str, Any]) -> Domain:
    """The declared domain; regions have the polygons that the release shows, where it has some."""
    domain, files = Domain.from_json(certificate["domain"]), certificate["files"]
    shown = sorted(name for name in files if files[name]["format"] in ("geoparquet", "geojson"))
    attributes = dict(domain.attributes)
    name = next((name for name, own in attributes.items() if isinstance(own, Place)), None)
    if name is None or not shown or not isinstance(regions := attributes[name], Regions):
        return domain
    try:
        drawn = regions.with_polygons(folder / shown[-1], key=name, some=True)
    except MissingExtraError:  # a reader without Shapely has no map, and all the rest
        return domain
    # Origin and destination are declared alike: the file has the polygons of the first, which are those of both.
    attributes |= {other: drawn for other, own in attributes.items() if own == regions}
    return Domain(order=domain.groups, **attributes)


def _cells(folder: Path, files: dict[str, Any], domain: Domain) -> tuple[NDArray[Any], NDArray[Any]]:
    """Index and count of the listed cells, from whichever of the files has them."""
    named = {form: sorted(name for name in files if files[name]["format"] == form) for form in FILE_OF}
    if listed := named["parquet"] or named["geoparquet"]:
        parts = [part for name in listed for part in pieces(folder / name, ["index", "count"])]
        index, count = ([part[name] for part in parts] or [np.zeros(0, dtype=np.int64)] for name in ("index", "count"))
        return np.concatenate(index), np.concatenate(count)
    if named["geojson"]:
        features = json.loads((folder / named["geojson"][0]).read_text(encoding="utf-8"))["features"]
        both = [(feature["properties"]["index"], feature["properties"]["count"]) for feature in features]
        return np.array([index for index, _ in both], dtype=np.int64), counts_of([str(count) for _, count in both])
    columns = read_csv(folder / named["csv"][0])
    return _index(domain, columns), counts_of(columns["count"])


def _index(domain: Domain, rows: Mapping[str, Sequence[str]]) -> NDArray[np.int64]:
    """The cells of a CSV file, which names them by what a person reads."""
    axes: list[NDArray[np.int64]] = []
    for name, attribute in domain.attributes.items():
        columns = [np.array(rows[each], dtype=np.str_) for each in attribute.label_columns(name)]
        if isinstance(attribute, Bins):
            place = {label: at for at, label in enumerate(attribute.labels(range(attribute.size)).tolist())}
            axes.append(np.array([place[label] for label in columns[0]], dtype=np.int64))
        else:
            axes += attribute.locate(*(each.astype(np.int64) if attribute.spatial else each for each in columns))[0]
    return domain.index(*axes)


_MAP_HEIGHT, _PROFILE_WIDTH = 620, 560


def picture_of(release: Release, attribute: str | None, width: int) -> Picture:
    """The released table over one attribute, or over the one that shows most."""
    table, words = release.table, current_language()
    names = table.domain.attributes
    if attribute is not None and attribute not in names:
        hint = did_you_mean(attribute, names)
        raise ParameterError("there is no such attribute", value=attribute, allowed=list(names), hint=hint)
    view = View.of(table.domain, words, attribute)
    if len(names[view.name].lengths) == 2:
        return Picture(view.picture({words("chart.released_counts"): table}, width))
    return Picture(view.profile(table, width=width))


def map_of(release: Release, height: int) -> MapPage:
    """The released table on a map that can be moved."""
    words = current_language()
    view = View.of(release.table.domain, words)
    if not view.is_map:
        raise ParameterError(
            "the domain has nothing to draw a map of",
            allowed="a place or a grid",
            hint="plot() shows counts by an attribute.",
        )
    title = words("chart.released_counts")
    return MapPage(view.map({title: release.table}, outline=countries()), title, height)


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
    if view.is_map:
        shown = map_of(release, _MAP_HEIGHT)._repr_html_()
    else:
        drawn = view.profile(table, width=_PROFILE_WIDTH)
        shown = picture(render_png(drawn, 1.0), drawn["description"])
    return card(words("table.title"), facts(lines), shown)
