"""Fingerprints of sources: which data a spend was on, identified by a keyed hash of the whole.

The ledger keeps an account under a typed name. Under two names the same people would have two budgets, and the names do
not show it. So each spend also records a fingerprint of the bytes that were read: HMAC-SHA-256 under a key of the
ledger's own, in a file beside it that only its owner can read. A file that grew by a row has another fingerprint.

What it reveals. There is one fingerprint for the whole source and none for a row, so that only a guess of the whole
file can be tested. Even that needs the key: without it the fingerprint of any guess is as good as random, and equal
fingerprints show that two releases were made of the same file, and no more. It is in the ledger's row, which stays with
the steward. A certificate prints the hash of that row, which covers the fingerprint and does not reveal it.

A release of data whose fingerprint was booked under another name is refused unless the steward confirms it
(`refuse_same_data`).
"""

from __future__ import annotations

import gzip
import hashlib
import hmac
import os
import secrets
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from sudare.errors import LedgerError, Message, MissingExtraError
from sudare.privacy.chain import Entry
from sudare.privacy.private_files import ensure_secret

if TYPE_CHECKING:
    from sudare.language.catalogue import Words


KEY_ENDING = ".key"
KEY_BYTES = 32
PACKED = (".gz", ".zst", ".zip")
"""Endings of files whose content is compared unpacked."""
_PIECE = 1 << 20
_FIRST = 1 << 16
_MARK = b"\xef\xbb\xbf"
_ENDS = b"\r\n"


@dataclass(frozen=True)
class Fingerprint:
    """A source in a spend: its keyed hash, and which key made it. Both None where a source has no bytes to read.

    >>> Fingerprint.from_json(Fingerprint("ab12", "77").to_json())
    Fingerprint(hash='ab12', key='77')
    """

    hash: str | None = None
    key: str | None = None

    def to_json(self) -> dict[str, str | None]:
        return {"fingerprint": self.hash, "key": self.key}

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> Fingerprint:
        return cls(content["fingerprint"], content["key"])

    @classmethod
    def of_digests(cls, digests: Iterable[bytes], key: bytes) -> Fingerprint:
        """The fingerprint of a source with these parts, in whatever order: a folder is a set of files.

        >>> Fingerprint.of_digests([b"a", b"b"], b"key") == Fingerprint.of_digests([b"b", b"a"], b"key")
        True
        """
        whole = b"".join(len(digest).to_bytes(8, "big") + digest for digest in sorted(digests))
        return cls(hmac.digest(key, whole, "sha256").hex(), hashlib.sha256(b"key of a ledger" + key).hexdigest()[:16])


def content_digest(path: Path) -> bytes:
    """SHA-256 of a file's content: unpacked, without a byte order mark, without line ends at the end.

    So a text file has one digest also after an editor has ended its last line, or after it was packed.
    """
    found, held = hashlib.sha256(), b""
    with unpacked(path) as file:
        piece = file.read(_PIECE).removeprefix(_MARK)
        while piece:
            text = piece.rstrip(_ENDS)
            if text:
                found.update(held)
                found.update(text)
                held = piece[len(text) :]
            else:
                held += piece
            piece = file.read(_PIECE)
    return found.digest()


def file_digest(path: Path) -> str:
    """SHA-256 of a file's bytes as they are, as hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def beginning(path: Path) -> bytes:
    """The first bytes of what `content_digest` covers: where they differ, the whole does."""
    with unpacked(path) as file:
        return file.read(_FIRST).removeprefix(_MARK)[: _FIRST - len(_MARK)].rstrip(_ENDS)


def key_path(ledger: Path) -> Path:
    """Where the key of a ledger's fingerprints lies.

    >>> key_path(Path("books/sudare-ledger.db")).name
    'sudare-ledger.db.key'
    """
    return ledger.with_name(ledger.name + KEY_ENDING)


def load_or_create(path: Path) -> bytes:
    """The key in ``path``; made there, readable by its owner alone, when there is none yet."""
    hint = "Allow reading and writing of the file and its folder."
    with LedgerError.from_system("the key of the ledger cannot be written: {reason}", value=str(path), hint=hint):
        ensure_secret(path, lambda: secrets.token_bytes(KEY_BYTES))
    with (
        LedgerError.from_system("the key of the ledger cannot be read: {reason}", value=str(path)),
        path.open("rb") as file,
    ):
        mode, key = os.fstat(file.fileno()).st_mode, file.read(KEY_BYTES + 1)
    if os.name == "posix" and mode & 0o077:
        raise LedgerError(
            "the key of the ledger can be read by others than its owner",
            value=str(path),
            allowed="mode 600",
            hint="Take their rights away: chmod 600.",
        )
    if len(key) != KEY_BYTES:
        raise LedgerError(
            "this is not the key of a ledger", value=str(path), allowed="{key_bytes} bytes", key_bytes=KEY_BYTES
        )
    return key


def unpacked(path: Path) -> BinaryIO:
    """The bytes of a file, plain, packed by gzip or zstd, or the one file of a zip archive."""
    packed = path.suffix.lower()
    if packed == ".gz":
        return cast(BinaryIO, gzip.open(path))
    if packed == ".zst":
        pyarrow = MissingExtraError.load("pyarrow", Message("pyarrow"), "frames")
        return cast(BinaryIO, pyarrow.input_stream(str(path), compression="zstd"))
    if packed == ".zip" and zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            inside = [info for info in archive.infolist() if not info.is_dir()]
            if len(inside) == 1:
                return cast(BinaryIO, archive.open(inside[0]))
    return path.open("rb")


def fingerprints_of(entry: Entry) -> tuple[Fingerprint, ...]:
    """The sources of a spend; none in rows from before there were fingerprints."""
    if entry.kind != "spend":
        return ()
    try:
        return tuple(Fingerprint.from_json(source) for source in entry.content.get("sources") or ())
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
        raise entry.unreadable() from None


def source_text(entry: Entry, words: Words | None = None) -> str:
    """What a row of `sudare ledger show` says of the data: the first digits of their fingerprint, and other names."""
    from sudare.language.catalogue import ENGLISH

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
