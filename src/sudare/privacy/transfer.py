"""A ledger as a text file: for backups that can be read in fifty years, and to move it without SQLite.

JSON lines: one that says the format, the number of rows and the head, then one for each row with its columns as they
are, so that the chain can be checked from the text alone. The key of the fingerprints is a secret and no part of it.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from sudare.errors import InputError, LedgerError, Message, OutputError, system_reason
from sudare.privacy.chain import COLUMNS, Entry, verified
from sudare.privacy.private_files import write_secret
from sudare.privacy.store import exists, read, writing

FORMAT = 1
_KIND = "sudare-ledger"


def export_ledger(path: Path, file: Path, timeout: float = 10.0) -> tuple[Entry, ...]:
    """Write the rows of the ledger at ``path``, all verified, into a new ``file`` that only its owner can read."""
    if not exists(path):
        raise LedgerError("there is no ledger at {path}", hint="Give the path of the ledger's file.", path=path)
    entries = read(path, timeout)
    first = {"kind": _KIND, "format": FORMAT, "rows": len(entries), "head": entries[-1].hash if entries else None}
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
    InputError.refuse_newer(Message("the file {path}", path=file), lines[0].get("format"), FORMAT)
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
