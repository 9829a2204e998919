"""What a command loads, and how far `publish` is from the noise: names of packages load when they are first used."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sudare
from sudare.noise.measurement import measure
from sudare.workflow import publish

LAZY = ("domain", "engines", "measure", "noise", "privacy", "recipe", "render", "tables", "workflow")
HEAVY = ("duckdb", "pyarrow", "pandas", "narwhals", "scipy", "jinja2", "rich.console")
SAMPLE = """
kind = "sample"
dataset = "village"
accept_no_guarantee = true
data = {path = "few.parquet"}
hierarchies.age = {widths = [1, 10, 50], low = 0, high = 100}
sample = {k = 3, rate = 0.5, levels = {age = 1}}
ledger = {path = "ledger.db", cap = {epsilon = 1000}}
output = {folder = "sample", key = "publisher.pem"}
report = {public = false}
"""
LOADED = """
import json, sys
from sudare.cli import main
try:
    main(sys.argv[1:])
except SystemExit as end:
    assert not end.code, end.code
print()
print(json.dumps(sorted(sys.modules)))
"""


def loaded(*command: object) -> set[str]:
    """Modules that are loaded when a command has ended."""
    words = [sys.executable, "-c", LOADED, *map(str, command)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout.splitlines()[-1]))


def ours(modules: set[str]) -> set[str]:
    return {name for name in modules if name.partition(".")[0] == "sudare"}


def test_a_command_loads_what_it_runs(village):
    recipe = village.change(("[output]\n", "[output]\nbars = false\n"))
    planned = loaded("plan", recipe)
    assert not {name for name in HEAVY if name != "duckdb"} & planned  # which names the columns
    assert not {"sudare.tables.error_bars", "sudare.workflow.publication"} & planned
    published = loaded("publish", recipe, "--quiet")
    assert not {"pyarrow", "scipy", "pyspark", "jinja2", "sudare.tables.error_bars", "sudare.render.charts"} & published
    assert len(ours(published)) <= 110
    verified = loaded("verify", recipe.parent / "release")
    assert not ({"pydantic", *HEAVY} - {"duckdb"}) & verified
    assert len(ours(verified)) <= 80
    assert not {"sudare.engines.read", "sudare.workflow.job", "sudare.workflow.publication"} & verified


def test_a_sample_loads_nothing_of_tables(tmp_path):
    pq.write_table(pa.table({"age": [number % 90 for number in range(900)]}), tmp_path / "few.parquet")
    (tmp_path / "sample.toml").write_text(SAMPLE)
    for command in (("plan", "sample.toml"), ("publish", "sample.toml", "--quiet"), ("verify", "sample")):
        name, path, *more = command
        found = ours(loaded(name, tmp_path / path, *more))
        assert not {module for module in found if module.startswith("sudare.tables")}, name


def test_noise_is_at_most_eight_calls_below_publish(village):
    depths = []

    def watch(frame, event, _):
        if event == "call" and frame.f_code is measure.__code__:
            depth, caller = 0, frame
            while caller.f_code is not publish.__wrapped__.__code__:
                depth += Path(caller.f_code.co_filename).is_relative_to(Path(sudare.__file__).parent)
                caller = caller.f_back
            depths.append(depth)

    recipe, before = village.change(("[output]\n", "[output]\nbars = false\n")), sys.getprofile()
    sys.setprofile(watch)
    try:
        publish(recipe)
    finally:
        sys.setprofile(before)
    assert depths
    assert max(depths) <= 8


@pytest.mark.parametrize("folder", LAZY)
def test_every_name_of_a_folder_is_there_and_listed(folder):
    package = importlib.import_module(f"sudare.{folder}")
    assert set(package.__all__) <= set(dir(package))
    for name in package.__all__:
        assert getattr(package, name).__class__.__name__ != "module", name
    with pytest.raises(AttributeError, match=f"module 'sudare.{folder}' has no attribute 'nothing'"):
        _ = package.nothing


def test_a_module_does_not_hide_the_function_of_its_name():
    code = "import sudare.workflow.plan, sudare.workflow, sudare.tables.release, sudare.tables, sudare.engines.read; "
    code += "print(sudare.workflow.plan.__name__, sudare.tables.release.__name__, sudare.engines.read.__name__)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["plan", "release", "read"]
