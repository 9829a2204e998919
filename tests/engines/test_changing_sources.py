"""A source that changes while it is read: nobody has more rows than allowed, and a changed file is refused."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow
import pyarrow.csv
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest

from sudare.domain import Bins, Categories, Domain, Line
from sudare.engines import Records, read
from sudare.engines.duckdb_engine import DuckdbEngine, DuckdbShell
from sudare.engines.duckdb_sources import CsvSource, Opening, ParquetSource
from sudare.engines.spark_engine import SparkShell
from sudare.errors import InputError

PEOPLE = 200
DOMAIN = Domain(who=Line(PEOPLE), place=Line(8))
"""Each person has cells of their own, so that the table shows how many rows of each were counted."""


def rows_of(each: int) -> pyarrow.Table:
    """``each`` rows of every person, in different places."""
    who = np.repeat(np.arange(PEOPLE), each)
    return pyarrow.table({"who": who, "place": np.tile(np.arange(each) % 8, PEOPLE), "id": who})


def between_the_looks(monkeypatch: pytest.MonkeyPatch, change: Callable[[], None]) -> None:
    """Change the source once, as soon as the first thing that is made of its rows has been kept."""
    keep, todo = DuckdbShell.keep, [change]

    def kept(shell: DuckdbShell, view: str, sql: str) -> None:
        keep(shell, view, sql)
        if todo:
            todo.pop()()

    monkeypatch.setattr(DuckdbShell, "keep", kept)


def most_rows(records: Records, max_rows: int) -> int:
    """How many rows of one person were counted, by an engine that is not told about the file's state."""
    table = Records(records.engine).count(DOMAIN, unit="id", max_rows=max_rows)
    return int(table.to_array().sum(axis=1).max())


@pytest.mark.parametrize("max_rows", [1, 2, 5])
def test_a_parquet_file_that_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, max_rows: int) -> None:
    path, other = tmp_path / "rows.parquet", tmp_path / "other.parquet"
    pq.write_table(rows_of(2), path)
    pq.write_table(rows_of(20), other)
    records = read(path)
    between_the_looks(monkeypatch, lambda: other.replace(path))
    assert most_rows(records, max_rows) == min(2, max_rows)


@pytest.mark.parametrize("max_rows", [2, 5])
def test_a_csv_file_that_is_appended_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, max_rows: int) -> None:
    path = tmp_path / "rows.csv"
    pyarrow.csv.write_csv(rows_of(2), path)
    records = read(path)

    def append() -> None:
        with path.open("a") as file:
            file.writelines(f"{who},{place % 8},{who}\n" for who in range(PEOPLE) for place in range(30))

    between_the_looks(monkeypatch, append)
    assert most_rows(records, max_rows) == 2


@pytest.mark.parametrize("drawn", ["WHERE random() < 0.5", "USING SAMPLE 50 PERCENT (bernoulli)"])
def test_a_view_that_draws_at_random(tmp_path: Path, drawn: str) -> None:
    path = tmp_path / "people.duckdb"
    with duckdb.connect(str(path)) as database:
        rows = rows_of(10)  # noqa: F841 - DuckDB finds it by its name
        database.execute("CREATE TABLE everything AS SELECT * FROM rows")
        database.execute(f"CREATE VIEW drawn AS SELECT * FROM everything {drawn}")  # noqa: S608 - a constant
    # Of 10 rows half are drawn: 200 people with at most 5 in one look have more in another one almost surely.
    for _ in range(5):
        assert most_rows(read((path, "drawn")), 5) <= 5


def test_a_file_that_is_replaced_while_spark_reads_it(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Spark reads as many bytes as the first file had: it is made the longer one by a column that nobody asks for.
    path, other = tmp_path / "rows.parquet", tmp_path / "other.parquet"
    padding = np.random.default_rng(1).random((2 * PEOPLE, 40))
    padded = rows_of(2)
    for number, column in enumerate(padding.T):
        padded = padded.append_column(f"padding{number}", pyarrow.array(column))
    pq.write_table(padded, path)
    pq.write_table(rows_of(20), other)
    assert other.stat().st_size < path.stat().st_size
    records = read(path, engine="spark")
    ask, todo = SparkShell.ask, [lambda: other.replace(path)]

    def asked(shell: SparkShell, sql: str) -> Any:
        found = ask(shell, sql)
        if todo:
            todo.pop()()
        return found

    monkeypatch.setattr(SparkShell, "ask", asked)
    assert most_rows(records, 5) == 2


def test_what_spark_froze_is_removed(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    records = read(spark.createDataFrame(rows_of(3)))
    assert most_rows(records, 2) == 2
    assert len(records.groups(["who", "place"], unit="id").rows) == PEOPLE
    assert not list(tmp_path.iterdir())


def test_workers_without_a_common_folder_hold_the_rows_themselves(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from sudare.engines.spark_sources import Scratch  # not there in older code, which these tests are held against

    monkeypatch.setattr(Scratch, "reachable", classmethod(lambda *_: None))
    assert most_rows(read(spark.createDataFrame(rows_of(3))), 2) == 2


@dataclass(frozen=True)
class Touched:
    """A source that somebody writes to whenever it is opened to be read."""

    source: Any
    change: Callable[[], object]

    @property
    def name(self) -> str:
        return str(self.source.name)

    @property
    def typed(self) -> bool:
        return bool(self.source.typed)

    @property
    def files(self) -> tuple[Path, ...]:
        return tuple(self.source.files)

    def open(self, opening: Opening) -> str:
        relation = str(self.source.open(opening))
        if opening.names is not None:
            self.change()
        return relation


def ask_count(records: Records) -> Any:
    return records.count(Domain(place=Line(8)), unit="id", max_rows=2)


VERBS: dict[str, Callable[[Records], Any]] = {
    "count": ask_count,
    "count rows": lambda records: records.count(Domain(place=Line(8))),
    "table": lambda records: records.table(Domain(place=Line(8), id=Line(PEOPLE)), count="who"),
    "groups": lambda records: records.groups(["place"], unit="id"),
    "values": lambda records: records.values(["place"]),
}


@pytest.mark.parametrize("verb", VERBS)
def test_a_file_that_changed_is_refused_by_every_verb(tmp_path: Path, verb: str) -> None:
    path = tmp_path / "rows.parquet"
    pq.write_table(rows_of(2), path)
    held = read(path)
    VERBS[verb](held)
    source = Touched(ParquetSource(str(path), (path,)), lambda: os.utime(path, ns=(1, 1)))
    touched = Records(DuckdbEngine.over(source), held.state)
    with pytest.raises(InputError) as refusal:
        VERBS[verb](touched)
    assert str(refusal.value) == (
        f"the file changed while it was read (got '{path}'). Read it again when nobody writes to it, or read a copy."
    )


def test_each_file_of_a_folder_a_pattern_and_a_database_is_watched(tmp_path: Path) -> None:
    folder = tmp_path / "days"
    folder.mkdir()
    for day in "ab":
        pq.write_table(rows_of(1), folder / f"day-{day}.parquet")
    base = tmp_path / "people.duckdb"
    with duckdb.connect(str(base)) as database:
        rows = rows_of(1)  # noqa: F841 - DuckDB finds it by its name
        database.execute("CREATE TABLE people AS SELECT * FROM rows")
    text = tmp_path / "rows.csv"
    pyarrow.csv.write_csv(rows_of(1), text)
    sources: list[tuple[Any, Path]] = [
        (folder, folder / "day-b.parquet"),
        (str(folder / "day-*.parquet"), folder / "day-b.parquet"),
        ((base, "people"), base),
        (text, text),
        (pyarrow.dataset.dataset(folder), folder / "day-b.parquet"),
    ]
    for source, file in sources:
        records = read(source)
        ask_count(records)
        os.utime(file, ns=(7, file.stat().st_mtime_ns + 1))
        with pytest.raises(InputError, match="changed while it was read"):
            ask_count(records)
        ask_count(read(source))


def test_a_header_is_of_the_file_whose_rows_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, other = tmp_path / "rows.csv", tmp_path / "other.csv"
    path.write_text("id,place\n1,3\n")
    other.write_text("place,id\n1,3\n")
    reading = import_module("sudare.engines.csv_files")
    layout = reading.csv_layout

    def replaced(*asked: Any, **further: Any) -> Any:
        found = layout(*asked, **further)
        other.replace(path)
        return found

    monkeypatch.setattr(reading, "csv_layout", replaced)
    with pytest.raises(InputError, match="changed while it was read"):
        read(path).count(Domain(place=Line(8)), unit="id")


def test_spark_watches_files_of_this_machine(spark: Any, tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    pq.write_table(rows_of(1), path)
    records = read(path, engine="spark")
    os.utime(path, ns=(1, 1))
    with pytest.raises(InputError, match="changed while it was read"):
        ask_count(records)


LEFT_BEHIND = [
    "_temporary/0/task/part-1.parquet",
    ".hidden.parquet",
    "_old.parquet",
    "year=1/_temporary/part-2.parquet",
    "year=1/.part-3.parquet",
    ".cache/part-4.parquet",
    "_started/part-5.parquet",
]


def test_a_folder_of_parquet_without_what_a_dead_job_left(spark: Any, tmp_path: Path) -> None:
    folder = tmp_path / "_table"
    kept = ["year=1/part-0.parquet", "year=2/part-0.parquet"]
    for name in [*kept, *LEFT_BEHIND]:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(rows_of(1), folder / name)
    (folder / "_SUCCESS").touch()
    (folder / "year=1" / "part-6.parquet._COPYING_").touch()
    domain = Domain(place=Line(8), year=Categories([1, 2]))
    theirs = spark.read.parquet(str(folder)).count()
    for engine in ("duckdb", "spark"):
        assert read(folder, engine=engine).count(domain).to_array().sum(axis=0).tolist() == [PEOPLE, PEOPLE]
    assert theirs == 2 * PEOPLE
    # A pattern leaves the same out; a folder that it names is read whatever its name is.
    for pattern, times in (("**/*.parquet", 2), ("year=1/*.parquet", 1), ("_started/*.parquet", 1)):
        assert read(str(folder / pattern)).count(Domain(place=Line(8))).total == times * PEOPLE
    assert read(folder / "_old.parquet").count(Domain(place=Line(8))).total == PEOPLE


@pytest.mark.parametrize("by", ["duckdb", "spark"])
def test_one_persons_file_does_not_set_everybodys_types(spark: Any, tmp_path: Path, by: str) -> None:
    """DuckDB cast 17.6 to 18 where the first of the files had whole ages, and ids to numbers where it had numbers."""
    folder = tmp_path / "people"
    folder.mkdir()
    pq.write_table(pyarrow.table({"id": ["a", "b"], "age": [17.6, 30.0]}), folder / "b.parquet")
    domain = Domain(age=Bins(edges=[0, 18, 65]))
    alone = read(folder, engine=by).count(domain).to_array().tolist()
    assert alone == [1, 1]
    for other in (
        {"id": ["c"], "age": pyarrow.array([40], pyarrow.int32())},
        {"id": [3.0], "age": [40.0]},
        {"id": ["c"], "age": pyarrow.nulls(1)},
        {"id": ["c"]},
        {"id": ["c"], "age": [40.0], "more": [1]},
    ):
        for place in ("a.parquet", "c.parquet"):
            pq.write_table(pyarrow.table(other), folder / place)
            for source in (folder, str(folder / "*.parquet")):
                with pytest.raises(InputError) as refusal:
                    read(source, engine=by)
                assert str(refusal.value) == (
                    f"the Parquet files do not all have the same columns of the same types (got '{source}'). Write all "
                    "of them with one schema. No file is named here, since a file can be one person's."
                )
            if by == "duckdb":
                with pytest.raises(InputError, match="same columns of the same types"):
                    read(pyarrow.dataset.dataset(folder))
            (folder / place).unlink()
    words = pyarrow.table({"age": [40.0], "id": pyarrow.array(["c"]).dictionary_encode()})  # in another order
    pq.write_table(words, folder / "a.parquet")
    assert read(folder, engine=by).count(domain).to_array().tolist() == [1, 2]


@pytest.mark.parametrize("by", ["duckdb", "spark"])
def test_one_persons_folder_does_not_set_everybodys_types(spark: Any, tmp_path: Path, by: str) -> None:
    for year in ("01", "2"):
        path = tmp_path / "table" / f"year={year}" / "part-0.parquet"
        path.parent.mkdir(parents=True)
        pq.write_table(rows_of(1), path)
    asked = [Domain(year=Categories([1, 2])), Domain(year=Categories(["01", "2"])), Domain(year=Line(3))]

    def counted() -> list[list[int]]:
        held = read(tmp_path / "table", engine=by)
        return [held.count(domain, outside="drop").to_array().tolist() for domain in asked]

    before = counted()
    assert before == [[PEOPLE, PEOPLE], [PEOPLE, PEOPLE], [0, PEOPLE, PEOPLE]]
    path = tmp_path / "table" / "year=unknown" / "part-0.parquet"
    path.parent.mkdir()
    pq.write_table(rows_of(1).slice(0, 1), path)
    assert counted() == before


def test_partitions_may_begin_with_an_underscore(spark: Any, tmp_path: Path) -> None:
    path = tmp_path / "table" / "_year=1" / "part-0.parquet"
    path.parent.mkdir(parents=True)
    pq.write_table(rows_of(1), path)
    for engine in ("duckdb", "spark"):
        assert read(tmp_path / "table", engine=engine).count(Domain(_year=Categories([1]))).total == PEOPLE
    assert spark.read.parquet(str(tmp_path / "table")).count() == PEOPLE


def test_csv_sources_are_watched_while_they_stream(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    pyarrow.csv.write_csv(rows_of(2), path)
    held = read(path)
    source = held.engine.source  # type: ignore[attr-defined]  # DuckDB's engine has one
    assert isinstance(source, CsvSource)
    twice = path.read_text() + path.read_text().partition("\n")[2]
    grown = Records(DuckdbEngine.over(Touched(source, lambda: path.write_text(twice))), held.state)
    with pytest.raises(InputError, match="changed while it was read"):
        ask_count(grown)
