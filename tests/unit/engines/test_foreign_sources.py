"""Files as people have them: e-Stat as downloaded, wide tables made long, Excel, SQLite, zstd, decimal commas."""

import re
import sqlite3
import warnings
import zipfile
from contextlib import closing

import pyarrow as pa
import pytest

import sudare as sd
from sudare.engines.foreign_sources import Long
from sudare.errors import InputError, MissingColumnError, ParameterError

CODES = "KEY_CODE,HTKSYORI,HTKSAKI,GASSAN,T000847001,T000847002,T000847003"
LABELS = ",,,,\u3000人口（総数）,\u3000人口（総数）\u3000男,\u3000人口（総数）\u3000女"
AREA = sd.Domain(mesh=sd.Mesh("500m", codes=["5339"]))
SEXES = sd.Domain(mesh=sd.Mesh("500m", codes=["5339"]), sex=sd.Categories(["f", "m"]))
LONG = Long(("sex",), {"人口（総数）\u3000男": ("m",), "人口（総数）\u3000女": ("f",)}, "n")


def estat(*lines):
    return ("\r\n".join([CODES, LABELS, *lines]) + "\r\n").encode("cp932")


def zipped(path, content):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(".nfs0001", b"a stray of the server")
        archive.writestr(f"{path.stem}.txt", content)


@pytest.fixture
def folder(tmp_path):
    zipped(tmp_path / "tblT000847H5339.zip", estat("533900054,0,,,52,29,23", "533900064,2,533900054,,3,*,*"))
    (tmp_path / "tblT000847H5340.txt").write_bytes(estat("533900073,0,,,10,4,6"))
    return tmp_path


@pytest.mark.parametrize("column", ["T000847001", "人口（総数）"])
def test_estat_is_read_as_it_comes_by_code_or_label(folder, column):
    for path, total in (("tblT000847H5339.zip", 55), ("tblT000847H5340.txt", 10), ("", 65), ("*.zip", 55)):
        table = sd.read(folder / path).table(AREA, {"mesh": "KEY_CODE"}, count=column)
        assert table.total == total


def test_wide_columns_become_attributes_and_folded_details_are_nothing(folder):
    table = sd.read(folder, long=LONG).table(SEXES, {"mesh": "KEY_CODE"}, count="n")
    assert table.total == 29 + 23 + 4 + 6
    labels = SEXES.labels(table.index)
    assert sorted(zip(labels["mesh"], labels["sex"], table.count.tolist(), strict=True)) == [
        (533900054, "f", 23),
        (533900054, "m", 29),
        (533900073, "f", 6),
        (533900073, "m", 4),
    ]


def test_a_recipe_takes_the_folder_and_makes_it_long(folder):
    recipe = {
        "kind": "table",
        "dataset": "census",
        "data": {
            "path": ".",
            "counts": "n",
            "unit_name": "person",
            "long": {"attributes": ["sex"], "columns": {"人口（総数）\u3000男": ["m"], "人口（総数）\u3000女": ["f"]}},
        },
        "domain": {
            "mesh": {"type": "mesh", "size": "500m", "codes": ["5339"], "from": "KEY_CODE"},
            "sex": {"type": "categories", "values": ["f", "m"]},
        },
        "privacy": {"epsilon": 1},
        "ledger": {"path": "../ledger.db", "cap": {"epsilon": 1}},
        "output": {"folder": "../release", "key": "../key.pem"},
    }
    assert sd.plan(recipe, folder=folder).remarks == ()
    assert sd.check(recipe, folder=folder).fitting == 6
    made = sd.publish(recipe, folder=folder)
    assert sd.verify(made.folder / "release.json")


def test_columns_that_are_not_there_are_named(folder):
    with pytest.raises(MissingColumnError, match="T000847001"):
        sd.read(folder).table(AREA, {"mesh": "KEY_CODE"}, count="T001141001")
    with pytest.raises(MissingColumnError, match=r"data\.long"):
        sd.read(folder, long=Long(("sex",), {"男": ("m",)}, "n"))
    with pytest.raises(ParameterError, match="another number of values"):
        Long(("sex", "age"), {"男": ("m",)}, "n")


def test_a_zip_of_something_else_is_refused(tmp_path):
    zipped(tmp_path / "tblother.zip", b"a,b\n1,2\n3,4\n")
    with pytest.raises(InputError, match="not a mesh file of e-Stat"):
        sd.read(tmp_path / "tblother.zip")


PLACES = sd.Domain(x=sd.Bins(0, 10, step=1))


def test_a_decimal_comma_is_read_where_it_is_declared(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("id;x\n1;1,5\n2;2,5\n3;1.234\n", encoding="utf-8")
    with pytest.raises(InputError, match="outside the domain"):
        sd.read(path).count(PLACES)
    found = sd.read(path, decimal=",").count(PLACES, outside="drop")
    assert found.index.tolist() == [1, 2]  # 1.234 is a thousand there, and no number: it is left out, never 1
    assert sd.read(path, decimal=",").examine(PLACES).outside == 1


def test_zstd_is_read_as_gzip_is(tmp_path):
    path = tmp_path / "a.csv.zst"
    packed = pa.compress(b"id,x\n1,1.5\n2,2.5\n", codec="zstd", asbytes=True)
    path.write_bytes(packed)
    assert sd.read(path).count(PLACES).total == 2
    path.write_bytes(packed[:-5])
    with pytest.raises(InputError):
        sd.read(path).count(PLACES)
    path.write_bytes(b"id,x\n1,1.5\n")
    with pytest.raises(InputError, match="plain text"):
        sd.read(path)


def test_sqlite_tables_are_read(tmp_path):
    path = tmp_path / "a.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE people (id, x REAL, sex TEXT)")
        connection.executemany("INSERT INTO people VALUES (?, ?, ?)", [(1, 1.5, "f"), ("2", 2, "m"), (1, 3.0, None)])
    connection.close()
    records = sd.read((path, "people"))
    assert records.count(PLACES, unit="id").total == 2
    assert records.count(sd.Domain(sex=sd.Categories(["f", "m"])), outside="drop").total == 2
    with pytest.raises(InputError, match="no such table"):
        sd.read((path, "persons"))


@pytest.mark.parametrize("ending", ["sqlite", "duckdb", "db"])
def test_a_database_without_a_table_names_its_tables(tmp_path, ending):
    import duckdb

    path = tmp_path / f"a.{ending}"
    opened = duckdb.connect(str(path)) if ending == "duckdb" else sqlite3.connect(path)
    for name in ("people", "places"):
        opened.execute(f"CREATE TABLE {name} (id INTEGER)")
    opened.close()
    with pytest.raises(InputError, match=r"one table is read .*allowed: people, places\).*--table"):
        sd.read(path)
    path.write_bytes(b"neither")
    with pytest.raises(InputError, match="this kind of file"):
        sd.read(path)


def test_excel_sheets_are_read_and_titles_pointed_at(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    path = tmp_path / "a.xlsx"
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["Survey of 2020", None, None])
    sheet.merge_cells("A1:C1")
    for row in (["id", "x", "sex"], [1, 1.5, "f"], [2, 2, "m"], [None, None, None]):
        sheet.append(row)
    book.save(path)
    with pytest.raises(InputError, match="header_row"):
        sd.read(path).count(PLACES)
    assert sd.read(path, header_row=2).count(PLACES, unit="id").total == 2
    with pytest.raises(InputError, match="no such sheet"):
        sd.read((path, "Other"), header_row=2)


ROWS = [(number, number % 3, "ab"[number % 2]) for number in range(40)]
PEOPLE = sd.Domain(person=sd.Line(40), age=sd.Line(3), ward=sd.Categories(["a", "b"]))


def workbook(path, rows=ROWS):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in [("person", "age", "ward"), *rows]:
        book.active.append(row)
    book.save(path)
    return path


def rewritten(path, change):
    """The sheet of a workbook with other XML."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts["xl/worksheets/sheet1.xml"] = change(parts["xl/worksheets/sheet1.xml"])
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return path


def database(path, view):
    path.unlink(missing_ok=True)
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE people (person, age, ward)")
        connection.executemany("INSERT INTO people VALUES (?, ?, ?)", ROWS)
        connection.execute(f"CREATE VIEW v AS SELECT person, {view} AS age, ward FROM people")  # noqa: S608 - ours
    connection.close()
    return path


def test_the_height_that_an_excel_file_states_is_not_believed(tmp_path):
    path = workbook(tmp_path / "people.xlsx")
    rewritten(path, lambda sheet: re.sub(rb"<dimension[^>]*/>", b'<dimension ref="A1:C10"/>', sheet))
    assert sd.read(path).count(PEOPLE).total == len(ROWS)


def test_a_reader_of_excel_says_nothing_of_a_value(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.load_workbook(workbook(tmp_path / "dated.xlsx", [*ROWS, (3, 19470312, "a")]))
    book.active["B42"].number_format = "yyyy-mm-dd"
    book.save(tmp_path / "dated.xlsx")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert sd.read(tmp_path / "dated.xlsx").count(PEOPLE, outside="drop").total == len(ROWS)


@pytest.mark.parametrize("place", ["header", "first row", "last row"])
def test_a_bad_cell_of_excel_ends_in_one_sentence(tmp_path, place):
    path = workbook(tmp_path / "people.xlsx")
    cell = {"header": b"B1", "first row": b"B2", "last row": b"B41"}[place]
    changed = re.compile(rb'<c r="' + cell + rb'"[^>]*><(is|v)>.*?</(is|v)></c>')
    rewritten(path, lambda sheet: changed.sub(b'<c r="' + cell + b'" t="n"><v>SECRET</v></c>', sheet))
    with pytest.raises(InputError) as refusal:
        sd.read(path).count(PEOPLE)
    assert "SECRET" not in str(refusal.value)
    assert "the records cannot be read" in str(refusal.value)


@pytest.mark.parametrize("person", [0, 39])
def test_a_value_that_a_view_cannot_compute_ends_in_one_sentence_and_frees_the_file(tmp_path, person):
    overflow = f"CASE WHEN person = {person} THEN abs(-9223372036854775808) ELSE age END"
    path = database(tmp_path / "people.sqlite", overflow)
    with pytest.raises(InputError, match="the records cannot be read") as refusal:
        sd.read((path, "v")).count(PEOPLE)
    with closing(sqlite3.connect(path, timeout=0.1)) as writer, writer:
        writer.execute("INSERT INTO people VALUES (5, 5, 'a')")
    assert refusal.value  # held until here: what it refers to must not keep the file locked


def test_the_first_column_of_a_database_is_read_as_the_others_are(tmp_path):
    path = database(tmp_path / "people.sqlite", "age")
    assert sd.read((path, "people")).count(PEOPLE).total == len(ROWS)
    with pytest.raises(MissingColumnError, match="person"):
        sd.read((path, "people")).count(PEOPLE, {"age": "years"})
