"""Forecasts rest on what is known: a public table, declared facts, else a range; and come true on data like these."""

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import sudare as sd
from sudare.errors import InputError
from sudare.measure.blocks import error_with_people
from sudare.tables.forecast import MOST_RUNS, forecast, gathered, means, smallest_areas
from sudare.tables.kind import TableKind
from sudare.tables.scenarios import MOST_CELLS, onto, scenarios
from sudare.tables.synthetic import synthetic_table
from sudare.workflow.job import Job

GRID = sd.Domain(cell=sd.Grid(32, 32))
FACTS = {"people": 40_000, "populated": 0.3, "concentration": "medium"}


def recipe(rehearsal, domain=None):
    return {
        "kind": "table",
        "dataset": "village",
        "data": {"path": "private.csv", "counts": "count", "unit_name": "person"},
        "domain": domain or {"cell": {"type": "grid", "shape": [32, 32], "from": ["row", "column"]}},
        "privacy": {"epsilon": 0.5},
        "output": {"folder": "release", "key": "publisher.pem"},
        "ledger": {"path": "ledger.db", "cap": {"epsilon": 1}},
        "rehearsal": rehearsal,
    }


def kind(folder, rehearsal, domain=None):
    return Job.open(recipe(rehearsal, domain), folder).kind


def written(table, path):
    row, column = table.domain.coordinates(table.index)
    pyarrow.csv.write_csv(pa.table({"row": row, "column": column, "count": table.count}), path)


@pytest.fixture
def truth():
    return synthetic_table(GRID, 40_000, seed=9, populated_share=0.3)


def test_nothing_declared_is_a_range_and_no_headline(tmp_path):
    found = forecast(kind(tmp_path, {}))
    assert [one.name for one in scenarios(kind(tmp_path, {}))] == ["sparse", "middling", "dense"]
    assert all(row["populated_error_low"] <= row["populated_error_high"] for row in found.errors)
    assert not smallest_areas(found.errors)[2]
    assert "from a sparse table" in str(found.basis)


def test_no_two_draws_of_a_forecast_have_the_same_noise(tmp_path, monkeypatch):
    """Several invented tables after the same facts are drawn with seeds of their own, and so are large areas."""
    drawn, release = [], TableKind.release
    monkeypatch.setattr(
        TableKind, "release", lambda job, *asked, seed: drawn.append(seed) or release(job, *asked, seed=seed)
    )
    forecast(kind(tmp_path, {**FACTS, "populated": 0.1}))
    assert sorted(drawn) == list(range(MOST_RUNS))


@pytest.mark.slow
@pytest.mark.parametrize("rehearsal", [FACTS, {"path": "public.csv", "counts": "count"}], ids=["facts", "table"])
def test_what_is_known_comes_true(tmp_path, truth, rehearsal):
    written(truth, tmp_path / "public.csv")
    job = kind(tmp_path, rehearsal)
    found = forecast(job).errors
    levels = [row["block_level"] for row in found]
    runs = [sd.release(truth, epsilon=0.5, seed=1000 + run).table for run in range(12)]
    really = means([error_with_people(truth, made, levels) for made in runs])
    for row, own in list(zip(found, really, strict=True))[:4]:  # of larger areas there are few, and 12 runs say little
        assert row["populated_error"] == pytest.approx(own["populated_error"], rel=0.5)


def test_empty_cells_are_no_part_of_the_error_of_people():
    truth, released = sd.CountTable.from_array([10, 0, 0, 0]), sd.CountTable.from_array([7, 0, 0, 1])
    found = error_with_people(truth, released, [0])
    assert found.populated_error[0] == 3
    assert found.empty_error[0] == pytest.approx((1 / 3) ** 0.5)
    assert found.relative_error[0] == pytest.approx(0.3)


def test_a_public_table_is_scaled_to_the_people_declared(tmp_path, truth):
    written(truth, tmp_path / "public.csv")
    public = {"path": "public.csv", "counts": "count"}
    for people in (10_000, 40_000, 100_000):
        (one,) = scenarios(kind(tmp_path, {**public, "people": people}))
        assert one.truth.total == pytest.approx(people, rel=0.05)


@pytest.mark.slow
def test_an_earlier_release_is_a_public_table(tmp_path, truth):
    written(truth, tmp_path / "private.csv")
    sd.publish(recipe({}), folder=tmp_path)
    later = recipe({"path": "release"}) | {"output": {"folder": "later", "key": "publisher.pem"}}
    (one,) = scenarios(Job.open(later, tmp_path).kind)
    released = sd.open(tmp_path / "release").table
    assert np.array_equal(one.truth.to_array(), released.to_array())
    assert len(sd.plan(later, folder=tmp_path).errors)
    (tmp_path / "release" / "table.csv").write_text("row,column,count\n")
    (tmp_path / "release" / "table.parquet").write_bytes(b"no table")
    with pytest.raises(InputError, match="the earlier release cannot be read"):
        scenarios(Job.open(later, tmp_path).kind)


def test_a_file_without_its_column_of_counts_is_refused(tmp_path, truth):
    written(truth, tmp_path / "public.csv")
    with pytest.raises(InputError, match="needs counts"):
        scenarios(kind(tmp_path, {"path": "public.csv"}))


def test_a_neighbouring_mesh_is_laid_upon_the_own_one():
    there, here = (sd.Domain(mesh=sd.Mesh("1km", codes=[code])) for code in ("5340", "5339"))
    table = sd.CountTable(there, there.cells(np.arange(5)), [1, 2, 3, 4, 5])
    assert onto(table, here).count.tolist() == [1, 2, 3, 4, 5]
    both = sd.Domain(mesh=sd.Mesh("1km", codes=["5339", "5340"]))
    east = onto(table, both)  # where places are the same, they stay where they are
    assert east.total == 15
    assert both.coordinates(east.index)[1].min() >= 80


def test_attributes_are_matched_by_their_values_and_summed_over():
    wide = sd.Domain(cell=sd.Line(2), sex=sd.Categories(["m", "f", "x"]), age=sd.Bins(0, 20, step=10))
    narrow = sd.Domain(cell=sd.Line(2), sex=sd.Categories(["f", "m"]))
    index = wide.index([0, 0, 1, 1], [0, 1, 1, 2], [0, 1, 1, 0])
    order = np.argsort(index)
    table = sd.CountTable(wide, index[order], np.array([1, 2, 3, 4])[order])
    assert onto(table, narrow).to_array().tolist() == [[2, 1], [3, 0]]
    with pytest.raises(InputError, match="lacks an attribute"):
        onto(sd.CountTable.from_array([1, 2]), narrow)


def test_people_are_dealt_out_to_categories_and_places_stay_as_declared(tmp_path):
    domain = {
        "cell": {"type": "grid", "shape": [32, 32], "from": ["row", "column"]},
        "sex": {"type": "categories", "values": ["f", "m"]},
        "age": {"type": "bins", "start": 0, "stop": 100, "step": 10},
    }
    (one,) = scenarios(kind(tmp_path, FACTS, domain))
    places = np.unique(np.column_stack(one.truth.domain.coordinates(one.truth.index)[:2]), axis=0)
    assert one.truth.total == 40_000
    assert len(places) / 1024 == pytest.approx(0.3, rel=0.05)
    assert len(one.truth) > 5 * len(places)


@pytest.mark.slow
def test_a_huge_domain_is_not_filled(tmp_path):
    domain = {"cell": {"type": "line", "length": 2**40}, "sex": {"type": "categories", "values": ["f", "m"]}}
    assert all(len(one.truth) <= 2 * MOST_CELLS for one in scenarios(kind(tmp_path, {}, domain)))


def test_a_gathered_table_has_the_same_large_areas(truth):
    lumped = gathered(truth, 6)
    assert len(lumped) <= len(truth)
    for level in (6, 8, 10):
        both = zip(lumped.block_sums(level), truth.block_sums(level), strict=True)
        assert all(np.array_equal(one, other) for one, other in both)
