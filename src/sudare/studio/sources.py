"""The files of a workspace that can hold records: names of columns and their types, and never a value."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from pathlib import Path

from sudare.domain.mesh import LEVELS
from sudare.engines import propose_layout, read
from sudare.errors import InputError, SudareError
from sudare.language.catalogue import Words
from sudare.studio.models import ColumnFacts, DataPage, FileFacts, LayoutProposal, Suggestions
from sudare.studio.refusals import RequestError, error_parts
from sudare.studio.workspace import Workspace

TEXT = (".csv", ".tsv", ".csv.gz", ".tsv.gz")
PARQUET = (".parquet", ".pq")
DATABASES = (".duckdb", ".db")
KNOWN = (*TEXT, *PARQUET, *DATABASES)
_LONGEST_NAME = 200
_LATITUDE = re.compile(r"(?i)^(lat|latitude|緯度|.*_lat)$")
_LONGITUDE = re.compile(r"(?i)^(lon|lng|long|longitude|経度|.*_(lon|lng))$")
_PERSON = re.compile(r"(?i)^(id|person|person_?id|user_?id|device_?id|uid|.*_id|個人番号|世帯番号)$")
_MESH_CODE = re.compile(r"(?i)(mesh|メッシュ|^key_code$)")
_WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT")
_NUMBER = ("FLOAT", "DOUBLE", "DECIMAL")


def files_of(workspace: Workspace) -> list[FileFacts]:
    """Name and size of every file that may hold records, by name."""
    found = []
    for path in sorted(workspace.folder.iterdir()):
        try:
            name = path.name.lower()
            no_data = name.endswith(DATABASES) and is_ledger(path)
            if name.endswith(KNOWN) and workspace.inside(path.name).is_file() and not no_data:
                found.append(FileFacts(name=path.name, bytes=path.stat().st_size))
        except (OSError, RequestError):
            continue
    return found


def is_ledger(path: Path) -> bool:
    """Whether a file is a database of SQLite: the engine reads DuckDB's, and the ledger is no data."""
    with path.open("rb") as file:
        return file.read(15) == b"SQLite format 3"


@dataclass(frozen=True)
class FileSelection:
    """Which file is looked at, how its text is declared to be written, and whether its first line may be shown.

    The first line of a CSV file names columns, or it is the first person's row: nobody knows before it is seen. So it
    is shown when the steward asks for it, and with it what `propose_layout` makes of the file.
    """

    name: str | None
    table: str | None = None
    encoding: str | None = None
    delimiter: str | None = None
    header: bool = False

    @property
    def text(self) -> bool:
        """Whether a file of delimited text."""
        return self.name is not None and self.name.lower().endswith(TEXT)


def columns_of(workspace: Workspace, looked: FileSelection) -> list[ColumnFacts]:
    """Names and types of the columns of a file of the workspace; none of text whose first line is not asked for."""
    name, table = looked.name or "", looked.table
    path = workspace.inside(name)
    if not path.name.lower().endswith(KNOWN):
        raise RequestError(422, "this kind of file cannot be read", value=name, allowed=KNOWN)
    if not path.is_file():
        raise RequestError(404, "there is no such file in the workspace", value=name)
    database = path.name.lower().endswith(DATABASES)
    if database and not table:
        return []
    if looked.text and not looked.header:
        return []
    encoding, delimiter = looked.encoding or None, looked.delimiter or None
    records = read((path, table) if database else path, encoding=encoding, delimiter=delimiter)
    if any(len(column) > _LONGEST_NAME or len(column.splitlines()) > 1 for column in records.engine.columns):
        # A quote that is never closed makes rows part of the header, and rows are not to be seen here.
        raise InputError("the first line of the file does not name columns", value=name)
    return [ColumnFacts(name=name, type=column.type) for name, column in records.engine.columns.items()]


def tables_of(workspace: Workspace, name: str) -> list[str]:
    """The tables of a DuckDB database; of any other file, none."""
    path = workspace.inside(name)
    if not name.lower().endswith(DATABASES) or not path.is_file() or is_ledger(path):
        return []
    import duckdb

    try:
        with duckdb.connect(str(path), read_only=True) as connection:
            rows = connection.execute("SELECT table_name FROM information_schema.tables ORDER BY 1").fetchall()
    except duckdb.Error:
        raise InputError("the file is no DuckDB database that can be opened", value=name) from None
    return [str(row[0]) for row in rows]


def suggestions_for(columns: list[ColumnFacts]) -> Suggestions:
    """Which attributes a column could become, from its name and type alone.

    >>> found = suggestions_for([ColumnFacts(name=name, type="DOUBLE") for name in ("lat", "lon", "age")])
    >>> found.mesh, found.attributes["age"]
    (['lat', 'lon'], ['bins'])
    """
    names = [column.name for column in columns]
    latitude = next((name for name in names if _LATITUDE.match(name)), None)
    longitude = next((name for name in names if _LONGITUDE.match(name)), None)
    return Suggestions(
        unit=next((name for name in names if _PERSON.match(name)), None),
        mesh=[latitude, longitude] if latitude and longitude else None,
        attributes={column.name: _kinds(column) for column in columns},
    )


def _kinds(column: ColumnFacts) -> list[str]:
    kind = column.type.partition("(")[0]
    if kind in _WHOLE:
        kinds = ["bins", "categories", "line", "grid"]
    elif kind in _NUMBER:
        kinds = ["bins"]
    elif kind == "VARCHAR":
        kinds = ["categories", "bins"]
    else:
        return []
    place = _MESH_CODE.search(column.name) or _LATITUDE.match(column.name) or _LONGITUDE.match(column.name)
    return ["mesh", *kinds] if place else kinds


def looked_at(workspace: Workspace, looked: FileSelection, words: Words) -> DataPage:
    """What a page shows of a file: columns, tables, suggestions, a proposal, or the sentence that it cannot be read."""
    columns: list[ColumnFacts] = []
    tables: list[str] = []
    problem = proposal = None
    try:
        if looked.name is not None:
            tables = tables_of(workspace, looked.name)
            if looked.text and looked.header and workspace.inside(looked.name).is_file():
                proposal = LayoutProposal(**asdict(propose_layout(workspace.inside(looked.name))))
            columns = columns_of(workspace, looked)
    except SudareError as found:
        problem = error_parts(found, words)
    return DataPage(
        files=files_of(workspace),
        file=looked.name,
        table=looked.table,
        tables=tables,
        columns=columns,
        suggestions=suggestions_for(columns),
        mesh_levels=list(LEVELS),
        withheld=looked.text and not looked.header and problem is None,
        proposal=proposal,
        problem=problem,
    )
