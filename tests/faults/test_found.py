"""What the fuzzer found, once each, so that it stays found."""

from __future__ import annotations

import io
import json
import os
import shutil
import zipfile
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fault_recipes import RECIPES, SHARED, house, place_certificate, releases, tame
from fault_reports import SURVEY, report_seeds
from fault_small_files import ledger_file, place_ledger

from sudare.anonymity import Hierarchy, smallest_epsilon
from sudare.collector.collection import open_store
from sudare.collector.storage import StorageError
from sudare.collector.survey_file import parse
from sudare.engines import estat_table, read
from sudare.errors import (
    InputError,
    LedgerError,
    ParameterError,
    RecipeError,
    SudareError,
    TableError,
    VerificationError,
)
from sudare.language.catalogue import Words
from sudare.local import estimate
from sudare.local.files import open_reports
from sudare.privacy import Ledger
from sudare.reconstruct.released import recover
from sudare.studio.service import StudioService
from sudare.studio.workspace import Workspace, session
from sudare.workflow import plan
from sudare.workflow.certificate import verify
from sudare.workflow.job import Job
from sudare.workflow.publication import publish


@pytest.mark.parametrize("kind", ["[]", "{}", "7"])
def test_a_kind_of_recipe_that_is_no_word(tmp_path, kind):
    (tmp_path / "recipe.toml").write_text(f"kind = {kind}\n")
    with pytest.raises(RecipeError, match="no such kind of recipe"):
        Job.open(tmp_path / "recipe.toml")


@pytest.mark.parametrize("value", ["[" * 5000, "9" * 5000, "0x" + "f" * 5000, "1e99999999999999999999"])
def test_numbers_and_brackets_beyond_measure(tmp_path, value):
    (tmp_path / "recipe.toml").write_text(f"title = {value}\n{RECIPES[0]}{SHARED}")
    with pytest.raises(RecipeError, match="a number is too long, or brackets are too deep"):
        Job.open(tmp_path / "recipe.toml")
    with pytest.raises(InputError, match="a number is too long, or brackets are too deep"):
        parse(f"title = {value}\n{SURVEY}")


def test_bounds_that_no_double_holds(tmp_path):
    text = RECIPES[7].replace("[0, 120]", f"[0, {10**400}]")
    (tmp_path / "recipe.toml").write_text(text + SHARED)
    with pytest.raises(RecipeError, match="a number of the recipe is too large"):
        Job.open(tmp_path / "recipe.toml")


@pytest.mark.parametrize("key", ["[", "a\nb", "\x1b[31m"])
def test_keys_that_are_no_words_make_no_second_line_and_steer_no_terminal(key):
    with pytest.raises(InputError, match="unknown key") as caught:
        parse(f"{json.dumps(key)} = 1\n{SURVEY}")
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    "forge",
    [
        lambda c: c | {"files": "none"},
        lambda c: c | {"summary": []},
        lambda c: c | {"files": dict.fromkeys(c["files"], 1)},
        lambda c: c | {"files": {name: {} for name in c["files"]}},
        lambda c: c | {"kind": []},
        lambda c: c | {"title": "\ud800"},
        lambda c: c | {"guarantee": c["guarantee"] | {"unit": {"name": {}, "max_rows": 1, "period": None}}},
    ],
)
def test_certificates_of_a_forger(tmp_path, forge):
    folder = releases()[0]
    certificate = forge(json.loads((folder / "release.json").read_text()))
    place_certificate((folder, certificate, True, None), tmp_path)
    with pytest.raises(VerificationError):
        verify(tmp_path)


@pytest.mark.parametrize(("name", "content"), [("table.parquet", b"PAR1"), ("table.csv", b'"a","b"\n1\n')])
def test_files_of_a_forger(tmp_path, name, content):
    folder = releases()[0]
    certificate = json.loads((folder / "release.json").read_text())
    place_certificate((folder, certificate, True, (name, content)), tmp_path)
    with pytest.raises(VerificationError, match="not a release of this kind"):
        verify(tmp_path)


def test_a_certificate_beyond_measure(tmp_path):
    (tmp_path / "release.json").write_text('{"a":' * 5000)
    with pytest.raises(VerificationError, match="cannot be read as JSON"):
        verify(tmp_path)


def test_reports_whose_pages_are_damaged(tmp_path):
    content = bytearray(report_seeds()["parquet"])
    content[4:40] = bytes(36)
    (tmp_path / "r.parquet").write_bytes(content)
    with pytest.raises(InputError, match="the Parquet file is damaged"):
        estimate(open_reports([tmp_path / "r.parquet"]))


@pytest.mark.parametrize("change", [{"sums": [10**30] * 5}, {"reports": 10**400}, {"reports": -1}])
def test_tallies_beyond_number(tmp_path, change):
    (tmp_path / "t.json").write_text(json.dumps(report_seeds()["tally"] | change))
    with pytest.raises(InputError, match="tally"):
        estimate(open_reports([tmp_path / "t.json"]))


@pytest.mark.parametrize("survey", [b"\xfe", b"a\xfe", b"{"])
def test_a_survey_of_reports_that_is_no_text(tmp_path, survey):
    import pyarrow as pa
    import pyarrow.parquet as pq

    reports = pa.table({"report": pa.array([b"a"], pa.binary(1))}).replace_schema_metadata({b"sudare.survey": survey})
    pq.write_table(reports, tmp_path / "reports.parquet")
    with pytest.raises(InputError, match="the file's survey cannot be understood"):
        estimate(open_reports([tmp_path / "reports.parquet"]))


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (('folder = "release"', 'folder = "{}"'), "cannot be written: its name is too long"),
        (('folder = "release"', 'folder = "{}/release"'), "cannot be written: its name is too long"),
        (('path = "people.parquet"', 'path = "{}.parquet"'), "cannot be opened"),
        (('path = "people.parquet"', 'path = "{}.csv"'), "cannot be opened"),
        (('path = "ledger.db"', 'path = "{}"'), "cannot be opened"),
        (('key = "publisher.pem"', 'key = "{}"'), "File name too long"),
    ],
)
def test_names_that_no_disk_takes(tmp_path, changed, said):
    recipe = tmp_path / "recipe.toml"
    for file in house().glob("*.*"):
        shutil.copy(file, tmp_path)
    old, new = changed
    text = RECIPES[0] + SHARED
    assert old in text
    recipe.write_text(text.replace(old, new.format("x" * 300)))
    with pytest.raises(SudareError, match=said):
        publish(recipe)
    assert not (tmp_path / "ledger.db").exists()
    assert StudioService(Workspace.open(recipe)).publish_page(Words("en")).valid
    recipe.write_text(text.replace(old, new.format("a\\u0000")))
    with pytest.raises(RecipeError, match="a NUL character"):
        Job.open(recipe)


def test_a_folder_deeper_than_any_path(tmp_path):
    place = os.open(tmp_path, os.O_RDONLY)
    for _ in range(20):
        os.mkdir("x" * 250, dir_fd=place)
        below = os.open("x" * 250, os.O_RDONLY, dir_fd=place)
        os.close(place)
        place = below
    os.close(place)
    with pytest.raises(InputError, match="the folder cannot be listed"):
        read(tmp_path)


def test_releases_whose_names_no_disk_takes(tmp_path):
    long = "x" * 300
    with pytest.raises(VerificationError, match="cannot be read"):
        verify(tmp_path / long)
    with pytest.raises(InputError, match="there is no such file"):
        recover(tmp_path / long)
    folder = releases()[0]
    certificate = json.loads((folder / "release.json").read_text())
    certificate["files"][long] = {}
    place_certificate((folder, certificate, True, None), tmp_path)
    with pytest.raises(VerificationError, match="a file of the release is missing"):
        verify(tmp_path)


def test_a_character_of_code_0_is_refused_and_its_spelling_is_not():
    with pytest.raises(InputError, match="a NUL character"):
        parse(SURVEY.replace("reports.db", "a\\u0000"))
    assert parse(SURVEY.replace("What did", "What \\\\u0000 did")).question.startswith("What \\u0000")


def test_records_whose_column_is_no_text(tmp_path):
    path = tmp_path / "people.parquet"
    pq.write_table(pa.table({"some town": ["A"]}), path, store_schema=False)
    path.write_bytes(path.read_bytes().replace(b"some town", b"some\xfftown"))
    with pytest.raises(InputError, match="the name of a column is not text"):
        read(path)


def test_reports_whose_column_is_no_text(tmp_path):
    content = report_seeds()["parquet"]
    assert content.count(b"report") >= 1
    (tmp_path / "r.parquet").write_bytes(content.replace(b"report", b"repo\xd5t"))
    with pytest.raises(InputError, match="not a Parquet file"):
        estimate(open_reports([tmp_path / "r.parquet"]))


def test_rows_without_a_leaf():
    with pytest.raises(ParameterError, match="a hierarchy has no leaf"):
        Hierarchy.of([[], ["A", "*"]])


def test_intervals_beyond_number():
    with pytest.raises(ParameterError, match="cut the interval into too many leaves"):
        Hierarchy.from_widths(20, 4.93e16, 10, 20)
    assert len(Hierarchy.from_widths(0, 5000, 1, 10).leaves) == 5000


@pytest.mark.parametrize(
    ("sample", "said"),
    [
        (f"k = {2**31}, rate = 0.5", "k is too large"),
        (f"k = {10**400}, rate = 0.5", "k is too large"),
        ("k = 3, rate = 0.99999999999999999999", "not between 0 and 1"),
        ("k = 3, rate = 1e-400", "not between 0 and 1"),
    ],
)
def test_samples_beyond_measure(tmp_path, sample, said):
    # The power rate**k was once worked out digit by digit.
    (tmp_path / "recipe.toml").write_text(RECIPES[3].replace("k = 3, rate = 0.5", sample) + SHARED)
    with pytest.raises(ParameterError, match=said):
        Job.open(tmp_path / "recipe.toml")


def test_categories_that_are_none(tmp_path):
    text = RECIPES[5].replace('categories = ["f", "m"]', "categories = []")
    (tmp_path / "recipe.toml").write_text(text + SHARED)
    with pytest.raises(RecipeError, match="categories is empty"):
        Job.open(tmp_path / "recipe.toml")


@pytest.mark.parametrize(
    ("public", "said"),
    [
        ("age\n3\n4\n", "the public file has no such column .*'sex'"),
        ("age,sex\n", "too few rows"),
        ("age,sex\n3,f\n3,m\n", "is constant"),
        ("age,sex\n3,f\n4,x\n", "outside its declared categories"),
    ],
)
def test_a_public_file_that_does_not_fit_shows_before_anything_is_spent(tmp_path, public, said):
    for file in house().glob("*.*"):
        shutil.copy(file, tmp_path)
    tame(tmp_path / "people.parquet")
    (tmp_path / "public.csv").write_text(public)
    (tmp_path / "recipe.toml").write_text(RECIPES[7] + SHARED)
    for verb in (plan, publish):
        with pytest.raises(InputError, match=said):
            verb(tmp_path / "recipe.toml")
    assert [row for row in Ledger(tmp_path / "ledger.db").entries() if row.kind == "spend"] == []


def test_a_large_k_takes_no_time():
    assert smallest_epsilon(k=10**9, sample="0.123456789", delta="1e-6") < Fraction("0.1319")
    with pytest.raises(ParameterError, match="no epsilon gives so small a delta"):
        smallest_epsilon(k=10**6, sample="0.999999", delta="0.3")


@pytest.mark.parametrize("content", [[], {"release_id": "x"}, {"release_id": "x", "guarantee": {"text": "x"}}])
def test_rows_of_a_ledger_that_say_nothing(tmp_path, content):
    rows = [{"dataset": e.dataset, "kind": e.kind, "content": e.content} for e in Ledger(ledger_file()).entries()]
    rows[1]["content"] = content
    path = place_ledger(rows, tmp_path)
    with pytest.raises(LedgerError, match="row 2 of the ledger does not hold a readable spend"):
        Ledger.open(path)


def broken_definition(path: Path) -> None:
    """Spoil the definition of the first table of a SQLite file, by a byte that no text has."""
    content = path.read_bytes()
    assert content.count(b"CREATE TABLE ") >= 1
    path.write_bytes(content.replace(b"CREATE TABLE ", b"CREATE \x84ABLE "))


def test_databases_whose_definitions_are_no_text(tmp_path):
    shutil.copy(ledger_file(), tmp_path / "ledger.db")
    broken_definition(tmp_path / "ledger.db")
    with pytest.raises(LedgerError, match="is damaged"):
        Ledger(tmp_path / "ledger.db").balances()
    open_store(str(tmp_path / "reports.db"), {}).close()
    broken_definition(tmp_path / "reports.db")
    with pytest.raises(StorageError, match="is damaged"):
        open_store(str(tmp_path / "reports.db"), {})
    (tmp_path / "recipe.toml").write_text("")
    workspace = Workspace.open(tmp_path / "recipe.toml")
    with session(workspace):
        pass
    broken_definition(workspace.hidden / "studio.db")
    with pytest.raises(InputError, match="is damaged"), session(workspace):
        pass


def archive(tmp_path: Path, **changes: int) -> Path:
    """A mesh file in a zip, with bytes of its directory changed."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as made:
        made.writestr("tblT.txt", "KEY_CODE,T1\r\n,x\r\n533945771,5\r\n")
    content = bytearray(target.getvalue())
    directory = content.index(b"PK\x01\x02")
    for place, value in {"version": 6, "flags": 8, "method": 10}.items():
        if place in changes:
            content[directory + value] = changes[place]
    (tmp_path / "mesh.zip").write_bytes(content)
    return tmp_path / "mesh.zip"


@pytest.mark.parametrize("changes", [{"version": 200}, {"flags": 1}, {"method": 77}])
def test_archives_of_another_kind(tmp_path, changes):
    assert estat_table(archive(tmp_path)).total == 5
    with pytest.raises(InputError, match="the file cannot be opened"):
        estat_table(archive(tmp_path, **changes))


@pytest.mark.parametrize("digits", [19, 40, 5000])
def test_counts_of_more_digits_than_there_are_people(tmp_path, digits):
    (tmp_path / "tbl.txt").write_text(f"KEY_CODE,T1\n,x\n533945771,{'9' * digits}\n")
    with pytest.raises(TableError, match="is not a count"):
        estat_table(tmp_path / "tbl.txt")
