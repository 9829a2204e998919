"""Every example runs, and so does the code of the README."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from sudare.publish import write_city

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.name)
def test_an_example_runs(path, tmp_path):
    done = subprocess.run([sys.executable, path], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_the_code_of_the_readme_runs(tmp_path):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 2
    code = "\n".join(blocks)
    (tmp_path / "out" / "demo").mkdir(parents=True)
    write_city(tmp_path / "out" / "demo" / "people.parquet", 20_000)
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "epsilon-DP with epsilon = 0.5" in done.stdout
