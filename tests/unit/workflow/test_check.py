"""The private look: every fault that files have is found by column and reason, and nothing is spent or shown."""

import json
import os
import pty
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import sudare as sd
from recipes import villagers
from sudare.cli import main
from sudare.errors import InputError
from sudare.privacy import Fact

FAULTS = """id,lat,lon,sex,age
1,35.40,139.41,f,30
2,35.40,139.41, F,30
3,139.41,35.40,f,30
4,35.40,139.41,ｆ,３０
5,35.40,139.41,x,30
6,,139.41,f,30
7,35.40,139.41,f,"30,5"
8,35.40,139.41,f,thirty
9,35.40,139.41,f,300
,35.40,139.41,f,30
10,35.40,139.41,f,30
10,35.40,139.41,m,30
NULL,35.40,139.41,m,"1,030"
"""
RECIPE = """
kind = "table"
dataset = "faults"
[data]
path = "faults.csv"
unit = "id"
outside = "drop"
missing_unit = "drop"
[domain.mesh]
type = "mesh"
size = "500m"
rows = [8480, 8512]
columns = [6300, 6316]
from = ["lat", "lon"]
[domain.sex]
type = "categories"
values = ["f", "m"]
[domain.age]
type = "bins"
start = 0
stop = 100
step = 10
[privacy]
epsilon = 1
[ledger]
path = "ledger.db"
cap = { epsilon = 1 }
[output]
folder = "release"
[report]
internal = true
"""


@pytest.fixture
def faults(tmp_path):
    (tmp_path / "faults.csv").write_text(FAULTS, encoding="utf-8")
    path = tmp_path / "recipe.toml"
    path.write_text(RECIPE, encoding="utf-8")
    return path


def test_each_fault_has_its_column_and_reason(faults):
    found = sd.check(faults)
    reasons = {(each.columns, str(each.code)): each.rows for each in found.reasons}
    assert reasons == {
        (("lat", "lon"), "swapped"): 1,
        (("lat", "lon"), "missing"): 1,
        (("sex",), "case"): 1,
        (("sex",), "unknown"): 1,
        (("age",), "decimal_comma"): 2,
        (("age",), "not_a_number"): 1,
        (("age",), "outside"): 1,
        (("id",), "no_id"): 2,
        (("id",), "over_limit"): 1,
    }
    assert (found.rows, found.fitting, found.found.people) == (13, 3, 3)
    assert found.found.outside + found.found.over_limit + found.fitting == found.rows
    assert found.needs_confirmation
    assert not found.would_refuse


def test_what_would_be_counted_is_what_is_counted(faults):
    # The released total of a seeded count has no part in this: the table itself is compared.
    from sudare.noise import Source
    from sudare.workflow.job import Job

    assert Job.ready(faults).kind.gather(Source.system()).total == sd.check(faults).fitting


def test_nothing_is_spent_and_values_come_on_request_only(faults):
    shown = CliRunner().invoke(main, ["check", str(faults)])
    assert shown.exit_code == 0, shown.output
    assert "thirty" not in shown.output
    assert "INTERNAL" in shown.output
    told = CliRunner().invoke(main, ["check", str(faults), "--values", "--language", "ja"])
    assert "thirty" in told.output
    assert "内部用" in told.output
    as_json = json.loads(CliRunner().invoke(main, ["check", str(faults), "--json"]).stdout)
    assert as_json["internal"] is True
    assert as_json["fitting"] == 3
    assert not (faults.parent / "release").exists()
    assert sd.plan(faults).balance.releases == 0


def test_a_plan_looks_only_if_asked(faults):
    assert sd.plan(faults).look is None
    assert "private_look" not in sd.plan(faults).to_json()
    assert sd.plan(faults, private=True).look.fitting == 3
    shown = CliRunner().invoke(main, ["plan", str(faults), "--private"])
    assert "INTERNAL" in shown.output


def test_rows_that_would_be_refused_are_said(faults):
    faults.write_text(RECIPE.replace('missing_unit = "drop"', ""), encoding="utf-8")
    assert sd.check(faults).would_refuse
    with pytest.raises(InputError, match="some rows have no unit"):
        sd.publish(faults)


def test_the_internal_report_says_how_many_were_dropped_and_the_public_files_nothing(faults):
    made = sd.publish(faults)
    internal = made.internal_report.read_text(encoding="utf-8")
    assert "rows outside, or without an id" in internal
    assert "decimal comma" in internal
    for path in made.folder.iterdir():
        content = path.read_bytes()
        assert b"without an id" not in content
        assert b"decimal comma" not in content


def test_a_declared_refusal_is_in_the_guarantee(faults):
    faults.write_text(RECIPE.replace('outside = "drop"', 'outside = "drop"\nrefuse_if_dropped = 0.2'), encoding="utf-8")
    assert Fact("refused", share="0.2") in sd.plan(faults).guarantee.assumptions
    with pytest.raises(InputError, match="refuse_if_dropped allows"):
        sd.publish(faults)
    assert sd.plan(faults).balance.releases == 0


def test_a_declared_refusal_that_does_not_happen_is_stated_and_verified(village):
    village.change(('outside = "drop"', 'outside = "drop"\nrefuse_if_dropped = 0.2'))
    made = sd.publish(village.recipe)
    assert Fact("refused", share="0.2") in made.release.guarantee.assumptions
    assert sd.verify(village.folder / "release" / "release.json")


def _in_a_terminal(recipe, answer):
    """What `sudare publish` prints where somebody sits, who answers so."""
    leader, follower = pty.openpty()
    command = [sys.executable, "-m", "sudare", "publish", str(recipe)]
    process = subprocess.Popen(command, stdin=follower, stdout=follower, stderr=follower, close_fds=True)
    os.close(follower)
    os.write(leader, answer)
    said = b""
    try:
        while piece := os.read(leader, 4096):
            said += piece
    except OSError:  # Linux says so that nobody writes any more
        pass
    os.close(leader)
    return process.wait(timeout=120), said.decode(errors="replace")


def test_publish_asks_in_a_terminal(village):
    people = villagers()
    far = people.set_column(1, "lat", pa.array([0.0] * 100 + people.column("lat").to_pylist()[100:]))
    pq.write_table(far, village.folder / "people.parquet")
    code, said = _in_a_terminal(village.recipe, b"n\n")
    assert (code, "Nothing was spent" in said) == (1, True), said
    assert sd.plan(village.recipe).balance.releases == 0
    code, said = _in_a_terminal(village.recipe, b"y\n")
    assert code == 0, said
    assert sd.plan(village.recipe).balance.releases == 1


def test_counts_are_looked_at_too(tmp_path):
    pq.write_table(pa.table({"place": [0, 1, 1, 9, 2], "n": [5, 3, 2, 1, -4]}), tmp_path / "counts.parquet")
    recipe = {
        "kind": "table",
        "dataset": "counts",
        "data": {"path": "counts.parquet", "counts": "n", "unit_name": "person", "outside": "drop"},
        "domain": {"place": {"type": "line", "length": 8}},
        "privacy": {"epsilon": 1},
        "output": {"folder": "release"},
    }
    found = sd.check(recipe, folder=tmp_path)
    assert {str(each.code): each.rows for each in found.reasons} == {"outside": 1, "not_a_count": 1, "twice": 1}
    assert found.would_refuse
