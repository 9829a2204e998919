"""The files that records are read from: which files of a folder count, that they agree, that none changes while read.

docs/explanation/rows-and-people.md says why. An address such as ``s3://bucket/people.parquet`` is read by DuckDB with
an extension that the steward has installed, and by Spark with a Hadoop connector on its class path; without these it is
refused before any network access. An address can hold a password or a signed query, so messages show only its scheme,
or the address without them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from glob import has_magic
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from sudare.domain.parquet import database, literal_path
from sudare.errors import InputError, Message

if TYPE_CHECKING:
    import duckdb

EXTENSIONS = {
    **dict.fromkeys(("http", "https", "s3", "s3a", "s3n", "gs", "gcs", "r2", "hf"), "httpfs"),
    **dict.fromkeys(("az", "azure", "abfs", "abfss"), "azure"),
}
"""The extension of DuckDB that reads addresses of a scheme."""
POSTGRES = ("postgresql", "postgres")
"""Schemes of addresses of PostgreSQL."""
EXCEL = ".xlsx"
NOT_IN_SPARK = ("http", "https", "ftp", "sftp", "file")
"""Schemes for which Hadoop has a class that lists no folder, or that are paths."""
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/")
_COPY = Message("Copy the file to this machine and give its path.")


def scheme_of(source: object) -> str | None:
    """The scheme of an address, also of one that a path has cut to one slash; None for a path.

    >>> scheme_of("S3://bucket/a"), scheme_of(PurePosixPath("https://host/a")), scheme_of("C:/a"), scheme_of("a.csv")
    ('s3', 'https', None, None)
    """
    found = _SCHEME.match(str(source))
    return found[1].lower() if found else None


def refuse_address(source: object) -> None:
    """Refuse an address where only a path will do."""
    if scheme := scheme_of(source):
        raise InputError("a path is needed here, and this is an address", value=f"{scheme}://...", hint=_COPY)


def require_reader(address: str, engine: str) -> str:
    """The extension or connector with which ``engine`` reads an address, or a refusal.

    Whether Spark has its connector is checked in `spark_sources`.
    """
    import duckdb

    scheme, path = scheme_of(address) or "", PurePosixPath(urlsplit(address).path)
    if {".csv", ".tsv"} & set(path.suffixes) or (engine == "duckdb" and has_magic(str(path))):
        raise InputError(
            "at an address, one Parquet file is read and nothing else", value=f"{scheme}://...", hint=_COPY
        )
    needed = EXTENSIONS.get(scheme) if engine == "duckdb" else None if scheme in NOT_IN_SPARK else "a connector"
    if needed is None:
        raise InputError(
            "{engine} does not read from {scheme}://",
            hint=_COPY,
            engine="DuckDB" if engine == "duckdb" else "Spark",
            scheme=scheme,
        )
    if engine == "duckdb":
        with closing(duckdb.connect(":memory:")) as connection:
            asked = "SELECT installed FROM duckdb_extensions() WHERE extension_name = ?"
            installed = connection.execute(asked, [needed]).fetchone()
        if installed != (True,):
            raise InputError(
                "DuckDB reads from {scheme}:// with its extension {needed}, which is not installed here",
                hint="Copy the file to this machine and give its path, or install the extension: INSTALL {needed}.",
                scheme=scheme,
                needed=needed,
            )
    return needed


def shown(address: str) -> str:
    """An address without what may be secret in it.

    >>> shown("s3://me:secret@bucket/people.parquet?X-Amz-Signature=ab12")
    's3://bucket/people.parquet'
    """
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


@dataclass(frozen=True)
class FileState:
    """A file by what the file system says of it: a file that is written to or replaced has another state.

    ``size`` is in bytes, ``modified`` in nanoseconds; ``inode`` and ``device`` tell files of one name apart. All are
    None for a file that does not exist.
    """

    path: Path
    size: int | None
    modified: int | None
    inode: int | None
    device: int | None

    @classmethod
    def of(cls, path: Path) -> FileState:
        try:
            found = path.stat()
        except (OSError, ValueError):  # a name with a zero byte is no name
            return cls(path, None, None, None, None)
        return cls(path, found.st_size, found.st_mtime_ns, found.st_ino, found.st_dev)


@dataclass(frozen=True)
class FilesState:
    """The states of all files of a source; none for what lies in memory or at an address of a cluster."""

    files: tuple[FileState, ...] = ()

    @classmethod
    def of(cls, paths: Iterable[Path]) -> FilesState:
        return cls(tuple(map(FileState.of, paths)))

    def with_more(self, paths: Iterable[Path]) -> FilesState:
        known = {state.path for state in self.files}
        return FilesState((*self.files, *(FileState.of(path) for path in paths if path not in known)))

    def refuse_changed(self) -> None:
        """Refuse to continue if one of the files has changed: what was read may be a mix of two versions."""
        for state in self.files:
            if FileState.of(state.path) != state:
                raise InputError(
                    "the file changed while it was read",
                    value=str(state.path),
                    hint="Read it again when nobody writes to it, or read a copy.",
                )


NO_FILES = FilesState()


def unreadable(name: str) -> InputError:
    """The one refusal for all errors of an engine about a source, whose messages may quote a value."""
    return InputError(
        "the records cannot be read",
        value=name,
        hint="They are damaged, out of reach, or changed while they were read: write or copy them again.",
    )


def files_in(folder: Path) -> tuple[Path, ...]:
    """The Parquet files of a folder and of the folders in it, in order."""
    return tuple(file for file in _matching(folder, "**/*.parquet") if is_data(file.relative_to(folder).parts))


def files_like(pattern: Path) -> tuple[Path, ...]:
    """The files that a pattern matches, in order; ``**`` stands for any number of folders.

    A folder that the pattern names literally is read whatever its name is.
    """
    named = next(place for place, part in enumerate(pattern.parts) if has_magic(part))
    root = Path(*pattern.parts[:named])
    found = _matching(root, str(Path(*pattern.parts[named:])))
    return tuple(file for file in found if is_data(file.relative_to(root).parts))


def is_data(parts: tuple[str, ...]) -> bool:
    """Whether Spark takes a file for data, by its name and the names of the folders below the one that is read.

    Names that begin with a dot or an underscore are not data, except partitions such as ``_year=2020``; nor are files
    that Hadoop is still copying. Folders named like Parquet's own ``_metadata`` are searched.

    >>> [is_data(parts) for parts in [("a.parquet",), ("_temporary", "a.parquet"), ("_y=1", "a.parquet")]]
    [True, False, True]
    """
    *folders, name = parts
    return not _hidden(name) and not any(_hidden(each) and not _metadata(each) for each in folders)


def refuse_other_types(files: Iterable[Path], name: str) -> None:
    """Refuse Parquet files whose columns differ in name or type, without saying which; only their footers are read."""
    try:
        with database() as connection:
            schemas = {_types(connection, file) for file in files}
    except (ValueError, OSError):
        raise InputError(
            "not all of the files are whole Parquet files",
            value=name,
            hint="Write or copy those again that do not begin and end with the bytes PAR1. No file is named here, "
            "since a file can be one person's.",
        ) from None
    if len(schemas) > 1:
        raise InputError(
            "the Parquet files do not all have the same columns of the same types",
            value=name,
            hint="Write all of them with one schema. No file is named here, since a file can be one person's.",
        )


def partitions(file: Path) -> frozenset[str]:
    """The columns that the folders of a file name.

    >>> sorted(partitions(Path("table/year=2020/month=1/part-0.parquet")))
    ['month', 'year']
    """
    return frozenset(unquote(part.partition("=")[0]) for part in file.absolute().parts[:-1] if "=" in part)


def _types(connection: duckdb.DuckDBPyConnection, file: Path) -> frozenset[tuple[str, ...]]:
    """The columns of a file with their Parquet types, ignoring their order and nullability."""
    about = "name, type, type_length, converted_type, logical_type, scale, precision, num_children"
    columns = connection.sql(f"SELECT {about} FROM parquet_schema({literal_path(file)})").fetchall()  # noqa: S608
    return frozenset(tuple(map(str, column)) for column in columns[1:])  # the first is the row


def _hidden(name: str) -> bool:
    return (name.startswith("_") and "=" not in name) or name.startswith(".") or name.endswith("._COPYING_")


def _metadata(name: str) -> bool:
    return name.startswith(("_metadata", "_common_metadata"))


def _matching(root: Path, pattern: str) -> list[Path]:
    try:
        return sorted(path for path in root.glob(pattern) if path.is_file())
    except OSError:  # a folder that was removed meanwhile, or that lies too deep
        raise InputError("the folder cannot be listed", value=str(root)) from None
