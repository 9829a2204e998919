"""The survey's line in the ledger, and its reports taken out again."""

from dataclasses import replace

import pytest
from click.testing import CliRunner

import sudare as sd
from sudare.cli.collect import collect
from sudare.collector import export, load
from sudare.collector.collection import Collection
from sudare.errors import BudgetError, InputError
from sudare.local import ReportFile

SURVEY = """
name = "lunch"
question = "What?"
answers = {{type = "labels", labels = ["rice", "bread", "nothing"]}}
privacy = {{encoding = "symmetric_unary", epsilon = 1}}
service = {{batch = 1}}
[ledger]
path = "ledger.db"
dataset = "staff"
cap = {{ epsilon = {cap} }}
"""


@pytest.fixture
def survey(tmp_path):
    path = tmp_path / "survey.toml"
    path.write_text(SURVEY.format(cap=1.5), encoding="utf-8")
    return path


def test_a_survey_is_charged_once_however_often_it_is_started(survey):
    ledger = sd.Ledger(survey.parent / "ledger.db")
    for _ in range(2):
        load(survey).ledger.enter(load(survey))
        assert ledger.balance("staff").spent.epsilon == 1
    other = replace(load(survey), name="dinner")
    with pytest.raises(BudgetError, match=r"cap|left|budget"):
        other.ledger.enter(other)


def test_serving_books_before_the_first_report(launch, survey):
    server = launch(survey)
    assert sd.Ledger(survey.parent / "ledger.db").balance("staff").spent.epsilon == 1
    assert server.process.poll() is None


def test_a_cap_that_is_too_small_refuses_to_serve(survey):
    survey.write_text(SURVEY.format(cap=0.5), encoding="utf-8")
    done = CliRunner().invoke(collect, ["serve", str(survey), "--port", "0"])
    assert isinstance(done.exception, BudgetError)


def test_exported_reports_are_those_that_were_stored(survey, tmp_path):
    read = load(survey)
    made = read.randomize(["rice"] * 60 + ["bread"] * 40)
    collection = Collection(read)
    rows = [(number.to_bytes(16, "big"), bytes(row)) for number, row in enumerate(made.packed)]
    collection.add(rows).result()
    collection.close()
    done = CliRunner().invoke(collect, ["export", str(survey), str(tmp_path / "reports.parquet")])
    assert done.output.startswith("100 reports")
    found = sd.local.Reports.from_parquet(tmp_path / "reports.parquet")
    assert sorted(map(bytes, found.packed)) == sorted(map(bytes, made.packed))
    assert sd.local.estimate(found, method="em").reports == 100


def test_no_reports_are_exported_as_none(survey, tmp_path):
    done = CliRunner().invoke(collect, ["export", str(survey), str(tmp_path / "reports.parquet")])
    assert done.output.startswith("0 reports")


def test_a_misspelt_key_of_the_ledger_is_named(survey):
    survey.write_text(SURVEY.format(cap=1).replace("dataset", "dataste"), encoding="utf-8")
    with pytest.raises(InputError, match=r"unknown key ledger\.dataste"):
        load(survey)


def test_reports_say_whether_their_survey_is_booked(survey, tmp_path):
    read = load(survey)
    for own, says in ((read, False), (replace(read, ledger=None, name="free"), True)):
        assert own.guarantee.in_no_ledger is says
        assert own.to_json()["guarantee"].endswith("in no ledger") is says
        own = replace(own, storage=str(tmp_path / f"{own.name}.db"))
        made = own.randomize(["rice"] * 60)
        collection = Collection(own)
        collection.add([(number.to_bytes(16, "big"), bytes(row)) for number, row in enumerate(made.packed)]).result()
        collection.close()
        path = tmp_path / f"{own.name}.parquet"
        assert export(own, path) == 60
        assert sd.local.estimate(ReportFile(path)).guarantee.in_no_ledger is says
