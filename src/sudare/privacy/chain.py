"""The ledger's rows as a chain: each carries the SHA-256 of itself and of the row before.

A row that is changed, removed, moved or inserted breaks the chain at that row. An attacker who rewrites every
later hash too, or truncates the ledger, leaves a valid chain that lacks the hashes that certificates have
published: that is what the head in a certificate is for.

A `Checkpoint` summarises the rows that were verified, so that a spend need not read them again: a spend needs the last
row, the cap and the sum of all costs. It keeps the number of rows, the hash of the last one, the rows that are not
releases, and how often each guarantee was booked, from which the same exact sums follow. It is kept in the user's state
folder (`history`) and is used only where the ledger still has that row with that hash; then a spend verifies the rows
after it, otherwise all rows.

An attacker who can write the ledger gains nothing: the next spend counts what was verified, not a row changed since,
and `sudare ledger verify` and `show` read every row and name the changed one. If all hashes are rewritten, the
checkpoint no longer matches and everything is read again. An attacker who can write the user's state folder can run
commands as that user anyway.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from sudare.errors import LedgerError, Message
from sudare.privacy.budget import exact, readable
from sudare.privacy.history import recall, remember

BEGINNING = "0" * 64
COLUMNS = ("id", "time", "dataset", "kind", "payload", "previous", "hash")
KINDS = ("cap", "spend", "account", "join")
"""A cap, a release, an account of people (a row of no data set), and a data set that joins one."""
NO_DATASET = ""


@dataclass(frozen=True)
class Entry:
    """One row: ``payload`` is canonical JSON, ``time`` is UTC, ``hash`` covers all the rest."""

    id: int
    time: str
    dataset: str
    kind: str
    payload: str
    previous: str
    hash: str

    @property
    def content(self) -> dict[str, Any]:
        """The payload as a dictionary."""
        content: dict[str, Any] = json.loads(self.payload)
        return content

    @property
    def text(self) -> str:
        """What the row says: the cap's numbers, the release and its guarantee, the account and its terms."""
        return text_of(self.kind, self.content)

    def unreadable(self) -> LedgerError:
        """The error for a row whose payload is not of its kind."""
        return LedgerError(
            "row {id} of the ledger does not hold a readable {kind}",
            hint="It was not written by Sudare; restore the ledger from a backup before publishing, and book what "
            "that lacks with: sudare ledger reconcile.",
            id=self.id,
            kind=self.kind,
        )

    def to_json(self) -> dict[str, Any]:
        """Plain JSON with the payload opened."""
        return {name: getattr(self, name) for name in COLUMNS if name != "payload"} | {"content": self.content}


def text_of(kind: str, content: dict[str, Any]) -> str:
    """What a row of that kind and content says."""
    if kind == "cap":
        return _numbers(content)
    if kind == "account":
        return f"account {content['account']} of each {content['unit']}: {_numbers(content['cap'])}"
    if kind == "join":
        part = "" if content["part"] is None else f" as the part {content['part']}"
        units = "" if content["units"] is None else f", at most {content['units']} units of one"
        return f"joins the account {content['account']}{part}{units}"
    return f"{content['release_id']}: {content['guarantee']['text']}"


def _numbers(cap: dict[str, Any]) -> str:
    numbers = [(name, cap[name]) for name in ("epsilon", "rho", "delta") if cap[name]]
    return ", ".join(f"{name} {readable(exact(number))}" for name, number in numbers)


def canonical(content: object) -> str:
    """JSON with one spelling only: sorted keys, no spaces, ASCII.

    >>> canonical({"b": 1, "a": "簾"})
    '{"a":"\\\\u7c3e","b":1}'
    """
    return json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)


def next_entry(last: Entry | None, time: str, dataset: str, kind: str, content: dict[str, Any]) -> Entry:
    """The row that follows ``last``.

    >>> first = next_entry(None, "2025-01-01T00:00:00Z", "census", "cap", {"epsilon": "1"})
    >>> verified([tuple(vars(first).values())], "ledger") == (first,)
    True
    """
    number = 1 if last is None else last.id + 1
    previous = BEGINNING if last is None else last.hash
    payload = canonical(content)
    return Entry(
        number,
        time,
        dataset,
        kind,
        payload,
        previous,
        _digest(number, time, dataset, kind, payload, previous),
    )


def verified(
    rows: Iterable[tuple[Any, ...]], name: str, after: int = 0, previous: str = BEGINNING
) -> tuple[Entry, ...]:
    """``rows`` (the values of `COLUMNS`, by id) as entries; `LedgerError` for the first broken one.

    They follow the row number ``after`` with the hash ``previous``.
    """
    entries: list[Entry] = []
    for number, row in enumerate(rows, start=after + 1):
        entry = Entry(*row)
        fault: Message | None = None
        if entry.id != number:
            fault = Message("is missing")
        elif not all(isinstance(value, str) for value in row[1:]) or entry.kind not in KINDS:
            fault = Message("is not an entry")
        elif entry.previous != previous:
            fault = (
                Message("does not follow row {before}", before=number - 1)
                if number > 1
                else Message("is not the first of a ledger")
            )
        elif entry.hash != _digest(*row[:-1]):
            fault = Message("does not fit its hash")
        if fault:
            raise LedgerError(
                "row {number} of the ledger {name} {fault}",
                hint="The ledger was changed by hand or damaged; restore it from a backup before publishing, and book "
                "what that lacks with: sudare ledger reconcile.",
                number=number,
                name=name,
                fault=fault,
            )
        entries.append(entry)
        previous = entry.hash
    return tuple(entries)


def _digest(*values: int | str) -> str:
    return hashlib.sha256(canonical(values).encode("ascii")).hexdigest()


FEWEST = 200
"""Fewer rows are read at once, so that small ledgers leave nothing in the user's folder."""
STEP = 100
"""A checkpoint is moved on after this many further rows."""


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
