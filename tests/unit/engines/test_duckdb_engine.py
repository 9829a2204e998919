"""What DuckDB is asked, and in which thread."""

import threading
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sudare as sd
from sudare.engines.duckdb_engine import DuckdbShell


@pytest.mark.parametrize("ask", [lambda shell: shell.view("v", "SELECT 1"), lambda shell: shell.keep("t", "SELECT 1")])
def test_no_statement_runs_in_the_main_thread(ask):
    """There a signal would become an error of DuckDB's own, in the middle of a run that it should end in order."""
    seen = []
    connection = SimpleNamespace(execute=lambda _: seen.append(threading.current_thread()), interrupt=lambda: None)
    ask(DuckdbShell(connection))
    assert len(seen) == 1
    assert seen[0] is not threading.main_thread()


@pytest.mark.parametrize(
    ("domain", "columns"),
    [
        (sd.Domain(x=sd.Bins(0, 16, step=1)), {"x": "x"}),
        (sd.Domain(x=sd.Bins(edges=[None, 2.5, None])), {"x": "x"}),
        (sd.Domain(x=sd.Line(16)), {"x": "x"}),
        (sd.Domain(x=sd.Categories([1, 2])), {"x": "x"}),
        (sd.Domain(x=sd.Grid(4, 4)), {"x": ("x", "x")}),
        (sd.Domain(x=sd.LatLon(step=1, window=(0, 0, 4, 4))), {"x": ("x", "x")}),
        (sd.Domain(x=sd.Tiles(zoom=8, window=(0, 0, 4, 4))), {"x": ("x", "x")}),
        (sd.Domain(x=sd.Mesh("1km", rows=(100, 240), columns=(0, 160))), {"x": ("x", "x")}),
    ],
)
def test_not_a_number_is_seen_though_a_parquet_file_does_not_state_it(tmp_path, domain, columns):
    """The file states 1 and 2 as the least and the largest value and that none is missing."""
    path = tmp_path / "people.parquet"
    pq.write_table(pa.table({"x": [1.0, float("nan"), 2.0], "person": [1, 2, 3]}), path)
    records = sd.read(path)
    assert records.count(domain, columns=columns, unit="person", outside="drop").total <= 2
    with pytest.raises(sd.SudareError, match="outside the domain"):
        records.count(domain, columns=columns, unit="person", outside="error")


@pytest.mark.parametrize("outside", ["drop", "clamp"])
@pytest.mark.parametrize("bins", [sd.Bins(0, 16, step=1), sd.Bins(edges=[None, 2.5, None])], ids=["closed", "open"])
def test_a_missing_value_of_one_person_changes_nobody_elses_count(tmp_path, bins, outside):
    """A Parquet file states whether a value is missing, and nothing of NaN: the one must not decide about the other."""
    path, totals = tmp_path / "people.parquet", []
    for more in ([], [None]):
        values = [1.0, 2.0, 3.0, *[float("nan")] * 20, *more]
        pq.write_table(pa.table({"x": pa.array(values, pa.float64()), "person": range(len(values))}), path)
        totals.append(sd.read(path).count(sd.Domain(x=bins), unit="person", outside=outside).total)
    assert totals == [3, 3]
