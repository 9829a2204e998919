"""Files of every released format open, migrate and verify; those of a version to come are refused by name.

`tests/formats` has a folder for each version, made by that version (`make.py` there).
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import pytest

import sudare
from sudare.collector.collection import open_store
from sudare.collector.survey_file import load, parse
from sudare.errors import SudareError, VerificationError
from sudare.local.files import ReportFile, open_reports
from sudare.privacy import Guarantee, Ledger, Unit
from sudare.privacy.store import export_ledger, import_ledger
from sudare.workflow.certificate import verify
from sudare.workflow.job import Job
from sudare.workflow.reconcile import reconcile

FORMATS = Path(__file__).parents[1] / "formats"
VERSIONS = sorted(path.name for path in FORMATS.iterdir() if path.is_dir() and path.name[0].isdigit())
NEWER = rf"made by a newer Sudare \(got 7; allowed: formats up to \d, which Sudare {sudare.__version__} reads\)"


@pytest.fixture(params=VERSIONS)
def old(request, tmp_path):
    """A copy of what one version wrote: opening must not change the kept files."""
    return Path(shutil.copytree(FORMATS / request.param, tmp_path / "old"))


def test_there_are_files_of_every_version():
    assert {"0.1-first", "0.1"} <= set(VERSIONS)
    assert sum(path.stat().st_size for path in FORMATS.rglob("*") if path.is_file()) < 100_000


def test_an_old_ledger_opens_and_goes_on(old):
    ledger = Ledger(old / "ledger.db")
    rows, head = ledger.verify(), ledger.head()
    assert ledger.balance("village").spent.epsilon == Fraction(1, 2)
    ledger.spend("village", Guarantee("epsilon-DP", Unit("person"), epsilon="0.1"), "later")
    ledger.set_account("others", epsilon=3)
    assert ledger.verify(head) == rows + 2
    assert ledger.balance("village").spent.epsilon == Fraction(3, 5)


def test_an_old_ledger_moves_as_text(old):
    exported = export_ledger(old / "ledger.db", old / "ledger.jsonl")
    assert import_ledger(old / "ledger.jsonl", old / "moved.db") == exported == Ledger(old / "moved.db").entries()
    assert Ledger(old / "moved.db").to_json() == Ledger(old / "ledger.db").to_json()


def test_an_old_release_verifies_and_is_known_to_its_ledger(old):
    checked = verify(old / "release")
    ledger = Ledger(old / "ledger.db")
    assert ledger.verify(checked.certificate["ledger_head"]) > 1
    (known,) = reconcile(ledger, [old / "release"], publisher=checked.certificate["publisher"]).releases
    assert (known.row, known.refused) == (None, None)
    fresh = Ledger(old / "fresh.db")
    (booked,) = reconcile(fresh, [old], publisher=checked.certificate["publisher"]).releases
    assert booked.row == 1
    assert fresh.balance("village").spent == ledger.balance("village").spent


def test_an_old_recipe_and_survey_open(old):
    (old / "people.csv").write_text("person,sex\n")
    assert Job.open(old / "recipe.toml").recipe.format == 1
    assert load(old / "survey.toml").name == "lunch"


def test_old_reports_are_read(old):
    survey = load(old / "survey.toml")
    store = open_store(survey.storage, survey.identity)
    assert sum(map(len, store.chunks(100))) == 3 * survey.encoding.report_bytes
    store.add([(b"x" * 16, survey.randomize(["no"]).packed[0].tobytes())])
    assert sum(map(len, store.chunks(100))) == 4 * survey.encoding.report_bytes
    store.close()
    for name in ("reports.parquet", "reports.jsonl"):
        assert sum(map(len, ReportFile(old / name, survey.encoding))) == 3
    assert open_reports([old / "tally.json"]).reports == 3


def newer_database(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 7")


def newer_text(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_what_a_newer_version_wrote_is_refused_by_name(tmp_path):
    old = Path(shutil.copytree(FORMATS / "0.1", tmp_path / "old"))
    survey = load(old / "survey.toml")
    reports = next(iter(ReportFile(old / "reports.parquet")))
    reports.to_parquet(old / "new.parquet")
    export_ledger(old / "ledger.db", old / "ledger.jsonl")
    parquet = (old / "new.parquet").read_bytes()
    assert b"sudare.format" in parquet
    newer_database(old / "ledger.db")
    newer_database(old / "reports.db")
    newer_text(old / "recipe.toml", 'kind = "table"', 'format = 7\nkind = "quantum"')
    newer_text(old / "survey.toml", 'name = "lunch"', 'format = 7\nname = "lunch"\nunheard = 1')
    newer_text(old / "release" / "release.json", "sudare-release/1", "sudare-release/7")
    newer_text(old / "reports.jsonl", '{"survey"', '{"format": 7, "survey"')
    newer_text(old / "tally.json", '{"survey"', '{"format": 7, "survey"')
    newer_text(old / "ledger.jsonl", '"format": 1', '"format": 7')
    for use in (
        lambda: Ledger(old / "ledger.db").entries(),
        lambda: Ledger(old / "ledger.db").spend("village", Guarantee("epsilon-DP", epsilon=1), "x"),
        lambda: open_store(survey.storage, survey.identity),
        lambda: Job.open(old / "recipe.toml"),
        lambda: load(old / "survey.toml"),
        lambda: verify(old / "release"),
        lambda: list(ReportFile(old / "reports.jsonl")),
        lambda: open_reports([old / "tally.json"]),
        lambda: import_ledger(old / "ledger.jsonl", old / "moved.db"),
    ):
        with pytest.raises(SudareError, match=NEWER):
            use()


def test_a_newer_parquet_file_of_reports_is_refused_by_name(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(FORMATS / "0.1" / "reports.parquet")
    newer = table.replace_schema_metadata({**table.schema.metadata, b"sudare.format": b"7"})
    parquet.write_table(newer, tmp_path / "reports.parquet")
    with pytest.raises(SudareError, match=NEWER):
        list(ReportFile(tmp_path / "reports.parquet"))


@pytest.mark.parametrize("named", ["7.5", '"new"', "true", "0", "-1"])
def test_what_is_no_format_is_refused(tmp_path, named):
    (tmp_path / "recipe.toml").write_text(f'format = {named}\nkind = "table"\n')
    with pytest.raises(SudareError, match="names an unknown format"):
        Job.open(tmp_path / "recipe.toml")
    with pytest.raises(SudareError, match="names an unknown format"):
        parse(f'format = {named}\nname = "lunch"\n')


def test_a_certificate_of_no_format_is_refused(tmp_path):
    old = Path(shutil.copytree(FORMATS / "0.1" / "release", tmp_path / "old"))
    certificate = json.loads((old / "release.json").read_text())
    (old / "release.json").write_text(json.dumps({**certificate, "format": "sudare-release/one"}))
    with pytest.raises(VerificationError, match="not a certificate of this format"):
        verify(old)
