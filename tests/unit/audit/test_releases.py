"""Recipes of the audit: a broken job is found, and refusals that tell something are."""

import pytest

from sudare.anonymity.kind import SampleKind
from sudare.anonymity.recoding import Recoding
from sudare.audit import behaviour
from sudare.audit.cases import METHODS, cases, drawn_from, samples, table_case
from sudare.audit.neighbours import (
    EVERY,
    ODD,
    frame,
    ordinary,
    person_by_person,
    person_for_person,
    row_by_row,
    strangers,
    without,
)
from sudare.audit.releases import NeighbourData, one_class_apart, replay_case
from sudare.engines import Records
from sudare.errors import InputError
from sudare.registry import KINDS
from sudare.tables.kind import TableKind


def test_neighbours_differ_in_one_person_or_row():
    found = person_by_person(40, 1, 4)
    data = found.pop("data")
    for name, rows in found.items():
        more, less = (rows, data) if len(rows) > len(data) else (data, rows)
        extra = {row[0] for row in more} - {row[0] for row in less}
        assert len(extra) == 1, name
        assert without(more, extra.pop()) == less
    assert len(found) == len(EVERY) + 4
    replaced = row_by_row(40, 1, 6, outside=True)
    first, _ = replaced.pop("data"), replaced.pop("everybody else")
    assert all(sum(a != b for a, b in zip(first, rows, strict=True)) <= 1 for rows in replaced.values())
    persons = person_for_person(20, 1, 3)
    first = persons.pop("data")
    assert all(len({a[0] for a, b in zip(first, rows, strict=True) if a != b}) == 1 for rows in persons.values())


def test_the_odd_people_are_odd():
    crowd = frame(ordinary(60, 0))
    assert max(crowd.column("x").to_pylist()) < 8  # so that the upper half is empty
    assert len({row[0] for row in ODD["a person with many rows"]}) == 1
    assert strangers()["nobody"] == []


def test_cases_have_names_of_their_own():
    names = [case.name for case in cases()]
    assert len(set(names)) == len(names)
    assert {case.kind for case in cases()} == set(KINDS)
    assert {method for method in METHODS for name in names if f", {method}," in name} == set(METHODS)


@pytest.fixture(scope="module")
def readings(tmp_path_factory):
    rows = person_by_person(20, 1, 0)
    kept = ("data", "a person alone in a cell", "a person with many rows")
    return NeighbourData(tmp_path_factory.mktemp("table"), {name: rows[name] for name in kept} | strangers())


def test_a_job_that_says_too_much_is_found(readings, monkeypatch):
    case = table_case("laplace", "epsilon = 1", 1)
    assert all(one.passed for one in replay_case(case, readings))
    true_total = {}

    def protect(job, data, source, sound=TableKind.protect):
        made = sound(job, data, source)
        true_total["persons"] = str(data.total)
        return made

    monkeypatch.setattr(TableKind, "protect", protect)
    monkeypatch.setattr(TableKind, "headline", lambda job, made: dict(true_total))
    assert {str(one.problem) for one in replay_case(case, readings)} == {"headline differs"}


def test_a_size_that_shows_the_private_support_is_found(readings, monkeypatch):
    """Bytes behind the release, one for each populated cell: all is alike but the length of a file."""
    support = {}

    def protect(job, data, source, sound=TableKind.protect):
        support["cells"] = len(data)
        return sound(job, data, source)

    def write(job, made, folder, sound=TableKind.write):
        written = sound(job, made, folder)
        with written["csv"].open("ab") as file:
            file.write(b"\n" * support["cells"])
        return written

    monkeypatch.setattr(TableKind, "protect", protect)
    monkeypatch.setattr(TableKind, "write", write)
    found = {one.name: str(one.problem) for one in replay_case(table_case("tree", "epsilon = 1", 1), readings)}
    assert found["nobody"] == found["everybody"] == "table.csv differs"


def test_more_rows_than_are_charged_are_found(tmp_path, monkeypatch):
    """Counting without a bound: a person with many rows moves the table by all of them."""
    rows = person_by_person(20, 1, 0)
    readings = NeighbourData(tmp_path, {name: rows[name] for name in ("data", "a person with many rows")})
    sound = Records.count
    monkeypatch.setattr(Records, "count", lambda *given, **named: sound(*given, **named | {"max_rows": 9}))
    (found,) = replay_case(table_case("laplace", "epsilon = 1", 1), readings)
    assert not found.passed
    assert (found.ratio, found.spent) == (9, 9)


@pytest.fixture(scope="module")
def sample_readings(tmp_path_factory):
    rows = drawn_from(30, 1, 2)
    kept = ("data", "a person alone in a cell", "not a number", *list(rows)[-2:])
    return NeighbourData(tmp_path_factory.mktemp("sample"), {name: rows[name] for name in kept})


def test_a_sample_is_replayed_with_and_without_the_record(sample_readings):
    found = replay_case(next(samples()), sample_readings)
    assert all(one.passed for one in found)
    assert sum(one.name.endswith(", drawn") for one in found) == len(found) / 2


def test_a_sample_that_says_how_many_were_drawn_is_found(sample_readings, monkeypatch):
    monkeypatch.setattr(SampleKind, "headline", lambda job, made: {"drawn of": str(made.classes.population.total)})
    found = {one.name: str(one.problem) for one in replay_case(next(samples()), sample_readings)}
    # Who is removed may have been in the sample, where other rules hold; who is added and not drawn was not.
    assert {found[name] for name in ("a person alone in a cell", "not a number")} == {"headline differs"}


def test_a_class_below_k_is_found(sample_readings, monkeypatch):
    monkeypatch.setattr(Recoding, "published", lambda self, k, requirements=(): self)
    found = replay_case(next(samples()), sample_readings)
    assert "a class is published below k" in {str(one.problem) for one in found}


def test_samples_that_differ_in_one_record():
    def written(**rows):
        return {"sample.csv": b"\n".join([b"x", *(name.encode() for name, n in rows.items() for _ in range(n))])}

    base = written(a=5, b=3)
    assert one_class_apart(3, base, written(a=6, b=3)) is None
    assert one_class_apart(3, base, written(a=5)) is None
    assert one_class_apart(3, base, base) is None
    assert str(one_class_apart(3, base, written(a=6, b=4))) == "a record changes other classes than its own"
    assert str(one_class_apart(3, base, written(a=8, b=3))) == "a record counts several times"
    assert str(one_class_apart(4, written(a=5), base)) == "a class is published below k"
    # Of a record that is in no published class, nothing else may tell either.
    assert str(one_class_apart(3, base | {"summary": b"1"}, base | {"summary": b"2"})) == "summary differs"
    assert one_class_apart(3, base | {"summary": b"1"}, written(a=6, b=3) | {"summary": b"2"}) is None


@pytest.mark.parametrize("told", ["value", "place"])
def test_a_refusal_that_tells_something_is_found(told, tmp_path, monkeypatch):
    table = behaviour.strict_recipes()["table"]
    monkeypatch.setattr(behaviour, "strict_recipes", lambda: {"table": table})
    monkeypatch.setattr(behaviour, "FAULTS", dict(list(behaviour.FAULTS.items())[:1]))

    def gather(job, source):
        from pyarrow.parquet import read_table

        column = read_table(job.path("people.parquet")).column("x").to_pylist()
        shown = column[-1] if told == "value" else len(column)
        raise InputError("a row lies outside", value=shown)

    monkeypatch.setattr(TableKind, "gather", gather)
    found = {finding.name: finding.passed for finding in behaviour.refusal_findings(tmp_path)}
    assert not found.pop("table, a value outside")
    assert all(found.values())


def test_a_layout_that_depends_on_the_data_is_found(tmp_path, monkeypatch):
    people = {}

    def protect(job, data, source, sound=TableKind.protect):
        people["true"] = data.total
        return sound(job, data, source)

    def write(job, made, folder, sound=TableKind.write):
        written = sound(job, made, folder)
        return dict(list(written.items())[:: 1 if people["true"] > 150 else -1])

    monkeypatch.setattr(TableKind, "protect", protect)
    monkeypatch.setattr(TableKind, "write", write)
    monkeypatch.setattr(behaviour, "METHODS", ("tree", "simplex"))
    found = [finding for finding in behaviour.layout_findings(tmp_path) if finding.name.startswith("table")]
    assert [finding.passed for finding in found] == [False, False]
