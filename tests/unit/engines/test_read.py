"""`read`: every kind of source gives the same table, and what is none ends in a sentence."""

from __future__ import annotations

import gc
import gzip
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas
import polars
import pyarrow
import pytest
from pyarrow import dataset, parquet

from sudare.domain import Bins, Categories, CountTable, Domain, Line, Mesh
from sudare.engines import Records, read
from sudare.engines.duckdb_engine import DuckdbEngine
from sudare.errors import InputError, ParameterError

DAMAGED = ". They are damaged, out of reach, or changed while they were read: write or copy them again."

DOMAIN = Domain(
    home=Mesh("1km", codes=["533945", "533946"]),
    ward=Categories(["千代田区", "中央区", "a b"]),
    age=Bins(edges=[0, 15, 65, None]),
)
COLUMNS = {"home": ("lat", "lon"), "ward": "区"}
KEY = b"\x07" * 16


def people() -> pyarrow.Table:
    random = np.random.default_rng(5)
    rows = 300
    return pyarrow.table(
        {
            "id": random.integers(0, 200, rows),
            "lat": random.uniform(35.67, 35.74, rows).round(4),
            "lon": random.uniform(139.63, 139.86, rows).round(4),
            "区": random.choice(["千代田区", "中央区", "a b"], rows),
            "age": random.integers(0, 100, rows),
            "unused": ["\t\",'; "] * rows,
        }
    )


def counted(source: Any, **options: Any) -> CountTable:
    return read(source, **options).count(DOMAIN, columns=COLUMNS, unit="id", key=KEY)


@pytest.fixture(scope="module")
def expected() -> CountTable:
    table = counted(people())
    assert 100 < table.total < 200
    return table


def parquet_file(folder: Path) -> Path:
    parquet.write_table(people(), folder / "people.parquet")
    return folder / "people.parquet"


def parquet_with_signs_in_its_name(folder: Path) -> str:
    parquet.write_table(people().slice(0, 10), folder / "p1.parquet")
    parquet.write_table(people(), folder / "p[1].parquet")
    return str(folder / "p[1].parquet")


def parquet_folder(folder: Path) -> Path:
    (folder / "parts" / "deeper").mkdir(parents=True)
    parquet.write_table(people().slice(0, 100), folder / "parts" / "it's one.parquet")
    parquet.write_table(people().slice(100), folder / "parts" / "deeper" / "two.parquet")
    return folder / "parts"


def parquet_pattern(folder: Path) -> str:
    for start in range(0, 300, 100):
        parquet.write_table(people().slice(start, 100), folder / f"day-{start}.parquet")
    parquet.write_table(people(), folder / "other.parquet")
    return str(folder / "day-*.parquet")


def partitioned_folder(folder: Path) -> Path:
    dataset.write_dataset(
        people().drop_columns(["unused"]), folder / "by_ward", format="parquet", partitioning=["区"],
        partitioning_flavor="hive",
    )  # fmt: skip
    return folder / "by_ward"


def csv_text(folder: Path, encoding: str, name: str = "people.csv", separator: str = ",") -> Path:
    data = people().to_pandas().to_csv(index=False, sep=separator, lineterminator="\r\n").encode(encoding)
    (folder / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return folder / name


def pandas_with_gaps_in_its_index(_: Path) -> Any:
    frame = people().to_pandas()
    return frame.set_index(frame.index * 3)


def database(folder: Path) -> tuple[str, str]:
    path = str(folder / "people.duckdb")
    with duckdb.connect(path) as connection:
        connection.register("arrow", people())
        connection.execute('CREATE TABLE "the people" AS SELECT * FROM arrow')
    return path, "the people"


def relation(_: Path) -> Any:
    connection = duckdb.connect()
    connection.register("arrow", people())
    return connection.sql("SELECT * FROM arrow")


SOURCES: dict[str, Callable[[Path], Any]] = {
    "a Parquet file": parquet_file,
    "the path as text": lambda folder: str(parquet_file(folder)),
    "a Parquet file with signs in its name": parquet_with_signs_in_its_name,
    "a folder": parquet_folder,
    "a partitioned folder": partitioned_folder,
    "a pattern": parquet_pattern,
    "CSV": lambda folder: csv_text(folder, "utf-8"),
    "CSV with byte order mark": lambda folder: csv_text(folder, "utf-8-sig"),
    "CSV in CP932": lambda folder: csv_text(folder, "cp932"),
    "compressed CSV": lambda folder: csv_text(folder, "utf-8", "people.csv.gz"),
    "compressed CSV in CP932": lambda folder: csv_text(folder, "cp932", "people.CSV.GZ".lower()),
    "TSV": lambda folder: csv_text(folder, "utf-8", "people.tsv", "\t"),
    "CSV with semicolons": lambda folder: csv_text(folder, "utf-8", "people.csv", ";"),
    "an Arrow table": lambda _: people(),
    "an Arrow batch": lambda _: people().combine_chunks().to_batches()[0],
    "an Arrow stream": lambda _: people().to_reader(max_chunksize=50),
    "an Arrow data set": lambda folder: dataset.dataset(parquet_folder(folder)),
    "pandas": lambda _: people().to_pandas(),
    "pandas with its own index": pandas_with_gaps_in_its_index,
    "pandas with categories": lambda _: people().to_pandas().astype({"区": "category"}),
    "pandas with Arrow types": lambda _: people().to_pandas(types_mapper=pandas.ArrowDtype),
    "Polars": lambda _: polars.from_arrow(people()),
    "Polars with categories": lambda _: polars.from_arrow(people()).cast({"区": polars.Categorical}),
    "lazy Polars": lambda _: polars.from_arrow(people()).lazy(),
    "lazy Polars over a file": lambda folder: polars.scan_parquet(parquet_file(folder)),
    "a DuckDB relation": relation,
    "a DuckDB database": database,
}


@pytest.mark.parametrize("kind", SOURCES)
def test_every_source_gives_the_same_table(kind: str, tmp_path: Path, expected: CountTable) -> None:
    source = SOURCES[kind](tmp_path)
    records = read(source, encoding="cp932" if "CP932" in kind else None)
    first = records.count(DOMAIN, columns=COLUMNS, unit="id", key=KEY)
    assert first == expected
    # Records can be asked again, even those of a stream.
    assert records.count(DOMAIN, columns=COLUMNS, unit="id", key=KEY) == expected
    assert {"id", "lat", "lon", "区", "age"} <= set(records.columns)


def test_a_declared_encoding(tmp_path: Path, expected: CountTable) -> None:
    assert counted(csv_text(tmp_path, "euc-jp"), encoding="euc-jp") == expected


def test_csv_has_no_types_and_no_surprises(tmp_path: Path) -> None:
    path = tmp_path / "odd.csv"
    path.write_text('id,place,n\n007, 3 ,1\n7,"3",2\n,4,\n8,,0\n9,3.0,0\n10,3.5,0\n11,many,0\n12,1_0,0\n')
    records = read(path)
    with pytest.raises(InputError, match="not shown before declared ones were found") as refused:
        _ = records.columns  # nobody has said yet that the first line names columns
    assert "place" not in str(refused.value)
    assert list(records.values(["n"])) == ["n"]
    assert records.columns == {"id": "VARCHAR", "place": "VARCHAR", "n": "VARCHAR"}
    line = Domain(place=Bins(0, 5, step=1))
    # 007 and 7 are two people; nobody without a number, without a place or with one that is no number counts.
    assert records.count(line, unit="id", outside="drop", missing_unit="drop").to_array().tolist() == [0, 0, 0, 4, 0]


def test_whole_numbers_in_csv_are_exact(tmp_path: Path) -> None:
    path = tmp_path / "large.csv"
    path.write_text(f"place,code,sex,n\n{2**57 - 1},533946113,1,5\n{2**57},53394611,2.0,{2**53 + 2}\n")
    records = read(path)
    line = Domain(place=Line(2**57))
    assert records.count(line, outside="drop").index.tolist() == [2**57 - 1]
    assert records.count(line, outside="clamp").count.tolist() == [2]
    assert records.count(Domain(code=Mesh("500m", codes=["5339"])), outside="drop").total == 1
    assert records.count(Domain(sex=Categories([1, 2]))).count.tolist() == [1, 1]
    assert records.table(Domain(sex=Categories([1, 2]))).count.tolist() == [5, 2**53 + 2]


@pytest.fixture
def spill_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary files go, so that what is left of them can be seen."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_nothing_is_left_behind(spill_folder: Path) -> None:
    for source in (people().to_reader(), polars.from_arrow(people()).lazy(), people()):
        records = read(source)
        records.count(DOMAIN, columns=COLUMNS)
        del records, source
    gc.collect()
    assert list(spill_folder.iterdir()) == []


def with_memory(rows: int, memory_limit: str) -> CountTable:
    """People with one row each, counted in so little memory."""
    ids = np.arange(rows)
    engine = read(pyarrow.table({"id": ids, "place": ids % 1000})).engine
    assert isinstance(engine, DuckdbEngine)
    return Records(replace(engine, memory_limit=memory_limit)).count(Domain(place=Line(1000)), unit="id")


def test_counting_spills_when_memory_is_short(spill_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Five numbers of 8 bytes for each of 1.5 million people are 60 MB.
    (spill_folder / "here").mkdir()
    monkeypatch.chdir(spill_folder / "here")
    assert (with_memory(1_500_000, "40MB").count == 1500).all()
    assert [path.name for path in spill_folder.rglob("*")] == ["here"]


def test_what_does_not_fit_anywhere_is_said(spill_folder: Path) -> None:
    said = r"^the records do not fit into the memory limit.*scratch under \[data\].*SUDARE_SCRATCH"
    with pytest.raises(InputError, match=said):
        with_memory(300_000, "1MB")
    assert list(spill_folder.iterdir()) == []


def test_columns_and_repr_show_names_and_types_only() -> None:
    records = read(pandas.DataFrame({"id": [7123], "ward": pandas.Categorical(["secret"])}))
    assert records.columns["id"] == "BIGINT"
    assert "secret" not in repr(records)
    assert "7123" not in repr(records)
    assert repr(records).startswith("Records(id: BIGINT, ward: ")


@pytest.mark.parametrize(
    ("name", "data", "sentence"),
    [
        ("missing.parquet", None, "there is no such file (got '{path}')"),
        ("missing.csv", None, "there is no such file (got '{path}')"),
        ("no-*.parquet", None, "no file matches the pattern (got '{path}'). Look at the folder's files first."),
        (
            "people.ods",
            b"PK",
            "this kind of file cannot be read (got '{path}'; allowed: Parquet (a file, a folder or a pattern), text "
            "(.csv, .tsv, .txt, .data, also .gz and .zst), Excel, zips of e-Stat, a table of a DuckDB or SQLite "
            "database)",
        ),
        ("broken.parquet", b"PAR1 and then nothing", f"the records cannot be read (got '{{path}}'){DAMAGED}"),
        ("empty.parquet", b"", f"the records cannot be read (got '{{path}}'){DAMAGED}"),
        ("empty.csv", b"", "the first line of the file does not name columns (got '{path}')"),
    ],
)
def test_files_that_cannot_be_read(tmp_path: Path, name: str, data: bytes | None, sentence: str) -> None:
    path = tmp_path / name
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(InputError) as refusal:
        read(path)
    assert str(refusal.value) == sentence.format(path=path)


def test_a_folder_without_parquet(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^the folder holds no Parquet file"):
        read(tmp_path)


def test_a_file_that_may_not_be_opened(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^the file cannot be opened .* a file that you may read"):
        read(tmp_path / ("x" * 300 + ".csv"))


@pytest.mark.parametrize("encoding", ["utf-8", "cp932"])
def test_a_broken_line_is_refused_without_what_it_says(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "broken.csv"
    path.write_bytes("id,区\n1,千代田区\n2,中央区,secret\n".encode(encoding))
    with pytest.raises(InputError) as refusal:
        read(path, encoding=encoding).count(Domain(id=Bins(0, 9, step=1)))
    assert str(refusal.value).startswith("the file is not CSV")
    assert "secret" not in str(refusal.value)
    assert str(path) in str(refusal.value)
    assert refusal.value.__suppress_context__ or refusal.value.__context__ is None


@pytest.mark.parametrize("beginning", ["utf-8", "cp932"])
def test_an_encoding_that_changes_on_the_way(tmp_path: Path, beginning: str) -> None:
    path = tmp_path / "mixed.csv"
    lines = "1,千代田区\n".encode(beginning) * 300_000
    path.write_bytes(b"id,ward\n" + lines + b"2,\x81 secret\n")
    with pytest.raises(InputError) as refusal:
        read(path, encoding=beginning).count(Domain(ward=Categories(["千代田区"])), outside="drop")
    assert str(refusal.value).startswith("the file is not CSV")
    assert "secret" not in str(refusal.value)


def test_a_parquet_file_that_is_cut_short(tmp_path: Path) -> None:
    path = parquet_file(tmp_path)
    data = path.read_bytes()
    path.write_bytes(data[:4] + bytes(len(data) // 2 - 4) + data[len(data) // 2 :])
    with pytest.raises(InputError, match=r"^the records cannot be read"):
        counted(path)


def test_a_file_that_goes_away(tmp_path: Path) -> None:
    records = read(parquet_file(tmp_path))
    (tmp_path / "people.parquet").unlink()
    with pytest.raises(InputError, match=r"^the records cannot be read"):
        records.count(DOMAIN, columns=COLUMNS)


def test_a_database_without_the_table(tmp_path: Path) -> None:
    path, _ = database(tmp_path)
    with pytest.raises(InputError) as refusal:
        read((path, "the poeple"))
    assert str(refusal.value) == (
        f"the database {path} has no such table (got 'the poeple'; allowed: the people). Did you mean 'the people'?"
    )
    (tmp_path / "no.duckdb").write_bytes(b"this is not a database")
    with pytest.raises(InputError, match=r"^the records cannot be read"):
        read((tmp_path / "no.duckdb", "people"))
    with pytest.raises(InputError, match=r"^there is no such file"):
        read((tmp_path / "missing.duckdb", "people"))
    with pytest.raises(InputError, match=r"^this pair is not a database file"):
        read((path, 7))


def test_a_column_of_mixed_types_is_refused_without_its_values() -> None:
    with pytest.raises(InputError) as refusal:
        read(pandas.DataFrame({"id": [1, 2], "odd": [1, "secret"]}))
    assert str(refusal.value) == (
        "a column of the frame holds values of more than one type (got 'odd'). Give it one type, or leave it out."
    )


def test_columns_may_have_numbers_for_names() -> None:
    records = read(pandas.DataFrame({0: [1, 2], 1: [3, 3]}))
    assert records.count(Domain(place=Line(4)), columns={"place": "1"}).count.tolist() == [2]


def test_a_lazy_frame_that_fails() -> None:
    frame = polars.LazyFrame({"id": ["secret"]}).with_columns(polars.col("id").cast(polars.Int64))
    with pytest.raises(InputError) as refusal:
        read(frame).count(Domain(id=Bins(0, 9, step=1)))
    assert str(refusal.value) == "the lazy frame cannot be computed"


def test_a_relation_that_fails() -> None:
    held = duckdb.connect().sql("SELECT CAST(word AS INTEGER) AS id FROM (VALUES ('secret')) AS t(word)")
    with pytest.raises(InputError) as refusal:
        read(held).count(Domain(id=Bins(0, 9, step=1)))
    assert str(refusal.value) == f"the records cannot be read (got 'the DuckDB relation'){DAMAGED}"


def test_a_stream_that_fails() -> None:
    def batches() -> Iterator[pyarrow.RecordBatch]:
        yield people().to_batches()[0]
        raise OSError("secret")

    with pytest.raises(InputError) as refusal:
        read(pyarrow.RecordBatchReader.from_batches(people().schema, batches()))
    assert str(refusal.value) == "the Arrow stream cannot be read"


def test_a_frame_without_columns() -> None:
    for frame in (pandas.DataFrame(), pyarrow.table({}), polars.DataFrame()):
        with pytest.raises(InputError, match=r"^the source has no columns"):
            read(frame)


def test_two_columns_of_one_name() -> None:
    for frame in (pandas.DataFrame([[1, 2]], columns=["id", "id"]), pyarrow.table([[1], [2]], ["id", "id"])):
        with pytest.raises(InputError, match=r"^two columns of the .* have the same name"):
            read(frame)


def test_what_holds_no_records() -> None:
    for nothing in (7, None, [1, 2], {"id": [1]}):
        with pytest.raises(InputError, match=r"^records cannot be read from this"):
            read(nothing)


def test_an_encoding_belongs_to_csv(tmp_path: Path) -> None:
    for source in (people(), parquet_file(tmp_path)):
        with pytest.raises(ParameterError, match=r"^an encoding belongs to a CSV file"):
            read(source, encoding="cp932")
        with pytest.raises(ParameterError, match=r"^a delimiter belongs to a CSV file"):
            read(source, delimiter=";")


def test_the_database_that_describes_files_outlives_no_process() -> None:
    """Neither a copy of the process nor the process itself hangs at its end, or says anything about it."""
    code = (
        "import os, sys, pyarrow\n"
        "from sudare.engines import read\n"
        "assert list(read(pyarrow.table({'a': [1]})).columns) == ['a']\n"
        "child = getattr(os, 'fork', lambda: None)()\n"
        "if child == 0:\n"
        "    sys.exit(list(read(pyarrow.table({'b': [1]})).columns) != ['b'])\n"
        "assert child is None or os.waitpid(child, 0)[1] == 0\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=300)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
