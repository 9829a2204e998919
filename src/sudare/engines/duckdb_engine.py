"""DuckDB as the engine: out of core, in a connection of its own for each verb.

A connection has a memory limit and a private folder to spill into, both of which end with the verb. DuckDB's error
messages can quote a value, so they are never shown: they become an `InputError` that names the source.
"""

# ruff: noqa: S608 - names are quoted by `identifier`; all else is the shared SQL

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from numpy.typing import NDArray

from sudare.domain.frames import arrow_errors
from sudare.domain.parquet import columns_of, identifier, shared_database
from sudare.domain.sql import Call, Columns, Dialect, Kind, SourceColumn
from sudare.engines.dialect import DUCKDB, arrow_function, source_sql
from sudare.engines.duckdb_sources import ArrowSource, CsvSource, Opening, ParquetSource, RecordSource
from sudare.engines.files import unreadable
from sudare.engines.protocol import RowBound
from sudare.engines.scratch import PrivateFolder
from sudare.engines.verbs import Engine, needed, values_of
from sudare.errors import InputError, SudareError
from sudare.signals import interruptibly

if TYPE_CHECKING:
    import duckdb

Answer = TypeVar("Answer")
MEMORY_LIMIT = "1GB"
_WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
_KINDS: dict[str, Kind] = {
    **dict.fromkeys((*_WHOLE, *(f"U{name}" for name in _WHOLE)), "whole"),
    **dict.fromkeys(("FLOAT", "DOUBLE", "DECIMAL"), "number"),
    **dict.fromkeys(("VARCHAR", "ENUM", "UUID"), "text"),
    "BOOLEAN": "truth",
}


@dataclass(frozen=True)
class DuckdbEngine(Engine):
    """The verbs of `sudare.engines.verbs.Engine` over one source."""

    source: RecordSource
    columns: Mapping[str, SourceColumn]
    memory_limit: str = MEMORY_LIMIT
    scratch: Path | None = None
    """The folder for what does not fit into memory, see `sudare.engines.scratch`."""

    @classmethod
    def over(cls, source: RecordSource, scratch: Path | None = None) -> DuckdbEngine:
        """The engine over a source, of which only names and types of columns are read."""
        own = not isinstance(source, ParquetSource | CsvSource | ArrowSource)
        opened = _connection(source, MEMORY_LIMIT, scratch) if own else _describing(source)
        with opened as (connection, folder):
            relation = source.open(Opening(connection, folder, None))
            untyped = getattr(source, "untyped", ())
            described = interruptibly(lambda: connection.sql(f"SELECT * FROM {relation} LIMIT 0"), connection.interrupt)
            columns = {
                name: replace(_column(name, str(kind), source.typed and name not in untyped), schema=source.typed)
                for name, kind in zip(described.columns, described.types, strict=True)
            }
        return cls(source, columns, scratch=scratch)

    def read_values(self, columns: Sequence[SourceColumn], bound: RowBound | None) -> list[NDArray[Any]]:
        with self.opened(needed(columns, bound)) as shell:
            shell.heard(lambda: shell.connection.execute("SET preserve_insertion_order = true"))
            return values_of(shell, columns, bound)

    @contextmanager
    def opened(self, columns: Sequence[SourceColumn]) -> Iterator[DuckdbShell]:
        with _connection(self.source, self.memory_limit, self.scratch) as (connection, folder):
            relation = self.source.open(Opening(connection, folder, [column.name for column in columns]))
            shell = DuckdbShell(connection)
            shell.view("source", source_sql(columns, relation, shell.dialect))
            yield shell


@dataclass(frozen=True)
class DuckdbShell:
    """See `Shell`: the views of a connection that nobody else has."""

    connection: duckdb.DuckDBPyConnection
    dialect: Dialect = DUCKDB

    def name(self, view: str) -> str:
        return view

    def register(self, view: str, table: Columns) -> None:
        self.connection.register(view, table)

    def define(self, name: str, call: Call) -> None:
        types: list[Any] = ["DOUBLE" if number else "VARCHAR" for number in call.numbers]
        options: dict[str, Any] = {"type": "arrow", "null_handling": "special"}  # their enumerations have no types
        self.connection.create_function(name, arrow_function(call), types, "BIGINT", **options)

    def view(self, view: str, sql: str, *, few: bool = False) -> None:  # noqa: ARG002 - DuckDB knows by itself
        """See `Shell`; not in the main thread, where DuckDB would turn a signal into an error of its own."""
        self.heard(lambda: self.connection.execute(f"CREATE TEMP VIEW {view} AS {sql}"))

    def freeze(self, view: str, sql: str) -> None:
        """See `Shell`: a temporary table, which DuckDB may spill."""
        self.keep(view, sql)

    def keep(self, view: str, sql: str) -> None:
        self.heard(lambda: self.connection.execute(f"CREATE TEMP TABLE {view} AS {sql}"))

    def ask(self, sql: str) -> Columns:
        return columns_of(self.connection, sql)

    def heard(self, question: Callable[[], Answer]) -> Answer:
        """DuckDB's answer to a question; it stops at once when a signal ends the run."""
        return interruptibly(question, self.connection.interrupt)


def _column(name: str, declared: str, typed: bool) -> SourceColumn:
    # An ENUM spells out its values, which may have been read off private data: its name is enough.
    base = declared.partition("(")[0]
    kind = "other" if declared.endswith("]") else _KINDS.get(base, "other")
    if not typed:
        kind = "untyped"
    return SourceColumn(name, declared if base == "DECIMAL" else base, kind, identifier(name))


@contextmanager
def _connection(
    source: RecordSource, memory_limit: str, scratch: Path | None
) -> Iterator[tuple[duckdb.DuckDBPyConnection, Path]]:
    """A new connection and a folder that is removed with it; errors inside become an `InputError`."""
    import duckdb

    with PrivateFolder.within(scratch) as folder, _refusing(source):
        settings: dict[str, Any] = {
            "memory_limit": memory_limit,
            "temp_directory": str(folder.path / "spill"),
            "temp_file_encryption": can_encrypt(),
            "preserve_insertion_order": False,
            # Nothing is fetched from the network, whatever a file looks like.
            "autoinstall_known_extensions": False,
            # The least and the largest value that a Parquet file states leave NaN out, and DuckDB would conclude from
            # them that no value is NaN (duckdb/duckdb#25521).
            "disabled_optimizers": "statistics_propagation",
        }
        with closing(duckdb.connect(":memory:", config=settings)) as connection:
            if can_encrypt():
                connection.execute(_LOAD_CIPHER)
            yield connection, folder.path


@contextmanager
def _describing(source: RecordSource) -> Iterator[tuple[duckdb.DuckDBPyConnection, Path]]:
    """A connection to one shared database, for names and types only: a new database would take longer than the query.

    No row is read in it, so that nothing is spilled; it has no folder, and nothing of a file is cached.
    """
    with _refusing(source), closing(shared_database().cursor()) as connection:
        yield connection, Path()


@contextmanager
def _refusing(source: RecordSource) -> Iterator[None]:
    """Turn errors of DuckDB and Arrow into an `InputError`."""
    import duckdb

    try:
        yield
    except SudareError:
        raise
    except (duckdb.Error, UnicodeError, OSError) as error:
        raise _refusal(error, source.name) from None
    except Exception as error:
        if isinstance(error, arrow_errors()):
            raise _refusal(error, source.name) from None
        if not isinstance(error, RuntimeError) or "nanobind" not in str(error):
            raise
        # This is how DuckDB's Python binding reports that a column's name is not text.
        raise InputError("the name of a column is not text", value=source.name) from None


_LOAD_CIPHER = "LOAD httpfs"


@cache
def can_encrypt() -> bool:
    """Whether DuckDB can encrypt what it spills: it can if its extension httpfs, which brings the cipher, is installed.

    DuckDB's built-in cipher draws its keys from a weak generator, and refuses to write unless it is forced to.
    """
    import duckdb

    with duckdb.connect(":memory:", config={"autoinstall_known_extensions": False}) as connection:
        try:
            connection.execute(_LOAD_CIPHER)
        except duckdb.Error:
            return False
    return True


def _refusal(error: Exception, name: str) -> InputError:
    """The refusal for an error of DuckDB, without its message."""
    import duckdb

    if isinstance(error, duckdb.OutOfMemoryException) or "No space left" in str(error):
        return InputError(
            "the records do not fit into the memory limit and the space for temporary files",
            value=name,
            hint="Name a folder on a larger disk: scratch under [data] in the recipe, or SUDARE_SCRATCH.",
        )
    return unreadable(name)
