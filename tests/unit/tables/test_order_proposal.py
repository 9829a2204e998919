"""What `plan` says of two attributes with many bins: that interleaving them is worth a thought."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sudare as sd

BINS = {"type": "bins", "start": 0, "stop": 64, "step": 1}


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({}, '[["north", "east"], ["sex"]]'),
        ({"order": ["north", "east", "sex"]}, None),
        (
            {"domain": {"north": BINS, "east": {**BINS, "stop": 8}, "sex": {"type": "categories", "values": ["f"]}}},
            None,
        ),
    ],
    ids=["proposed", "declared", "few bins"],
)
def test_interleaving_is_proposed_and_written_out(tmp_path, more, said):
    pq.write_table(pa.table({"person": [1], "north": [3], "east": [4], "sex": ["f"]}), tmp_path / "people.parquet")
    recipe = {
        "kind": "table",
        "dataset": "points",
        "data": {"path": str(tmp_path / "people.parquet"), "unit": "person"},
        "domain": {"north": BINS, "east": BINS, "sex": {"type": "categories", "values": ["f", "m"]}},
        "method": {"name": "laplace"},
        "privacy": {"epsilon": 1},
        "ledger": {"path": str(tmp_path / "ledger.db")},
        "output": {"folder": str(tmp_path / "release")},
        **more,
    }
    found = sd.plan(recipe).outlook.facts.get("order")
    assert (None if found is None else dict(found.fields)["order"]) == said
