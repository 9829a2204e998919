"""Python runs this at the start of every process that has this folder on its path: tests of mutants put it there."""

import os
import runpy
from pathlib import Path

if name := os.environ.get("SUDARE_TEST_MUTANT"):
    runpy.run_path(str(Path(__file__).resolve().parents[1] / "planting.py"), run_name="planting")["plant"](name)
