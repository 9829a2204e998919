"""Every example runs, and draws the pictures that the pages show."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_an_example_runs(path, tmp_path):
    draws = "--pictures" in path.read_text(encoding="utf-8")
    options = ["--pictures", tmp_path] if draws else []
    done = subprocess.run([sys.executable, path, *options], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout
    drawn = list(tmp_path.glob("*.png"))
    assert bool(drawn) == draws
    for picture in drawn:
        assert picture.read_bytes().startswith(b"\x89PNG")
        assert (ROOT / "docs" / "images" / picture.name).is_file()
