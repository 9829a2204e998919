"""DuckDB as the engine: out of core, in a connection of its own for each verb.

A connection has a memory limit and a private folder to spill into, both of which end with the verb. What
DuckDB says when something fails can quote a value, so that its errors are never shown: they become an
`InputError` that names the source.
"""

# ruff: noqa: S608 - names are quoted by `identifier`, texts by `text_literal`; the rest are numbers

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sudare.engines.duckdb_bound import first_look, second_look
from sudare.engines.duckdb_place import locate_rows, outside_refusal, place_rows
from sudare.engines.duckdb_rows import tuples_sql, values_sql
from sudare.engines.duckdb_sources import Opening, Source
from sudare.engines.duckdb_sql import count_sql, identifier, unit_sql
from sudare.engines.protocol import (
    UNKNOWN,
    Bound,
    CellCounts,
    Column,
    CountRows,
    Groups,
    Kind,
    Placement,
)
from sudare.errors import InputError, SudareError

if TYPE_CHECKING:
    import duckdb

MEMORY_LIMIT = "1GB"
_WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
_KINDS: dict[str, Kind] = {
    **dict.fromkeys((*_WHOLE, *(f"U{name}" for name in _WHOLE)), "whole"),
    **dict.fromkeys(("FLOAT", "DOUBLE", "DECIMAL"), "number"),
    **dict.fromkeys(("VARCHAR", "ENUM", "UUID"), "text"),
    "BOOLEAN": "truth",
}


@dataclass(frozen=True)
class DuckdbEngine:
    """The verbs of `sudare.engines.protocol.Engine` over one source."""

    source: Source
    columns: Mapping[str, Column]
    memory_limit: str = MEMORY_LIMIT

    @classmethod
    def over(cls, source: Source) -> DuckdbEngine:
        """The engine over a source, of which only names and types of columns are read."""
        with _connection(source, MEMORY_LIMIT) as (connection, folder):
            relation = source.open(Opening(connection, folder, None))
            described = connection.sql(f"SELECT * FROM {relation} LIMIT 0")
            columns = {
                name: _column(name, str(kind), source.typed)
                for name, kind in zip(described.columns, described.types, strict=True)
            }
        return cls(source, columns)

    def count_rows(self, placement: Placement, bound: Bound | None) -> CellCounts:
        """See `Engine`."""
        unit = None if bound is None else bound.unit
        with self._placed(placement, unit) as connection:
            place_rows(connection, placement, {} if unit is None else {"unit": unit_sql(unit)})
            refuse = placement.outside == "error"
            if bound is None:
                counted = "SELECT COALESCE(cell, -1) AS cell, count(*) AS kept FROM placed GROUP BY cell"
            else:
                counted = first_look(bound, refuse)
            connection.execute(f"CREATE TEMP TABLE counted AS {counted}")
            if refuse and _any(connection, "cell = -1"):
                raise outside_refusal(connection, placement, unit)
            cells = "SELECT cell, kept FROM counted WHERE cell >= 0"
            if bound is not None and _any(connection, "spread IS NOT NULL"):
                cells = f"{cells} UNION ALL {second_look(bound)}"
            # Rows outside are still there as a cell NULL that keeps nothing.
            summed = f"SELECT cell, CAST(sum(kept) AS BIGINT) AS kept FROM ({cells}) GROUP BY cell HAVING sum(kept) > 0"
            result = connection.sql(summed).to_arrow_table()
        cell, kept = (result.column(name).to_numpy() for name in ("cell", "kept"))
        return CellCounts(cell, kept)

    def read_counts(self, placement: Placement, count: Column) -> CountRows:
        """See `Engine`."""
        with self._placed(placement, count) as connection:
            axes = locate_rows(connection, placement, {"counted": count_sql(count)})
            known = [f"COALESCE({axis}, {UNKNOWN}) AS {axis}" for axis in axes]
            rows = connection.sql(f"SELECT counted, {', '.join(known)} FROM located").to_arrow_table()
        return CountRows(tuple(rows.column(axis).to_numpy() for axis in axes), rows.column("counted").to_numpy())

    def group_rows(self, columns: Sequence[Column], bound: Bound | None) -> Groups:
        """See `Engine`."""
        with self._opened(columns, bound.unit if bound else None) as connection:
            found = connection.sql(tuples_sql(columns, bound)).to_arrow_table()
        coded = [_coded(found.column(f"c{place}")) for place in range(len(columns))]
        codes = np.stack([code for code, _ in coded], axis=1)
        order = np.lexsort(codes.T[::-1])
        return Groups(codes[order], tuple(labels for _, labels in coded), found.column("n").to_numpy()[order])

    def read_values(self, columns: Sequence[Column], bound: Bound | None) -> list[NDArray[Any]]:
        """See `Engine`."""
        with self._opened(columns, bound.unit if bound else None) as connection:
            found = connection.sql(values_sql(columns, bound)).to_arrow_table()
        return [column.to_numpy() for column in found.columns]

    def _placed(
        self, placement: Placement, further: Column | None
    ) -> AbstractContextManager[duckdb.DuckDBPyConnection]:
        return self._opened([column for columns in placement.columns.values() for column in columns], further)

    @contextmanager
    def _opened(self, needed: Sequence[Column], further: Column | None) -> Iterator[duckdb.DuckDBPyConnection]:
        """A connection in which ``source`` has the columns that are needed and no others."""
        names = list(dict.fromkeys(column.name for column in [*needed, *([further] if further else [])]))
        with _connection(self.source, self.memory_limit) as (connection, folder):
            relation = self.source.open(Opening(connection, folder, names))
            selected = ", ".join(identifier(name) for name in names)
            connection.execute(f"CREATE TEMP VIEW source AS SELECT {selected} FROM {relation}")
            yield connection


def _coded(column: Any) -> tuple[NDArray[np.int32], list[str | None]]:
    """A column of text as places in its sorted distinct values; a missing value is the last."""
    encoded = column.combine_chunks().dictionary_encode()
    values = encoded.dictionary.to_pylist()
    place = np.empty(len(values) + 1, dtype=np.int32)
    place[np.array(sorted(range(len(values)), key=values.__getitem__), dtype=np.int64)] = np.arange(len(values))
    place[len(values)] = len(values)
    codes = place[encoded.indices.fill_null(len(values)).to_numpy()]
    return codes, [*sorted(values), *([None] if column.null_count else [])]


def _any(connection: duckdb.DuckDBPyConnection, condition: str) -> bool:
    return bool(connection.sql(f"SELECT count(*) FROM counted WHERE {condition}").fetchall()[0][0])


def _column(name: str, declared: str, typed: bool) -> Column:
    # An ENUM spells out its values, which may have been read off private data: its name is enough.
    base = declared.partition("(")[0]
    kind = "other" if declared.endswith("]") else _KINDS.get(base, "other")
    if not typed:
        kind = "untyped"
    return Column(name, declared if base == "DECIMAL" else base, kind)


@contextmanager
def _connection(source: Source, memory_limit: str) -> Iterator[tuple[duckdb.DuckDBPyConnection, Path]]:
    """A fresh connection and a folder that lives as long; what fails inside becomes an `InputError`."""
    import duckdb
    import pyarrow

    with TemporaryDirectory(prefix="sudare-") as name:
        settings: dict[str, Any] = {
            "memory_limit": memory_limit,
            "temp_directory": str(Path(name) / "spill"),
            "preserve_insertion_order": False,
            # Nothing is fetched from the network, whatever a file looks like.
            "autoinstall_known_extensions": False,
        }
        try:
            connection = duckdb.connect(":memory:", config=settings)
            try:
                yield connection, Path(name)
            finally:
                connection.close()
        except SudareError:
            raise
        except (duckdb.Error, pyarrow.ArrowException, UnicodeError, OSError) as error:
            raise _refusal(error, source.name) from None


def _refusal(error: Exception, name: str) -> InputError:
    """What can be said of an engine's error without repeating it."""
    import duckdb

    text = str(error)
    if isinstance(error, duckdb.OutOfMemoryException) or "No space left" in text:
        return InputError("the records do not fit into the memory limit and the space for temporary files", value=name)
    if isinstance(error, UnicodeError) or "not utf-8 encoded" in text or "UnicodeDecodeError" in text:
        return InputError("the text cannot be decoded", value=name, hint='Give its encoding, such as encoding="cp932".')
    line = re.search(r"on Line: (\d+)", text)
    where = f" at line {line.group(1)}" if line else ""
    return InputError(f"the records cannot be read{where}", value=name)
