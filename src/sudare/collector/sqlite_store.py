"""Reports in a SQLite file: write-ahead log, synced at every commit, rows in the order of their random ids."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from sudare.collector.storage import Row, StorageError, canonical, check_identity
from sudare.errors import Message
from sudare.privacy.sqlite_faults import FAILURES, LOCKED, Fault, connect, faults_as, format_of, mark

FORMAT = 1
_APPLICATION = 0x53554443  # "SUDC" in the header of the file
_WAIT = 5.0  # seconds for a lock that somebody else holds
# Without rowid the table is its index: rows lie in the order of their random ids, and when they came is not kept.
_TABLES = (
    "CREATE TABLE survey (identity TEXT NOT NULL)",
    "CREATE TABLE reports (id BLOB PRIMARY KEY, report BLOB NOT NULL) WITHOUT ROWID",
)
_PUBLISHED = "CREATE TABLE IF NOT EXISTS published (single INTEGER PRIMARY KEY CHECK (single = 1), tally TEXT NOT NULL)"
"""Databases that were made before it get this table when they are opened."""


class SqliteStore:
    """The reports of one survey in the file ``path``, for the thread that uses them."""

    def __init__(self, path: str | Path, identity: dict[str, Any], *, create: bool = True) -> None:
        self._path = Path(path)
        if not self._path.parent.is_dir():
            raise StorageError(
                "the folder of the database {path} does not exist", hint="Make the folder first.", path=path
            )
        self._lock = self._hold()
        try:
            with self._faults():
                self._connection = self._open(identity, create)
        except StorageError:
            self._lock.close()
            raise
        self._file = self._path.stat()

    @property
    def connection(self) -> sqlite3.Connection:
        return self._connection

    def add(self, rows: Sequence[Row]) -> list[bool]:
        with self._faults():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                insert = self._connection.execute
                fresh = [insert("INSERT OR IGNORE INTO reports VALUES (?, ?)", row).rowcount == 1 for row in rows]
                self._connection.execute("COMMIT")
            finally:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
        self._check_place()
        return fresh

    def known(self, identities: Sequence[bytes]) -> set[bytes]:
        with self._faults():
            find = self._connection.execute
            return {each for each in identities if find("SELECT 1 FROM reports WHERE id = ?", [each]).fetchone()}

    def chunks(self, rows: int) -> Iterator[bytes]:
        with self._faults():
            cursor = self._connection.execute("SELECT report FROM reports")
            while found := cursor.fetchmany(rows):
                yield b"".join(report for (report,) in found)

    def publish(self, tally: str) -> None:
        with self._faults():
            self._connection.execute("INSERT OR REPLACE INTO published VALUES (1, ?)", [tally])

    def published(self) -> str | None:
        with self._faults():
            found = self._connection.execute("SELECT tally FROM published").fetchone()
        return None if found is None else str(found[0])

    def close(self) -> None:
        self._connection.close()
        self._lock.close()

    def _hold(self) -> sqlite3.Connection:
        """An exclusive lock beside the file, held by this process and gone with it, however it ends.

        It keeps a second collector away, whose counts would miss ours; readers and backups are not in its way.
        """
        with self._faults(
            Message("is used by another collector"),
            Message("Stop that one first, or give this survey its own storage."),
        ):
            lock = connect(self._path.with_name(f"{self._path.name}.lock"), "rwc", timeout=0, any_thread=True)
            try:
                lock.execute("BEGIN EXCLUSIVE")
            except sqlite3.Error:
                lock.close()
                raise
            return lock

    def _open(self, identity: dict[str, Any], create: bool) -> sqlite3.Connection:
        # Acknowledged means durable: FULL syncs the log at every commit, not only at checkpoints.
        connection = connect(self._path, "rwc" if create else "rw", _WAIT, "FULL", any_thread=True)
        try:
            connection.execute("PRAGMA secure_delete = ON")  # what a page no longer holds is overwritten in it
            connection.execute("PRAGMA cache_size = -65536")  # kibibytes; ids are random, and so are the pages
            # Pages are copied from the log to their place when it has so many: seldom, for the same ones change often.
            connection.execute("PRAGMA wal_autocheckpoint = 16384")
            if self._is_new(connection):
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("BEGIN IMMEDIATE")
                for table in _TABLES:
                    connection.execute(table)
                connection.execute("INSERT INTO survey VALUES (?)", [canonical(identity)])
                mark(connection, _APPLICATION, FORMAT)
                connection.execute("COMMIT")
            connection.execute("PRAGMA journal_mode = WAL")
            (kept,) = connection.execute("SELECT identity FROM survey").fetchone()
            check_identity(kept, identity, Message("the database {path}", path=self._path))
            connection.execute(_PUBLISHED)
        except (*FAILURES, StorageError):
            connection.close()
            raise
        return connection

    def _is_new(self, connection: sqlite3.Connection) -> bool:
        """True for a database without tables; refuses those of other programs and other formats."""
        foreign = StorageError(
            "{path} is a database, but not one of a survey", hint="Give another path.", path=self._path
        )
        version = format_of(connection, _APPLICATION, foreign)
        if version is None:
            return True
        StorageError.refuse_newer(Message("the database {path}", path=self._path), version, FORMAT)
        return False

    def _check_place(self) -> None:
        """Refuse to acknowledge reports when the database file was moved or removed."""
        try:
            there = os.path.samestat(self._path.stat(), self._file)
        except OSError:
            there = False
        if not there:
            raise StorageError(
                "the database {path} was moved or removed while the collector runs",
                hint="Put it back, then start the collector again.",
                path=self._path,
            )

    def _faults(self, busy: Message | None = None, hint: Message | None = None) -> AbstractContextManager[None]:
        """Every fault of SQLite as one sentence."""

        def refusal(fault: Fault) -> StorageError:
            if busy is not None and fault.code in LOCKED:
                return StorageError("the database {path} {busy}", hint=hint, path=self._path, busy=busy)
            return StorageError(
                "the database {path} {sentence}", hint=fault.hint, path=self._path, sentence=fault.sentence
            )

        return faults_as(refusal)
