"""Spark answers as DuckDB does: the same cells, the same choice of rows, the same positions."""

from __future__ import annotations

import math
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet as pq
import pytest

from sudare.domain import Bins, Categories, Domain, Grid, Line, Mesh
from sudare.engines import read
from sudare.engines.columns import find_count, place
from sudare.engines.files import unreadable
from sudare.errors import InputError, ParameterError

KEY = bytes(range(16))
RNG = np.random.default_rng(5)


def both(columns: dict[str, Any]) -> list[Any]:
    return [read(pyarrow.table(columns), engine=engine) for engine in ("duckdb", "spark")]


@pytest.mark.parametrize(("max_rows", "outside", "ids"), [(1, "drop", "number"), (3, "clamp", "text")])
def test_rows_are_chosen_alike(spark: Any, max_rows: int, outside: str, ids: str) -> None:
    # About 8 rows a person: in one cell, in a few, outside, without a person.
    numbers = RNG.integers(0, 500, 4000)
    people = [None if n == 7 else int(n) if ids == "number" else f"person/{n} é" for n in numbers]
    domain = Domain(place=Line(40), sex=Categories(["f", "m"]))
    columns = {"who": people, "place": (numbers % 9) + RNG.integers(-1, 35, 4000), "sex": RNG.choice(["f", "m"], 4000)}
    ours, theirs = (
        held.count(domain, unit="who", max_rows=max_rows, outside=outside, key=KEY, missing_unit="drop")
        for held in reversed(both(columns))
    )
    assert len(ours) > 50
    assert ours == theirs


def test_tuples_and_rows_of_people_are_chosen_alike(spark: Any) -> None:
    columns = {
        "who": [None if n == 3 else int(n) for n in RNG.integers(0, 60, 500)],
        "age": [None if n == 9 else int(n) for n in RNG.integers(0, 10, 500)],
        "town": RNG.choice(["a", "b:", "", "東京"], 500),
    }
    duck, spark_records = both(columns)
    chosen = {"unit": "who", "key": KEY, "missing_unit": "drop"}
    ours, theirs = (held.groups(["age", "town"], **chosen) for held in (spark_records, duck))
    assert ours.labels == theirs.labels
    assert ours.codes.tolist() == theirs.codes.tolist()
    assert ours.rows.tolist() == theirs.rows.tolist()
    values = [held.values(["age", "town"], max_rows=4, **chosen) for held in (spark_records, duck)]
    listed = [sorted(map(str, zip(found["age"], found["town"], strict=True))) for found in values]
    assert listed[0] == listed[1]


WHOLE = [*range(-3, 40), 2**53, 2**53 + 1, 2**62, 2**63 - 1, -(2**63), -(2**62), None]
DOUBLES = [*np.arange(-5, 45, 0.25).tolist(), -0.0, 5e-324, -5e-324, 2.0**62, 2.0**63, -(2.0**63), 1e308, None]
DOUBLES += [math.inf, -math.inf, math.nan, 0.1, 0.3, 0.1 + 0.2, 0.7000000000000001, math.nextafter(0.3, 0)]
DECIMALS = [None if n is None else Decimal(n).scaleb(-3) for n in [*range(-3000, 41000, 250), 299, 300, 301, None]]
TEXTS = ["5", " 5", "5 ", "\t5", "5\n", "1f", "0x1p3", "1d", "inf", "-Infinity", "NaN", "+7", ".5", "5.", "1e1", "1e"]
TEXTS += ["", "--5", "1,5", "9007199254740993", "1e400", "0005", "1 2", "3.0", "5.5", "٣", "e5", "+", ".", None]
CODES = [
    "533946113",
    "533946115",
    "53394611",
    "533946113\n",
    "533986113",
    "5339461１3",
    "000000111",
    " 533946113",
    None,
]


def cycled(values: list[Any], rows: int) -> list[Any]:
    return [values[place % len(values)] for place in range(rows)]


def test_positions_are_the_same_bit_for_bit(spark: Any, tmp_path: Path) -> None:
    """Every attribute, read from every kind of column that it takes, in one question a source."""
    rows = 600
    degrees = RNG.integers(-3, 80, rows)
    whole, doubles, decimals = (cycled(values, rows) for values in (WHOLE, DOUBLES, DECIMALS))
    with np.errstate(over="ignore"):
        singles = np.array(doubles, dtype=np.float64).astype(np.float32)
    table = pyarrow.table(
        {
            "whole": pyarrow.array(whole, pyarrow.int64()),
            "unsigned": pyarrow.array([n if n is None or n >= 0 else 2**64 + n for n in whole], pyarrow.uint64()),
            "double": pyarrow.array(doubles, pyarrow.float64()),
            "single": singles,
            "decimal": pyarrow.array(decimals, pyarrow.decimal128(18, 3)),
            "lat": (8480 + degrees) / 240 + RNG.choice([0, 1e-12, -1e-12, 1e-8, -1e-8, 0.001], rows),
            "lon": [None if n == 5 else 100 + (6300 + n) / 160 for n in degrees.tolist()],
            "code": cycled(CODES, rows),
            "number": [int(c) if c and c.isascii() and c.isdecimal() else None for c in cycled(CODES, rows)],
            "word": cycled(["f", "m", " f", "F", "", "é", "e\u0301", "it's", 'a"b', "東京", None], rows),
            "truth": cycled([True, False, None], rows),
            "n": np.ones(rows, dtype=np.int64),
        }
    )
    mesh = Mesh("500m", rows=(8480, 8544), columns=(6300, 6364))
    words = Categories(["f", "m", "é", "it's", 'a"b', "東京"])
    coded = Mesh("500m", codes=["533946"])
    # (attribute, columns): cut into domains below, because one domain has at most 62 bits.
    asked: list[tuple[Any, Any]] = [
        *((Line(32), name) for name in ("whole", "unsigned", "double", "single", "decimal")),
        (Line(2**57), "whole"),
        (Grid(30, 30), ("whole", "double")),
        *((Bins(edges=[None, 0, 0.3, 1, 7, 30]), name) for name in ("whole", "double", "single", "decimal")),
        (Bins(0, 30, step=0.1), "double"),
        (Bins(edges=[-(2**53), 0, 2**53]), "whole"),
        (mesh, ("lat", "lon")),
        (coded, "code"),
        (coded, "number"),
        (words, "word"),
        (Categories([0, 1]), "truth"),
        (Categories([3, 5, 2**53 - 1]), "whole"),
        (Categories([3, 5, -2]), "decimal"),
    ]
    compare(asked, [read(table, engine="duckdb"), read(table, engine="spark")])

    path = tmp_path / "texts.csv"
    path.write_text(
        "a,b\n" + "".join(f'"{t}",1\n' if t else ",1\n" for t in TEXTS + CODES if "\n" not in (t or "")),
        encoding="utf-8",
    )
    untyped = [(Line(2**54), "a"), (Bins(0, 30, step=2), "a"), (coded, "a"), (Categories([5, 7]), "a")]
    compare(untyped, [read(path, engine="duckdb"), read(path, engine="spark")], "b")


def compare(asked: list[tuple[Any, Any]], records: list[Any], count: str = "n") -> None:
    while asked:
        taken: list[tuple[Any, Any]] = []
        while asked and sum(sum((n - 1).bit_length() for n in a.lengths) for a, _ in [*taken, asked[0]]) <= 62:
            taken.append(asked.pop(0))
        domain = Domain(None, **{f"a{number}": attribute for number, (attribute, _) in enumerate(taken)})
        columns = {f"a{number}": names for number, (_, names) in enumerate(taken)}
        found = []
        for held in records:
            known = held.engine.columns
            rows = held.engine.read_counts(place(domain, columns, known, "drop"), find_count(count, known))
            found.append(sorted(zip(*(axis.tolist() for axis in rows.axes), strict=True)))
        for ours, theirs in zip(*found, strict=True):
            assert ours == theirs
        assert len(set(found[0])) > 3  # not one position for all


def test_files_are_read_alike(spark: Any, tmp_path: Path) -> None:
    domain = Domain(
        place=Line(8),
        town=Categories(
            ["a b", "東京", 'q"'],
        ),
    )
    table = pyarrow.table({"place": [1, 2, 2, 7], "town": ["東京", "a b", 'q"', "東京"], "year": [1, 1, 2, 2]})
    folder = tmp_path / "odd [name]"
    pq.write_to_dataset(table, folder, partition_cols=["year"])
    path = tmp_path / "people.csv"
    text = 'town,place\n東京,1\na b,2\n"q""",2\n東京,7\n'
    path.write_text(text, encoding="utf-8-sig")
    tables = [read(source, engine="spark").count(domain) for source in (folder, path)]
    assert tables[0] == tables[1] == read(table).count(domain)
    assert read(folder, engine="spark").columns["year"] == "VARCHAR"  # folders have no types
    path.write_text(text, encoding="cp932")
    with pytest.raises(InputError, match=r"Spark reads no text in this encoding .*cp932"):
        read(path, encoding="cp932", engine="spark")


def test_a_frame_of_spark_stays_there_and_keeps_its_secrets(spark: Any) -> None:
    frame = spark.createDataFrame(pyarrow.table({"place": [1, 2, 71], "PLACE": [3, 3, 3]}))
    held = read(frame)
    assert held.columns == {"place": "BIGINT", "PLACE": "BIGINT"}
    assert held.count(Domain(place=Line(80))).index.tolist() == [1, 2, 71]
    with pytest.raises(InputError) as refusal:
        read(spark.range(3).selectExpr("CAST(raise_error(concat('a 712', id)) AS BIGINT) AS place")).count(
            Domain(place=Line(80))
        )
    assert str(refusal.value) == str(unreadable("the Spark frame"))
    assert refusal.value.__cause__ is None
    with pytest.raises(ParameterError, match="counted by Spark"):
        read(frame, engine="duckdb")
    assert not [view for view in spark.catalog.listTables() if view.name.startswith("sudare_")]


def test_a_topic_that_groups_works_on_a_frame_of_spark(spark: Any) -> None:
    from sudare import anonymity

    people = pyarrow.table({"age": RNG.integers(20, 24, 300), "sex": RNG.choice(["f", "m"], 300)})
    hierarchies = {
        "age": anonymity.Hierarchy.of({"*": {"20-21": ["20", "21"], "22-23": ["22", "23"]}}),
        "sex": anonymity.Hierarchy.of({"*": ["f", "m"]}),
    }
    ours, theirs = (
        anonymity.anonymize(frame, hierarchies, k=10, sample=0.5, levels={"age": 1, "sex": 0}, seed=1).records
        for frame in (spark.createDataFrame(people), people)
    )
    assert ours.to_pylist() == theirs.to_pylist()
    assert len(ours) > 100


@pytest.mark.parametrize("scheme", ["s3", "s3a", "gs", "gcs", "abfss", "strange"])
def test_an_address_for_which_spark_has_no_connector(spark: Any, scheme: str) -> None:
    with pytest.raises(InputError) as refusal:
        read(f"{scheme}://me:secret@bucket/people.parquet", engine="spark")
    assert str(refusal.value) == (
        f"Spark has no connector for {scheme}:// on its class path. Start it with the connector's package, or copy the "
        "file to this machine and give its path."
    )


def test_an_address_that_spark_cannot_reach(spark: Any) -> None:
    with pytest.raises(InputError) as refusal:
        read("hdfs:///people.parquet?token=secret", engine="spark")  # of no host
    assert str(refusal.value) == str(unreadable("hdfs:///people.parquet"))
