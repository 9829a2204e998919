"""What this machine remembers of ledgers for its user: small files of mode 600 in the user's state folder.

``SUDARE_STATE`` names the folder, or is ``off`` (tests, containers that forget anyway); if not set it is ``sudare`` in
``XDG_STATE_HOME``, else in ``~/.local/state``, on Windows in ``LOCALAPPDATA``. Nothing here is needed: what is missing,
damaged, or could have been written by somebody else is as if it had never been there.
"""

from __future__ import annotations

import json
import os
import secrets
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from sudare.errors import LedgerError, LedgerWarning, system_reason

VARIABLE = "SUDARE_STATE"
OFF = "off"


def state_folder(environment: Mapping[str, str] | None = None) -> Path | None:
    """The folder; None where nothing is remembered.

    >>> state_folder({"HOME": "/home/mie"}).as_posix(), state_folder({"SUDARE_STATE": "off", "HOME": "/home/mie"})
    ('/home/mie/.local/state/sudare', None)
    """
    found = os.environ if environment is None else environment
    if named := found.get(VARIABLE):
        if named != OFF and not Path(named).is_absolute():
            raise LedgerError(
                "the folder in {variable} is not an absolute path",
                value=named,
                allowed="an absolute path, or off",
                variable=VARIABLE,
            )
        return None if named == OFF else Path(named)
    home = found.get("HOME") or found.get("USERPROFILE") or ""
    for base in (found.get("XDG_STATE_HOME"), found.get("LOCALAPPDATA"), home and str(Path(home) / ".local/state")):
        if base and Path(base).is_absolute():
            return Path(base) / "sudare"
    return None


@contextmanager
def nothing_remembered() -> Iterator[None]:
    """For invented data with ledgers of their own, that come and go: nothing is remembered, and nothing said of it."""
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = OFF
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LedgerWarning)
            yield
    finally:
        del os.environ[VARIABLE]
        if before is not None:
            os.environ[VARIABLE] = before


def recall(name: str) -> dict[str, Any]:
    """What was remembered under ``name``; empty where there is nothing that can be relied on."""
    folder = state_folder()
    if folder is None:
        return {}
    try:
        with (folder / f"{name}.json").open("rb") as file:
            kept = os.fstat(file.fileno())
            content = {} if _is_foreign(kept) else json.load(file)
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def _is_foreign(kept: os.stat_result) -> bool:
    """Whether others made a file or may change it; Windows does not say it so."""
    return False if sys.platform == "win32" else bool(kept.st_uid != os.geteuid() or kept.st_mode & 0o022)


def remember(name: str, content: dict[str, Any]) -> None:
    """Keep ``content`` under ``name``: whole or not at all; a warning where the folder cannot be written."""
    folder = state_folder()
    if folder is None:
        return
    partial = folder / f".{name}.partial-{secrets.token_hex(8)}"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="ascii", newline="\n") as file:
            json.dump(content, file)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(folder / f"{name}.json")
    except OSError as problem:
        warnings.warn(
            LedgerWarning(
                "this machine cannot remember the ledger: {reason}",
                value=str(folder),
                hint="Name a folder in SUDARE_STATE, or switch it off with SUDARE_STATE=off.",
                reason=system_reason(problem),
            ),
            stacklevel=2,
        )
    finally:
        with suppress(OSError):
            partial.unlink()
