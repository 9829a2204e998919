"""What happened before reading was strict, one test for each: they fail on the code as it was."""

from __future__ import annotations

from pathlib import Path

import pyarrow
import pytest

from sudare.domain import Categories, Domain, Line
from sudare.engines import read
from sudare.errors import InputError, ParameterError, SudareError

PLACE = Domain(place=Line(4))
SENTENCE = "the file is not CSV of the declared encoding and delimiter"


def counted_or_refused(path: Path, domain: Domain) -> int:
    """The total; a refusal, which must be the one that says nothing, counts as the others alone."""
    try:
        return read(path).count(domain, outside="drop").total
    except InputError as refusal:
        if refusal.what != SENTENCE:
            raise
        return -1


def test_one_byte_in_a_column_that_nobody_reads_does_not_change_the_encoding_of_all(tmp_path: Path) -> None:
    """UTF-8 with e acute is CP932 with half-width katakana: all 50,000 people left the domain for one byte of one."""
    domain = Domain(drink=Categories(["café", "thé"]))
    others = b"note,drink\n" + ",café\n,thé\n".encode() * 25_000
    path = tmp_path / "people.csv"
    path.write_bytes(others)
    assert read(path).count(domain, outside="drop").total == 50_000
    path.write_bytes(others + b"\x83\x5c,x\n")
    assert counted_or_refused(path, domain) in (50_000, -1)
    path.write_bytes(b"note,drink\n\x83\x5c,x\n" + others.partition(b"\n")[2])
    assert counted_or_refused(path, domain) in (50_000, -1)


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_empty_lines_are_nobody(end: bytes, tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes(end.join([b"id,place,note", b"0,1,", b"", b"3,1,", b"", b""]))
    assert read(path).count(PLACE).total == 2
    path.write_bytes(end.join([b"place", b"1", b"", b"1", b""]))
    with pytest.raises(InputError, match=SENTENCE):
        read(path).count(PLACE)


def test_declared_names_make_the_first_line_a_row(tmp_path: Path) -> None:
    path = tmp_path / "people.data"
    path.write_bytes(b"0, 1, x\n3, 2, y\n\n")
    records = read(path, column_names=["id", "place", "note"])
    assert records.count(PLACE).count.tolist() == [1, 1]
    with pytest.raises(InputError, match=SENTENCE):
        read(path, column_names=["id", "place"]).count(PLACE)
    with pytest.raises(ParameterError):
        read(pyarrow.table({"place": [1]}), column_names=["place"])


@pytest.mark.parametrize("first", [b"", b"1,1,1", b"\xff,1,1"])
def test_a_first_row_is_read_as_every_other(first: bytes, tmp_path: Path) -> None:
    """It names no columns: whether it is empty, or holds one value twice, changes nobody else's row."""
    path = tmp_path / "people.csv"
    answers = []
    for lines in ([first, b"0,2,"], [b"0,2,", first]):
        path.write_bytes(b"".join(line + b"\n" for line in lines))
        try:
            answers.append(read(path, column_names=["id", "place", "note"]).count(PLACE).count.tolist())
        except InputError as refusal:
            answers.append(str(refusal))
    assert answers[0] == answers[1]
    assert isinstance(answers[0], str) == (b"\xff" in first)


@pytest.mark.usefixtures("spark")
def test_spark_reads_declared_names_and_empty_lines_as_duckdb_does(tmp_path: Path) -> None:
    path = tmp_path / "people.data"
    path.write_bytes(b"\n0,1,x\n\n3,2,y\n1,2,\n\n")
    counts = [
        read(path, column_names=["id", "place", "note"], engine=engine).count(PLACE).count.tolist()
        for engine in ("duckdb", "spark")
    ]
    assert counts == [[1, 2], [1, 2]]
    with pytest.raises(ParameterError, match="Spark does not read this"):
        read(path, column_names=["id", "place", "note"], decimal=",", engine="spark")


def test_two_lone_quotes_do_not_swallow_the_people_between_them(tmp_path: Path) -> None:
    lines = [b"1,2,"] * 10_000
    lines[1_000] = lines[6_000] = b'1,2,"'
    path = tmp_path / "people.csv"
    path.write_bytes(b"\n".join([b"id,place,note", *lines]) + b"\n")
    assert counted_or_refused(path, PLACE) in (10_000, -1)


@pytest.mark.parametrize(
    "line",
    [b'1,2,"', b'"1,2,', b"1,2,\r", b"1\r,2,", b"1,2,\0", b"1,2", b"1,2,3,4", b"1,2,\xff", b'1,2,x"', b'1,2,"x"y',
     b"1,2," + b"x" * 2**20],
)  # fmt: skip
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_every_fault_of_a_line_has_one_sentence(line: bytes, end: bytes, tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes(end.join([b"id,place,note", b"0,1,", line, b"3,1,"]) + end)
    with pytest.raises(InputError) as refusal:
        read(path).count(PLACE)
    path.write_bytes(end.join([b"id,place,note", b"0,1,", b"3,1,", b"x"]) + end)
    with pytest.raises(InputError) as other:
        read(path).count(PLACE)
    assert str(refusal.value) == str(other.value)


def test_a_line_end_unlike_the_first_is_a_fault(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    for data in (b"id,place\n1,2\r\n", b"id,place\r\n1,2\n", b"id,place\r1,2\r"):
        path.write_bytes(data)
        assert counted_or_refused(path, PLACE) == -1 or b"\n" not in data


@pytest.mark.parametrize("first", ["tanaka,taro,3", "tanaka,tanaka,3", "place taro,1,2", '"tanaka\ntaro",3'])
def test_a_file_without_names_of_columns_shows_nobody(first: str, tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text(f"{first}\nsuzuki,jiro,2\n")
    said = []
    try:
        records = read(path)
        said.append(repr(records))
        for ask in (
            lambda: records.count(PLACE),
            lambda: records.count(PLACE, columns={"place": "tanakb"}),
            lambda: records.groups(["tanakb"]),
            lambda: records.values(["tanakb"], unit="tar"),
            lambda: records.table(PLACE),
        ):
            with pytest.raises(SudareError) as refusal:
                ask()
            said.append(str(refusal.value))
    except SudareError as refused:
        said.append(str(refused))
    assert not any(part in text for text in said for part in ("tanaka", "taro"))


def test_columns_of_one_name_are_refused_when_they_are_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("note,place,Note,n,N\n1,2,3,4,5\n")
    assert read(path).count(PLACE).total == 1
    with pytest.raises(InputError) as refusal:
        read(path).count(PLACE, unit="note")
    assert str(refusal.value) == (
        "the first line of the file does not name one column for the unit (got 'note'). What it says is not shown "
        "here: in a file without names of columns, it is somebody's row."
    )


@pytest.mark.usefixtures("spark")
def test_spark_reads_the_same_and_refuses_the_same(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes('id,place,区,note,id\r\n1,2,東,"a, ""b""",\r\n2,"3",x,,\r\n3,,"","",\r\n'.encode())
    domain = Domain(place=Line(4), ward=Categories(["東", "x"]))
    columns = {"ward": "区"}
    spark = read(path, engine="spark")
    assert spark.count(domain, columns, outside="drop") == read(path).count(domain, columns, outside="drop")
    path.write_bytes(path.read_bytes() + b'4,1,x,"\r\n5,1,x,"\r\n')
    for records in (spark, read(path, engine="spark"), read(path)):
        with pytest.raises(InputError, match=SENTENCE):
            records.count(domain, columns, outside="drop")
