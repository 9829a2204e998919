"""What is known of a data set outside its ledger: the heads that certificates and this machine have seen.

The chain of a ledger shows that no row was changed. It does not show that rows are missing at its end: an older copy
has a valid chain, and so has a new file. So a release is compared with other records of the data set: the certificates
of releases beside it, each of which names the hash of its row, and the last rows that this machine's user has spent. A
head that the ledger does not hold is refused until its release is booked (`Ledger.reconcile`) or the steward confirms
that another history is meant; either way a row then names the head.

The last rows are remembered in small files of mode 600 in the user's state folder. ``SUDARE_STATE`` names that folder,
or is ``off`` (tests, containers without a lasting disk); if it is not set, the folder is ``sudare`` in
``XDG_STATE_HOME``, else in ``~/.local/state``, on Windows in ``LOCALAPPDATA``. Everything works without these files:
one that is missing, damaged, or writable by somebody else is ignored.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sudare.errors import LedgerError, LedgerWarning, system_reason
from sudare.privacy.names import skeleton

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
    """Inside, nothing is remembered and no warning is given: for invented data whose ledgers are removed afterwards."""
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
    """Whether another user owns a file or may write it; always False on Windows, whose modes do not tell."""
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


_MOST = 500
"""Rows of a data set that a machine remembers."""


@dataclass(frozen=True)
class KnownHead:
    """The hash of a row that paid for a release of a data set, and where it is known from: a release, or a ledger."""

    head: str
    release: Path | None = None
    ledger: Path | None = None


@dataclass(frozen=True)
class StatedRelease:
    """A release that is out, as its certificate states it; ``head`` is the row that paid for it."""

    dataset: str
    release_id: str
    created: str
    recipe_hash: str
    head: str


def heads_here(dataset: str) -> tuple[KnownHead, ...]:
    """The rows that this machine's user has paid with for ``dataset``, or for a name that looks like it."""
    return tuple(KnownHead(head, ledger=Path(ledger)) for ledger, head in _kept(dataset))


def remember_head(dataset: str, ledger: Path, head: str) -> None:
    """Keep a row that was paid with for ``dataset``, beside the last ones before it."""
    rows = [*_kept(dataset), (str(ledger.absolute()), head)]
    remember(_name(dataset), {"dataset": dataset, "heads": rows[-_MOST:]})


def _kept(dataset: str) -> list[tuple[str, str]]:
    kept = recall(_name(dataset)).get("heads")
    pairs = kept if isinstance(kept, list) else []
    return [(str(pair[0]), str(pair[1])) for pair in pairs if isinstance(pair, list) and len(pair) == 2]


def refuse_unknown_heads(dataset: str, path: Path, missing: Sequence[KnownHead]) -> None:
    """Refuse a release after ``missing``: rows of the data set that the ledger at ``path`` does not hold."""
    for known in missing:
        raise LedgerError(
            (
                "the ledger {path} does not hold a row that this machine has spent on data set {dataset!r}"
                if known.release is None
                else "the ledger {path} does not hold the row of an earlier release of data set {dataset!r}"
            ),
            value=str(known.release or known.ledger),
            allowed="the ledger with all its releases",
            hint="Give the path of that ledger, or restore it, then book what it lacks with: sudare ledger reconcile;"
            " if two budgets are meant, confirm it: confirm_other_history = true under [ledger].",
            path=path,
            dataset=dataset,
        )


def _name(dataset: str) -> str:
    return f"head-{hashlib.sha256(skeleton(dataset).encode()).hexdigest()[:32]}"
