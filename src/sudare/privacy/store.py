"""The ledger's file: SQLite, one append-only table, every fault as one sentence; and its export as text.

Each session opens and closes its own connection, so nothing is carried over a fork or between threads. A
writing session takes SQLite's write lock before it reads.

The export, for long-term backups and to move a ledger without SQLite, is JSON lines: one that states the format, the
number of rows and the head, then one for each row with its columns as they are, so that the chain can be checked from
the text alone. The key of the fingerprints is a secret and not part of it.
"""

from __future__ import annotations

import json
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from sudare.errors import InputError, LedgerError, Message, OutputError, system_reason
from sudare.privacy.chain import COLUMNS, FEWEST, STEP, Checkpoint, Entry, verified
from sudare.privacy.private_files import write_secret
from sudare.privacy.sqlite_faults import Fault, connect, fault_of_code, faults_as, format_of, mark

FORMAT = 1
FORMAT_WITH_ACCOUNTS = 2
"""Of a ledger with accounts of people: versions that cannot count them refuse it, and say so."""
_APPLICATION = 0x53554441  # "SUDA" in the header of the file
_TABLE = (
    "CREATE TABLE entries (id INTEGER PRIMARY KEY, time TEXT NOT NULL, dataset TEXT NOT NULL, "
    "kind TEXT NOT NULL, payload TEXT NOT NULL, previous TEXT NOT NULL, hash TEXT NOT NULL)"
)
_SELECT = f"SELECT {', '.join(COLUMNS)} FROM entries"  # noqa: S608 - names of our own columns
_INSERT = f"INSERT INTO entries VALUES ({', '.join('?' * len(COLUMNS))})"  # noqa: S608 - question marks only


@dataclass
class LedgerSession:
    """The verified entries of an open ledger, or those after a ``checkpoint``; its last row, the first one's hash."""

    connection: sqlite3.Connection
    entries: tuple[Entry, ...]
    checkpoint: Checkpoint
    last: Entry | None
    first: str

    def mentioning(self, *texts: str) -> tuple[Entry, ...]:
        """Rows that may have one of ``texts`` (ASCII) in their payload or as their hash: all after the checkpoint too.

        SQLite looks for the characters alone, so that few rows have to be opened to know.
        """
        sought = " OR ".join(["instr(payload, ?) OR hash = ?"] * len(texts)) or "FALSE"
        doubled = [text for text in texts for _ in range(2)]
        before = self.connection.execute(f"{_SELECT} WHERE id <= ? AND ({sought})", [self.checkpoint.row, *doubled])
        return (*(Entry(*row) for row in before), *self.entries)

    def holds(self, head: str) -> bool:
        """Whether a row has the hash ``head``, or names it as one that it stands for."""
        found = self.mentioning(head)
        return any(e.hash == head or (e.kind == "spend" and head in e.content.get("heads", ())) for e in found)

    def append(self, entry: Entry) -> None:
        """Add the row that follows the last one; on the disk when the session has ended."""
        self.connection.execute(_INSERT, [getattr(entry, name) for name in COLUMNS])
        if entry.kind in ("account", "join"):
            self.connection.execute(f"PRAGMA user_version = {FORMAT_WITH_ACCOUNTS}")
        self.entries = (*self.entries, entry)
        self.last = entry


@contextmanager
def writing(path: Path, timeout: float, *, resumed: bool = False) -> Iterator[LedgerSession]:
    """A session that holds the write lock; it commits at the end, or leaves no trace after an exception.

    ``resumed``: rows before a checkpoint are not read. Before this returns a new connection has read the last row back.
    """
    if not path.parent.is_dir():
        raise LedgerError("the folder of the ledger {path} does not exist", hint="Make the folder first.", path=path)
    exists(path)  # refuses what is no file, before SQLite writes beside it
    with _connection(path, "rwc", timeout) as connection:
        connection.execute("BEGIN IMMEDIATE")
        if _is_new(connection, path):
            connection.execute(_TABLE)
            mark(connection, _APPLICATION, FORMAT)
        session = _session(connection, path, resumed)
        before = session.last
        yield session
        connection.execute("COMMIT")
    if session.last is not None and session.last is not before:
        _read_back(path, timeout, session.last)
        if resumed and session.last.id >= FEWEST and len(session.entries) >= STEP:
            session.checkpoint.moved(session.entries).remember(session.first)


@contextmanager
def reading(path: Path, timeout: float, *, resumed: bool = True) -> Iterator[LedgerSession | None]:
    """A session that reads, if ``resumed`` the rows after a checkpoint alone; None where there is no ledger yet."""
    if not exists(path):
        yield None
        return
    # Not read-only: after a crash the next reader has to roll the journal back.
    with _connection(path, "rw", timeout) as connection:
        connection.execute("BEGIN")
        yield None if _is_new(connection, path) else _session(connection, path, resumed)


def read(path: Path, timeout: float) -> tuple[Entry, ...]:
    """All entries, verified; empty where there is no file."""
    with reading(path, timeout, resumed=False) as session:
        return () if session is None else session.entries


def exists(path: Path) -> bool:
    """True where there is a file; `LedgerError` where one may not even look, or finds a folder or a device."""
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        raise LedgerError(
            "the ledger {path} cannot be opened", hint="Allow reading of its folder.", path=path
        ) from None
    if not stat.S_ISREG(mode):
        raise LedgerError(
            "the ledger {path} is not a regular file", hint="Give the path of a file, or of a new one.", path=path
        )
    return True


@contextmanager
def _connection(path: Path, mode: Literal["rw", "rwc"], timeout: float) -> Iterator[sqlite3.Connection]:
    """An open file; closing it without COMMIT rolls back."""
    with faults_as(lambda fault: _refusal(path, fault)), closing(connect(path, mode, timeout)) as connection:
        # A row with broken text shall fail by its hash, under its number.
        connection.text_factory = lambda text: text.decode("utf-8", "surrogateescape")
        yield connection


def _session(connection: sqlite3.Connection, path: Path, resumed: bool) -> LedgerSession:
    """The rows, after checking their chain and the pages they lie on: a lost page can look like an end."""
    columns = [name for _, name, *_ in connection.execute("PRAGMA table_info(entries)")]
    columns += [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")]
    if columns != list(COLUMNS):
        raise LedgerError(
            "the ledger {path} has other columns or triggers than Sudare gave it",
            value=", ".join(columns),
            allowed=COLUMNS,
            hint="Another program changed it: take out there what it added, or go back to the file as Sudare left it.",
            path=path,
        )

    def row(number: int) -> tuple[Any, ...] | None:
        found: tuple[Any, ...] | None = connection.execute(f"{_SELECT} WHERE id = ?", [number]).fetchone()
        return found

    first = str((row(1) or ("",))[-1])
    checkpoint = (Checkpoint.recalled(first) if resumed else None) or Checkpoint()
    marked, last = row(checkpoint.row), None
    if marked is not None and marked[-1] == checkpoint.head:
        (last,) = verified([marked], str(path), checkpoint.row - 1, str(marked[-2]))
        rows = connection.execute(f"{_SELECT} WHERE id > ? ORDER BY id", [checkpoint.row])
        entries = verified(rows, str(path), checkpoint.row, checkpoint.head)
    else:
        checkpoint = Checkpoint()
        entries = verified(connection.execute(f"{_SELECT} ORDER BY id"), str(path))
    if connection.execute("PRAGMA integrity_check(1)").fetchone() != ("ok",):
        raise _refusal(path, fault_of_code(sqlite3.SQLITE_CORRUPT))
    return LedgerSession(connection, entries, checkpoint, entries[-1] if entries else last, first)


def _read_back(path: Path, timeout: float, entry: Entry) -> None:
    """Look through a new connection whether the row that was committed is there: some network folders lose writes."""
    with _connection(path, "rw", timeout) as connection:
        found = connection.execute(f"{_SELECT} WHERE id = ?", [entry.id]).fetchone()
    if found != tuple(getattr(entry, name) for name in COLUMNS):
        raise LedgerError(
            "the ledger {path} does not have the row that was written to it",
            value=entry.id,
            hint="Nothing was released. Keep the ledger on a disk of this machine, not in a folder that another "
            "program synchronises.",
            path=path,
        )


def _refusal(path: Path, fault: Fault) -> LedgerError:
    return LedgerError("the ledger {path} {sentence}", hint=fault.hint, path=path, sentence=fault.sentence)


def _is_new(connection: sqlite3.Connection, path: Path) -> bool:
    """True for a file of no bytes; refuses the files of other programs and other formats."""
    foreign = LedgerError("{path} is a database, but not a ledger of Sudare", hint="Give the ledger's path.", path=path)
    version = format_of(connection, _APPLICATION, foreign)
    if version is None:
        if path.stat().st_size == 0:
            return True
        raise foreign
    LedgerError.refuse_newer(Message("the ledger {path}", path=path), version, FORMAT_WITH_ACCOUNTS)
    return False


TEXT_FORMAT = 1
_KIND = "sudare-ledger"


def export_ledger(path: Path, file: Path, timeout: float = 10.0) -> tuple[Entry, ...]:
    """Write the rows of the ledger at ``path``, all verified, into a new ``file`` that only its owner can read."""
    if not exists(path):
        raise LedgerError("there is no ledger at {path}", hint="Give the path of the ledger's file.", path=path)
    entries = read(path, timeout)
    first = {"kind": _KIND, "format": TEXT_FORMAT, "rows": len(entries), "head": entries[-1].hash if entries else None}
    rows = ({name: getattr(entry, name) for name in COLUMNS} for entry in entries)
    text = "".join(json.dumps(line) + "\n" for line in (first, *rows))
    try:
        write_secret(file, text.encode("ascii"))
    except FileExistsError:
        raise OutputError("the file exists already", value=str(file), hint="Name another one.") from None
    except OSError as problem:
        raise OutputError(
            "the ledger cannot be exported: {reason}", value=str(file), reason=system_reason(problem)
        ) from None
    return entries


def import_ledger(file: Path, path: Path, timeout: float = 10.0) -> tuple[Entry, ...]:
    """Make the ledger that was exported into ``file`` at ``path``, where none may be; every row is verified first."""
    try:
        lines = [_object(line, file) for line in file.read_text(encoding="utf-8").splitlines()]
    except (OSError, UnicodeDecodeError) as problem:
        raise InputError(
            "the exported ledger cannot be read: {type}", value=str(file), type=type(problem).__name__
        ) from None
    if not lines or lines[0].get("kind") != _KIND:
        raise _no_ledger(file)
    InputError.refuse_newer(Message("the file {path}", path=file), lines[0].get("format"), TEXT_FORMAT)
    entries = verified((tuple(line.get(name) for name in COLUMNS) for line in lines[1:]), str(file))
    head = entries[-1].hash if entries else None
    if (lines[0].get("rows"), lines[0].get("head")) != (len(entries), head):
        raise InputError("the exported ledger is not whole", value=len(entries), allowed="as many rows as it says")
    with writing(path, timeout) as session:
        if session.last is not None:
            raise LedgerError(
                "there is a ledger at {path} already", hint="Nothing is overwritten: give another path.", path=path
            )
        for entry in entries:
            session.append(entry)
    return entries


def _object(line: str, file: Path) -> dict[str, Any]:
    with suppress(ValueError, RecursionError):
        if isinstance(value := json.loads(line), dict):
            return value
    raise _no_ledger(file)


def _no_ledger(file: Path) -> InputError:
    return InputError("this is not an exported ledger", value=str(file), hint="Make one with: sudare ledger export.")
