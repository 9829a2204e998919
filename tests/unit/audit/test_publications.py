"""The whole of `publish` under replay: what goes past the noise anywhere on its way is found."""

from contextlib import suppress

import numpy as np
import pytest

from sudare.audit.publications import everyday, further, other_kinds, publication, replay_publication
from sudare.audit.replaying import key_findings, replay_finding
from sudare.audit.residents import come_and_go, evenly, frame, once_each, replaced, to_counts
from sudare.audit.run import to_its_end
from sudare.errors import AccountingError
from sudare.noise import Source, record, stamped
from sudare.tables import simplex, tree
from sudare.tables.kind import TableKind
from sudare.workflow.certificate import verify

CASES = {case.name: case for case in (*everyday(), *further(), *other_kinds())}
PLACES = next(iter(CASES))
HALVES = "table, tree, halves, margin, three rows"
SIMPLEX = "table, simplex, places by sex and age, three rows"
PERIOD = "table, tree, even places by sex, records, a period of a series"
CHOSEN = "table, auto, no places, people enough for cells"


def found(name, folder):
    return replay_finding(name, replay_publication(CASES[name], folder / "publication", 1, few=True))


def test_neighbours_differ_in_one_person():
    for world in (come_and_go(50, 1, 2), once_each(50, 1, 2), evenly(50, 1, 2)):
        data = world.pop("data")
        for name in ("nobody", "everybody"):
            world.pop(name)
        for name, rows in world.items():
            more, less = (rows, data) if len(rows) > len(data) else (data, rows)
            assert len({row.person for row in more} - {row.person for row in less}) == 1, name
    world = replaced(50, 1, 3)
    data, _ = world.pop("data"), world.pop("everybody else")
    assert all(sum(a != b for a, b in zip(data, rows, strict=True)) == 1 for rows in world.values())


def test_a_file_of_counts_has_every_cell_once(tmp_path):
    rows = once_each(50, 1, 0)["data"]
    to_counts(rows, tmp_path / "counts.csv")
    lines = (tmp_path / "counts.csv").read_text(encoding="utf-8").splitlines()[1:]
    cells = [line.rsplit(",", 1) for line in lines]
    assert len({cell for cell, _ in cells}) == len(cells)
    assert sum(int(count) for _, count in cells) == len(rows)


def test_names_are_different_and_every_option_is_among_them():
    assert len(CASES) == len([*everyday(), *further(), *other_kinds()])
    recipes = " ".join(case.recipe for case in CASES.values())
    for option in (
        "max_rows = 3", "rho = ", "delta = ", 'total = "public"', "public_totals", "counts =", "people.csv", '"clamp"',
        '"drop"', "children = 2", "geojson", "public = true", 'kind = "sample"', 'kind = "weights"', "codes =",
        *(f'"{method}"' for method in ("tree", "top_down", "simplex", "negative_l2", "laplace", "privelet")),
    ):  # fmt: skip
        assert option in recipes, option


def test_a_replayed_publication_is_a_whole_one(tmp_path):
    run = publication(CASES[PLACES], tmp_path)
    data = come_and_go(60, 1, 0)
    with record() as tape:
        first = run(data["data"], Source.system())
    assert verify(tmp_path / "release").ok
    assert {"release.json", "table.csv", "table.geojson", "what publish returns and says"} <= first.keys()
    with record(replay=tape):
        assert run(data["nobody"], Source.system()) == first
    assert verify(tmp_path / "release").ok
    assert run(data["data"], Source.system()) != first  # without a tape everything is new
    assert frame([]).num_rows == 0


@pytest.mark.parametrize(
    ("name", "measured"),
    [
        (PERIOD, ["margin", "root", "level 1, at first", "level 2"]),  # even: its upper levels are not refined
        (CHOSEN, ["total", "marginal work x sex x age"]),
        (PLACES, ["margin", "root", "level 1, at first", "level 1", "rest of level 1"]),
    ],
)
def test_the_everyday_cases_reach_every_branch_and_file(name, measured, tmp_path):
    run = publication(CASES[name], tmp_path)
    with record() as tape:
        files = run(CASES[name].world(0)["data"], Source.system())
    assert [each.label for each in tape.measured][: len(measured)] == measured
    assert {"datapackage.json", "release.json"} <= files.keys()
    assert ("records.parquet" in files, b'"predecessor"' in files["release.json"]) == (name == PERIOD,) * 2
    finding = found(name, tmp_path)
    assert finding.passed, finding.figure()


@pytest.mark.parametrize("kind", ["degrees", "tiles", "regions"])
def test_places_of_points_are_published_and_replayed(kind, tmp_path):
    name = f"table, tree, {kind} by sex, points, three rows, maps"
    files = publication(CASES[name], tmp_path)(come_and_go(60, 1, 0)["data"], Source.system())
    assert {"table.parquet", "table.geojson"} <= files.keys()
    finding = found(name, tmp_path)
    assert finding.passed, finding.figure()


def test_halves_go_deeper_than_level_ten(tmp_path):
    run = publication(CASES[HALVES], tmp_path)
    with record() as tape:
        run(come_and_go(400, 3, 0)["data"], Source.system())
    deep = [measured for measured in tape.measured if measured.label in ("level 12", "rest of level 12")]
    assert [len(measured.exact) > 0 for measured in deep] == [True, True]


def true_totals(monkeypatch):
    own = tree.measure

    def measured(values, sensitivity, budget, source, label, **more):
        noisy = own(values, sensitivity, budget, source, label, **more)
        return values if label == "margin" else noisy

    monkeypatch.setattr(tree, "measure", measured)


def margin_of_one_row(monkeypatch):
    own = tree.measure

    def measured(values, sensitivity, budget, source, label, **more):
        return own(values, 1 if label == "margin" else sensitivity, budget, source, label, **more)

    monkeypatch.setattr(tree, "measure", measured)


def populated_in_the_certificate(monkeypatch):
    protect, certified, populated = TableKind.protect, TableKind.certified, []

    def protected(job, data, source):
        populated.append(len(data))
        return protect(job, data, source)

    monkeypatch.setattr(TableKind, "protect", protected)
    monkeypatch.setattr(TableKind, "certified", lambda job, made: certified(job, made) | {"populated": populated[-1]})


def populated_one_step_lower(monkeypatch):
    active, protect, tables = simplex.active_cells, simplex.Simplex.protect, []

    def protected(method, task):
        tables.append(task.table)
        return protect(method, task)

    def lower(noisy, total):
        shown, value = active(noisy, total)
        index, deeper = noisy.above(int(value.min()) - 2)
        kept = np.isin(index, tables[-1].index) | np.isin(index, shown)
        return index[kept], deeper[kept]

    monkeypatch.setattr(simplex.Simplex, "protect", protected)
    monkeypatch.setattr(simplex, "active_cells", lower)


@pytest.mark.parametrize(
    ("broken", "name", "problem"),
    [
        (true_totals, PLACES, "differs"),
        (margin_of_one_row, PLACES, "of the sensitivity"),
        (populated_in_the_certificate, SIMPLEX, "release.json differs"),
        (populated_one_step_lower, SIMPLEX, "differs"),
    ],
)
def test_breaches_that_once_slipped_through_are_found(broken, name, problem, tmp_path, monkeypatch):
    broken(monkeypatch)
    finding = found(name, tmp_path)
    assert not finding.passed
    assert problem in finding.figure()


def test_keys_of_a_few_characters_are_found(monkeypatch):
    assert all(finding.passed for finding in key_findings())
    own = Source.child

    def short(source, label):
        with suppress(AccountingError):
            return own(source, label[:7])
        return own(Source._derived(source._key, seeded=source.seeded), label[:7])

    monkeypatch.setattr(Source, "child", short)
    labels = next(finding for finding in key_findings() if finding.name == "keys, labels")
    assert not labels.passed


def test_a_part_that_is_refused_is_a_failure_and_not_the_end():
    def broken():
        raise AccountingError("two labels of noise give the same key")
        yield

    (finding,) = to_its_end("laws", broken())
    assert not finding.passed
    assert finding.figure() == "stopped: two labels of noise give the same key"


def test_stamps_are_kept_and_repeated_and_anew_without_a_tape():
    assert [stamped("time", "12:00"), stamped("time", "12:01")] == ["12:00", "12:01"]
    with record() as tape:
        assert stamped("time", "12:00") == "12:00"
    with record(replay=tape):
        assert stamped("time", "12:01") == "12:00"
        with pytest.raises(AccountingError, match="a stamp that was not recorded"):
            stamped("place", "here")
