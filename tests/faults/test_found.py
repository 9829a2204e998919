"""What the fuzzer found, once each, so that it stays found."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import pytest
from fault_recipes import RECIPES, SHARED, place_certificate, releases
from fault_reports import SURVEY, report_seeds
from fault_small_files import ledger_file, place_ledger

from sudare.anonymity import Hierarchy
from sudare.collector.survey_file import parse
from sudare.engines import estat_table
from sudare.errors import InputError, LedgerError, ParameterError, RecipeError, TableError, VerificationError
from sudare.local import estimate
from sudare.local.files import open_reports
from sudare.privacy import Ledger
from sudare.publish import verify
from sudare.publish.kinds import open_job


@pytest.mark.parametrize("kind", ["[]", "{}", "7"])
def test_a_kind_of_recipe_that_is_no_word(tmp_path, kind):
    (tmp_path / "recipe.toml").write_text(f"kind = {kind}\n")
    with pytest.raises(RecipeError, match="no such kind of recipe"):
        open_job(tmp_path / "recipe.toml")


@pytest.mark.parametrize("value", ["[" * 5000, "9" * 5000, "0x" + "f" * 5000, "1e99999999999999999999"])
def test_numbers_and_brackets_beyond_measure(tmp_path, value):
    (tmp_path / "recipe.toml").write_text(f"title = {value}\n{RECIPES[0]}{SHARED}")
    with pytest.raises(RecipeError, match="a number is too long, or brackets are too deep"):
        open_job(tmp_path / "recipe.toml")
    with pytest.raises(InputError, match="a number is too long, or brackets are too deep"):
        parse(f"title = {value}\n{SURVEY}")


def test_bounds_that_no_double_holds(tmp_path):
    text = RECIPES[7].replace("[0, 120]", f"[0, {10**400}]")
    (tmp_path / "recipe.toml").write_text(text + SHARED)
    with pytest.raises(RecipeError, match="a number of the recipe is too large"):
        open_job(tmp_path / "recipe.toml")


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


def test_rows_without_a_leaf():
    with pytest.raises(ParameterError, match="a hierarchy has no leaf"):
        Hierarchy.of([[], ["A", "*"]])


def test_intervals_beyond_number():
    with pytest.raises(ParameterError, match="cut an interval into too many"):
        Hierarchy.from_widths(20, 4.93e16, 10, 20)
    assert len(Hierarchy.from_widths(0, 5000, 1, 10).leaves) == 5000


@pytest.mark.parametrize("content", [[], {"release_id": "x"}, {"release_id": "x", "guarantee": {"text": "x"}}])
def test_rows_of_a_ledger_that_say_nothing(tmp_path, content):
    rows = [{"dataset": e.dataset, "kind": e.kind, "content": e.content} for e in Ledger(ledger_file()).entries()]
    rows[1]["content"] = content
    path = place_ledger(rows, tmp_path)
    with pytest.raises(LedgerError, match="row 2 of the ledger holds no spend that can be read"):
        Ledger.open(path)


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
