"""SQLite files of the ledger, the collector and the studio: how they are opened and marked, and what goes wrong."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, NamedTuple

from sudare.errors import Message

# SQLite quotes a table's definition that it cannot read, and Python fails to decode a quotation that is not text.
FAILURES = (sqlite3.Error, UnicodeDecodeError)
LOCKED = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)

_LOCKED = (Message("is locked by another process"), Message("Wait until it has ended, then try again."))
_UNWRITABLE = (Message("is not writable"), Message("Allow writing to the file and its folder."))
_KNOWN = {
    **dict.fromkeys(LOCKED, _LOCKED),
    sqlite3.SQLITE_NOTADB: (Message("is not a SQLite database"), Message("Give the path of a file that Sudare made.")),
    sqlite3.SQLITE_CORRUPT: (
        Message("is damaged"),
        Message("Restore it from a backup; a ledger then lacks releases, to be booked with: sudare ledger reconcile."),
    ),
    sqlite3.SQLITE_READONLY: _UNWRITABLE,
    sqlite3.SQLITE_PERM: _UNWRITABLE,
    sqlite3.SQLITE_CANTOPEN: (
        Message("cannot be opened"),
        Message("Allow reading and writing of the file and its folder."),
    ),
    sqlite3.SQLITE_FULL: (
        Message("cannot be written: the disk is full"),
        Message("Nothing was written; make room, then try again."),
    ),
    sqlite3.SQLITE_IOERR: (
        Message("cannot be read or written: the disk is full or fails"),
        Message("Make room, then try again."),
    ),
}


class Fault(NamedTuple):
    """SQLite's primary code, what the file is or cannot, and what to do."""

    code: int
    sentence: Message
    hint: Message | None


def fault_of(error: Exception) -> Fault:
    """One of `FAILURES` in words.

    >>> print(fault_of(sqlite3.OperationalError("no such table: entries")).sentence)
    cannot be used: no such table: entries
    """
    unknown = sqlite3.SQLITE_ERROR if isinstance(error, sqlite3.Error) else sqlite3.SQLITE_CORRUPT
    return fault_of_code(getattr(error, "sqlite_errorcode", unknown) & 0xFF, str(error))


def fault_of_code(code: int, said: str = "") -> Fault:
    """The same for a primary code."""
    return Fault(code, *_KNOWN.get(code, (Message("cannot be used: {said}", said=said), None)))


@contextmanager
def faults_as(refusal: Callable[[Fault], Exception]) -> Iterator[None]:
    """Turn errors of SQLite into the exception that ``refusal`` makes of them."""
    try:
        yield
    except FAILURES as error:
        raise refusal(fault_of(error)) from None


def connect(
    path: Path,
    mode: Literal["rw", "rwc"],
    timeout: float,
    synchronous: Literal["EXTRA", "FULL"] = "EXTRA",
    *,
    any_thread: bool = False,
) -> sqlite3.Connection:
    """A connection that commits when told to, and waits ``timeout`` seconds for a lock; "rwc" makes a missing file.

    What was committed is there after a power cut. With a rollback journal that needs EXTRA, which is FULL and a sync
    of the folder after the journal is gone: without it the journal could come back and undo a commit that was already
    reported. With a write-ahead log FULL is enough.
    """
    address = f"{path.absolute().as_uri()}?mode={mode}"
    opened = sqlite3.connect(address, timeout, isolation_level=None, check_same_thread=not any_thread, uri=True)
    try:
        opened.execute(f"PRAGMA synchronous = {synchronous}")
    except FAILURES:
        opened.close()
        raise
    return opened


def format_of(connection: sqlite3.Connection, application: int, foreign: Exception) -> int | None:
    """The format that `mark` wrote into a file; None for one without tables. Raises ``foreign`` for other programs'."""
    (found,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if (found, version, tables) == (0, 0, 0):
        return None
    if found != application:
        raise foreign
    return int(version)


def mark(connection: sqlite3.Connection, application: int, version: int) -> None:
    """Write the application id and the format version into the header of the file."""
    connection.execute(f"PRAGMA application_id = {application}")
    connection.execute(f"PRAGMA user_version = {version}")
