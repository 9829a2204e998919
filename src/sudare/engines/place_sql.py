"""Rows in cells, as views in an engine.

``located`` has the position of each row along every axis, possibly outside the domain; ``placed`` has one
BIGINT key for each row, NULL for a row outside. No query filters these views: an engine would push a filter
down through the layers by writing their expressions out, each into the next. Rows outside carry NULL
instead, which aggregates ignore.
"""

# ruff: noqa: S608 - columns are named by their engine, all other names are ours; the rest are numbers

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from sudare.domain import Attribute
from sudare.domain.sql import AttributeSql, Layer
from sudare.engines.columns import outside_error
from sudare.engines.dialect import Shell, only_row
from sudare.engines.protocol import Placement
from sudare.errors import InputError


def locate_rows(shell: Shell, placement: Placement, extra: Layer) -> list[AttributeSql]:
    """Makes the view ``located`` over ``source``: ``extra``, and one column per axis of the domain.

    Returns how each attribute was read. ``extra`` are expressions over the columns of ``source``.
    """
    translations = [
        attribute.sql(placement.columns[name], f"a{number}_", shell.dialect)
        for number, (name, attribute) in enumerate(placement.domain.attributes.items())
    ]
    raw = dict(extra)
    joins: list[str] = []
    calls: Layer = {}
    for translation in translations:
        raw |= translation.raw
        for result, call in translation.calls.items():
            shell.define(f"{result}_of", call)
            calls[result] = f"{shell.name(f'{result}_of')}({', '.join(call.arguments)})"
        for table, (join, data) in translation.joins.items():
            shell.register(table, data)
            joins.append(join.format(table=shell.name(table)))
    sql = f"SELECT * FROM (SELECT {_named(raw)} FROM {shell.name('source')}) {' '.join(joins)}"
    if calls:
        sql = f"SELECT *, {_named(calls)} FROM ({sql})"
    for depth in range(max(len(translation.layers) for translation in translations)):
        layer: Layer = {}
        for translation in translations:
            layer |= translation.layers[depth] if depth < len(translation.layers) else {}
        sql = f"SELECT *, {_named(layer)} FROM ({sql})"
    shell.view("located", f"SELECT {', '.join([*extra, *axes_of(translations)])} FROM ({sql})")
    return translations


def axes_of(translations: list[AttributeSql]) -> list[str]:
    """The names of all axes of a domain."""
    return [axis for translation in translations for axis in translation.axes]


def place_rows(shell: Shell, placement: Placement, extra: Layer) -> None:
    """Makes the view ``placed``: ``extra``, ``position0``, ``position1``, ... and ``cell``.

    A position is the row-major place in one attribute, NULL outside; ``cell`` is that in the domain.
    """
    translations = locate_rows(shell, placement, extra)
    attributes = list(placement.domain.attributes.values())
    clamp = placement.outside == "clamp"
    boxes = {
        f"position{number}": _in_box(attribute, translation.axes, clamp)
        for number, (attribute, translation) in enumerate(zip(attributes, translations, strict=True))
    }
    carried = "".join(f"{name}, " for name in extra)
    shell.view("boxed", f"SELECT {carried}{_named(boxes)} FROM {shell.name('located')}")
    joins, kept = [], dict(zip(boxes, boxes, strict=True))
    for name, attribute, translation in zip(boxes, attributes, translations, strict=True):
        masked_already = translation.calls and not clamp
        if not masked_already and (forbidden := _masked_positions(shell, name, attribute)).size:
            table = f"masked_{name}"
            shell.register(table, {f"{table}_cell": forbidden})
            joins.append(f"LEFT JOIN {shell.name(table)} ON {name} = {table}_cell")
            kept[name] = f"CASE WHEN {table}_cell IS NULL THEN {name} END"
    cell = " + ".join(
        f"{name} * CAST({stride} AS BIGINT)" for name, stride in zip(boxes, _strides(attributes), strict=True)
    )
    unmasked = f"SELECT {carried}{_named(kept)} FROM {shell.name('boxed')} {' '.join(joins)}"
    shell.view("placed", f"SELECT *, {cell} AS cell FROM ({unmasked})")


def outside_refusal(shell: Shell, placement: Placement) -> InputError:
    """The refusal that names the attributes for which some row of ``placed`` lies outside."""
    names = list(placement.domain.attributes)
    questions = [f"bool_or(position{number} IS NULL) AS q{number}" for number in range(len(names))]
    answers = only_row(shell.ask(f"SELECT {', '.join(questions)} FROM {shell.name('placed')}"))
    concerned = [name for number, name in enumerate(names) if answers[f"q{number}"]]
    return outside_error(placement, concerned or names)  # a source that changed may have none any more


def _in_box(attribute: Attribute, axes: Sequence[str], clamp: bool) -> str:
    """The row-major place of a row in an attribute's box, as in ``Attribute.locate`` and ``clamp``."""
    if clamp:
        condition = " AND ".join(f"{axis} IS NOT NULL" for axis in axes)
        ends = [
            f"greatest(0, least({length - 1}, {axis}))" for axis, length in zip(axes, attribute.lengths, strict=True)
        ]
    else:
        condition = " AND ".join(
            f"{axis} >= 0 AND {axis} < {length}" for axis, length in zip(axes, attribute.lengths, strict=True)
        )
        ends = list(axes)
    place = ends[0]
    for end, length in zip(ends[1:], attribute.lengths[1:], strict=True):
        place = f"{place} * CAST({length} AS BIGINT) + {end}"
    return f"CASE WHEN {condition} THEN {place} END"


def _masked_positions(shell: Shell, name: str, attribute: Attribute) -> NDArray[np.int64]:
    """The masked positions among those that occur in ``boxed``."""
    if attribute.size == prod(attribute.lengths):
        return np.zeros(0, dtype=np.int64)
    occurring = shell.ask(f"SELECT DISTINCT {name} AS position FROM {shell.name('boxed')}")["position"]
    positions = np.array([each for each in occurring.tolist() if each is not None], dtype=np.int64)
    allowed = attribute.allowed(*np.unravel_index(positions, attribute.lengths))
    return np.asarray(positions[~allowed], dtype=np.int64)


def _strides(attributes: list[Attribute]) -> list[int]:
    """The row-major stride of each attribute: the distance of cells that are neighbours along it."""
    sizes = [prod(attribute.lengths) for attribute in attributes]
    return [prod(sizes[number + 1 :]) for number in range(len(sizes))]


def _named(expressions: Layer) -> str:
    return ", ".join(f"{expression} AS {name}" for name, expression in expressions.items())
