"""Recipes of the audit: a broken job is found, and refusals that tell something are."""

import pytest

from sudare.audit import behaviour
from sudare.audit.neighbours import ODD, frame, ordinary, person_by_person, row_by_row, without
from sudare.audit.releases import Readings, cases, replay_case, table_case
from sudare.engines import Records
from sudare.errors import InputError
from sudare.publish.kinds import KINDS
from sudare.publish.table_job import TableJob


def test_neighbours_differ_in_one_person_or_row():
    found = person_by_person(40, 1, 4)
    data = found.pop("data")
    for name, rows in found.items():
        more, less = (rows, data) if len(rows) > len(data) else (data, rows)
        extra = {row[0] for row in more} - {row[0] for row in less}
        assert len(extra) == 1, name
        assert without(more, extra.pop()) == less
    replaced = row_by_row(40, 1, 6)
    first = replaced.pop("data")
    assert all(sum(a != b for a, b in zip(first, rows, strict=True)) <= 1 for rows in replaced.values())
    assert len(found) == len(ODD) + 4


def test_the_odd_people_are_odd():
    crowd = frame(ordinary(60, 0))
    assert max(crowd.column("x").to_pylist()) < 8  # so that the upper half is empty
    assert len({row[0] for row in ODD["a person with many rows"]}) == 1


def test_cases_have_names_of_their_own():
    names = [case.name for case in cases()]
    assert len(set(names)) == len(names)
    assert {case.kind for case in cases()} == set(KINDS) - {"sample"}


@pytest.fixture
def readings(tmp_path):
    rows = person_by_person(20, 1, 0)
    kept = ("data", "a person alone in a cell", "a person with many rows")
    return Readings(tmp_path, {name: rows[name] for name in kept})


def test_a_job_that_says_too_much_is_found(readings, monkeypatch):
    case = table_case("laplace", "epsilon = 1", 1)
    assert all(one.passed for one in replay_case(case, readings))
    true_total = {}

    def protect(job, data, source, sound=TableJob.protect):
        made = sound(job, data, source)
        true_total["persons"] = str(data.total)
        return made

    monkeypatch.setattr(TableJob, "protect", protect)
    monkeypatch.setattr(TableJob, "headline", lambda job, made: dict(true_total))
    assert {one.problem for one in replay_case(case, readings)} == {"headline differs"}


def test_more_rows_than_are_charged_are_found(readings, monkeypatch):
    """Counting without a bound: a person with many rows moves the table by all of them."""
    sound = Records.count
    monkeypatch.setattr(Records, "count", lambda *given, **named: sound(*given, **named | {"max_rows": 9}))
    found = {one.name: one for one in replay_case(table_case("laplace", "epsilon = 1", 1), readings)}
    assert not found["a person with many rows"].passed
    assert found["a person with many rows"].ratio == 9


@pytest.mark.parametrize("told", ["value", "place"])
def test_a_refusal_that_tells_something_is_found(told, tmp_path, monkeypatch):
    table = behaviour.strict_recipes()["table"]
    monkeypatch.setattr(behaviour, "strict_recipes", lambda: {"table": table})

    def gather(job, source):
        from pyarrow.parquet import read_table

        column = read_table(job.path("people.parquet")).column("x").to_pylist()
        shown = column[-1] if told == "value" else len(column)
        raise InputError("a row lies outside", value=shown)

    assert all(finding.passed for finding in behaviour.refusal_findings(tmp_path))
    monkeypatch.setattr(TableJob, "gather", gather)
    assert not any(finding.passed for finding in list(behaviour.refusal_findings(tmp_path))[:1])


def test_a_layout_that_depends_on_the_data_is_found(tmp_path, monkeypatch):
    def write(job, made, folder, sound=TableJob.write):
        written = sound(job, made, folder)
        return dict(list(written.items())[:: 1 if made.table.total > 300 else -1])

    monkeypatch.setattr(TableJob, "write", write)
    found = [finding for finding in behaviour.layout_findings(tmp_path) if finding.name.startswith("table")]
    assert found
    assert not any(finding.passed for finding in found)
