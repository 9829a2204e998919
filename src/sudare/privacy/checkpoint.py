"""A checkpoint: what the rows of a ledger came to when they were verified, so that they need not be read again.

One spend needs the last row, the cap and the sum of all costs. Of 20,000 rows that took a second of processor time,
nearly all of it to hash and add up rows that had been hashed and added up before. A checkpoint keeps their number, the
hash of the last one, the rows that are no releases, and how often each guarantee was booked: sums of it are the same
exact fractions. It lies in the user's state folder (`state`) and counts only where the ledger still has that row with
that hash; then each spend verifies the rows after it, and every row where there is none.

What somebody gains who can write the ledger: nothing. A row before the checkpoint that he changes is not noticed by the
next spend, which counts what was verified and not what he wrote; `sudare ledger verify` and `show` read every row and
name it. Rewriting all hashes takes the checkpoint's away, and everything is read again, as before there were any. Who
can write the user's state folder can run commands in the user's name.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

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
        kept: Any = recall(_name(first))
        try:
            declared = tuple((str(dataset), str(kind), str(payload)) for dataset, kind, payload in kept["declared"])
            booked = {
                str(dataset): {str(guarantee): int(count) for guarantee, count in counts.items()}
                for dataset, counts in kept["booked"].items()
            }
            found = cls(int(kept["row"]), str(kept["head"]), declared, booked, tuple(map(str, kept["keys"])))
        except (KeyError, TypeError, ValueError, AttributeError):
            return None
        rows = len(declared) + sum(sum(counts.values()) for counts in booked.values())
        return found if kept.get("format") == 1 and rows == found.row > 0 else None

    def remember(self, first: str) -> None:
        """Keep it for the next spend."""
        remember(_name(first), {"format": 1, **vars(self)})


def _name(first: str) -> str:
    return f"checkpoint-{hashlib.sha256(first.encode('utf-8', 'surrogateescape')).hexdigest()[:32]}"
