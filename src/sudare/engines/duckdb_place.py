"""Rows in cells, as views in DuckDB.

``located`` has the position of each row along every axis, possibly outside the domain; ``placed`` has one
BIGINT key for each row, NULL for a row outside. No query filters these views: DuckDB would push a filter
down through the layers by writing their expressions out, each into the next. Rows outside carry NULL
instead, which aggregates pass over.
"""

# ruff: noqa: S608 - names are quoted by `identifier`, texts by `text_literal`; the rest are numbers

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sudare.domain import Attribute
from sudare.engines.columns import outside_error
from sudare.engines.duckdb_sql import Layer, translate
from sudare.engines.protocol import Column, Placement
from sudare.errors import InputError

if TYPE_CHECKING:
    import duckdb


def locate_rows(connection: duckdb.DuckDBPyConnection, placement: Placement, extra: Layer) -> list[str]:
    """Makes the view ``located`` over ``source``: ``extra``, and one column per axis of the domain.

    Returns the names of the axes. ``extra`` are expressions over the columns of ``source``.
    """
    translations = [
        translate(attribute, placement.columns[name], f"a{number}_")
        for number, (name, attribute) in enumerate(placement.domain.attributes.items())
    ]
    raw = dict(extra)
    joins: list[str] = []
    for translation in translations:
        raw |= translation.raw
        joins += translation.joins
        for table, data in translation.tables.items():
            connection.register(table, data)
    sql = f"SELECT * FROM (SELECT {_named(raw)} FROM source) {' '.join(joins)}"
    for depth in range(max(len(translation.layers) for translation in translations)):
        layer: Layer = {}
        for translation in translations:
            layer |= translation.layers[depth] if depth < len(translation.layers) else {}
        sql = f"SELECT *, {_named(layer)} FROM ({sql})"
    axes = [axis for translation in translations for axis in translation.axes]
    connection.execute(f"CREATE TEMP VIEW located AS SELECT {', '.join([*extra, *axes])} FROM ({sql})")
    return axes


def place_rows(connection: duckdb.DuckDBPyConnection, placement: Placement, extra: Layer) -> None:
    """Makes the view ``placed``: ``extra``, ``position0``, ``position1``, ... and ``cell``.

    A position is the row-major place in one attribute, NULL outside; ``cell`` is that in the domain.
    """
    axes = iter(locate_rows(connection, placement, extra))
    attributes = list(placement.domain.attributes.values())
    clamp = placement.outside == "clamp"
    boxes = {
        f"position{number}": _in_box(attribute, [next(axes) for _ in attribute.lengths], clamp)
        for number, attribute in enumerate(attributes)
    }
    carried = "".join(f"{name}, " for name in extra)
    connection.execute(f"CREATE TEMP VIEW boxed AS SELECT {carried}{_named(boxes)} FROM located")
    joins, kept = [], dict(zip(boxes, boxes, strict=True))
    for name, attribute in zip(boxes, attributes, strict=True):
        forbidden = _masked_positions(connection, name, attribute)
        if forbidden.size:
            import pyarrow

            table = f"masked_{name}"
            connection.register(table, pyarrow.table({f"{table}_cell": forbidden}))
            joins.append(f"LEFT JOIN {table} ON {name} = {table}_cell")
            kept[name] = f"CASE WHEN {table}_cell IS NULL THEN {name} END"
    cell = " + ".join(
        f"{name} * CAST({stride} AS BIGINT)" for name, stride in zip(boxes, _strides(attributes), strict=True)
    )
    unmasked = f"SELECT {carried}{_named(kept)} FROM boxed {' '.join(joins)}"
    connection.execute(f"CREATE TEMP VIEW placed AS SELECT *, {cell} AS cell FROM ({unmasked})")


def outside_refusal(connection: duckdb.DuckDBPyConnection, placement: Placement, unit: Column | None) -> InputError:
    """The refusal that names the attributes (and the unit) for which some row of ``placed`` lies outside."""
    names = list(placement.domain.attributes)
    questions = [f"bool_or(position{number} IS NULL)" for number in range(len(names))]
    questions.append("FALSE" if unit is None else "bool_or(unit IS NULL)")
    answers = connection.sql(f"SELECT {', '.join(questions)} FROM placed").fetchall()[0]
    concerned = [name for name, answer in zip(names, answers[:-1], strict=True) if answer]
    return outside_error(placement, concerned, unit if answers[-1] else None)


def _in_box(attribute: Attribute, axes: list[str], clamp: bool) -> str:
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
        ends = axes
    place = ends[0]
    for end, length in zip(ends[1:], attribute.lengths[1:], strict=True):
        place = f"{place} * CAST({length} AS BIGINT) + {end}"
    return f"CASE WHEN {condition} THEN {place} END"


def _masked_positions(connection: duckdb.DuckDBPyConnection, name: str, attribute: Attribute) -> NDArray[np.int64]:
    """The positions that occur in ``boxed`` and are masked: the attribute is asked once for each."""
    if attribute.size == prod(attribute.lengths):
        return np.zeros(0, dtype=np.int64)
    occurring = connection.sql(f"SELECT DISTINCT {name} AS position FROM boxed").to_arrow_table()
    positions = occurring.column("position").drop_null().to_numpy()
    allowed = attribute.allowed(*np.unravel_index(positions, attribute.lengths))
    return np.asarray(positions[~allowed], dtype=np.int64)


def _strides(attributes: list[Attribute]) -> list[int]:
    """How far apart the cells of the domain are that lie next to each other in an attribute."""
    sizes = [prod(attribute.lengths) for attribute in attributes]
    return [prod(sizes[number + 1 :]) for number in range(len(sizes))]


def _named(expressions: Layer) -> str:
    return ", ".join(f"{expression} AS {name}" for name, expression in expressions.items())
