"""A run of the guided fuzzer over every kind of input: in the full form only."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from fault_attempts import ATTEMPTS

RUNS = 2_000


@pytest.mark.parametrize("name", ATTEMPTS)
def test_guided_by_coverage_nothing_is_found_either(name: str, full: bool, tmp_path: Path) -> None:
    if not full or find_spec("atheris") is None:
        pytest.skip("atheris runs with --full, and where it is installed: pip install 'sudare[fuzz]'")
    runs = RUNS // 10 if name in ("csv", "parquet") else RUNS  # an engine is started for each of these
    command = [sys.executable, Path(__file__).with_name("guided.py"), name, f"-runs={runs}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=3600, cwd=tmp_path)
    assert done.returncode == 0, done.stdout[-1000:] + done.stderr[-3000:]
    executed = re.search(r"number_of_executed_units: (\d+)", done.stderr)
    print(f"{name}: {executed[1]} guided inputs")
    assert int(executed[1]) >= runs
