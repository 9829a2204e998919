"""Where records can be, and how DuckDB reads them without holding them all in memory.

A source is opened in a connection and returns what is written after FROM. What DuckDB can scan repeatedly stays where
it is; a stream, which can be read once, becomes a temporary table, which DuckDB may spill.
"""

# ruff: noqa: S608 - names are quoted by `identifier`, texts by `text_literal`; all else is ours

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

import numpy as np

from sudare.domain.frames import arrow
from sudare.domain.parquet import execute, identifier, literal_path, text_literal
from sudare.engines.files import partitions, refuse_other_types, shown
from sudare.errors import InputError, did_you_mean
from sudare.signals import interruptibly

if TYPE_CHECKING:
    import duckdb

    from sudare.engines.csv_files import CsvLayout

BATCH = 1 << 14
"""Rows that are taken from a stream at once."""


class Opening(NamedTuple):
    """Where a source is opened, and for what."""

    connection: duckdb.DuckDBPyConnection
    folder: Path
    """For temporary files; it is removed when the connection ends."""
    names: Sequence[str] | None
    """The columns to provide; None if only names and types are asked for."""


class RecordSource(Protocol):
    """Records at some place."""

    @property
    def name(self) -> str:
        """What a message calls the source."""

    @property
    def typed(self) -> bool:
        """False where every column is text because the format has no types."""

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that the records lie in, as far as that is known."""

    def open(self, opening: Opening, /) -> str:
        """Makes the records available and returns what to select from."""


@dataclass(frozen=True)
class FileSource:
    """A source that is one file."""

    path: Path

    @property
    def name(self) -> str:
        return str(self.path)

    @property
    def files(self) -> tuple[Path, ...]:
        return (self.path,)


@dataclass(frozen=True)
class TableSource(FileSource):
    """A table or view in a database file, which keeps its latest changes in a second file."""

    table: str
    log_suffix: ClassVar[str]

    @property
    def name(self) -> str:
        return f"{self.path}, table {self.table}"

    @property
    def files(self) -> tuple[Path, ...]:
        """The database file and its write-ahead log."""
        return (self.path, self.path.with_name(f"{self.path.name}{self.log_suffix}"))

    def require_table(self, tables: Collection[str]) -> None:
        if self.table not in tables:
            raise InputError(
                "the database {path} has no such table",
                value=self.table,
                allowed=tables,
                hint=did_you_mean(self.table, tables),
                path=self.path,
            )


@dataclass(frozen=True)
class ParquetSource:
    """Parquet files with the same columns; ``partitioned`` if folder names such as ``year=2020`` count, as text."""

    name: str
    files: tuple[Path, ...]
    partitioned: bool = False
    typed: bool = True

    @property
    def untyped(self) -> frozenset[str]:
        """The columns that folders name, which have no types."""
        return partitions(self.files[0]) if self.partitioned else frozenset()

    def check(self) -> None:
        if len(self.files) > 1:
            refuse_other_types(self.files, self.name)

    def open(self, opening: Opening, /) -> str:
        """Scanned in place. A file that changes after the check is refused later, by `FilesState`."""
        if opening.names is None:
            self.check()
        listed = ", ".join(literal_path(file) for file in self.files)
        folders = f"hive_partitioning = {str(self.partitioned).lower()}, hive_types_autocast = false"
        return f"read_parquet([{listed}], {folders})"


@dataclass(frozen=True)
class AddressSource:
    """A Parquet file at an address, which an installed extension of DuckDB reads: see `files`."""

    address: str
    extension: str
    typed: bool = True
    files: tuple[Path, ...] = ()

    @property
    def name(self) -> str:
        """The address without its secrets."""
        return shown(self.address)

    def open(self, opening: Opening) -> str:
        opening.connection.load_extension(self.extension)
        return f"read_parquet({text_literal(self.address)}, hive_partitioning = false)"


@dataclass(frozen=True)
class CsvSource(FileSource):
    """A file of delimited text whose lines are checked each time before DuckDB reads them (`csv_files`).

    DuckDB detects nothing by itself, and its columns are named by position: names that nobody declared never reach it.
    """

    layout: CsvLayout
    typed: bool = False

    def open(self, opening: Opening) -> str:
        """Scanned where it is, or, in another encoding, from a copy in UTF-8."""
        from sudare.engines.csv_files import MOST_LINE

        places = self.layout.places
        if opening.names is None:
            return f"(SELECT {', '.join(f'NULL::VARCHAR AS {identifier(name)}' for name in places)})"
        path = self._checked(opening)
        columns = ", ".join(f"c{place}: 'VARCHAR'" for place in range(len(self.layout.names)))
        wanted = ", ".join(f"{self._value(places[name])} AS {identifier(name)}" for name in opening.names)
        zipped = "gzip" if path.suffix.lower() == ".gz" else "none"
        return (
            f"(SELECT {wanted} FROM read_csv({literal_path(path)}, auto_detect = false, "
            f"header = {str(self.layout.header).lower()}, "
            f"delim = {text_literal(self.layout.delimiter)}, quote = '\"', escape = '\"', comment = '', nullstr = '', "
            "strict_mode = true, null_padding = false, ignore_errors = false, allow_quoted_nulls = true, "
            f"max_line_size = {2 * MOST_LINE}, compression = '{zipped}', hive_partitioning = false, "
            f"columns = {{{columns}}}))"
        )

    def _value(self, place: int) -> str:
        """A field; with a declared decimal comma, comma and point of numbers are exchanged."""
        if self.layout.decimal == ".":
            return f"c{place}"
        number = f"regexp_full_match(c{place}, '\\s*[+-]?[0-9.,]+([eE][+-]?[0-9]+)?\\s*')"
        return f"CASE WHEN {number} THEN translate(c{place}, '.,', ',.') ELSE c{place} END"

    def _checked(self, opening: Opening) -> Path:
        """The file to read: this one, or its copy in UTF-8."""
        from sudare.engines.csv_files import check_lines, checked_pieces

        if self.layout.utf8 and self.path.suffix.lower() != ".zst":
            check_lines(self.path, self.layout)
            return self.path
        copy = opening.folder / "copy.csv"
        with copy.open("wb") as file:
            for piece in checked_pieces(self.path, self.layout):
                file.write(piece)
        return copy


@dataclass(frozen=True)
class ArrowSource:
    """An Arrow table or data set, which DuckDB scans in place."""

    name: str
    data: Any
    typed: bool = True

    @property
    def files(self) -> tuple[Path, ...]:
        """Those of a data set in this machine."""
        from pyarrow import dataset, fs

        local = isinstance(self.data, dataset.FileSystemDataset) and isinstance(
            self.data.filesystem, fs.LocalFileSystem
        )
        return tuple(map(Path, self.data.files)) if local else ()

    def open(self, opening: Opening) -> str:
        from pyarrow import dataset

        if opening.names is None and isinstance(getattr(self.data, "format", None), dataset.ParquetFileFormat):
            refuse_other_types(self.files, self.name)
        opening.connection.register("arrow_data", self.data)
        return "arrow_data"


@dataclass(frozen=True)
class RelationSource:
    """A relation of another DuckDB connection."""

    relation: duckdb.DuckDBPyRelation
    name: str = "the DuckDB relation"
    typed: bool = True
    files: tuple[Path, ...] = ()

    def open(self, opening: Opening) -> str:
        """Streamed into a table: another connection's data cannot be scanned from here."""
        pyarrow = arrow()
        everything = self.relation
        wanted = everything.limit(0) if opening.names is None else everything.project(*map(identifier, opening.names))
        opening.connection.register("stream", pyarrow.RecordBatchReader.from_stream(wanted))
        execute(opening.connection, "CREATE TEMP TABLE streamed AS SELECT * FROM stream")
        return "streamed"


@dataclass(frozen=True)
class DatabaseSource(TableSource):
    """A table or view in a DuckDB database file."""

    typed: bool = True
    log_suffix: ClassVar[str] = ".wal"

    def open(self, opening: Opening) -> str:
        _heard(opening, f"ATTACH {text_literal(str(self.path))} AS records (READ_ONLY)")
        rows = _heard(opening, "SELECT schema, name FROM (SHOW ALL TABLES) WHERE database = 'records'")
        tables = {table: schema for schema, table in rows.fetchall()}
        self.require_table(tables)
        return f"records.{identifier(tables[self.table])}.{identifier(self.table)}"


def _heard(opening: Opening, sql: str) -> duckdb.DuckDBPyConnection:
    """Execute; in the main thread DuckDB would turn a signal into an error of its own."""
    return interruptibly(lambda: opening.connection.execute(sql), opening.connection.interrupt)


def streamed(opening: Opening, names: Sequence[str], rows: Iterable[Sequence[str | None]]) -> str:
    """Rows of text, which can be read once, as a temporary table, which DuckDB may spill."""
    columns = ", ".join(f"{identifier(name)} VARCHAR" for name in names)
    execute(opening.connection, f"CREATE TEMP TABLE streamed ({columns})")
    source = iter(rows)
    while piece := list(islice(source, BATCH)):
        texts = np.array(piece, dtype=object)
        opening.connection.register("piece", {name: texts[:, place] for place, name in enumerate(names)})
        execute(opening.connection, "INSERT INTO streamed SELECT * FROM piece")
        opening.connection.unregister("piece")
    return "streamed"
