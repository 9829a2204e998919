"""What is counted has the name that was declared, in the guarantee and on the pages."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sudare as sd
from sudare.privacy import Fact, Unit


def accidents(folder, **data):
    pq.write_table(pa.table({"hour": [1, 2, 2, 3] * 50, "number": list(range(200))}), folder / "accidents.parquet")
    return {
        "kind": "table",
        "dataset": "accidents",
        "data": {"path": "accidents.parquet", "unit_name": "accident", **data},
        "domain": {"hour": {"type": "line", "length": 24}},
        "privacy": {"epsilon": 1},
        "ledger": {"path": "ledger.db", "cap": {"epsilon": 2}},
        "output": {"folder": "release"},
    }


@pytest.mark.parametrize("language", ["en", "ja"])
def test_an_accident_is_no_person(tmp_path, language):
    made = sd.publish({**accidents(tmp_path), "report": {"language": language}}, folder=tmp_path)
    page = made.report.read_text(encoding="utf-8")
    assert "accident" in page
    for word in ("people", "person", "個人", "人がいる", "人数"):
        assert word not in page.partition("<body")[2].replace("data about people", ""), word
    assert made.release.guarantee.unit == Unit("accident", counted_elsewhere=True)


def test_rows_of_another_name_rest_on_an_assumption_and_ids_do_not(tmp_path):
    rows = sd.plan(accidents(tmp_path), folder=tmp_path).guarantee
    assert Fact("counted_once", unit="accident") in rows.assumptions
    ids = sd.plan(accidents(tmp_path, unit="number"), folder=tmp_path).guarantee
    assert ids.unit == Unit("accident")
    assert not ids.assumptions
