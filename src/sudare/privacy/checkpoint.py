"""A checkpoint: what the rows of a ledger came to when they were verified, so that they need not be read again.

One spend needs the last row, the cap and the sum of all costs. A checkpoint keeps the number of rows, the hash of the
last one, the rows that are no releases, and how often each guarantee was booked: sums of it are the same exact
fractions. It lies in the user's state folder (`state`) and counts only where the ledger still has that row with that
hash; then a spend verifies the rows after it, and every row where there is none.

Whoever can write the ledger gains nothing: the next spend counts what was verified, not a row changed since then,
and `sudare ledger verify` and `show` read every row and name it. Rewriting all hashes takes the checkpoint's away, and
everything is read again. Who can write the user's state folder can run commands in the user's name anyway.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field

from sudare.privacy.chain import Entry, canonical
from sudare.privacy.state import recall, remember

FEWEST = 200
"""Fewer rows are read at once, so that small ledgers leave nothing in the user's folder."""
STEP = 100
"""After so many further rows a checkpoint is moved on."""


@dataclass(frozen=True)
class Checkpoint:
    """The first ``row`` rows of a ledger, the last with the hash ``head``.

    ``declared``: data set, kind and payload of those that are no releases, in their order; ``booked``: for each data
    set, how often each guarantee was booked; ``keys``: of the fingerprints in them.
    """

    row: int = 0
    head: str = ""
    declared: tuple[tuple[str, str, str], ...] = ()
    booked: dict[str, dict[str, int]] = field(default_factory=dict)
    keys: tuple[str, ...] = ()

    def moved(self, entries: Iterable[Entry]) -> Checkpoint:
        """The checkpoint after further verified rows."""
        declared, keys = list(self.declared), set(self.keys)
        booked = {dataset: dict(counts) for dataset, counts in self.booked.items()}
        row, head = self.row, self.head
        for entry in entries:
            row, head = entry.id, entry.hash
            if entry.kind != "spend":
                declared.append((entry.dataset, entry.kind, entry.payload))
                continue
            content = entry.content
            guarantee = canonical(content["guarantee"])
            counts = booked.setdefault(entry.dataset, {})
            counts[guarantee] = counts.get(guarantee, 0) + 1
            keys |= {str(source["key"]) for source in content.get("sources") or () if source["key"] is not None}
        return Checkpoint(row, head, tuple(declared), booked, tuple(sorted(keys)))

    @classmethod
    def recalled(cls, first: str) -> Checkpoint | None:
        """The checkpoint of the ledger whose first row has the hash ``first``, if one is remembered."""
        kept = recall(_name(first))
        try:
            found = cls(**kept) if kept.pop("format", None) == 1 else cls()
            rows = len(found.declared) + sum(sum(counts.values()) for counts in found.booked.values())
        except (TypeError, AttributeError):
            return None
        return found if 0 < rows == found.row else None

    def remember(self, first: str) -> None:
        """Keep it for the next spend."""
        remember(_name(first), {"format": 1, **vars(self)})


def _name(first: str) -> str:
    return f"checkpoint-{hashlib.sha256(first.encode('utf-8', 'surrogateescape')).hexdigest()[:32]}"
