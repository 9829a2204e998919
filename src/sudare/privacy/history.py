"""What is known of a data set outside its ledger: the heads that certificates and this machine have seen.

The chain of a ledger shows that no row was changed. It does not show that rows are missing at its end: an older copy
is as whole as the ledger was then, and a new file is whole too. So a release is compared with what else knows of the
data set: the certificates of releases beside it, each of which names the hash of its row, and the last rows that this
machine's user has paid with. A head that the ledger does not hold is refused until its release is booked
(`Ledger.reconcile`) or somebody confirms that another history is meant; either way a row then names the head.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sudare.errors import LedgerError
from sudare.privacy.names import skeleton
from sudare.privacy.state import recall, remember

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
