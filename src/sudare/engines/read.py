"""`read`: records from files, databases and frames, as `Records`."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from glob import has_magic
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote, urlsplit

from sudare.domain.frames import arrow
from sudare.engines.duckdb_engine import DuckdbEngine
from sudare.engines.duckdb_sources import (
    AddressSource,
    ArrowSource,
    CsvSource,
    DatabaseSource,
    ParquetSource,
    RecordSource,
    RelationSource,
)
from sudare.engines.files import (
    EXCEL,
    POSTGRES,
    FilesState,
    files_in,
    files_like,
    refuse_address,
    require_reader,
    scheme_of,
    shown,
)
from sudare.engines.records import Records
from sudare.engines.scratch import PrivateFolder
from sudare.errors import InputError, Message, MissingFileError, ParameterError
from sudare.registry import ENGINES

if TYPE_CHECKING:
    import pyarrow

    from sudare.engines.foreign_sources import Long

TEXT = (".csv", ".tsv", ".txt", ".data")
"""Endings of files of delimited text, also before those of compression; text of e-Stat begins in its own way."""
_FILES = Message(
    "Parquet (a file, a folder or a pattern), text (.csv, .tsv, .txt, .data, also .gz and .zst), Excel, zips of "
    "e-Stat, a table of a DuckDB or SQLite database"
)
_PLAIN, _GZIP, _PARQUET, _ZSTD = Message("plain text"), Message("gzip"), Message("Parquet"), Message("zstd")
_PACKED = {".gz": _GZIP, ".zst": _ZSTD}
_UTF16 = Message("text in UTF-16")
_BEGINNINGS = {
    b"PAR1": _PARQUET,
    b"\x1f\x8b": _GZIP,
    b"\x28\xb5\x2f\xfd": _ZSTD,
    b"PK\x03\x04": Message("zip"),
    b"\xff\xfe": _UTF16,
    b"\xfe\xff": _UTF16,
}
_FRAMES = Message("Arrow, pandas, Polars, Spark, a DuckDB relation, (database file, table name)")


def read(
    source: Any,
    *,
    encoding: str | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    column_names: Sequence[str] | None = None,
    header_row: int = 1,
    long: Long | None = None,
    engine: str | None = None,
    scratch: str | Path | None = None,
) -> Records:
    """Records from a path or a frame. Only names and types are read now; rows when they are counted.

    ``source``: the path of a Parquet file, of a folder of them, or a pattern such as ``"day-*.parquet"``;
    the path of a file of text (``.csv``, ``.tsv``, ``.txt``, ``.data``), also compressed (``.csv.gz``), with column
    names in its first line or with ``column_names`` declared; an Arrow table, data set or stream; a pandas frame; a
    Polars frame, lazy or not; a DuckDB relation; a pair of a database (a DuckDB or SQLite file, an Excel file, or the
    address ``postgresql://...``) and the name of a table or sheet in it; mesh files of e-Stat (a ``.zip`` or ``.txt``
    as downloaded, a folder or a pattern of them); the path of an Excel file, whose row ``header_row`` names the
    columns; or a Spark frame, which stays in Spark.

    ``decimal="," `` is declared where a CSV file writes numbers with a decimal comma. ``long`` makes a wide table long:
    see `sudare.engines.foreign_sources.Long`.

    A CSV file is read strictly: see `sudare.engines.csv_files`. ``encoding``: UTF-8 (with or without byte order mark)
    unless another is given, such as "cp932"; `propose_layout` looks for it. ``delimiter``: a tab in a TSV file, else
    the one of comma, tab, semicolon and bar that cuts the first line into most names. CSV has no types: all its columns
    are text, from which an attribute reads numbers as it needs; and its first line is taken for names of columns only
    if the columns that are asked for are in it.

    ``engine``: "duckdb", the default, or "spark" (needs ``sudare[spark]``), which works in the active session, or in a
    local one. Both take the address of Parquet, such as ``"s3://..."`` or ``"hdfs://..."``, if they have what they need
    for it: see `sudare.engines.files`.

    ``scratch`` is the folder for what does not fit into memory while rows are counted: see `sudare.engines.scratch`.

    A folder of Parquet and a pattern leave out what Spark leaves out: names that begin with ``_`` or ``.``. All their
    files must have the same columns of the same types; columns that folders name (``year=2020``) are text. Files are
    remembered as they stand now, and refused when they have changed after a question was answered; that is not known of
    what lies at an address, of frames of Spark and of relations. Lazy frames and streams are kept in a private file,
    as long as they are used.

    >>> import pandas
    >>> read(pandas.DataFrame({"person": [1, 2], "sex": ["f", "m"]})).columns
    {'person': 'BIGINT', 'sex': 'VARCHAR'}
    """
    place = None if scratch is None else Path(scratch).absolute()
    further: dict[str, Any] = {} if decimal is None else {"decimal": decimal}
    further |= {} if column_names is None else {"column_names": tuple(column_names)}
    further |= {} if header_row == 1 else {"header_row": header_row}
    further |= {} if long is None else {"long": long}
    records: Records = ENGINES[_engine_of(source, engine)](source, encoding, delimiter, place, **further)
    return records


def read_by_duckdb(
    source: Any, encoding: str | None, delimiter: str | None, scratch: Path | None, **further: Any
) -> Records:
    """The engine "duckdb": in this process."""
    held, state = _looked_at(source, encoding, delimiter, **further)
    return Records(DuckdbEngine.over(held, scratch), state)


def read_by_spark(
    source: Any, encoding: str | None, delimiter: str | None, scratch: Path | None, **further: Any
) -> Records:
    """The engine "spark": in the active session, or in a local one."""
    if unread := further.keys() - {"column_names"}:
        raise ParameterError("Spark does not read this", value=min(unread), hint='Use engine="duckdb", or Parquet.')
    from sudare.engines.csv_files import check_lines
    from sudare.engines.spark_engine import SparkEngine, refusing
    from sudare.engines.spark_sources import frame_at, frame_of

    if is_spark_frame(source) or (isinstance(source, str) and scheme_of(source)):
        _Declared(encoding, delimiter, None, further.get("column_names")).refuse_if_any()
    if is_spark_frame(source):
        return Records(SparkEngine.over(source, scratch=scratch))
    if isinstance(source, str) and scheme_of(source):
        require_reader(source, "spark")
        with refusing(shown(source)):
            return Records(SparkEngine.over(frame_at(source, scratch), shown(source), scratch=scratch))
    held, state = _looked_at(source, encoding, delimiter, **further)
    check = partial(check_lines, held.path, held.layout) if isinstance(held, CsvSource) else None
    untyped = held.untyped if isinstance(held, ParquetSource) else ()
    with refusing(held.name):
        frame = frame_of(held, scratch)
    return Records(SparkEngine.over(frame, held.name, held.typed, check, untyped, scratch), state)


def is_spark_frame(source: Any) -> bool:
    """Whether this is a frame of Spark, found out without loading Spark."""
    return any(
        kind.__module__.startswith("pyspark.sql") and kind.__name__ == "DataFrame" for kind in type(source).__mro__
    )


def _looked_at(
    source: Any,
    encoding: str | None,
    delimiter: str | None,
    decimal: str | None = None,
    column_names: Sequence[str] | None = None,
    header_row: int = 1,
    long: Long | None = None,
) -> tuple[RecordSource, FilesState]:
    """The source, and the state of its files before anything was read from them."""
    first = source[0] if isinstance(source, tuple) and source else source
    named = FilesState.of([Path(first)] if isinstance(first, str | Path) and _is_file(first) else [])
    held = _found(source, _Declared(encoding, delimiter, decimal, column_names))
    if header_row != 1:
        from sudare.engines.foreign_sources import ExcelSource

        if not isinstance(held, ExcelSource):
            raise ParameterError("header_row belongs to an Excel file", value=header_row, allowed="1")
        held = replace(held, header=header_row)
    if long is not None:
        from sudare.engines.foreign_sources import LongSource

        held = LongSource(held, long)
    return held, named.with_more(held.files)


def _is_file(path: str | Path) -> bool:
    try:
        return Path(path).is_file()
    except (OSError, ValueError):  # a name that no disk takes: refused where it is opened
        return False


def _engine_of(source: Any, engine: str | None) -> str:
    """The engine that is asked for, or that a frame brings with it."""
    if engine is not None and engine not in ENGINES:
        raise ParameterError("unknown engine", value=engine, allowed=ENGINES)
    if not is_spark_frame(source):
        return engine or "duckdb"
    if engine not in (None, "spark"):
        raise ParameterError("a Spark frame is counted by Spark", value=engine, allowed="spark")
    return "spark"


class _Declared(NamedTuple):
    """What is declared of how a file of text is written, as `csv_layout` takes it."""

    encoding: str | None = None
    delimiter: str | None = None
    decimal: str | None = None
    column_names: Sequence[str] | None = None

    def refuse_if_any(self) -> None:
        """Refuse a layout for what is not text."""
        if self.encoding is not None:
            raise ParameterError("an encoding belongs to a CSV file", value=self.encoding, allowed="None")
        if self.delimiter is not None:
            raise ParameterError("a delimiter belongs to a CSV file", value=self.delimiter, allowed="None")
        if self.decimal is not None or self.column_names is not None:
            raise ParameterError("a decimal sign or names of columns belong to a CSV file")


def _found(source: Any, declared: _Declared) -> RecordSource:
    if isinstance(source, str | Path):
        return _at_path(source, declared)
    declared.refuse_if_any()
    return _in_database(source) if isinstance(source, tuple) else _in_memory(source)


def _at_path(given: str | Path, declared: _Declared) -> RecordSource:
    if scheme_of(given):
        declared.refuse_if_any()
        return AddressSource(str(given), require_reader(str(given), "duckdb"))
    path = Path(given)
    try:
        is_folder, is_there = path.is_dir(), path.exists()
    except OSError:  # a name that is too long, or a folder that nobody may look into
        raise _unopened(path) from None
    is_pattern = not is_there and has_magic(str(given))
    plain = _unpacked(path)
    estat = _estat_files(path, is_folder, is_pattern)
    if plain.suffix.lower() in TEXT and not estat:
        if is_folder or is_pattern:
            raise InputError(
                "CSV is read from one file, not from a folder or by a pattern",
                value=str(given),
                hint="Join the files into one, or write them as Parquet.",
            )
        refuse_no_text(path)
        from sudare.engines.csv_files import csv_layout

        return CsvSource(path, csv_layout(path, *declared))
    declared.refuse_if_any()
    if plain.suffix.lower() == EXCEL:
        from sudare.engines.foreign_sources import ExcelSource

        return ExcelSource(_existing(path))
    if estat:
        from sudare.engines.foreign_sources import EstatSource

        return EstatSource(str(given), estat)
    if is_folder:
        found = files_in(path)
        if not found:
            raise InputError("the folder holds no Parquet file", value=str(given), hint="Or give one CSV file's path.")
        return ParquetSource(str(given), found, partitioned=True)
    if is_pattern:
        files = files_like(path)
        if not files:
            raise MissingFileError(
                "no file matches the pattern", value=str(given), hint="Look at the folder's files first."
            )
    else:
        files = (_existing(path),)
    strange = next((file for file in files if file.suffix.lower() not in (".parquet", ".pq")), None)
    if strange is not None:
        from sudare.engines.foreign_sources import tables_of

        if tables := tables_of(strange):
            raise InputError(
                "the file is a database, of which one table is read",
                value=str(strange),
                allowed=tables,
                hint='Name the table: table = "..." under [data], --table on the command line, '
                "or the pair (file, table) in Python.",
            )
        raise InputError("this kind of file cannot be read", value=str(strange), allowed=_FILES)
    if not is_pattern:
        _refuse_other_format(path, _PARQUET)
    return ParquetSource(str(given), files)


def _estat_files(path: Path, is_folder: bool, is_pattern: bool) -> tuple[Path, ...]:
    """The mesh files of e-Stat at a path: one, or those of a folder without Parquet, or of a pattern."""
    if is_folder:
        parquet = any(each.suffix.lower() in (".parquet", ".pq") for each in path.iterdir())
        return () if parquet else tuple(sorted(each for each in path.iterdir() if _is_estat(each)))
    if is_pattern:
        return tuple(file for file in files_like(path) if _is_estat(file))
    return (path,) if _is_estat(path) else ()


def is_text(path: Path) -> bool:
    """Whether a path is that of a file of delimited text, by its ending; not of one of e-Stat.

    >>> is_text(Path("adult.data.gz")), is_text(Path("people.parquet"))
    (True, False)
    """
    return _unpacked(path).suffix.lower() in TEXT and not (path.is_file() and _is_estat(path))


def _unpacked(path: Path) -> Path:
    return path.with_suffix("") if path.suffix.lower() in _PACKED else path


def _is_estat(path: Path) -> bool:
    if path.name.startswith((".", "_")):
        return False
    if path.suffix.lower() != ".txt":
        return path.suffix.lower() == ".zip"
    from sudare.engines.estat import CODE

    with _existing(path).open("rb") as file:
        return file.read(len(CODE)) == CODE.encode()


def refuse_no_text(path: Path) -> None:
    """Refuse a file, called one of text, that begins as one of another format."""
    _refuse_other_format(_existing(path), _PACKED.get(path.suffix.lower(), _PLAIN))


def _refuse_other_format(path: Path, expected: Message) -> None:
    """Refuse a file that begins as one of another format than its name says."""
    with path.open("rb") as file:
        first = file.read(len(b"PAR1"))
    found = next((name for begin, name in _BEGINNINGS.items() if first.startswith(begin)), _PLAIN)
    if first and found != expected:
        raise InputError(
            "the file is {found}, and by its name it is {expected}",
            value=str(path),
            hint="Give it the ending that fits (.parquet, .csv, .csv.gz), or write it as Parquet or as CSV in UTF-8.",
            found=found,
            expected=expected,
        )


def _in_database(pair: tuple[Any, ...]) -> RecordSource:
    if len(pair) != 2 or not isinstance(pair[0], str | Path) or not isinstance(pair[1], str):
        raise InputError(
            "this pair is not a database file and the name of a table",
            value=tuple(type(part).__name__ for part in pair),
            allowed='("people.duckdb", "people")',
        )
    from sudare.engines.foreign_sources import ExcelSource, PostgresSource, SqliteSource, is_sqlite

    if scheme_of(pair[0]) in POSTGRES:
        return PostgresSource(str(pair[0]), pair[1])
    refuse_address(pair[0])
    path = _existing(Path(pair[0]))
    if path.suffix.lower() == EXCEL:
        return ExcelSource(path, pair[1])
    return SqliteSource(path, pair[1]) if is_sqlite(path) else DatabaseSource(path, pair[1])


def _in_memory(source: Any) -> RecordSource:
    import duckdb

    if isinstance(source, duckdb.DuckDBPyRelation):
        return RelationSource(source)
    pyarrow = arrow()
    import narwhals
    from pyarrow import dataset

    if isinstance(source, pyarrow.RecordBatch):
        return _in_arrow("the Arrow data", pyarrow.Table.from_batches([source]))
    if isinstance(source, pyarrow.Table | dataset.Dataset):
        return _in_arrow("the Arrow data", source)
    try:
        frame = narwhals.from_native(source, pass_through=True)
    except narwhals.exceptions.DuplicateError:
        raise InputError("two columns of the frame have the same name") from None
    if isinstance(frame, narwhals.DataFrame):
        return _in_arrow("the frame", _converted(frame))
    if isinstance(frame, narwhals.LazyFrame) and frame.implementation.is_polars():
        import polars

        write = partial(source.sink_ipc, compat_level=polars.CompatLevel.oldest())
        return _spooled("the frame", write, InputError("the lazy frame cannot be computed"))
    if hasattr(source, "__arrow_c_stream__"):
        reader = pyarrow.RecordBatchReader.from_stream(source)

        def write_all(path: Path) -> None:
            with pyarrow.ipc.new_file(path, reader.schema) as writer:
                for batch in reader:
                    writer.write_batch(batch)

        return _spooled("the Arrow stream", write_all, InputError("the Arrow stream cannot be read"))
    raise InputError(
        "records cannot be read from this",
        value=type(source).__name__,
        allowed="{files}; {frames}",
        files=_FILES,
        frames=_FRAMES,
    )


def _in_arrow(name: str, data: Any) -> RecordSource:
    names = data.schema.names
    if not names:
        raise InputError("the source has no columns", value=name)
    if len(set(names)) < len(names):
        twice = next(each for each in names if names.count(each) > 1)
        raise InputError("two columns of {name} have the same name", value=twice, name=name)
    return ArrowSource(name, data)


def _converted(frame: Any) -> pyarrow.Table:
    """An eager frame in Arrow, column by column."""
    pyarrow = arrow()
    columns = {}
    for series in frame.iter_columns():
        try:
            columns[str(series.name)] = series.to_arrow()
        except (pyarrow.ArrowException, TypeError, ValueError, OverflowError):  # their messages quote a value
            raise InputError(
                "a column of the frame holds values of more than one type",
                value=series.name,
                hint="Give it one type, or leave it out.",
            ) from None
    return pyarrow.table(columns)


def _spooled(name: str, write: Callable[[Path], Any], refusal: InputError) -> RecordSource:
    """What can be computed once, piece by piece: kept in a private Arrow file as long as its source lives.

    Whatever ``write`` raises may quote a value.
    """
    from pyarrow import dataset

    folder = PrivateFolder.within()
    path = folder.path / "records.arrow"
    try:
        write(path)
    except Exception:
        folder.remove()
        raise refusal from None
    data = dataset.dataset(path, format="ipc")
    weakref.finalize(data, folder.remove)
    return _in_arrow(name, data)


def _existing(path: Path) -> Path:
    try:
        with path.open("rb"):
            return path
    except FileNotFoundError:
        raise MissingFileError("there is no such file", value=str(path)) from None
    except (OSError, ValueError):  # a name with a zero byte is no name
        raise _unopened(path) from None


def _unopened(path: Path) -> InputError:
    return InputError("the file cannot be opened", value=str(path), hint="Give the path of a file that you may read.")


def files_of(source: Any) -> tuple[Path, ...]:
    """The files that `read` would take records from; none where ``source`` is no file of this machine.

    >>> files_of("people.csv.gz"), files_of({"age": [30]})
    ((PosixPath('people.csv.gz'),), ())
    """
    if isinstance(source, Records):
        if source.state.files:
            return tuple(state.path for state in source.state.files)
        source = getattr(source.engine, "frame", None)
    if is_spark_frame(source):
        return tuple(Path(unquote(urlsplit(name).path)) for name in source.inputFiles() if name.startswith("file:"))
    if isinstance(source, tuple) and source and isinstance(source[0], str | Path):
        return () if scheme_of(source[0]) else (Path(source[0]),)
    if not isinstance(source, str | Path) or scheme_of(source):
        return ()
    path = Path(source)
    listed = path.is_dir() or (has_magic(str(path)) and not path.exists())
    return _at_path(path, _Declared()).files if listed else (path,)
