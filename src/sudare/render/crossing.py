"""Two attributes against each other: flows between places, and cross tables as heat maps with margins."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.arrays import Integers
from sudare.domain import CountTable, Place
from sudare.language.catalogue import Words
from sudare.render.map_data import Layer, map_content, map_shift, matrix, place_count, places_of
from sudare.render.outlines import Outline
from sudare.render.packing import packed

MOST_FLOWS = 300_000
"""Pairs of places of which a page holds each; with more, it has totals alone."""
MOST_ROWS = 40
"""Places of a matrix of flows: the largest."""
MOST_VALUES = 60
"""The most values of an attribute that is drawn against another."""


def flow_places(table: CountTable) -> tuple[str, str] | None:
    """Origin and destination: the first two places that can be drawn, those that are declared alike before others."""
    attributes = table.domain.attributes
    places = [name for name, own in attributes.items() if isinstance(own, Place) and own.drawable]
    pairs = list(combinations(places, 2))
    return next((pair for pair in pairs if attributes[pair[0]] == attributes[pair[1]]), pairs[0] if pairs else None)


def flow_maps(table: CountTable, names: tuple[str, str], words: Words, outline: Outline | None) -> list[dict[str, Any]]:
    """All that leave and all that arrive: one map of places that are declared alike, or a map of each."""
    attributes = [table.domain.attributes[name] for name in names]
    if attributes[0] == attributes[1]:
        return [flow_map(table, names, words, outline)]
    sides, _, value = _pairs(table, names)
    made = []
    for key, name, attribute, place in zip(("map.leaving", "map.arriving"), names, attributes, sides, strict=True):
        layer = _sums(table, f"{words(key)}: {name}", place, value, place_count(attribute), words)
        made.append(map_content(attribute, [layer], words, what=words("map.flow_what"), outline=outline))
    return made


def flow_map(table: CountTable, names: tuple[str, str], words: Words, outline: Outline | None) -> dict[str, Any]:
    """All that leave and all that arrive, by place; a place that is picked shows its own flows."""
    attribute = table.domain.attributes[names[0]]
    sides, pairs, value = _pairs(table, names)
    size = place_count(attribute)
    layers = []
    for key, place in zip(("map.leaving", "map.arriving"), sides, strict=True):
        layers.append(_sums(table, words(key), place, value, size, words))
    made = map_content(attribute, layers, words, what=words("map.flow_what"), outline=outline)
    if len(pairs) <= MOST_FLOWS:
        kept = np.bincount(np.searchsorted(pairs, sides[0] * size + sides[1]), weights=value, minlength=len(pairs))
        made["flows"] = {
            "from": packed(pairs // size, steps=True),
            "to": packed(pairs % size),
            "values": packed(_whole(kept, table)),
        }
    return made


def flow_matrix(table: CountTable, names: tuple[str, str], words: Words) -> dict[str, Any]:
    """Origins (rows) by destinations (columns), of the places with most people."""
    attributes = [table.domain.attributes[name] for name in names]
    sides, _, value = _pairs(table, names)
    weight = np.abs(value)
    sums = [
        np.bincount(place, weights=weight, minlength=place_count(own))
        for own, place in zip(attributes, sides, strict=True)
    ]
    if attributes[0] == attributes[1]:  # the same rows as columns
        sums = [sums[0] + sums[1]] * 2
    largest = [np.sort(np.argsort(-each, kind="stable")[:MOST_ROWS]) for each in sums]
    own = [np.searchsorted(kept, place).clip(0, len(kept) - 1) for kept, place in zip(largest, sides, strict=True)]
    known = (largest[0][own[0]] == sides[0]) & (largest[1][own[1]] == sides[1])
    dense = np.zeros((len(largest[0]), len(largest[1])))
    np.add.at(dense, (own[0][known], own[1][known]), value[known])
    rows, columns = (_place_labels(own, kept) for own, kept in zip(attributes, largest, strict=True))
    return _matrix(rows, columns, dense, table, words, f"{names[0]} → {names[1]}")


def cross_tables(table: CountTable, words: Words) -> dict[str, Any] | None:
    """Each pair of attributes with few values as a heat map with its margins, to choose from; None if there is none."""
    attributes = table.domain.attributes
    short = [name for name, own in attributes.items() if len(own.lengths) == 1 and own.lengths[0] <= MOST_VALUES]
    coordinates = dict(
        zip([axis.name for axis in table.domain.axes], table.domain.coordinates(table.index), strict=True)
    )
    choices = []
    for one, other in combinations(short, 2):
        lengths = attributes[one].lengths[0], attributes[other].lengths[0]
        dense = np.zeros(lengths)
        np.add.at(dense, (coordinates[one], coordinates[other]), table.count)
        whole = np.zeros((lengths[0] + 1, lengths[1] + 1))
        whole[:-1, :-1], whole[-1, :-1], whole[:-1, -1], whole[-1, -1] = dense, dense.sum(0), dense.sum(1), dense.sum()
        names = [
            [*(str(label) for label in attributes[name].labels(np.arange(length)).tolist()), words("map.sum")]
            for name, length in zip((one, other), lengths, strict=True)
        ]
        made = _matrix(names[0], names[1], whole, table, words, f"{one} × {other}")
        choices.append({"label": f"{one} × {other}", **{key: made[key] for key in ("frame", "panels")}})
    if not choices:
        return None
    return {"choices": choices, "what": words("map.cell_what"), "words": words.messages("map.")}


def _pairs(table: CountTable, names: tuple[str, str]) -> tuple[list[Integers], Integers, NDArray[Any]]:
    """The place of each listed cell at both ends, the distinct pairs, and the counts."""
    coordinates = table.domain.coordinates(table.index)
    sides = []
    for name in names:
        own = [coordinates[number] for number, axis in enumerate(table.domain.axes) if axis.name == name]
        sides.append(places_of(table.domain.attributes[name], own))
    size = place_count(table.domain.attributes[names[1]])
    return sides, np.unique(sides[0] * size + sides[1]), table.count


def _sums(table: CountTable, title: str, place: Integers, value: NDArray[Any], size: int, words: Words) -> Layer:
    sums = np.bincount(place, weights=value, minlength=size)
    filled = np.flatnonzero(sums)
    return Layer(title, words("chart.total", total=table.total), filled, _whole(sums[filled], table))


def _matrix(
    rows: list[str], columns: list[str], dense: NDArray[Any], table: CountTable, words: Words, title: str
) -> dict[str, Any]:
    values = dense[::-1].reshape(-1)  # the first row is on top
    filled = np.flatnonzero(values)
    layer = Layer(title, words("chart.total", total=table.total), filled, _whole(values[filled], table))
    made = {"frame": matrix(rows, columns), "what": words("map.cell_what"), "panels": [layer.content()]}
    return made | {"words": words.messages("map.")}


def _place_labels(attribute: Any, places: Integers) -> list[str]:
    shift = map_shift(attribute)
    if len(attribute.lengths) == 2:
        blocks = np.unravel_index(places, [((length - 1) >> shift) + 1 for length in attribute.lengths])
        cells = [axis << shift for axis in blocks]
    else:
        attribute = attribute.coarser(shift // 3) if shift else attribute
        cells = [attribute.region.positions[places]]
    return [str(label) for label in attribute.labels(*cells).tolist()]


def _whole(values: NDArray[Any], table: CountTable) -> NDArray[Any]:
    return np.rint(values).astype(np.int64) if table.count.dtype.kind == "i" else values
