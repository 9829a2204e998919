"""The ledger's file: SQLite, one append-only table, every fault as one sentence.

Each session opens and closes its own connection, so nothing is carried over a fork or between threads. A
writing session takes SQLite's write lock before it reads.
"""

from __future__ import annotations

import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from sudare.errors import LedgerError
from sudare.privacy.chain import COLUMNS, Entry, verified
from sudare.privacy.sqlite_faults import FAILURES, Fault, fault_of, fault_of_code

FORMAT = 1
FORMAT_WITH_ACCOUNTS = 2
"""Of a ledger with accounts of people: versions that cannot count them refuse it, and say so."""
_FORMATS = (FORMAT, FORMAT_WITH_ACCOUNTS)
_APPLICATION = 0x53554441  # "SUDA" in the header of the file
_TABLE = (
    "CREATE TABLE entries (id INTEGER PRIMARY KEY, time TEXT NOT NULL, dataset TEXT NOT NULL, "
    "kind TEXT NOT NULL, payload TEXT NOT NULL, previous TEXT NOT NULL, hash TEXT NOT NULL)"
)
_SELECT = f"SELECT {', '.join(COLUMNS)} FROM entries ORDER BY id"  # noqa: S608 - names of our own columns
_INSERT = f"INSERT INTO entries VALUES ({', '.join('?' * len(COLUMNS))})"  # noqa: S608 - question marks only


class Session:
    """The verified entries of an open ledger, and the way to add one."""

    def __init__(self, connection: sqlite3.Connection, entries: tuple[Entry, ...]) -> None:
        self._connection = connection
        self.entries = entries

    def append(self, entry: Entry) -> None:
        """Add the row that follows the last one; on the disk when the session has ended."""
        self._connection.execute(_INSERT, [getattr(entry, name) for name in COLUMNS])
        if entry.kind in ("account", "join"):
            self._connection.execute(f"PRAGMA user_version = {FORMAT_WITH_ACCOUNTS}")
        self.entries = (*self.entries, entry)


@contextmanager
def writing(path: Path, timeout: float) -> Iterator[Session]:
    """A session that holds the write lock; it commits at the end, or leaves no trace after an exception."""
    if not path.parent.is_dir():
        raise LedgerError(f"the folder of the ledger {path} does not exist", hint="Make the folder first.")
    exists(path)  # refuses what is no file, before SQLite writes beside it
    with _connection(path, "rwc", timeout) as connection:
        # EXTRA is FULL and a sync of the folder after the journal is gone: without it a power cut could bring
        # the journal back, and undo a spend that was already reported.
        connection.execute("PRAGMA synchronous = EXTRA")
        connection.execute("BEGIN IMMEDIATE")
        if _is_new(connection, path):
            connection.execute(_TABLE)
            connection.execute(f"PRAGMA application_id = {_APPLICATION}")
            connection.execute(f"PRAGMA user_version = {FORMAT}")
        yield Session(connection, _sound_entries(connection, path))
        connection.execute("COMMIT")


def read(path: Path, timeout: float) -> tuple[Entry, ...]:
    """All entries, verified; empty where there is no file."""
    if not exists(path):
        return ()
    # Not read-only: after a crash the next reader has to roll the journal back.
    with _connection(path, "rw", timeout) as connection:
        connection.execute("BEGIN")
        return () if _is_new(connection, path) else _sound_entries(connection, path)


def exists(path: Path) -> bool:
    """True where there is a file; `LedgerError` where one may not even look, or finds a folder or a device."""
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        raise LedgerError(f"the ledger {path} cannot be opened", hint="Allow reading of its folder.") from None
    if not stat.S_ISREG(mode):
        raise LedgerError(f"the ledger {path} is not a regular file", hint="Give the path of a file, or of a new one.")
    return True


@contextmanager
def _connection(path: Path, mode: str, timeout: float) -> Iterator[sqlite3.Connection]:
    """An open file; closing it without COMMIT rolls back."""
    try:
        address = f"{path.absolute().as_uri()}?mode={mode}"
        with closing(sqlite3.connect(address, timeout, isolation_level=None, uri=True)) as connection:
            # A row with broken text shall fail by its hash, under its number.
            connection.text_factory = lambda text: text.decode("utf-8", "surrogateescape")
            yield connection
    except FAILURES as error:
        raise _refusal(path, fault_of(error)) from None


def _sound_entries(connection: sqlite3.Connection, path: Path) -> tuple[Entry, ...]:
    """The rows, after checking their chain and the pages they lie on: a lost page can look like an end."""
    found = [name for _, name, *_ in connection.execute("PRAGMA table_info(entries)")]
    found += [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")]
    if found != list(COLUMNS):
        raise LedgerError(
            f"the ledger {path} has other columns or triggers than Sudare gave it",
            value=", ".join(found),
            allowed=", ".join(COLUMNS),
            hint="Another program changed it: take out there what it added, or go back to the file as Sudare left it.",
        )
    entries = verified(connection.execute(_SELECT), str(path))
    if connection.execute("PRAGMA integrity_check(1)").fetchone() != ("ok",):
        raise _refusal(path, fault_of_code(sqlite3.SQLITE_CORRUPT))
    return entries


def _refusal(path: Path, fault: Fault) -> LedgerError:
    return LedgerError(f"the ledger {path} {fault.sentence}", hint=fault.hint)


def _is_new(connection: sqlite3.Connection, path: Path) -> bool:
    """True for a file of no bytes; refuses the files of other programs and other formats."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if (application, version, tables) == (0, 0, 0) and path.stat().st_size == 0:
        return True
    if application != _APPLICATION:
        raise LedgerError(f"{path} is a database, but not a ledger of Sudare", hint="Give the ledger's path.")
    if version not in _FORMATS:
        raise LedgerError(
            f"the ledger {path} has a format that this version of Sudare does not know",
            value=version,
            allowed=" or ".join(map(str, _FORMATS)),
            hint="Use the version that wrote it, or a newer one.",
        )
    return False
