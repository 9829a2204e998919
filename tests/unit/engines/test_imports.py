"""The engines are there at once; what they need is loaded when they are used."""

from __future__ import annotations

import subprocess
import sys


def test_heavy_packages_are_loaded_late() -> None:
    heavy = "{'duckdb', 'pyarrow', 'narwhals', 'pandas', 'polars'}"
    code = f"import sys, sudare.engines; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"
