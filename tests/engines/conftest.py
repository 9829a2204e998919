"""Every test in this folder runs on DuckDB, and those of `ON_SPARK` on Spark too: there, each question takes a second.

The SQL is one text for both engines and test_spark.py compares them; with SUDARE_SPARK=all every test runs on both.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pyarrow
import pytest

from sudare.engines import Records, read

ON_SPARK = {
    "test_a_person_with_a_row_outside_is_refused_too",
    "test_an_empty_source_is_an_empty_table",
    "test_large_units_stay_apart",
    "test_masked_cells_lie_outside",
    "test_several_attributes_and_the_unit_together",
    "test_the_sentence",
    "test_tuples_with_their_rows",
    "test_values_are_arrays_of_one_order",
}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "engine" in metafunc.fixturenames:
        both = metafunc.function.__name__ in ON_SPARK or os.environ.get("SUDARE_SPARK") == "all"
        metafunc.parametrize("engine", ["duckdb", "spark"] if both else ["duckdb"])


@pytest.fixture
def records(engine: str, request: pytest.FixtureRequest) -> Callable[[dict[str, Any]], Records]:
    """Makes records of columns, given as lists or Arrow arrays, on one engine."""
    if engine == "spark":
        request.getfixturevalue("spark")
    return lambda columns: read(pyarrow.table(columns), engine=engine)
