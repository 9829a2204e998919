"""The files of a workspace that can hold records: names of columns and their types, and never a value."""

from __future__ import annotations

from dataclasses import dataclass, field
from glob import has_magic
from pathlib import Path
from typing import Any

from sudare.domain.mesh import LEVELS
from sudare.engines import propose_layout, read
from sudare.engines.files import EXCEL
from sudare.engines.foreign_sources import is_sqlite, tables_of
from sudare.engines.read import TEXT as TEXT_ENDINGS
from sudare.errors import InputError, SudareError
from sudare.language.catalogue import Words
from sudare.studio.models import ColumnFacts, DataPage, FileFacts, Suggestions
from sudare.studio.refusals import RequestError, error_parts
from sudare.studio.workspace import Workspace
from sudare.workflow.proposal import LATITUDE, LONGITUDE, MESH_CODE, PERSON

TEXT = tuple(f"{text}{packed}" for text in TEXT_ENDINGS for packed in ("", ".gz", ".zst"))
PARQUET = (".parquet", ".pq")
DATABASES = (".duckdb", ".db", ".sqlite", ".sqlite3")
OTHERS = (".zip", EXCEL)
"""Mesh files of e-Stat, and Excel."""
ESTAT = "tbl*.zip"
"""All zips of e-Stat together, as they are named."""
LAYOUT = {"encoding": str, "delimiter": str, "decimal": str, "column_names": list, "header_row": int}
"""What a recipe declares of how a file is written."""
KNOWN = (*TEXT, *PARQUET, *DATABASES, *OTHERS)
_LONGEST_NAME = 200
_WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT")
_NUMBER = ("FLOAT", "DOUBLE", "DECIMAL")


def files_of(workspace: Workspace) -> list[FileFacts]:
    """Name and size of every file that may hold records, by name."""
    found = []
    for path in sorted(workspace.folder.iterdir()):
        try:
            name = path.name.lower()
            no_data = name.endswith(DATABASES) and is_ledger(path)
            no_data |= name.endswith((".zip", ".txt")) and not name.startswith("tbl")  # as e-Stat names its own
            if name.endswith(KNOWN) and workspace.inside(path.name).is_file() and not no_data:
                found.append(FileFacts(name=path.name, bytes=path.stat().st_size))
            elif path.is_dir() and not name.startswith(".") and not (path / "release.json").exists():
                inside = [each for each in path.iterdir() if each.name.lower().endswith((*PARQUET, ".zip"))]
                size = sum(each.stat().st_size for each in inside)
                found += [FileFacts(name=path.name, bytes=size)] if inside else []
        except (OSError, RequestError):
            continue
    zips = [file.bytes for file in found if file.name.endswith(".zip")]
    return found if len(zips) < 2 else [*found, FileFacts(name=ESTAT, bytes=sum(zips))]


def public_tables(workspace: Workspace, recipe: dict[str, Any] | None) -> list[str]:
    """What a forecast may rest on: other files than the private one, and the folders of earlier releases."""
    declared = (recipe or {}).get("data")
    private = declared.get("path") if isinstance(declared, dict) else None
    files = [file.name for file in files_of(workspace) if file.name != private]
    folders = sorted(path.parent.name for path in workspace.folder.glob("*/release.json"))
    return [name for name in (*folders, *files) if not name.startswith(".")]


def is_ledger(path: Path) -> bool:
    """Whether a file is a database of Sudare's own, as ledgers are, by the mark in its header: it is no data."""
    with path.open("rb") as file:
        return is_sqlite(path) and file.read(100)[68:71] == b"SUD"


@dataclass(frozen=True)
class FileSelection:
    """Which file is looked at, how its text is declared to be written, and whether its first line may be shown.

    The first line of a CSV file or of a sheet names columns, or it is the first person's row: nobody knows before it
    is seen. So it is shown when the steward asks for it, and with it what `propose_layout` makes of a CSV file.
    """

    name: str | None
    table: str | None = None
    layout: dict[str, Any] = field(default_factory=dict)
    header: bool = False

    @property
    def text(self) -> bool:
        """Whether a file of delimited text."""
        return self.name is not None and self.name.lower().endswith(TEXT)

    @property
    def withheld(self) -> bool:
        """Whether the first line may be a person's row, and was not asked for."""
        named = self.header or "column_names" in self.layout
        return self.name is not None and self.name.lower().endswith((*TEXT, EXCEL)) and not named


def columns_of(workspace: Workspace, looked: FileSelection) -> list[ColumnFacts]:
    """Names and types of the columns of a file of the workspace; none where the first line is withheld."""
    name, table = looked.name or "", looked.table
    path = workspace.inside(name)
    if not path.name.lower().endswith(KNOWN) and not path.is_dir():
        raise RequestError(422, "this kind of file cannot be read", value=name, allowed=KNOWN)
    if not path.exists() and not has_magic(name):
        raise RequestError(404, "there is no such file in the workspace", value=name)
    database = path.name.lower().endswith(DATABASES)
    if database and not table:
        return []
    if looked.withheld:
        return []
    records = read((path, table) if database else path, **looked.layout)
    if any(len(column) > _LONGEST_NAME or len(column.splitlines()) > 1 for column in records.engine.columns):
        # A quote that is never closed makes rows part of the header, and rows are not to be seen here.
        raise InputError("the first line of the file does not name columns", value=name)
    return [ColumnFacts(name=name, type=column.type) for name, column in records.engine.columns.items()]


def _tables(path: Path) -> list[str]:
    return tables_of(path) if path.name.lower().endswith(DATABASES) and path.is_file() and not is_ledger(path) else []


def suggestions_for(columns: list[ColumnFacts]) -> Suggestions:
    """Which attributes a column could become, from its name and type alone.

    >>> found = suggestions_for([ColumnFacts(name=name, type="DOUBLE") for name in ("lat", "lon", "age")])
    >>> found.mesh, found.attributes["age"]
    (['lat', 'lon'], ['bins'])
    """
    names = [column.name for column in columns]
    latitude = next((name for name in names if LATITUDE.match(name)), None)
    longitude = next((name for name in names if LONGITUDE.match(name)), None)
    return Suggestions(
        unit=next((name for name in names if PERSON.match(name)), None),
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
    place = MESH_CODE.search(column.name) or LATITUDE.match(column.name) or LONGITUDE.match(column.name)
    return ["mesh", *kinds] if place else kinds


def looked_at(workspace: Workspace, looked: FileSelection, words: Words) -> DataPage:
    """What a page shows of a file: columns, tables, suggestions, a proposal, or the sentence that it cannot be read."""
    columns: list[ColumnFacts] = []
    tables: list[str] = []
    problem = proposal = None
    try:
        if looked.name is not None:
            tables = _tables(workspace.inside(looked.name))
            if looked.text and looked.header and workspace.inside(looked.name).is_file():
                proposal = propose_layout(workspace.inside(looked.name))
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
        withheld=looked.withheld and problem is None,
        proposal=proposal,
        problem=problem,
    )
