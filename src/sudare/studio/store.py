"""The studio's own file: SQLite in the hidden folder, for versions of recipes and for jobs.

Every session opens and closes its own connection. What has been committed survives a killed process and a power cut.
`alone` is a lock between all servers and jobs of a workspace; the system frees it when its holder dies.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from sudare.errors import InputError, system_reason
from sudare.privacy.private_files import locked
from sudare.privacy.sqlite_faults import Fault, connect, faults_as
from sudare.studio.workspace import Workspace
from sudare.workflow.folder import flush

_FORMAT = 1
_TABLES = """
CREATE TABLE versions (
  recipe TEXT NOT NULL, version INTEGER NOT NULL, time TEXT NOT NULL, change TEXT NOT NULL, text TEXT NOT NULL,
  valid INTEGER NOT NULL, back INTEGER, forward TEXT NOT NULL, before TEXT NOT NULL, written INTEGER NOT NULL,
  PRIMARY KEY (recipe, version));
CREATE TABLE jobs (
  id TEXT PRIMARY KEY, recipe TEXT NOT NULL, verb TEXT NOT NULL, task TEXT NOT NULL, time TEXT NOT NULL,
  state TEXT NOT NULL, stage TEXT NOT NULL, fraction REAL NOT NULL, error TEXT, result TEXT);
"""


@contextmanager
def session(workspace: Workspace) -> Iterator[sqlite3.Connection]:
    """A transaction that holds the write lock; committed at the end, or without a trace after an exception."""
    path = workspace.hidden / "studio.db"

    def refusal(fault: Fault) -> InputError:
        return InputError(
            "the studio's file {fault}", value=str(path), hint="Move it away to start over.", fault=fault.sentence
        )

    with faults_as(refusal), closing(connect(path, "rwc", timeout=20)) as connection:
        connection.row_factory = sqlite3.Row
        connection.execute("BEGIN IMMEDIATE")
        _prepare(connection)
        yield connection
        connection.execute("COMMIT")


def _prepare(connection: sqlite3.Connection) -> None:
    (found,) = connection.execute("PRAGMA user_version").fetchone()
    if found == _FORMAT:
        return
    if found:
        raise InputError("the studio's file is of another version of Sudare", value=found, allowed=[_FORMAT])
    for statement in _TABLES.split(";"):
        connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {_FORMAT}")


@contextmanager
def alone(workspace: Workspace) -> Iterator[None]:
    """No other process or thread reads and replaces the recipe at the same time."""
    with locked(workspace.lock):
        yield


def replace_file(path: Path, text: str) -> None:
    """Put ``text`` in the place of a file: whole or not at all, also after a power cut."""
    partial = path.with_name(f".{path.name}.partial-{os.getpid()}")
    try:
        with partial.open("w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            partial.chmod(path.stat().st_mode & 0o777)
        partial.replace(path)
        flush(path.parent)
    except OSError as problem:
        partial.unlink(missing_ok=True)
        raise InputError(
            "the recipe cannot be written: {reason}", value=path.name, reason=system_reason(problem)
        ) from None
