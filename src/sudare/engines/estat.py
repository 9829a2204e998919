"""Mesh files of the Japanese statistics portal e-Stat, as they are downloaded."""

from __future__ import annotations

import csv
import io
import zipfile
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from sudare.domain import CountTable, Domain, Mesh
from sudare.domain.mesh import level_of_digits
from sudare.engines.csv_files import CsvLayout, checked
from sudare.errors import DomainError, InputError, MissingFileError, ParameterError, TableError, did_you_mean
from sudare.privacy import Unit

CODE = "KEY_CODE"
NOT_VALUES = (CODE, "HTKSYORI", "HTKSAKI", "GASSAN")
FOLDED = ("*", "-", "")
"""No number of its own: nobody, or details that another cell counts (HTKSYORI 2)."""
_OUTSIDE = ("error", "drop")
_POPULATION = "人口"
"""In the label of a column that counts people; those of households say 世帯."""
_MOST_DIGITS = 18
_MOST_BYTES = 1 << 30
"""Of a table in an archive: the largest that e-Stat publishes is a hundred times smaller."""


def estat_table(
    paths: str | Path | Iterable[str | Path],
    value: str | None = None,
    domain: Domain | None = None,
    outside: str = "error",
    unit: Unit | None = None,
) -> CountTable:
    """The count table of one column of e-Stat mesh files.

    ``paths``: a zip as downloaded, the text file in it, or several of either, which join into one table.
    ``value``: the code of the column to read, such as ``"T001141001"``; by default the first, which in the
    population files is the total. A cell marked ``*`` has its details folded into another cell, which
    counts them, and adds nothing here.

    ``domain``: a domain whose only attribute is a mesh of the files' size. By default the meshes under the
    files' first-level codes: these data are published, and so is the frame they are published in.
    ``outside``: whether cells outside a given domain are an error or dropped.
    ``unit``: what the column counts, and how often one may be counted, which nobody can check here; by default a person
    for the first column where every file labels it as population. Another column, or files whose first column may count
    households, are not released until it is given.
    """
    if outside not in _OUTSIDE:
        raise ParameterError("unknown way to treat cells outside the domain", value=outside, allowed=_OUTSIDE)
    codes: list[str] = []
    counts: list[int] = []
    people = value is None
    for path in [paths] if isinstance(paths, str | Path) else paths:
        people &= _POPULATION in _read_into(codes, counts, Path(path), value)
    counted = replace(unit or (Unit("person") if people else Unit()), counted_elsewhere=True)
    declared = Domain(mesh=_frame(codes)) if domain is None else domain
    if [type(attribute) for attribute in declared.attributes.values()] != [Mesh]:
        raise ParameterError(
            "the domain is not a mesh", value=declared, allowed="a domain whose only attribute is a Mesh"
        )
    (name,) = declared.attributes
    index, inside = declared.locate({name: np.array(codes, dtype=np.str_)})
    if outside == "error" and not inside.all():
        raise InputError(
            "some cells of the files lie outside the domain",
            value=declared,
            hint='Its mesh size may not be that of the files; outside="drop" leaves such cells out.',
        )
    return CountTable(declared, index[inside], np.array(counts, dtype=np.int64)[inside], counted)


def _read_into(codes: list[str], counts: list[int], path: Path, value: str | None) -> str:
    """Adds the cells of one file that have a number; the label of the column."""
    rows = fields_of(path)
    names = rows[0]
    place = _place_of(value, names, path)
    for row in rows[2:]:  # the second line holds labels
        if row[place].strip() in FOLDED:
            continue
        if not row[place].isdecimal() or len(row[place]) > _MOST_DIGITS:
            raise TableError("a value of {names} in {name} is not a count", names=names[place], name=path.name)
        codes.append(row[0])
        counts.append(int(row[place]))
    return rows[1][place]


def fields_of(path: Path) -> list[list[str]]:
    """The fields of each line, by the grammar of `csv_lines`: codes, labels, then a line for each cell."""
    rows = _lines(path)
    if len(rows) < 2 or rows[0][:1] != [CODE]:
        raise InputError(
            "this is not a mesh file of e-Stat",
            value=str(path),
            allowed="a first line that begins {number}",
            number=CODE,
        )
    return rows


def _lines(path: Path) -> list[list[str]]:
    try:
        data = _from_zip(path) if path.suffix.lower() == ".zip" else path.read_bytes()
    except FileNotFoundError:
        raise MissingFileError("there is no such file", value=str(path)) from None
    except (
        OSError,
        EOFError,
        RuntimeError,
        zipfile.BadZipFile,
        zlib.error,
    ):  # RuntimeError: encrypted, unknown methods
        raise InputError("the file cannot be opened", value=str(path)) from None
    if not data:
        return []
    first, _, _ = data.partition(b"\n")
    layout = CsvLayout("cp932", ",", tuple(first.decode("cp932", "replace").split(",")), first.endswith(b"\r"))
    end = b"\r\n" if layout.crlf else b"\n"
    text = checked(data if data.endswith(b"\n") else data + end, layout)
    if text is None:
        raise _not_cells(path)
    try:
        return [row for row in csv.reader(io.StringIO(text.decode(), newline="")) if row]  # empty lines are nobody's
    except csv.Error:  # a field of more characters than Python takes
        raise _not_cells(path) from None


def _not_cells(path: Path) -> InputError:
    return InputError("the file is not CSV in CP932 with one line for each cell", value=str(path))


def _from_zip(path: Path) -> bytes:
    """The member that is the table: some archives carry strays of the server beside it."""
    with zipfile.ZipFile(path) as archive:
        tables = [name for name in archive.namelist() if Path(name).name.startswith("tbl")]
        if len(tables) != 1:
            raise InputError("the archive does not hold one table", value=str(path), allowed="one member named tbl...")
        if archive.getinfo(tables[0]).file_size > _MOST_BYTES:
            raise InputError("the table in the archive is too large", value=str(path), allowed="at most 2**30 bytes")
        return archive.read(tables[0])


def _place_of(value: str | None, names: Sequence[str], path: Path) -> int:
    values = [name for name in names if name not in NOT_VALUES]
    wanted = values[0] if value is None and values else value
    if wanted not in values:
        raise InputError(
            "{name} has no such value",
            value=wanted,
            allowed=("{values} to {second_values}" if values else None),
            hint=did_you_mean(str(wanted), values),
            name=path.name,
            values=values[0],
            second_values=values[-1],
        )
    return names.index(wanted)


def _frame(codes: list[str]) -> Mesh:
    """All meshes of the codes' size under their first-level meshes."""
    lengths = {len(code) for code in codes}
    level = level_of_digits(lengths.pop()) if len(lengths) == 1 else None
    if level is None:
        raise InputError("the files do not have one mesh size", hint="Read files of different sizes one by one.")
    try:
        return Mesh(level.name, codes=sorted({code[:4] for code in codes}))
    except DomainError:  # its message shows the code
        raise InputError("some lines of the files do not begin with a mesh code") from None
