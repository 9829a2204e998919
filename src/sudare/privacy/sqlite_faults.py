"""What goes wrong with a SQLite file, as a sentence: for the ledger, the collector and the studio."""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

from sudare.errors import Message

# SQLite quotes a table's definition that it cannot read, and Python fails over a quotation that is no text.
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
