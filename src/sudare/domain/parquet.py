"""Parquet files, read and written by DuckDB, with columns as NumPy arrays; and CSV, written likewise.

A file is written from one table that DuckDB holds (and may spill), by one thread, so that the same rows give the same
bytes.
"""

# ruff: noqa: S608 - names are quoted; the rest are constants of ours

from __future__ import annotations

import atexit
import errno
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sudare.domain.sql import Columns
from sudare.signals import interruptibly

if TYPE_CHECKING:
    import duckdb

AT_ONCE = 1 << 20
"""Rows that are read or handed over at once."""


_REFUSED = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.EACCES, errno.EROFS, errno.ENOENT)
"""Why a system refuses a file, as far as DuckDB repeats it."""


def _connected(settings: Mapping[str, Any]) -> duckdb.DuckDBPyConnection:
    import duckdb

    # By its statistics DuckDB would call columns "required" that happen to have no missing value.
    given = {
        "threads": 1,
        "autoinstall_known_extensions": False,
        "disabled_optimizers": "statistics_propagation",
        "enable_external_file_cache": False,
        "enable_geoparquet_conversion": False,
        **settings,
    }
    return duckdb.connect(":memory:", config=given)


@cache
def shared_database() -> duckdb.DuckDBPyConnection:
    """One database for all that is read: a new one takes longer than most reads."""
    return _connected({})


atexit.register(shared_database.cache_clear)  # before Python takes DuckDB's binding apart
if hasattr(os, "register_at_fork"):  # a forked process with a database in it would hang when it exits
    os.register_at_fork(before=shared_database.cache_clear)


@contextmanager
def database(**settings: Any) -> Iterator[duckdb.DuckDBPyConnection]:
    """DuckDB for public files, by one thread, and nothing from the network.

    What it cannot read or write is an `OSError`, as of any file; what is no Parquet file a `ValueError`.
    """
    import duckdb

    try:
        with closing(_connected(settings) if settings else shared_database().cursor()) as connection:
            yield connection
    except duckdb.IOException as error:
        number = next((each for each in _REFUSED if os.strerror(each) in str(error)), errno.EIO)
        raise OSError(number, os.strerror(number)) from None
    except duckdb.Error as error:
        raise ValueError(type(error).__name__) from None


def identifier(name: str) -> str:
    """A name in DuckDB's SQL, whatever characters it has.

    >>> print(identifier('the "old" code'))
    "the ""old"" code"
    """
    return '"' + name.replace('"', '""') + '"'


def text_literal(text: str) -> str:
    """A text in SQL.

    >>> text_literal("it's")
    "'it''s'"
    """
    return "'" + text.replace("'", "''") + "'"


def literal_path(path: Path) -> str:
    """A path in DuckDB's SQL, with the special characters of patterns escaped by brackets."""
    return text_literal(str(path).translate({ord(sign): f"[{sign}]" for sign in "*?["}))


def plain(column: NDArray[Any]) -> NDArray[Any]:
    """A column of DuckDB's answer without a mask: what is missing is NaN among floats, and None elsewhere."""
    if not isinstance(column, np.ma.MaskedArray):
        return column
    if column.dtype.kind == "f":
        return column.filled(np.nan)
    made = column.data.astype(object)
    made[np.ma.getmaskarray(column)] = None
    return made


def columns_of(connection: duckdb.DuckDBPyConnection, sql: str) -> Columns:
    """The rows of a query, column by column."""
    found = interruptibly(lambda: connection.execute(sql).fetchnumpy(), connection.interrupt)
    return {name: plain(column) for name, column in found.items()}


def execute(connection: duckdb.DuckDBPyConnection, sql: str) -> None:
    """A statement without an answer; in the main thread DuckDB would turn a signal into an error of its own."""
    interruptibly(lambda: connection.execute(sql), connection.interrupt)


def _existing(path: Path) -> str:
    path.stat()  # DuckDB calls a file that is missing a pattern that nothing matches
    return literal_path(path)


def row_count(path: Path) -> int:
    """How many rows a file has, by its footer."""
    with database() as connection:
        return int(connection.sql(f"SELECT num_rows FROM parquet_file_metadata({_existing(path)})").fetchall()[0][0])


def read_parquet(path: Path) -> list[tuple[Any, ...]]:
    """All rows of a small file."""
    with database() as connection:
        return connection.sql(f"FROM read_parquet({_existing(path)}, hive_partitioning = false)").fetchall()


def is_geoparquet(path: Path) -> bool:
    """Whether a file's metadata say which column holds polygons."""
    with database() as connection:
        return bool(connection.sql(f"FROM parquet_kv_metadata({_existing(path)}) WHERE key = 'geo'").fetchall())


def pieces(path: Path, names: Sequence[str]) -> Iterator[Columns]:
    """Some columns of a file, about a million rows at once, in the order of the file."""
    listed = ", ".join(map(identifier, names))
    rows = row_count(path)
    with database() as connection:
        for start in range(0, rows, AT_ONCE):
            source = f"read_parquet({_existing(path)}, file_row_number = true, hive_partitioning = false)"
            wanted = f"file_row_number >= {start} AND file_row_number < {start + AT_ONCE}"
            yield columns_of(connection, f"SELECT {listed} FROM {source} WHERE {wanted}")


@dataclass(frozen=True)
class Coded:
    """A column of categories: int32 places in ``labels``, which may have an order of their own."""

    codes: NDArray[np.int32]
    labels: NDArray[Any]
    ordered: bool


def values_of(column: NDArray[Any] | Coded) -> NDArray[Any]:
    """The values of a column, row by row."""
    return column.labels[column.codes] if isinstance(column, Coded) else column


_SQL_TYPES = {"i8": "BIGINT", "i2": "SMALLINT", "f8": "DOUBLE", "U": "VARCHAR", "b1": "BOOLEAN", "O": "BLOB"}
"""DuckDB's types by NumPy's code; objects are bytes."""


def _code(array: NDArray[Any]) -> str:
    return array.dtype.kind if array.dtype.kind in "UO" else array.dtype.str[1:]


@dataclass(frozen=True)
class Staged:
    """Rows that are ready to be written: their columns, with NumPy's code of each."""

    connection: duckdb.DuckDBPyConnection
    folder: Path
    columns: Mapping[str, str]

    def to_parquet(self, path: Path, names: Sequence[str], metadata: Mapping[str, str]) -> None:
        """Write some columns, compressed by Zstandard."""
        entries = ", ".join(f"{text_literal(key)}: {text_literal(value)}" for key, value in metadata.items())
        listed = ", ".join(map(identifier, names))
        options = f"FORMAT parquet, COMPRESSION zstd, KV_METADATA {{{entries}}}"
        execute(self.connection, f"COPY (SELECT {listed} FROM staged) TO {text_literal(str(path))} ({options})")

    def to_csv(self, path: Path, names: Sequence[str], begin: bytes = b"") -> None:
        """Write some columns after ``begin``: text and names in quotes, whole numbers among floats without a point."""
        values = ", ".join(
            f"regexp_replace(CAST({identifier(name)} AS VARCHAR), '[.]0$', '')"
            if self.columns[name] == "f8"
            else identifier(name)
            for name in names
        )
        body = self.folder / "body.csv"
        quoted = [f"column{place}" for place, name in enumerate(names) if self.columns[name] == "U"]
        force = f", FORCE_QUOTE ({', '.join(quoted)})" if quoted else ""
        listed = ", ".join(f"column{place}" for place in range(len(names)))
        rows = f"SELECT * FROM (SELECT {values} FROM staged) AS rows({listed})"
        execute(self.connection, f"COPY ({rows}) TO {text_literal(str(body))} (FORMAT csv, HEADER false{force})")
        with path.open("wb") as file, body.open("rb") as source:
            file.write(begin + ",".join(map(identifier, names)).encode() + b"\n")
            shutil.copyfileobj(source, file)
        body.unlink()


def _handed_over(column: NDArray[Any] | Coded) -> NDArray[Any]:
    """Text as objects, one for each label: of NumPy's text DuckDB would make categories, after a look at each."""
    if isinstance(column, Coded):
        return _handed_over(column.labels)[column.codes]
    return column.astype(object) if column.dtype.kind == "U" else column


@contextmanager
def staged(pieces: Iterable[Mapping[str, NDArray[Any] | Coded]], folder: Path) -> Iterator[Staged]:
    """Rows that come in pieces of the same columns, at least one, as a table of DuckDB, which spills to ``folder``.

    A single small piece stays in memory: a database of its own would take longer than all the rest.
    """
    given = iter(pieces)
    begun = list(islice(given, 1))
    small = all(len(column.codes if isinstance(column, Coded) else column) < AT_ONCE for column in begun[0].values())
    if small:
        begun += islice(given, 1)
    alone = small and len(begun) == 1
    settings = {} if alone else {"memory_limit": "1GB", "temp_directory": str(folder / "spill")}
    with database(**settings) as connection:
        columns: dict[str, str] = {}
        while begun:
            piece = begun.pop(0)
            if not columns:
                columns = {name: _code(c.labels if isinstance(c, Coded) else c) for name, c in piece.items()}
                types = ", ".join(f"{identifier(name)} {_SQL_TYPES[kind]}" for name, kind in columns.items())
                connection.execute(f"CREATE TEMP TABLE staged ({types})")
            connection.register("piece", {name: _handed_over(column) for name, column in piece.items()})
            execute(connection, "INSERT INTO staged SELECT * FROM piece")
            connection.unregister("piece")
            begun += islice(given, 1)
        yield Staged(connection, folder, columns)
