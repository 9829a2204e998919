"""The same data under another name, found by the fingerprints that spends keep; and what must be confirmed then."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from sudare.errors import LedgerError
from sudare.privacy.chain import Entry
from sudare.privacy.fingerprint import Fingerprint

if TYPE_CHECKING:
    from sudare.words import Words


def fingerprints_of(entry: Entry) -> tuple[Fingerprint, ...]:
    """The sources of a spend; none in rows from before there were fingerprints."""
    if entry.kind != "spend":
        return ()
    try:
        return tuple(Fingerprint.from_json(source) for source in entry.content.get("sources") or ())
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
        raise LedgerError(
            "row {id} of the ledger holds no {kind} that can be read",
            hint="It was not written by Sudare; restore the ledger from a backup before publishing, and book what "
            "that lacks with: sudare ledger reconcile.",
            id=entry.id,
            kind=entry.kind,
        ) from None


def source_text(entry: Entry, words: Words | None = None) -> str:
    """What a row of `sudare ledger show` says of the data: the first digits of their fingerprint, and other names."""
    from sudare.words import ENGLISH

    if entry.kind != "spend":
        return ""
    words = words or ENGLISH
    shown = [source.hash[:8] if source.hash else words("ledger.no_fingerprint") for source in fingerprints_of(entry)]
    names = ", ".join(map(str, entry.content.get("same_data_as") or []))
    return ", ".join(shown or [words("ledger.not_recorded")]) + (words("ledger.as_under", names=names) if names else "")


def names_of_same_data(entries: Iterable[Entry], dataset: str, sources: Sequence[Fingerprint]) -> tuple[str, ...]:
    """The other data sets that released one of ``sources``."""
    known = {source.hash for source in sources if source.hash is not None}
    found = (e.dataset for e in entries if known & {source.hash for source in fingerprints_of(e)})
    return tuple(dict.fromkeys(name for name in found if name != dataset))


def refuse_same_data(
    entries: Sequence[Entry], dataset: str, sources: Sequence[Fingerprint], known_keys: Sequence[str] = ()
) -> None:
    """Refuse a release of data that are known under another name, or that cannot be compared: their key is gone."""
    keys = {source.key for entry in entries for source in fingerprints_of(entry) if source.key is not None}
    keys |= set(known_keys)
    if any(source.key is not None and keys and source.key not in keys for source in sources):
        raise LedgerError(
            "the ledger's fingerprints were made with another key, so that nobody can tell the same data again",
            hint="Bring back the key file that belongs to the ledger; a new key has to be confirmed:"
            " confirm_same_data = true under [ledger].",
        )
    if names := names_of_same_data(entries, dataset, sources):
        raise LedgerError(
            "the same data were released under another name, and {dataset!r} would have a budget of its own",
            value=", ".join(names),
            allowed="one name for one data set",
            hint="If that is meant, confirm it: confirm_same_data = true under [ledger].",
            dataset=dataset,
        )
