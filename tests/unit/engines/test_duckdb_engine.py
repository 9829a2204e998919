"""What DuckDB is asked, and in which thread."""

import threading
from types import SimpleNamespace

import pytest

from sudare.engines.duckdb_engine import DuckdbShell


@pytest.mark.parametrize("ask", [lambda shell: shell.view("v", "SELECT 1"), lambda shell: shell.keep("t", "SELECT 1")])
def test_no_statement_runs_in_the_main_thread(ask):
    """There a signal would become an error of DuckDB's own, in the middle of a run that it should end in order."""
    seen = []
    connection = SimpleNamespace(execute=lambda _: seen.append(threading.current_thread()), interrupt=lambda: None)
    ask(DuckdbShell(connection))
    assert len(seen) == 1
    assert seen[0] is not threading.main_thread()
