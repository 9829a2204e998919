"""The verbs of an engine that speaks SQL, over its `Shell`."""

# ruff: noqa: S608 - names are ours

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.engines.attribute_sql import count_sql, unit_sql
from sudare.engines.bound_sql import first_look, second_look, spread_units
from sudare.engines.place_sql import locate_rows, outside_refusal, place_rows
from sudare.engines.protocol import UNKNOWN, Bound, Column, CountRows, Groups, Placement
from sudare.engines.rows_sql import tuples_sql, values_sql
from sudare.engines.shell import Shell

FEW = 2**21
"""So many rows of one number may be sent to every worker."""


def needed(columns: Sequence[Column], bound: Bound | None, *further: Column) -> list[Column]:
    """The columns that a question needs, each once."""
    units = [] if bound is None else [bound.unit]
    return list({column.name: column for column in [*columns, *units, *further]}.values())


def columns_of(placement: Placement) -> list[Column]:
    """The columns that place a row."""
    return [column for columns in placement.columns.values() for column in columns]


def cells_sql(shell: Shell, placement: Placement, bound: Bound | None) -> str:
    """The query for ``cell`` and ``kept``, its rows after bounding: one row per cell; refuses rows outside."""
    unit = None if bound is None else bound.unit
    place_rows(shell, placement, {} if unit is None else {"unit": unit_sql(unit, shell.dialect)})
    refuse = placement.outside == "error"
    placed, counted = shell.name("placed"), shell.name("counted")
    if bound is None:
        shell.keep("counted", f"SELECT COALESCE(cell, -1) AS cell, count(*) AS kept FROM {placed} GROUP BY cell")
    else:
        shell.keep("counted", first_look(bound, refuse, placed))
    spread = "0" if bound is None else "count(spread)"
    found = shell.ask(f"SELECT bool_or(cell = -1) AS outside, {spread} AS spread FROM {counted}").to_pylist()[0]
    if refuse and found["outside"]:
        raise outside_refusal(shell, placement, unit)
    cells = f"SELECT cell, kept FROM {counted} WHERE cell >= 0"
    if bound is not None and found["spread"]:
        shell.view("spread", spread_units(bound, counted), few=found["spread"] <= FEW)
        cells = f"{cells} UNION ALL {second_look(bound, shell.dialect, placed, shell.name('spread'))}"
    # Rows outside are still there as a cell NULL that keeps nothing.
    return f"SELECT cell, CAST(sum(kept) AS BIGINT) AS kept FROM ({cells}) GROUP BY cell HAVING sum(kept) > 0"


def counts_of(shell: Shell, placement: Placement, count: Column) -> CountRows:
    """See `Engine.read_counts`."""
    axes = locate_rows(shell, placement, {"counted": count_sql(count, shell.dialect)})
    known = [f"COALESCE({axis}, CAST({UNKNOWN} AS BIGINT)) AS {axis}" for axis in axes]
    rows = shell.ask(f"SELECT counted, {', '.join(known)} FROM {shell.name('located')}")
    return CountRows(tuple(rows.column(axis).to_numpy() for axis in axes), rows.column("counted").to_numpy())


def groups_of(shell: Shell, columns: Sequence[Column], bound: Bound | None) -> Groups:
    """See `Engine.group_rows`."""
    found = shell.ask(tuples_sql(columns, bound, shell.dialect, shell.name("source")))
    coded = [_coded(found.column(f"c{place}")) for place in range(len(columns))]
    codes = np.stack([code for code, _ in coded], axis=1)
    order = np.lexsort(codes.T[::-1])
    return Groups(codes[order], tuple(labels for _, labels in coded), found.column("n").to_numpy()[order])


def values_of(shell: Shell, columns: Sequence[Column], bound: Bound | None) -> list[NDArray[Any]]:
    """See `Engine.read_values`."""
    found = shell.ask(values_sql(columns, bound, shell.dialect, shell.name("source")))
    return [column.to_numpy() for column in found.columns]


def _coded(column: Any) -> tuple[NDArray[np.int32], list[str | None]]:
    """A column of text as places in its sorted distinct values; a missing value is the last."""
    encoded = column.combine_chunks().dictionary_encode()
    values = encoded.dictionary.to_pylist()
    place = np.empty(len(values) + 1, dtype=np.int32)
    place[np.array(sorted(range(len(values)), key=values.__getitem__), dtype=np.int64)] = np.arange(len(values))
    place[len(values)] = len(values)
    codes = place[encoded.indices.fill_null(len(values)).to_numpy()]
    return codes, [*sorted(values), *([None] if column.null_count else [])]
