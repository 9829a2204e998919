"""Releases that are out, beside the ledger: which rows it must hold, and booking those that it lacks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sudare.errors import InputError, SudareError, VerificationError
from sudare.privacy import Balance, Ledger
from sudare.privacy.history import BookedLater, KnownHead
from sudare.privacy.names import skeleton
from sudare.publish.certificate import NAME, verify

_HEAD = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True)
class Reconciled:
    """What became of one release: booked as a ``row``, known already (no row), or ``refused``."""

    folder: Path
    release_id: str | None = None
    dataset: str | None = None
    row: int | None = None
    refused: SudareError | None = None

    def to_json(self) -> dict[str, Any]:
        """For machines."""
        refused = None if self.refused is None else str(self.refused)
        return {**vars(self), "folder": str(self.folder), "refused": refused}


@dataclass(frozen=True)
class Reconciliation:
    """What became of each release, and where the data sets among them stand now."""

    releases: tuple[Reconciled, ...]
    balances: tuple[Balance, ...]

    @property
    def over_cap(self) -> tuple[Balance, ...]:
        """Those that have spent more than their cap: the truth is booked all the same."""
        accounts = {each.account.dataset: each.account for each in self.balances if each.account is not None}
        return tuple(each for each in (*self.balances, *accounts.values()) if each.over_cap)

    def to_json(self) -> dict[str, Any]:
        """For machines."""
        return {
            "releases": [release.to_json() for release in self.releases],
            "balances": [balance.to_json() for balance in self.balances],
            "over_cap": [balance.dataset for balance in self.over_cap],
        }


def heads_beside(target: Path, dataset: str) -> tuple[KnownHead, ...]:
    """The heads in certificates of ``dataset``, or of a name that looks like it, in the folders beside ``target``.

    They are taken as stated: whoever could forge one here could as well remove it.
    """
    found, seen = [], skeleton(dataset)
    for path in _certificates(target.parent):
        with suppress(OSError, ValueError, RecursionError):
            stated = json.loads(path.read_text(encoding="utf-8-sig"))
            if not isinstance(stated, dict) or skeleton(str(stated.get("dataset"))) != seen:
                continue
            if _HEAD.fullmatch(head := str(stated.get("ledger_head"))):
                found.append(KnownHead(head, release=path.parent))
    return tuple(found)


def reconcile(ledger: Ledger, folders: Iterable[str | Path], *, publisher: str | Path | None = None) -> Reconciliation:
    """Book the releases in ``folders`` that ``ledger`` lacks, each with its guarantee, the oldest first.

    A folder is a release, or has releases in it. What does not `verify` is refused and not booked; ``publisher`` is as
    there. A release that the ledger has is left alone, so that this may be repeated; a cap does not stop it.
    """
    verified, releases = [], []
    for folder in map(Path, folders):
        paths = [folder / NAME] if (folder / NAME).is_file() else list(_certificates(folder))
        if not paths:
            raise InputError("there is no release in the folder", value=str(folder), allowed=f"a folder with {NAME}")
        for path in paths:
            try:
                checked = verify(path, publisher=publisher)
                verified.append((checked, _booked_later(checked.certificate), path.parent))
            except SudareError as problem:
                releases.append(Reconciled(path.parent, refused=problem))
    for checked, later, folder in sorted(verified, key=lambda each: each[1].created):
        known = folder, later.release_id, str(checked.certificate["dataset"])
        try:
            entry = ledger.reconcile(known[2], checked.guarantee, later)
        except SudareError as problem:
            releases.append(Reconciled(*known, refused=problem))
        else:
            releases.append(Reconciled(*known, row=None if entry is None else entry.id))
    names = dict.fromkeys(each.dataset for each in releases if each.dataset is not None and each.refused is None)
    return Reconciliation(tuple(releases), tuple(ledger.balance(name) for name in names))


def _booked_later(certificate: dict[str, Any]) -> BookedLater:
    stated = [certificate.get(key) for key in ("release_id", "ledger_head", "recipe_sha256", "created")]
    if not all(isinstance(value, str) for value in stated) or not _HEAD.fullmatch(str(stated[1])):
        raise VerificationError("the certificate names no row of a ledger", value=stated[1])
    return BookedLater(*map(str, stated))


def _certificates(folder: Path) -> Iterator[Path]:
    """Of the releases in a folder; not of what a release that was interrupted left."""
    found: Sequence[Path] = ()
    with suppress(OSError):
        found = sorted(folder.glob(f"*/{NAME}"))
    return (path for path in found if not path.parent.name.startswith("."))
