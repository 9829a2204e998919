"""What an engine is: a few verbs over records that it holds, however large and wherever they are.

An engine never sees a method, a budget or noise. It places rows in the cells of a domain, bounds what one unit can add,
and hands back numbers by cell.
"""

# ruff: noqa: S608 - names are ours

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sudare.domain.sql import UNKNOWN, Columns, SourceColumn
from sudare.engines.bound_sql import (
    NOBODY,
    NOBODY_COLUMN,
    OUTSIDE,
    chosen,
    count_sql,
    own_rows_sql,
    settled,
    spread_units,
    tuples_sql,
    unit_sql,
    values_sql,
)
from sudare.engines.dialect import Shell, only_row
from sudare.engines.place_sql import axes_of, locate_rows, outside_refusal, place_rows
from sudare.engines.protocol import CellCounts, CountRows, Groups, Placement, RowBound

if TYPE_CHECKING:
    from sudare.engines.examine import Examination
    from sudare.engines.overlap import Matches

FEW = 2**21
"""Up to this many rows, a view of one number per row is broadcast to every worker."""


class Engine(ABC):
    """The verbs, each answered with SQL in a shell that an engine opens for the question.

    Each reads the records anew, raises `InputError` for what cannot be read, and never shows a value of the records.
    """

    columns: Mapping[str, SourceColumn]
    """The columns of the records, by name."""

    @abstractmethod
    def opened(self, columns: Sequence[SourceColumn], /) -> AbstractContextManager[Shell]:
        """A shell in which the view ``source`` has these columns and no others."""

    def count_rows(self, placement: Placement, bound: RowBound | None) -> CellCounts:
        """How many rows each cell has, after the rows of each unit were bounded."""
        with self.opened(needed(columns_of(placement), bound)) as shell:
            found = shell.ask(cells_sql(shell, placement, bound))
        return CellCounts(found["cell"], found["kept"])

    def read_counts(self, placement: Placement, count: SourceColumn) -> CountRows:
        """The rows of a table that holds one count per cell."""
        with self.opened(needed(columns_of(placement), None, count)) as shell:
            axes = axes_of(locate_rows(shell, placement, {"counted": count_sql(count, shell.dialect)}))
            known = [f"COALESCE({axis}, CAST({UNKNOWN} AS BIGINT)) AS {axis}" for axis in axes]
            rows = shell.ask(f"SELECT counted, {', '.join(known)} FROM {shell.name('located')}")
        return CountRows(tuple(rows[axis] for axis in axes), rows["counted"])

    def group_rows(self, columns: Sequence[SourceColumn], bound: RowBound | None) -> Groups:
        """The distinct tuples of ``columns`` as text, after the rows of each unit were bounded."""
        with self.opened(needed(columns, bound)) as shell:
            return groups_of(shell, columns, bound)

    def read_values(self, columns: Sequence[SourceColumn], bound: RowBound | None) -> list[NDArray[Any]]:
        """The columns, rows in the same order every time: float64 for numbers (NaN where missing), else objects of text
        (None where missing)."""
        with self.opened(needed(columns, bound)) as shell:
            return values_of(shell, columns, bound)

    def hash_rows(self, columns: Sequence[SourceColumn], named: bool) -> Columns:
        """The distinct rows as ``hash``, with how many ``times`` each is there: see `sudare.engines.overlap`."""
        from sudare.engines.overlap import hashes_of

        with self.opened(columns) as shell:
            return hashes_of(shell, columns, named)

    def match_rows(self, columns: Sequence[SourceColumn], named: bool, others: Columns) -> Matches:
        """The rows compared with those of another source, given in the form of `hash_rows`."""
        from sudare.engines.overlap import matches_of

        with self.opened(columns) as shell:
            return matches_of(shell, columns, named, others)

    def examine_rows(
        self, placement: Placement | None, bound: RowBound | None, count: SourceColumn | None, values: bool
    ) -> Examination:
        """How many rows fit, and why the others do not; with ``values``, some of their values. For the steward only."""
        from sudare.engines.examine import examine_rows

        placing = [] if placement is None else columns_of(placement)
        asked = needed(placing, bound, *([] if count is None else [count]))
        with self.opened(asked or list(self.columns.values())[:1]) as shell:  # a table of no columns has no rows
            return examine_rows(shell, placement, bound, count, values)

    def sum_rows(self, columns: Sequence[SourceColumn]) -> tuple[int, int, int]:
        """The number of rows, and the sums of the two halves of their hashes: the same whatever the order of rows."""
        from sudare.engines.overlap import sums_of

        with self.opened(columns) as shell:
            return sums_of(shell, columns)


def needed(columns: Sequence[SourceColumn], bound: RowBound | None, *further: SourceColumn) -> list[SourceColumn]:
    """The columns that a question needs, each once."""
    units = [] if bound is None else [bound.unit]
    return list({column.name: column for column in [*columns, *units, *further]}.values())


def columns_of(placement: Placement) -> list[SourceColumn]:
    """The columns that place a row."""
    return [column for columns in placement.columns.values() for column in columns]


def cells_sql(shell: Shell, placement: Placement, bound: RowBound | None) -> str:
    """The query for ``cell`` and ``kept``, its rows after bounding: one row per cell; refuses rows outside."""
    place_rows(shell, placement, {} if bound is None else {"unit": unit_sql(bound, shell.dialect)})
    refuse = placement.outside == "error"
    placed, counted = shell.name("placed"), shell.name("counted")
    if bound is None:
        unmet = f"COALESCE(cell, {OUTSIDE})"
        shell.keep("counted", f"SELECT {unmet} AS cell, count(*) AS kept FROM {placed} GROUP BY cell")
    else:
        shell.freeze("looked", f"SELECT unit, cell FROM {placed}")
        shell.keep("counted", settled(bound, refuse, shell.name("looked")))
    spread = "0" if bound is None else "count(spread)"
    asked = f"bool_or(cell = {OUTSIDE}) AS outside, bool_or(cell = {NOBODY}) AS nobody, {spread} AS spread"
    found = only_row(shell.ask(f"SELECT {asked} FROM {counted}"))
    if refuse and found["outside"]:
        raise outside_refusal(shell, placement)
    if bound is not None and bound.missing.action == "error" and found["nobody"]:
        raise bound.missing.refusal(bound.unit.name)
    cells = f"SELECT cell, kept FROM {counted} WHERE cell >= 0"
    if bound is None or not found["spread"]:
        return cells
    shell.view("spread", spread_units(bound, counted), few=found["spread"] <= FEW)
    cells = f"{cells} UNION ALL {chosen(bound, shell.dialect, shell.name('looked'), shell.name('spread'))}"
    # Rows outside are still there as a cell NULL that keeps nothing.
    return f"SELECT cell, CAST(sum(kept) AS BIGINT) AS kept FROM ({cells}) GROUP BY cell HAVING sum(kept) > 0"


def groups_of(shell: Shell, columns: Sequence[SourceColumn], bound: RowBound | None) -> Groups:
    """See `Engine.group_rows`."""
    rows = own_rows_sql(columns, bound, shell.dialect, shell.name("source"))
    if bound is not None:
        shell.freeze("looked", rows)
        rows = f"SELECT * FROM {shell.name('looked')}"
        refuse_nobody(bound, *shell.ask(f"SELECT bool_or({NOBODY_COLUMN}) AS {NOBODY_COLUMN} FROM ({rows})").values())
    found = shell.ask(tuples_sql(columns, shell.dialect, rows))
    coded = [_coded(found[f"c{place}"]) for place in range(len(columns))]
    codes = np.stack([code for code, _ in coded], axis=1)
    order = np.lexsort(codes.T[::-1])
    return Groups(codes[order], tuple(labels for _, labels in coded), found["n"][order])


def values_of(shell: Shell, columns: Sequence[SourceColumn], bound: RowBound | None) -> list[NDArray[Any]]:
    """See `Engine.read_values`."""
    rows = values_sql(columns, bound, shell.dialect, shell.name("source"))
    if bound is not None:  # rows that were bounded come in any order, those of a file in its own
        rows = f"SELECT * FROM ({rows}) ORDER BY {', '.join(f'c{place}' for place in range(len(columns)))}"
    found = shell.ask(rows)
    if bound is not None:
        refuse_nobody(bound, found.pop(NOBODY_COLUMN))
    return list(found.values())


def refuse_nobody(bound: RowBound, marks: NDArray[Any]) -> None:
    """Refuse rows without a unit: one mark of the few that the bounded query keeps for this purpose is enough."""
    if marks.any():
        raise bound.missing.refusal(bound.unit.name)


def _coded(column: NDArray[Any]) -> tuple[NDArray[np.int32], list[str | None]]:
    """A column of text as places in its sorted distinct values; a missing value is the last."""
    texts = column.tolist()
    labels: list[str | None] = sorted({text for text in texts if text is not None})
    labels += [None] if None in texts else []
    place = {text: rank for rank, text in enumerate(labels)}
    return np.fromiter(map(place.__getitem__, texts), dtype=np.int32, count=len(texts)), labels
