"""Releases that are out, beside the ledger: which rows it must hold, and booking those that it lacks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sudare.errors import InputError, SudareError, VerificationError
from sudare.privacy import Balance, Guarantee, Ledger
from sudare.privacy.history import KnownHead, StatedRelease
from sudare.privacy.names import skeleton
from sudare.workflow.folder import CERTIFICATE

if TYPE_CHECKING:
    from sudare.workflow.certificate import Verification

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


def reconcile(ledger: Ledger, folders: Iterable[str | Path], *, publisher: str | Path) -> Reconciliation:
    """Book the releases in ``folders`` that ``ledger`` lacks, each with its guarantee, the oldest first.

    A folder is a release, or has releases in it. What does not `verify` is refused and not booked; ``publisher`` is
    whose releases they are, as there: anybody can sign a certificate with a key of their own. A release that the
    ledger has is left alone, so that this may be repeated; a cap does not stop it.
    """
    from sudare.workflow.certificate import verify

    verified, releases = [], []
    for folder in map(Path, folders):
        paths = [folder / CERTIFICATE] if (folder / CERTIFICATE).is_file() else list(_certificates(folder))
        if not paths:
            raise InputError(
                "there is no release in the folder", value=str(folder), allowed="a folder with {name}", name=CERTIFICATE
            )
        for path in paths:
            try:
                verified.append((path.parent, *_stated(verify(path, publisher=publisher))))
            except SudareError as problem:
                releases.append(Reconciled(path.parent, refused=problem))
    for folder, guarantee, stated in sorted(verified, key=lambda each: each[2].created):
        release_id, dataset = stated.release_id, stated.dataset
        try:
            entry = ledger.reconcile(guarantee, stated)
            releases.append(Reconciled(folder, release_id, dataset, None if entry is None else entry.id))
        except SudareError as problem:
            releases.append(Reconciled(folder, release_id, dataset, refused=problem))
    names = dict.fromkeys(each.dataset for each in releases if each.dataset is not None and each.refused is None)
    return Reconciliation(tuple(releases), tuple(ledger.balance(name) for name in names))


def _stated(verified: Verification) -> tuple[Guarantee, StatedRelease]:
    values = [
        verified.certificate.get(name) for name in ("dataset", "release_id", "created", "recipe_sha256", "ledger_head")
    ]
    if not all(isinstance(value, str) for value in values) or not _HEAD.fullmatch(str(values[-1])):
        raise VerificationError("the certificate names no row of a ledger", value=values[-1])
    return verified.guarantee, StatedRelease(*map(str, values))


def _certificates(folder: Path) -> Iterator[Path]:
    """Of the releases in a folder; not of what a release that was interrupted left."""
    with suppress(OSError):
        yield from (path for path in sorted(folder.glob(f"*/{CERTIFICATE}")) if not path.parent.name.startswith("."))
