"""`read`: records from wherever they are, as `Records`."""

from __future__ import annotations

import weakref
from functools import partial
from glob import has_magic
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from sudare.engines.csv_files import check_lines, csv_layout
from sudare.engines.duckdb_engine import DuckdbEngine
from sudare.engines.duckdb_sources import (
    AddressSource,
    ArrowSource,
    CsvSource,
    DatabaseSource,
    LazyFrameSource,
    ParquetSource,
    RecordSource,
    RelationSource,
)
from sudare.engines.files import FilesState, files_in, files_like, refuse_address, require_reader, scheme_of, shown
from sudare.engines.records import Records
from sudare.engines.scratch import PrivateFolder
from sudare.engines.spark_session import is_spark_frame
from sudare.errors import InputError, Message, MissingFileError, ParameterError
from sudare.registry import ENGINES

if TYPE_CHECKING:
    import pyarrow

_TEXT = (".csv", ".tsv")
_FILES = Message("Parquet (a file, a folder or a pattern), CSV or TSV (also .gz)")
_PLAIN, _GZIP, _PARQUET = Message("plain text"), Message("gzip"), Message("Parquet")
_UTF16 = dict.fromkeys((b"\xff\xfe", b"\xfe\xff"), Message("text in UTF-16"))
_BEGINNINGS = {b"PAR1": _PARQUET, b"\x1f\x8b": _GZIP, b"PK\x03\x04": Message("zip"), **_UTF16}
_FRAMES = Message("Arrow, pandas, Polars, Spark, a DuckDB relation, (database file, table name)")


def read(
    source: Any,
    *,
    encoding: str | None = None,
    delimiter: str | None = None,
    engine: str | None = None,
    scratch: str | Path | None = None,
) -> Records:
    """Records from a path or a frame. Only names and types are read now; rows when they are counted.

    ``source``: the path of a Parquet file, of a folder of them, or a pattern such as ``"day-*.parquet"``;
    the path of a CSV or TSV file with column names in its first line, also compressed (``.csv.gz``); an
    Arrow table, data set or stream; a pandas frame; a Polars frame, lazy or not; a DuckDB relation; a pair of a
    DuckDB database file and the name of a table in it; or a Spark frame, which stays in Spark.

    A CSV file is read strictly: see `sudare.engines.csv_files`. ``encoding``: UTF-8 (with or without byte order mark)
    unless another is given, such as "cp932"; `propose_layout` looks for it. ``delimiter``: a tab in a TSV file, else
    the one of comma, tab and semicolon that cuts the first line into most names. CSV has no types: all its columns are
    text, from which an attribute reads numbers as it needs; and its first line is taken for names of columns only if
    the columns that are asked for are in it.

    ``engine``: "duckdb", the default, or "spark" (needs ``sudare[spark]``), which works in the active session, or in a
    local one. Both take the address of Parquet, such as ``"s3://..."`` or ``"hdfs://..."``, if they have what they need
    for it: see `sudare.engines.files`.

    ``scratch`` is the folder for what does not fit into memory while rows are counted: see `sudare.engines.scratch`.

    A folder of Parquet and a pattern leave out what Spark leaves out: names that begin with ``_`` or ``.``. All their
    files must have the same columns of the same types; columns that folders name (``year=2020``) are text. Files are
    remembered as they stand now, and refused when they have changed after a question was answered; that is not known of
    what lies at an address, of frames of Spark and of relations and lazy frames.

    >>> import pandas
    >>> read(pandas.DataFrame({"person": [1, 2], "sex": ["f", "m"]})).columns
    {'person': 'BIGINT', 'sex': 'VARCHAR'}
    """
    place = None if scratch is None else Path(scratch).absolute()
    records: Records = ENGINES[_engine_of(source, engine)](source, encoding, delimiter, place)
    return records


def read_by_duckdb(source: Any, encoding: str | None, delimiter: str | None, scratch: Path | None) -> Records:
    """The engine "duckdb": in this process."""
    held, state = _looked_at(source, encoding, delimiter)
    return Records(DuckdbEngine.over(held, scratch), state)


def read_by_spark(source: Any, encoding: str | None, delimiter: str | None, scratch: Path | None) -> Records:
    """The engine "spark": in the active session, or in a local one."""
    from sudare.engines.spark_engine import SparkEngine, refusing
    from sudare.engines.spark_sources import frame_at, frame_of

    if is_spark_frame(source):
        return Records(SparkEngine.over(source, scratch=scratch))
    if isinstance(source, str) and scheme_of(source):
        require_reader(source, "spark")
        with refusing(shown(source)):
            return Records(SparkEngine.over(frame_at(source, scratch), shown(source), scratch=scratch))
    held, state = _looked_at(source, encoding, delimiter)
    check = partial(check_lines, held.path, held.layout) if isinstance(held, CsvSource) else None
    untyped = held.untyped if isinstance(held, ParquetSource) else ()
    with refusing(held.name):
        frame = frame_of(held, scratch)
    return Records(SparkEngine.over(frame, held.name, held.typed, check, untyped, scratch), state)


def _looked_at(source: Any, encoding: str | None, delimiter: str | None) -> tuple[RecordSource, FilesState]:
    """The source, and its files as they stood before anything of them was read."""
    first = source[0] if isinstance(source, tuple) and source else source
    named = FilesState.of([Path(first)] if isinstance(first, str | Path) and _is_file(first) else [])
    held = _found(source, encoding, delimiter)
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


def _found(source: Any, encoding: str | None, delimiter: str | None) -> RecordSource:
    if isinstance(source, str | Path):
        return _at_path(source, encoding, delimiter)
    _refuse_layout(encoding, delimiter)
    return _in_database(source) if isinstance(source, tuple) else _in_memory(source)


def _refuse_layout(encoding: str | None, delimiter: str | None) -> None:
    if encoding is not None:
        raise ParameterError("an encoding belongs to a CSV file", value=encoding, allowed="None")
    if delimiter is not None:
        raise ParameterError("a delimiter belongs to a CSV file", value=delimiter, allowed="None")


def _at_path(given: str | Path, encoding: str | None, delimiter: str | None) -> RecordSource:
    if scheme_of(given):
        return AddressSource(str(given), require_reader(str(given), "duckdb"))
    path = Path(given)
    try:
        is_folder, is_there = path.is_dir(), path.exists()
    except OSError:  # a name that is too long, or a folder that nobody may look into
        raise _unopened(path) from None
    is_pattern = not is_there and has_magic(str(given))
    plain = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    if plain.suffix.lower() in _TEXT:
        if is_folder or is_pattern:
            raise InputError(
                "CSV is read from one file, not from a folder or by a pattern",
                value=str(given),
                hint="Join the files into one, or write them as Parquet.",
            )
        _refuse_other_format(_existing(path), _GZIP if plain != path else _PLAIN)
        return CsvSource(path, csv_layout(path, encoding, delimiter))
    _refuse_layout(encoding, delimiter)
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
        raise InputError("this kind of file cannot be read", value=str(strange), allowed=_FILES)
    if not is_pattern:
        _refuse_other_format(path, _PARQUET)
    return ParquetSource(str(given), files)


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
    refuse_address(pair[0])
    return DatabaseSource(_existing(Path(pair[0])), pair[1])


def _in_memory(source: Any) -> RecordSource:
    import duckdb
    import narwhals
    import pyarrow
    from pyarrow import dataset

    if isinstance(source, pyarrow.RecordBatch):
        return _in_arrow("the Arrow data", pyarrow.Table.from_batches([source]))
    if isinstance(source, pyarrow.Table | dataset.Dataset):
        return _in_arrow("the Arrow data", source)
    if isinstance(source, duckdb.DuckDBPyRelation):
        return RelationSource(source)
    try:
        frame = narwhals.from_native(source, pass_through=True)
    except narwhals.exceptions.DuplicateError:
        raise InputError("two columns of the frame have the same name") from None
    if isinstance(frame, narwhals.DataFrame):
        return _in_arrow("the frame", _converted(frame))
    if isinstance(frame, narwhals.LazyFrame) and frame.implementation.is_polars():
        return LazyFrameSource(frame)
    if hasattr(source, "__arrow_c_stream__"):
        return _spooled(pyarrow.RecordBatchReader.from_stream(source))
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
    import pyarrow

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


def _spooled(reader: pyarrow.RecordBatchReader) -> RecordSource:
    """A stream can be read once and records more often: it is kept in a file as long as the source lives."""
    import pyarrow
    from pyarrow import dataset

    folder = PrivateFolder.within()
    path = folder.path / "stream.arrow"
    try:
        with pyarrow.ipc.new_file(path, reader.schema) as writer:
            for batch in reader:
                writer.write_batch(batch)
    except (pyarrow.ArrowException, OSError):
        folder.remove()
        raise InputError("the Arrow stream cannot be read") from None
    data = dataset.dataset(path, format="ipc")
    weakref.finalize(data, folder.remove)
    return _in_arrow("the Arrow stream", data)


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
        return (Path(source[0]),)
    if not isinstance(source, str | Path) or scheme_of(source):
        return ()
    path = Path(source)
    listed = path.is_dir() or (has_magic(str(path)) and not path.exists())
    found = _at_path(path, None, None) if listed else None
    return found.files if isinstance(found, ParquetSource) else (path,)
