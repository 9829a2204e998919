"""Rows of one source found in another: whatever the format, the order and the names; and what chance explains."""

import gzip
from datetime import date, datetime
from pathlib import Path

import duckdb
import numpy as np
import pandas
import polars
import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.engines import files_of, read, refuse_same_file, refuse_shared_rows
from sudare.engines.overlap import Matches, Overlap, overlap, same_rows
from sudare.errors import InputError

RNG = np.random.default_rng(5)
ROWS = 400
PEOPLE = pa.table(
    {
        "id": RNG.permutation(ROWS) + 10**17,
        "age": pa.array([None if age == 50 else age for age in RNG.integers(0, 99, ROWS).tolist()]),
        "income": RNG.normal(3e6, 1e6, ROWS),
        "born": pa.array([date(1950 + int(n) % 60, 1 + int(n) % 12, 1 + int(n) % 28) for n in range(ROWS)]),
        "member": RNG.random(ROWS) < 0.5,
        "name": [None if n % 7 == 0 else f"Mori {n}" for n in range(ROWS)],
    }
)
SHUFFLED = PEOPLE.take(RNG.permutation(ROWS))


def copies(folder: Path) -> dict[str, object]:
    """The same people in every form that `read` takes."""
    csv.write_csv(PEOPLE, folder / "people.csv")
    csv.write_csv(SHUFFLED, folder / "people.tsv", csv.WriteOptions(delimiter="\t"))
    (folder / "packed.csv.gz").write_bytes(gzip.compress((folder / "people.csv").read_bytes()))
    pq.write_table(SHUFFLED, folder / "people.parquet")
    (folder / "parts").mkdir()
    for part in range(4):
        pq.write_table(SHUFFLED.slice(part * 100, 100), folder / "parts" / f"{part}.parquet")
    with duckdb.connect(str(folder / "people.duckdb")) as database:
        database.register("shuffled", SHUFFLED)
        database.execute("CREATE TABLE people AS SELECT * FROM shuffled")
    return {
        "csv": folder / "people.csv",
        "tsv": folder / "people.tsv",
        "gz": folder / "packed.csv.gz",
        "parquet": folder / "people.parquet",
        "folder": folder / "parts",
        "pattern": str(folder / "parts" / "*.parquet"),
        "database": (folder / "people.duckdb", "people"),
        "arrow": SHUFFLED,
        "pandas": pandas.read_csv(folder / "people.csv"),
        "renamed": SHUFFLED.rename_columns(["a", "b", "c", "d", "e", "f"]),
        "turned": SHUFFLED.select(["name", "income", "id", "member", "born", "age"]),
    }


def test_the_same_rows_are_known_in_every_format(tmp_path):
    forms = copies(tmp_path)
    # Rows are the same where their hashes are, so that one comparison for each form tells of all pairs.
    for first, name in [("csv", name) for name in forms] + [("parquet", "tsv"), ("database", "pandas")]:
        assert same_rows(read(forms[first]), read(forms[name])), (first, name)
    for first, name in (("csv", "parquet"), ("parquet", "renamed"), ("database", "turned")):
        with pytest.raises(InputError, match=r"the private data are given as public ones \(got 'public.path'\)"):
            refuse_shared_rows(read(forms[first]), read(forms[name]), "public.path", confirmed=True)


def test_one_changed_value_makes_other_data_which_share_the_rest():
    ages = PEOPLE.column("age").to_pylist()
    ages[3] = 98 if ages[3] != 98 else 97
    changed = PEOPLE.set_column(1, "age", [ages])
    found = overlap(read(PEOPLE), read(changed), unit="id")
    assert found == Overlap(False, ROWS - 1, ROWS, ROWS, ROWS, True, True, ROWS - 1, ROWS)
    assert found.beyond_chance


@pytest.mark.parametrize("rows", [1, 50])
def test_with_an_id_one_shared_row_must_be_confirmed(rows):
    part = PEOPLE.slice(7, rows)
    with pytest.raises(
        InputError, match=rf"^{rows} of {rows} public rows are private rows too .*for the steward alone"
    ):
        refuse_shared_rows(read(PEOPLE), read(part), "learn_on", unit="id")
    refuse_shared_rows(read(PEOPLE), read(part), "learn_on", unit="id", confirmed=True)


def test_the_same_people_in_another_year_share_what_does_not_change():
    older = PEOPLE.set_column(1, "age", [[100 if age is None else age + 1 for age in PEOPLE["age"].to_pylist()]])
    assert overlap(read(PEOPLE), read(older.select(["id", "age"])), unit="id").shared == 0
    assert overlap(read(PEOPLE), read(older.select(["id", "age", "born"])), unit="id").shared == ROWS
    refuse_shared_rows(read(PEOPLE.select(["id", "age"])), read(older.select(["id"])), "public", unit="id")


def draws(size: int, cells: int, seed: int) -> pa.Table:
    generator = np.random.default_rng(seed)
    return pa.table({"age": generator.integers(0, cells, size), "sex": generator.choice(["f", "m"], size)})


@settings(max_examples=40)
@given(st.integers(1, 2000), st.integers(20, 800), st.integers(20, 800), st.integers(0, 10**6))
def test_people_who_are_alike_by_chance_are_not_taken_for_copies(cells, own, other, seed):
    assert not overlap(read(draws(own, cells, 2 * seed)), read(draws(other, cells, 2 * seed + 1))).beyond_chance


@settings(max_examples=40)
@given(st.integers(2000, 10**6), st.integers(100, 800), st.integers(20, 60), st.integers(0, 10**6))
def test_copied_rows_without_an_id_are_told_where_rows_are_mostly_single(cells, own, taken, seed):
    private = draws(own, cells, seed)
    assert overlap(read(private), read(private.slice(0, taken))).beyond_chance


def test_coarse_rows_that_pair_up_one_to_one_are_told():
    coarse = PEOPLE.select(["member"])
    assert overlap(read(PEOPLE), read(coarse)).beyond_chance
    assert not overlap(read(PEOPLE), read(coarse.slice(1))).beyond_chance


def test_long_numbers_do_not_run_together():
    one, other = pa.table({"id": [str(10**17), "5"]}), pa.table({"id": [str(10**17 + 1), "6"]})
    assert overlap(read(one), read(other)).shared == 0


def test_tables_of_counts_are_one_where_nine_of_ten_cells_agree():
    own = pa.table({"cell": range(100), "n": range(100)})
    other = pa.table({"cell": range(100), "people": [n + (n < 5) for n in range(100)]})
    with pytest.raises(InputError, match=r"^95 of 100 public rows"):
        refuse_shared_rows(read(own), read(other), "rehearsal.path", counts=("n", "people"))
    refuse_shared_rows(read(own), read(other.slice(0, 40)), "rehearsal.path", counts=("n", "people"))


@pytest.fixture
def private(tmp_path):
    path = tmp_path / "people.csv"
    csv.write_csv(PEOPLE, path)
    return path


def beside(private: Path, name: str, content: bytes) -> Path:
    path = private.with_name(name)
    path.write_bytes(content)
    return path


def test_one_file_is_known_by_path_link_and_bytes(private, tmp_path):
    (tmp_path / "away").mkdir()
    (soft := tmp_path / "soft.csv").symlink_to(private)
    (hard := tmp_path / "hard.csv").hardlink_to(private)
    text = private.read_bytes()
    others = [
        private,
        tmp_path / "away" / ".." / "people.csv",
        soft,
        hard,
        beside(private, "copy.csv", text),
        beside(private, "ended.csv", text.rstrip() + b"\r\n\n"),
        beside(private, "marked.csv", b"\xef\xbb\xbf" + text),
        beside(private, "packed.csv.gz", gzip.compress(text)),
        read(private),
    ]
    for other in others:
        for pair in ((private, other), (other, private)):
            with pytest.raises(InputError, match=r"given as public ones \(got 'learn_on'\)"):
                refuse_same_file(*pair, "learn_on")
    refuse_same_file(private, beside(private, "other.csv", text[:-5] + b"wxyz\n"), "learn_on")
    refuse_same_file(private, tmp_path / "nothing.csv", "learn_on")


def test_a_folder_with_the_private_file_inside_is_refused_but_not_for_an_empty_part(tmp_path):
    for name in ("own", "public", "empty"):
        (tmp_path / name).mkdir()
    pq.write_table(PEOPLE, tmp_path / "own" / "0.parquet")
    pq.write_table(PEOPLE.slice(0, 0), tmp_path / "own" / "1.parquet")
    pq.write_table(PEOPLE.slice(0, 0), tmp_path / "empty" / "1.parquet")
    pq.write_table(draws(50, 90, 1), tmp_path / "public" / "1.parquet")
    refuse_same_file(tmp_path / "own", tmp_path / "empty", "public")
    refuse_same_file(tmp_path / "own", tmp_path / "public", "public")
    pq.write_table(PEOPLE, tmp_path / "public" / "7.parquet")
    with pytest.raises(InputError, match="given as public ones"):
        refuse_same_file(tmp_path / "own", str(tmp_path / "public" / "*.parquet"), "public")


def test_two_tables_of_one_database_are_two_sources(tmp_path):
    path = tmp_path / "people.duckdb"
    with duckdb.connect(str(path)) as database:
        database.execute("CREATE TABLE own AS SELECT range AS id, range % 90 AS age FROM range(100)")
        database.execute("CREATE TABLE census AS SELECT 100 + range % 7 AS age FROM range(60)")
        database.execute("CREATE VIEW copied AS SELECT * FROM own")
    refuse_same_file((path, "own"), (path, "census"), "public")
    with pytest.raises(InputError, match="given as public ones"):
        refuse_same_file((path, "own"), (path, "own"), "public")
    refuse_shared_rows(read((path, "own")), read((path, "census")), "public", unit="id")
    with pytest.raises(InputError, match="given as public ones"):
        refuse_shared_rows(read((path, "own")), read((path, "copied")), "public")


def test_files_of_whatever_is_read(private, tmp_path):
    assert files_of(str(private)) == files_of(read(private)) == (private,)
    assert files_of("hdfs://cluster/people") == files_of(PEOPLE) == ()
    assert files_of((private, "people")) == (private,)


def test_spark_and_duckdb_write_a_row_alike(spark, private, tmp_path):
    pq.write_table(SHUFFLED, tmp_path / "people.parquet")
    for source in (private, tmp_path / "people.parquet"):
        cluster = read(source, engine="spark")
        assert same_rows(cluster, read(PEOPLE))
        assert overlap(cluster, read(PEOPLE.slice(5, 10)), unit="id").shared == 10
        assert cluster.digest() == read(source).digest()
        with pytest.raises(InputError, match="given as public ones"):
            refuse_same_file(private, read(private, engine="spark"), "public")


STAMPS = [datetime(2020, 1, 1 + n % 28, n % 24, n % 60, n % 60, 1000 * (n % 5)) for n in range(120)]
SEEN = pa.table(
    {
        "seen": pa.array(STAMPS, pa.timestamp("us")),
        "day": pa.array([stamp.date() for stamp in STAMPS]),
        "rate": pa.array(np.random.default_rng(8).random(120), pa.float32()),
        "room": [str(n) for n in range(120)],
    }
)


def resaved(folder: Path) -> dict[str, object]:
    """The same rows, as other tools write moments and short floats."""
    zoned = SEEN.set_column(0, "seen", SEEN["seen"].cast(pa.timestamp("us", "UTC")))
    frame = SEEN.to_pandas()
    polars.from_arrow(SEEN).write_csv(folder / "polars.csv")
    polars.from_arrow(zoned).write_csv(folder / "polars-zoned.csv")
    frame.to_csv(folder / "pandas.csv", index=False)
    zoned.to_pandas().to_csv(folder / "pandas-zoned.csv", index=False)
    tokyo = frame.assign(seen=frame["seen"].dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo"))
    tokyo.to_csv(folder / "tokyo.csv", index=False)
    slashes = [stamp.strftime("%Y/%m/%d %H:%M:%S") for stamp in STAMPS]
    frame.assign(seen=slashes).to_csv(folder / "slashes.csv", index=False)
    pandas.read_csv(folder / "polars.csv", parse_dates=["seen", "day"]).to_parquet(folder / "parsed.parquet")
    pq.write_table(zoned, folder / "zoned.parquet")
    wide = str.maketrans("0123456789", "０１２３４５６７８９")
    frame.assign(room=["\u3000" + n.translate(wide) + " " for n in frame["room"]]).to_csv(
        folder / "wide.csv", index=False
    )
    return {path.name: path for path in sorted(folder.iterdir())} | {"arrow": SEEN}


def test_moments_short_floats_and_wide_digits_are_known_as_other_tools_write_them(tmp_path):
    forms = resaved(tmp_path)
    assert [name for name, form in forms.items() if not same_rows(read(SEEN), read(form))] == []
    assert same_rows(read(forms["polars.csv"]), read(forms["zoned.parquet"]))


def test_a_column_that_is_not_used_hides_nothing():
    other = pa.array(np.random.default_rng(3).normal(3e6, 1e6, ROWS))
    changed = PEOPLE.set_column(2, "income", other)
    fresh = changed.set_column(0, "id", pa.array(range(ROWS)))
    for copied, used in ((changed, ()), (fresh, ("born", "name")), (fresh.drop_columns("id"), ("born", "name"))):
        with pytest.raises(InputError, match="public rows are private rows too"):
            refuse_shared_rows(read(PEOPLE), read(copied), "public.path", unit="id", used=used)


def people(size: int, seed: int) -> pa.Table:
    generator = np.random.default_rng(seed)
    ages = generator.binomial(80, 0.4, size)
    return pa.table({"hours": ages, "night": generator.choice(["no", "yes"], size, p=[0.7, 0.3])})


def test_coarse_rows_with_a_few_taken_out_or_put_in_are_told():
    own = people(3000, 1)
    for copied in (own.slice(1), pa.concat_tables([own, people(1, 9)]), own.slice(30)):
        assert overlap(read(own), read(copied)).beyond_chance


def test_two_samples_of_one_population_are_not_taken_for_copies():
    """4,001 comparisons, each refused with a probability below 1e-7 by the bound that `too_alike` proves: a false alarm
    in fewer than 1 of 2,000 choices of seeds, which are fixed."""
    generator = np.random.default_rng(6)
    for kinds in (2, 12, 60, 400):
        shares = generator.dirichlet(np.ones(kinds))
        for size, other in ((500, 500), (3000, 2990)):
            own, others = generator.multinomial(size, shares, 500), generator.multinomial(other, shares, 500)
            for n, m in zip(own, others, strict=True):
                here = n > 0
                spread = float(np.log(np.pi / 2 * (n + m)[here]).sum() / 2)
                found = Matches(size, 0, 0, int(np.minimum(n, m).sum()), int(here.sum()), spread)
                assert not found.too_alike(other)
    assert not overlap(read(people(3000, 100)), read(people(3000, 200))).beyond_chance


def test_spark_writes_moments_and_short_floats_as_duckdb_does(spark, tmp_path):
    forms = resaved(tmp_path)
    for name in ("polars-zoned.csv", "zoned.parquet", "slashes.csv", "parsed.parquet"):
        assert same_rows(read(forms[name], engine="spark"), read(SEEN)), name
    assert overlap(read(forms["zoned.parquet"], engine="spark"), read(SEEN.slice(1))).paired


ODD = pa.table({"x": [1.0, 2.5, *map(float, ("nan", "inf", "-inf", "1e300", "-1e300", "1e-320", "9e15", "-0.0"))]})


def test_no_single_number_keeps_the_others_from_being_compared(spark, tmp_path):
    """One person's NaN made every sample with public recodings a refusal."""
    pq.write_table(ODD, tmp_path / "odd.parquet")
    csv.write_csv(ODD, tmp_path / "odd.csv")
    for engine in ("duckdb", "spark"):
        assert same_rows(read(tmp_path / "odd.parquet", engine=engine), read(ODD)), engine
        for name in ("odd.parquet", "odd.csv"):
            assert overlap(read(tmp_path / name, engine=engine), read(ODD.slice(0, 2))).shared == 2, (engine, name)


def test_rows_put_around_a_copy_do_not_hide_it():
    """The private rows without their ids among twice as many invented ones, and each part of them alone."""
    random = np.random.default_rng(9)
    own, invented = ({"x": random.random(size), "y": random.integers(0, 99, size)} for size in (2000, 4000))
    padded = {name: np.concatenate([own[name], invented[name]]) for name in own}
    assert overlap(read(pa.table(own)), read(pa.table(padded))).beyond_chance
    part = {name: column[:200] for name, column in own.items()}
    assert overlap(read(pa.table(part)), read(pa.table(own))).beyond_chance
    assert not overlap(read(pa.table(own)), read(pa.table(invented))).beyond_chance
