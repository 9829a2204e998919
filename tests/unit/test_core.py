"""The core without its extras: what it does, and that what it cannot do is refused before anything is spent."""

import subprocess
import sys
from pathlib import Path

import pytest

from recipes import one_of_each_kind

EXTRAS = (
    "pyarrow",
    "pandas",
    "polars",
    "narwhals",
    "scipy",
    "vl_convert",
    "shapely",
    "pyproj",
    "shapefile",
    "h3",
    "openpyxl",
    "psycopg",
    "pyspark",
    "fastapi",
)
HIDDEN = f"import sys; sys.modules.update(dict.fromkeys({EXTRAS}))\n"  # a module that is None cannot be imported


def run(code: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-c", HIDDEN + code, *map(str, arguments)]
    return subprocess.run(words, capture_output=True, text=True, check=False)


def test_a_table_needs_no_extra():
    done = run("import runpy; runpy.run_path(sys.argv[1], run_name='__main__')", Path(__file__).parents[1] / "core.py")
    assert done.returncode == 0, done.stderr
    assert "released, published, verified" in done.stdout


@pytest.mark.parametrize("kind", ["sample", "perturbation", "weights"])
def test_a_kind_without_its_extra_spends_nothing(tmp_path, kind):
    recipe = one_of_each_kind(tmp_path)[kind]
    code = "from sudare.cli import main; main(['publish', sys.argv[1], '--quiet', '--yes'])"
    done = run(code, recipe)
    assert done.returncode == 1
    assert done.stderr == "Error: SciPy is not installed here. Run: pip install 'sudare[science]'\n"
    assert not (recipe.parent / "ledger.db").exists()
