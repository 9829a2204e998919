"""One person's bytes change only that person's rows: a law of every reader, for which Hypothesis writes the bytes.

Of each reader it is asked that the counts of others' rows and one person's together are the sum of both alone, or that
an error says the same as for any other garbage. Hence to add, remove or garble one person's rows changes the counts by
that person's rows or ends in an error that says nothing.
"""

from __future__ import annotations

import csv
import datetime
import math
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import openpyxl
import pandas
import polars
import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from sudare.domain import Bins, Categories, Domain, Line, Mesh
from sudare.domain.text import plain
from sudare.engines import estat_table, read
from sudare.engines.csv_files import CsvLayout, well_formed
from sudare.engines.files import unreadable
from sudare.errors import SudareError

DOMAIN = Domain(place=Line(4), ward=Categories(["東", "café", "x"]))
FREELY = settings(deadline=None, max_examples=500)


def tried(law: Callable[[st.DataObject], None], examples: int, full: bool) -> None:
    """A law tried on so many examples, fifty times as many in the full form: each takes DuckDB a tenth of a second."""
    settings(deadline=None, max_examples=examples * 50 if full else examples)(given(st.data())(law))()


# Text: the person's lines are any bytes.


@dataclass(frozen=True)
class Written:
    """How a file of text is written."""

    name: str = "people.csv"
    encoding: str = "utf-8"
    delimiter: bytes = b","
    end: bytes = b"\n"
    engine: str = "duckdb"
    mark: bytes = b""
    names: tuple[str, ...] | None = None

    def counted(self, folder: Path, lines: list[bytes]) -> np.ndarray | str:
        """The counts of the file with these lines, or what the error says."""
        path = folder / self.name
        header = [] if self.names else [self.delimiter.join([b"note", b"place", b"ward"])]
        data = self.mark + b"".join(line + self.end for line in [*header, *lines])
        with pyarrow.output_stream(path, compression={".gz": "gzip", ".zst": "zstd"}.get(path.suffix)) as file:
            file.write(data)
        declared = None if self.encoding == "utf-8" else self.encoding
        try:
            records = read(path, encoding=declared, engine=self.engine, column_names=self.names)
            return records.count(DOMAIN, outside="drop").to_array()
        except SudareError as refusal:
            return str(refusal)

    def line(self, note: bytes, place: bytes, ward: str) -> bytes:
        return self.delimiter.join([note, place, ward.encode(self.encoding)])


FILES = {
    "CSV": Written(),
    "CSV with CR LF": Written(end=b"\r\n"),
    "CSV with byte order mark": Written(mark=b"\xef\xbb\xbf"),
    "CSV with semicolons": Written(delimiter=b";"),
    "CSV in CP932": Written(encoding="cp932"),
    "TSV": Written(name="people.tsv", delimiter=b"\t"),
    "gzip": Written(name="people.csv.gz"),
    "zstd": Written(name="people.csv.zst"),
    "gzip in CP932": Written(name="people.tsv.gz", encoding="cp932", delimiter=b"\t"),
    "CSV without a header": Written(names=("note", "place", "ward")),
    "CSV without a header with CR LF": Written(end=b"\r\n", names=("note", "place", "ward")),
    "TSV without a header in CP932": Written(
        name="people.tsv", encoding="cp932", delimiter=b"\t", names=("note", "place", "ward")
    ),
}
OTHERS = [(b"", b"0", "東"), (b'"a b"', b"1", "x"), (b"1", b"1", "東"), (b"\\", b"2", "x"), (b"'", b'"3"', "x")]
SIGNS = [b'"', b'""', b",", b";", b"\t", b"\n", b"\r", b"\r\n", b"\0", b"\\", b" ", b"1", b"2", b"x", b"#", b"\x1a"]
SIGNS += [
    "東".encode(),
    "東".encode("cp932"),
    b"\x81",
    b"\xff",
    b"\xc3\xa9",
    b"\xef\xbb\xbf",
    b"\xe2\x80\xa8",
    b"\xc2\x85",
]
GARBAGE = st.lists(st.sampled_from(SIGNS), max_size=9).map(b"".join) | st.binary(max_size=12)
"""Bytes that mean something to some reader, and any others."""


@st.composite
def garbled(draw: st.DrawFn, form: Written) -> bytes:
    """A person's line: whole, with garbage in the column that nobody reads, or garbage throughout."""
    note = draw(GARBAGE)
    shape = draw(st.sampled_from(["in a field", "quoted", "throughout", "empty"]))
    if shape in ("throughout", "empty"):
        return note if shape == "throughout" else b""
    quoted = b'"' + note.replace(b'"', b'""') + b'"'
    return form.line(note if shape == "in a field" else quoted, draw(st.sampled_from([b"2", b'"2"', b""])), "x")


def law_of_text(form: Written, folder: Path, data: st.DataObject, once: dict[str, Any]) -> None:
    person = data.draw(st.lists(garbled(form), min_size=1, max_size=3))
    others = [form.line(*each) for each in OTHERS]
    together = list(others)
    for line in person:
        together.insert(data.draw(st.integers(0, len(together))), line)
    both = form.counted(folder, together)
    if isinstance(both, str):
        # The one sentence, whatever the garbage; and it is garbage by itself.
        if "sentence" not in once:
            once["sentence"] = form.counted(folder, [b'"'])
        alone = form.counted(folder, person)
        # Without a header, the first line says how all lines end: those of one person may end alike by themselves.
        assert both == once["sentence"]
        assert form.names is not None or alone == both
    else:
        if "others" not in once:
            once["others"] = form.counted(folder, others)
        assert (both == once["others"] + form.counted(folder, person)).all()


def test_empty_lines_are_nobodys_and_first_lines_are_somebodys(tmp_path: Path) -> None:
    for form in (FILES["CSV"], FILES["CSV with CR LF"], FILES["CSV without a header with CR LF"]):
        others = [form.line(*each) for each in OTHERS]
        alone = form.counted(tmp_path, others)
        assert isinstance(alone, np.ndarray)
        assert alone.sum() == len(OTHERS)
        spaced = [b"", *(line for each in others for line in (each, b"", b""))]
        assert (form.counted(tmp_path, spaced) == alone).all()
    one = Written(names=("ward",))
    assert isinstance(one.counted(tmp_path, [b"x", b""]), str)  # a person without a ward, or nobody


@pytest.mark.parametrize("name", FILES)
def test_bytes_in_a_file_of_text(name: str, tmp_path: Path, full: bool) -> None:
    once: dict[str, Any] = {}
    tried(lambda data: law_of_text(FILES[name], tmp_path, data, once), 10, full)


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("name", ["CSV", "TSV", "CSV without a header"])
def test_bytes_in_a_file_of_text_on_spark(name: str, tmp_path: Path, full: bool) -> None:
    once: dict[str, Any] = {}
    tried(lambda data: law_of_text(replace(FILES[name], engine="spark"), tmp_path, data, once), 4, full)


def law_of_engines(form: Written, path: Path, data: st.DataObject) -> None:
    """What passes is read by an engine as Python's own reader reads each line by itself, in its plain form."""
    drawn = data.draw(st.lists(garbled(form), min_size=20, max_size=60))
    layout = CsvLayout("utf-8", form.delimiter.decode(), ("a", "b", "c"), form.end == b"\r\n")
    lines = [line for line in drawn if decodable(line) and well_formed(line + form.end, layout)]
    path.write_bytes(b"".join(line + form.end for line in [form.delimiter.join([b"a", b"b", b"c"]), *lines]))
    found = read(path, engine=form.engine).values(["a", "b", "c"])
    expected = []
    for line in lines:
        for part in filter(None, line.decode().split(form.end.decode())):  # empty lines are nobody's
            (fields,) = csv.reader([part], delimiter=layout.delimiter, strict=True)
            expected.append(tuple(plain(field) for field in fields))
    key = [tuple(each or "" for each in row) for row in zip(*found.values(), strict=True)]
    assert sorted(key) == sorted(expected)


def decodable(line: bytes) -> bool:
    try:
        return bool(line.decode()) or not line
    except UnicodeDecodeError:
        return False


@pytest.mark.parametrize("name", ["CSV", "CSV with CR LF", "TSV"])
def test_what_passes_is_read_line_by_line(name: str, tmp_path: Path, full: bool) -> None:
    form = FILES[name]
    tried(lambda data: law_of_engines(form, tmp_path / form.name, data), 10, full)


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("name", ["CSV", "CSV with CR LF", "TSV"])
def test_what_passes_is_read_line_by_line_on_spark(name: str, tmp_path: Path, full: bool) -> None:
    form = replace(FILES[name], engine="spark")
    tried(lambda data: law_of_engines(form, tmp_path / form.name, data), 4, full)


@given(st.lists(GARBAGE, min_size=1, max_size=4), st.booleans(), st.integers(1, 3))
@FREELY
def test_lines_are_well_formed_together_if_each_is(lines: list[bytes], crlf: bool, columns: int) -> None:
    layout = CsvLayout("utf-8", ",", tuple("abc"[:columns]), crlf)
    end = b"\r\n" if crlf else b"\n"
    together = b"".join(line + end for line in lines)
    # A line break inside the garbage makes two lines of it.
    each = [part + b"\n" for part in together.split(b"\n")[:-1]]
    assert well_formed(together, layout) == all(well_formed(line, layout) for line in each)


@given(st.data())
@settings(FREELY, max_examples=300)
def test_bytes_in_a_mesh_file(data: st.DataObject) -> None:
    mesh = Domain(mesh=Mesh("1km", codes=["5339"]))
    head = [b"KEY_CODE,HTKSYORI,HTKSAKI,GASSAN,T1", b",,,," + "人口".encode("cp932")]
    others = [b"53394500,0,,,52", b"53394501,0,,,7", b"53394510,1,,,*"]
    whole = st.builds(lambda note, n: b"53394511,0," + note + b",," + n, GARBAGE, st.sampled_from([b"3", b"x", b"-"]))
    person = data.draw(whole | GARBAGE)
    place = data.draw(st.integers(0, len(others)))

    def counted(lines: list[bytes]) -> np.ndarray | str:
        path.write_bytes(b"".join(line + b"\r\n" for line in [*head, *lines]))
        try:
            return estat_table(path, domain=mesh, outside="drop").to_array()
        except SudareError as refusal:
            return str(refusal)

    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "tblT000.txt"
        both, alone = counted([*others[:place], person, *others[place:]]), counted([person])
        if isinstance(both, str):
            known = {counted([garbage]) for garbage in (b'"', b"53394511,0,,,x")}
            # Or the garbage is another's cell, which stands there twice.
            assert both in known or "twice" in both or "once" in both
        else:
            assert (both == counted(others) + alone).all()


# Tables: columns have types, and the bytes are those of a text.


COLUMNS = {
    "note": pyarrow.string(),
    "place": pyarrow.int64(),
    "ward": pyarrow.string(),
    "weight": pyarrow.float64(),
}
SOME = [("a", 0, "東", 1.0), ("", 1, "x", 2.5), (None, 3, "café", 0.0), ("b", 1, "東", -1.0), ("c", 2, "x", math.nan)]
NUMBERED = Domain(place=Line(4), ward=Categories(["東", "café", "x"]), weight=Bins(edges=[None, 1.0, None]))
"""Bins that are open at both ends: whatever is counted as a number has a cell."""


def column(values: list[Any], kind: pyarrow.DataType) -> pyarrow.Array:
    """An array whose texts may be any bytes."""
    if kind != pyarrow.string():
        return pyarrow.array(values, kind)
    written = [each.encode() if isinstance(each, str) else each for each in values]
    return pyarrow.array(written, pyarrow.binary()).view(pyarrow.string())


def arrow(rows: list[tuple[Any, ...]]) -> pyarrow.Table:
    return pyarrow.table({n: column([row[at] for row in rows], k) for at, (n, k) in enumerate(COLUMNS.items())})


def parquet_file(rows: list[tuple[Any, ...]], folder: Path) -> Path:
    parquet.write_table(arrow(rows), folder / "people.parquet", row_group_size=3)
    return folder / "people.parquet"


def database(rows: list[tuple[Any, ...]], folder: Path) -> tuple[Path, str]:
    path = folder / "people.duckdb"
    path.unlink(missing_ok=True)
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE people (note VARCHAR, place BIGINT, ward VARCHAR, weight DOUBLE)")
        for row in rows:
            connection.execute("INSERT INTO people VALUES (?, ?, ?, ?)", row)
    return path, "people"


def sqlite_file(rows: list[tuple[Any, ...]], folder: Path) -> tuple[Path, str]:
    path = folder / "people.sqlite"
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE people (note, place, ward, weight)")
        connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", rows)
    return path, "people"


def workbook(rows: list[tuple[Any, ...]], folder: Path) -> Path:
    path = folder / "people.xlsx"
    book = openpyxl.Workbook()
    for row in [tuple(COLUMNS), *rows]:
        book.active.append(row)
    book.save(path)
    return path


def frame(rows: list[tuple[Any, ...]], _: Path) -> pandas.DataFrame:
    return pandas.DataFrame(
        {name: pandas.Series([r[at] for r in rows], dtype=object) for at, name in enumerate(COLUMNS)}
    )


NUMBERS = st.sampled_from([0, 1, 2, 3, -1, 2**62, -(2**63), None]) | st.integers(-(2**63), 2**63 - 1)
FLOATS = st.floats() | st.none()
TEXTS = st.sampled_from(["x", "", "NULL", "nan", "\0", "東"]) | st.text(max_size=5) | st.none()
BYTES = TEXTS | GARBAGE
THINGS = (
    TEXTS | NUMBERS | FLOATS | st.booleans() | st.binary(max_size=4) | st.just("\ud800") | st.dates() | st.just([1])
)
HELD = TEXTS | NUMBERS | FLOATS | st.booleans() | st.binary(max_size=4)
"""What a column of SQLite can hold, whatever its type."""
SHOWN = (
    st.text(st.characters(codec="utf-8", exclude_categories=["C"]), max_size=5)
    | st.integers(-9, 9)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.booleans()
    | st.dates(datetime.date(1950, 1, 1))
    | st.sampled_from(["x", "東", "=1+1", "1,5", None])
)
"""What a cell of a spreadsheet can hold."""
TABLES: dict[str, tuple[Callable[[Any, Path], Any], st.SearchStrategy[Any], st.SearchStrategy[Any]]] = {
    "Parquet": (parquet_file, BYTES, NUMBERS),
    "an Arrow table": (lambda rows, _: arrow(rows), BYTES, NUMBERS),
    "an Arrow stream": (lambda rows, _: arrow(rows).to_reader(max_chunksize=2), TEXTS, NUMBERS),
    "pandas": (lambda rows, _: arrow(rows).to_pandas(), TEXTS, NUMBERS),
    "pandas with anything in it": (frame, THINGS, THINGS),
    "Polars": (lambda rows, _: polars.from_arrow(arrow(rows)), TEXTS, NUMBERS),
    "lazy Polars": (lambda rows, _: polars.from_arrow(arrow(rows)).lazy(), TEXTS, NUMBERS),
    "a DuckDB table": (database, TEXTS, NUMBERS),
    "SQLite with anything in it": (sqlite_file, HELD, HELD),
    "an Excel file with anything in it": (workbook, SHOWN, SHOWN),
    "a DuckDB relation": (lambda rows, _: duckdb.connect().from_arrow(arrow(rows)), TEXTS, NUMBERS),
}


def law_of_tables(name: str, data: st.DataObject, once: dict[str, Any], engine: str | None = None) -> None:
    made, texts, numbers = TABLES[name]
    person = data.draw(st.lists(st.tuples(texts, numbers, texts, FLOATS), min_size=1, max_size=2))
    place = data.draw(st.integers(0, len(SOME)))

    def counted(rows: list[tuple[Any, ...]]) -> np.ndarray | str:
        try:
            return read(made(rows, Path(folder)), engine=engine).count(NUMBERED, outside="drop").to_array()
        except SudareError as refusal:
            return str(refusal)

    with tempfile.TemporaryDirectory() as folder:
        both = counted([*SOME[:place], *person, *SOME[place:]])
        if isinstance(both, str):
            assert both in SAID or both in {each.format(folder) for each in SENTENCES}, both
        else:
            alone = counted(person)
            # A column of nothing but garbage may have another type, and cannot be counted by itself.
            if "others" not in once:
                once["others"] = counted(SOME)
            difference = both - once["others"]
            assert (difference >= 0).all()
            assert difference.sum() <= len(person) if isinstance(alone, str) else (difference == alone).all()


SENTENCES = [str(unreadable(f"{{}}/people.{each}")) for each in ("parquet", "xlsx", "sqlite, table people")]
SAID = {
    *(str(unreadable(name)) for name in ("the Arrow data", "the frame", "the Spark frame")),
    *(
        f"a column of the frame holds values of more than one type (got '{name}'). Give it one type, or leave it out."
        for name in COLUMNS
    ),
    *(
        f"the column '{name}' has a type that the attribute {name} cannot be read from "
        f"(got '{kind}'; allowed: {wanted})"
        for name, wanted in (("place", "numbers"), ("ward", "text"), ("weight", "numbers"))
        for kind in ("VARCHAR", "BLOB", "BOOLEAN", "DATE", "BIGINT", "DOUBLE")
    ),
    "a column holds bytes that are not text",
}


@pytest.mark.parametrize("name", TABLES)
def test_bytes_in_a_table(name: str, full: bool) -> None:
    once: dict[str, Any] = {}
    tried(lambda data: law_of_tables(name, data, once), 10, full)


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("name", ["Parquet", "an Arrow table"])
def test_bytes_in_a_table_on_spark(name: str, full: bool) -> None:
    once: dict[str, Any] = {}
    tried(lambda data: law_of_tables(name, data, once, "spark"), 4, full)
