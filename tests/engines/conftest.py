"""Every test in this folder runs on every engine: an engine is one entry of `ENGINES`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow
import pytest

from sudare.engines import Records, read

ENGINES: dict[str, Callable[[pyarrow.Table], Records]] = {"duckdb": read}


@pytest.fixture(params=sorted(ENGINES))
def records(request: pytest.FixtureRequest) -> Callable[[dict[str, Any]], Records]:
    """Makes records of columns, given as lists or Arrow arrays, on one engine."""
    return lambda columns: ENGINES[request.param](pyarrow.table(columns))
