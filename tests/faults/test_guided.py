"""A run of the guided fuzzer over every kind of input: in the full form only."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from fault_attempts import ATTEMPTS, quick_scratch

RUNS = 10_000


@pytest.fixture(autouse=True)
def in_full_only(full: bool) -> None:
    if not full or find_spec("atheris") is None:
        pytest.skip("atheris runs with --full, and where it is installed: pip install 'sudare[fuzz]'")


def guided(name: str, runs: int, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, Path(__file__).with_name("guided.py"), name, f"-runs={runs}"]
    with TemporaryDirectory(dir=quick_scratch()) as scratch:
        environment = os.environ | {"TMPDIR": scratch}
        return subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=3600, cwd=folder, env=environment
        )


@pytest.mark.parametrize("name", ATTEMPTS)
def test_guided_by_coverage_nothing_is_found_either(name: str, tmp_path: Path) -> None:
    runs = RUNS // 10 if name in ("csv", "parquet") else RUNS  # an engine is started for each of these
    done = guided(name, runs, tmp_path)
    assert done.returncode == 0, done.stdout[-1000:] + done.stderr[-3000:]
    executed = re.search(r"number_of_executed_units: (\d+)", done.stderr)
    before, after = (re.search(rf"{word}\s+cov: (\d+)", done.stderr)[1] for word in ("INITED", "DONE"))
    different = re.findall(r"different inputs: (\d+)", done.stdout)[-1]
    print(f"{name}: {executed[1]} guided runs, {different} different inputs, coverage {before} to {after}")
    assert int(executed[1]) >= runs
    assert int(different) >= runs // 5


def test_the_guided_fuzzer_finds_what_chance_does_not(tmp_path: Path) -> None:
    done = guided("planted", 500_000, tmp_path)
    assert done.returncode != 0
    assert "KeyError: 'planted'" in done.stdout + done.stderr
