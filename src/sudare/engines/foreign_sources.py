"""Records in files and databases of other programs: e-Stat, Excel, SQLite, PostgreSQL; and wide tables made long.

Each value is read as text, from which attributes read numbers as they do from CSV: nothing about a column is inferred
from its values, so that one person's bytes change that person's rows and no others. Rows are streamed into a temporary
table of DuckDB, which may spill. Names of columns come from the schema of a database, or from the line that is declared
to hold them.
"""

# ruff: noqa: S608 - names are quoted by `identifier`, texts by `text_literal`

from __future__ import annotations

import datetime
import sqlite3
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

from sudare.domain.parquet import identifier, text_literal
from sudare.engines.duckdb_sources import BATCH, FileSource, Opening, RecordSource, TableSource, streamed
from sudare.engines.estat import CODE, FOLDED, NOT_VALUES, fields_of
from sudare.engines.files import shown, unreadable
from sudare.errors import (
    InputError,
    Message,
    MissingColumnError,
    MissingExtraError,
    ParameterError,
    SudareError,
    did_you_mean,
)

_SQLITE_BEGINS, _DUCKDB_BEGINS = b"SQLite format 3\x00", b"DUCK"


@dataclass(frozen=True)
class EstatSource:
    """Mesh files of e-Stat, as downloaded: text, counts by cell. A column has two names, its code and its label."""

    name: str
    files: tuple[Path, ...]
    typed: bool = True

    @property
    def untyped(self) -> frozenset[str]:
        """All but the mesh code."""
        return frozenset(self._names(self.files[0])) - {CODE}

    @staticmethod
    def _names(path: Path) -> dict[str, int]:
        """Positions of columns by code and by label; a label that several columns share is left out."""
        codes, labels = fields_of(path)[:2]
        named = [label.strip("\u3000 ") for label in labels]
        once = {label: place for place, label in enumerate(named) if label and named.count(label) == 1}
        return {**{code: place for place, code in enumerate(codes)}, **once}

    def open(self, opening: Opening, /) -> str:
        """Streamed; ``*``, details that another cell counts, is 0 here."""
        wanted = list(self._names(self.files[0])) if opening.names is None else list(opening.names)
        return streamed(opening, wanted, () if opening.names is None else self._rows(wanted))

    def _rows(self, wanted: Sequence[str]) -> Iterator[tuple[str | None, ...]]:
        for path in self.files:
            rows, names = fields_of(path), self._names(path)
            if missing := [name for name in wanted if name not in names]:
                raise MissingColumnError("{path} has no such column", value=missing[0], path=path.name)
            places = [(names[name], rows[0][names[name]] in NOT_VALUES) for name in wanted]
            for row in rows[2:]:
                yield tuple(row[place] if own or row[place].strip() not in FOLDED else "0" for place, own in places)


@dataclass(frozen=True)
class ExcelSource(FileSource):
    """A sheet of an Excel file, whose row ``header`` (from 1) names the columns."""

    sheet: str | None = None
    header: int = 1
    typed: bool = False

    def open(self, opening: Opening, /) -> str:
        """Streamed cell by cell; refuses a row of names that is merged, as titles are."""
        with _refused(self.name):
            return self._stream(opening)

    def _stream(self, opening: Opening) -> str:
        rows = _quietly(self._rows())
        width = len(next(rows))
        names = [str(_text(each) or "") for each in next(rows, ())]
        while names and not names[-1]:
            names.pop()
        if not names or "" in names or len(set(names)) < len(names) or len(names) < width:
            raise InputError(
                "row {row} of the sheet does not name each column once",
                value=str(self.path),
                hint="Titles above the header are not names of columns. Give the row of the header: header_row = 3",
                row=self.header,
            )
        if opening.names is None:
            return streamed(opening, names, ())
        places = [names.index(name) for name in opening.names]
        filled = (row for row in rows if any(each is not None for each in row))
        found = ([_text(row[place]) if place < len(row) else None for place in places] for row in filled)
        return streamed(opening, opening.names, found)

    def _rows(self) -> Iterator[Sequence[Any]]:
        openpyxl = MissingExtraError.load("openpyxl", Message("The reader of Excel files"), "excel")
        try:
            book = openpyxl.load_workbook(self.path, read_only=True, data_only=True)
        except Exception:  # of whatever its XML reader says, which may quote the file
            raise InputError("the file cannot be read as Excel (.xlsx)", value=str(self.path)) from None
        with closing(book):
            if self.sheet is not None and self.sheet not in book.sheetnames:
                hint = did_you_mean(self.sheet, book.sheetnames)
                raise InputError("there is no such sheet", value=self.sheet, allowed=book.sheetnames, hint=hint)
            sheet = book[self.sheet] if self.sheet is not None else book.worksheets[0]
            yield range(sheet.max_column or 0)  # the width that the file states
            sheet.reset_dimensions()  # rows beyond the stated height would be left out without a word
            yield from sheet.iter_rows(min_row=self.header, values_only=True)


@dataclass(frozen=True)
class SqliteSource(TableSource):
    """A table or view of a SQLite database."""

    typed: bool = True
    log_suffix: ClassVar[str] = "-wal"

    @property
    def untyped(self) -> frozenset[str]:
        """All but the first, whose name then shows that names are a schema's: SQLite columns hold any type."""
        with closing(self._connection()) as connection:
            return frozenset(self._names(connection))

    def open(self, opening: Opening, /) -> str:
        """Streamed from one reading transaction."""
        with _refused(self.name), closing(self._connection()) as connection:
            names = self._names(connection)
            if opening.names is None:
                return streamed(opening, names, ())
            listed = ", ".join(map(identifier, opening.names))
            # A cursor that stays open would keep the database locked for writers.
            with closing(connection.execute(f"SELECT {listed} FROM {identifier(self.table)}")) as found:
                return streamed(opening, opening.names, (list(map(_text, row)) for row in found))

    def _connection(self) -> sqlite3.Connection:
        return sqlite3.connect(f"{self.path.absolute().as_uri()}?mode=ro", uri=True, check_same_thread=False)

    def tables(self) -> list[str]:
        """All tables and views of the database."""
        with closing(self._connection()) as connection:
            return self._tables(connection)

    def _tables(self, connection: sqlite3.Connection) -> list[str]:
        try:
            found = connection.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")
            return [name for (name,) in found if not name.startswith("sqlite_")]
        except sqlite3.Error:
            raise InputError("the file cannot be read as SQLite", value=str(self.path)) from None

    def _names(self, connection: sqlite3.Connection) -> list[str]:
        self.require_table(self._tables(connection))
        try:
            return [row[1] for row in connection.execute(f"PRAGMA table_info({identifier(self.table)})")]
        except sqlite3.Error:
            raise InputError("the file cannot be read as SQLite", value=str(self.path)) from None


@dataclass(frozen=True)
class PostgresSource:
    """A table or view of a PostgreSQL database, by its address (``postgresql://host/database``)."""

    address: str
    table: str
    typed: bool = True
    files: tuple[Path, ...] = field(default=(), repr=False)

    @property
    def name(self) -> str:
        """The address without its secrets, and the table."""
        return f"{shown(self.address)}, table {self.table}"

    @property
    def untyped(self) -> frozenset[str]:
        """All: values are read as PostgreSQL writes them."""
        with self._connection() as connection:
            return frozenset(self._names(connection))

    def open(self, opening: Opening, /) -> str:
        """Streamed by a cursor of the server, in one reading transaction; values as PostgreSQL writes them."""
        with _refused(self.name), self._connection() as connection:
            names = self._names(connection)
            if opening.names is None:
                return streamed(opening, names, ())
            listed = ", ".join(f"{identifier(name)}::text" for name in opening.names)
            with connection.cursor(name="sudare") as cursor:
                cursor.itersize = BATCH
                cursor.execute(f"SELECT {listed} FROM {self._place()}")
                return streamed(opening, opening.names, cursor)

    def _place(self) -> str:
        return ".".join(map(identifier, self.table.split(".")))

    def _connection(self) -> Any:
        psycopg = MissingExtraError.load("psycopg", Message("The client of PostgreSQL"), "postgres")
        try:
            connection = psycopg.connect(self.address)
            connection.read_only = True
        except psycopg.Error:  # its message may quote the address
            raise InputError("the database cannot be reached", value=shown(self.address)) from None
        return connection

    def _names(self, connection: Any) -> list[str]:
        import psycopg

        try:
            found = connection.execute(f"SELECT * FROM {self._place()} LIMIT 0")
        except psycopg.Error:
            raise InputError("the database has no such table, or you may not read it", value=self.table) from None
        return [column.name for column in found.description]


@dataclass(frozen=True)
class Long:
    """How the columns of a wide table become attributes: each of ``columns`` to its value of each of ``attributes``.

    A row of the wide table is as many long ones as there are columns; each has the attributes' values as text, and the
    number of its column as ``count``.
    """

    attributes: tuple[str, ...]
    columns: Mapping[str, tuple[str, ...]]
    count: str

    def __post_init__(self) -> None:
        for name, values in self.columns.items():
            if len(values) != len(self.attributes):
                raise ParameterError(
                    "a column of data.long has another number of values than there are attributes",
                    value=name,
                    allowed=self.attributes,
                )


@dataclass(frozen=True)
class LongSource:
    """A wide source made long."""

    wide: RecordSource
    long: Long

    @property
    def name(self) -> str:
        return self.wide.name

    @property
    def typed(self) -> bool:
        return self.wide.typed

    @property
    def files(self) -> tuple[Path, ...]:
        return self.wide.files

    @property
    def untyped(self) -> frozenset[str]:
        """The counts where the wide columns are untyped."""
        own: frozenset[str] = getattr(self.wide, "untyped", frozenset())
        return own | ({self.long.count} if own & set(self.long.columns) else set())

    def open(self, opening: Opening, /) -> str:
        """The wide table is opened once; DuckDB makes its rows long."""
        added = (*self.long.attributes, self.long.count)
        if opening.names is None:
            relation = self.wide.open(opening)
            told = opening.connection.sql(f"SELECT * FROM {relation} LIMIT 0").columns
            if missing := [name for name in self.long.columns if name not in told]:
                raise MissingColumnError("data.long names a column that is not there", value=missing[0])
            kept = [name for name in told if name not in self.long.columns and name not in added]
        else:
            kept = [name for name in opening.names if name not in added]
            wide = list(dict.fromkeys([*kept, *self.long.columns]))
            relation = self.wide.open(opening._replace(names=wide))
        own = [identifier(name) for name in kept]
        parts = [
            ", ".join(
                [
                    *own,
                    *(
                        f"{text_literal(value)} AS {identifier(name)}"
                        for name, value in zip(self.long.attributes, values, strict=True)
                    ),
                    f"{identifier(column)} AS {identifier(self.long.count)}",
                ]
            )
            for column, values in self.long.columns.items()
        ]
        return "(" + " UNION ALL ".join(f"SELECT {part} FROM {relation}" for part in parts) + ")"


def is_sqlite(path: Path) -> bool:
    """Whether a file begins as SQLite's do."""
    with path.open("rb") as file:
        return file.read(len(_SQLITE_BEGINS)) == _SQLITE_BEGINS


def tables_of(path: Path) -> list[str]:
    """The tables and views of a database file of SQLite or DuckDB, by name; of any other file, none."""
    with path.open("rb") as file:
        is_duckdb = file.read(len(_DUCKDB_BEGINS) + 8)[8:] == _DUCKDB_BEGINS  # behind a checksum
    if is_sqlite(path):
        return sorted(SqliteSource(path, "").tables())
    if not is_duckdb:
        return []
    import duckdb

    try:
        with duckdb.connect(str(path), read_only=True) as connection:
            rows = connection.execute("SELECT table_name FROM information_schema.tables ORDER BY 1").fetchall()
    except duckdb.Error:
        raise InputError("the file cannot be opened as a DuckDB database", value=path.name) from None
    return [str(row[0]) for row in rows]


@contextmanager
def _refused(name: str) -> Iterator[None]:
    """Whatever a reader raises becomes one refusal: its own words may quote a value."""
    import duckdb

    try:
        yield
    except (SudareError, duckdb.Error):
        raise
    except Exception:
        raise unreadable(name) from None


def _quietly(rows: Iterator[Any]) -> Iterator[Any]:
    """The rows without the warnings of their reader, which quote values."""
    while True:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            piece = list(islice(rows, BATCH))
        if not piece:
            return
        yield from piece


def _text(value: Any) -> str | None:
    """A value of a cell as text: whole numbers without a decimal point, dates in ISO format."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float | Decimal) and -(2**53) < value < 2**53 and value == int(value):
        return str(int(value))
    if isinstance(value, datetime.datetime | datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, bytes):
        raise InputError("a column holds bytes that are not text")
    return str(value)
