"""Releases that are paid for and not out: what is kept of them beside the ledger, so that they can be completed.

Before the ledger's row is written, a record is: a file (mode 600) in the folder ``LEDGER.pending`` (mode 700) with the
facts of the release and, sealed, the key of its noise. When the row is there its hash becomes the record's second line;
when the release is out the record is overwritten and removed. A record without a row was not paid for, and one whose
release is out was not removed in time: whoever looks next removes both. What is left is paid for and not out. A record
with a second line whose row this ledger lacks is that of a newer copy of the ledger, or of another one: it stays, and
nothing is completed until that ledger is back.

**Completing a release never shows a second draw.** `Kind.protect` is a function f(data, key) of what `gather` gave and
of the key, from which all noise derives by labels (`Source.child`). Whoever completes a release evaluates the same f
(the recipe of the ledger's row, the same public files, the same versions) on the same data with the same key. So it
gives the bytes that the first run would have given, which the row has paid for; whoever saw something of that run, such
as files that a kill left, sees it again and nothing new.

On other data this would be fatal: f(data, key) and f(neighbour, key) hold the same noise, and their difference is what
one person adds. So the data must have the fingerprint in the row; and, since that says nothing of the order in which
an engine gives rows, what was gathered must have the hash that is kept, before noise is drawn. Two runs cannot complete
one release at once, since one of them has its folder (`taken`); if they did, they would write the same bytes.

**The seal** is AES-256-GCM under a key that derives from the publisher's private key and the release's id, with all
facts as associated data. A copy of the ledger's folder is then of no use without the publisher's key, where that is
kept elsewhere. Whoever has both and the release has the noise, and so the exact counts: that is why no record stays.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, fields, is_dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from numbers import Number
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from sudare.errors import LedgerError, LedgerWarning, Message, PaidError, SudareError, system_reason
from sudare.noise import Source
from sudare.privacy import Entry, Ledger
from sudare.privacy.private_files import is_locked, locked, write_secret
from sudare.registry import packages
from sudare.signals import undisturbed
from sudare.version import __version__
from sudare.workflow.folder import CERTIFICATE, flush, is_there, lock_path
from sudare.workflow.reports import canonical

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

FORMAT = "sudare-pending/1"
ENDING = ".pending"
_NONCE_BYTES = 12
_MATTERING = ("numpy", "scipy", "duckdb", "pyarrow", "narwhals", "pyspark")
"""Packages that a release's bytes can depend on."""


@dataclass(frozen=True)
class PendingFacts:
    """What is kept of a release in plain text, as the run that pays for it began; nothing of the data is in it.

    ``folder`` is where the release goes, ``language`` is of the pages, ``public`` is that of `Sources`, ``gathered`` a
    hash of the data under the key of the noise, ``before`` the head of the ledger when the run began.
    """

    release_id: str
    created: str
    dataset: str
    folder: str
    recipe_sha256: str
    language: str
    public: str
    versions: dict[str, str]
    gathered: str = ""
    before: str = ""


@dataclass(frozen=True)
class Pending:
    """A record: facts, and the sealed key as hexadecimal digits; None where the release cannot be completed."""

    facts: PendingFacts
    sealed: str | None

    @classmethod
    def seal(cls, facts: PendingFacts, source: Source, signing: Ed25519PrivateKey) -> Pending:
        """The record of a release whose noise comes from ``source``."""
        nonce = os.urandom(_NONCE_BYTES)
        sealed = nonce + _cipher(facts, signing).encrypt(nonce, source.key_to_seal(), canonical(asdict(facts)))
        return cls(facts, sealed.hex())

    def open(self, signing: Ed25519PrivateKey) -> Source:
        """The source again; refuses a record that was changed, and one that another publisher's key has sealed."""
        try:
            sealed = bytes.fromhex(self.sealed or "")
            nonce, text, facts = sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], canonical(asdict(self.facts))
            key = _cipher(self.facts, signing).decrypt(nonce, text, facts)
        except (InvalidTag, ValueError):
            raise self.refused(Message("its record was changed, or sealed with another publisher's key")) from None
        return Source.resumed(key)

    def refused(self, reason: Message | SudareError) -> PaidError:
        """Why it is not completed."""
        return PaidError.of(self.facts.release_id, reason, can_resume=self.sealed is not None)

    @property
    def remark(self) -> LedgerWarning:
        """What whoever publishes into another folder should hear."""
        return LedgerWarning(
            "release {release_id} of this data set was paid for and is not out",
            value=self.facts.folder,
            hint="Complete it with its own recipe: sudare publish RECIPE --resume",
            release_id=self.facts.release_id,
        )

    def to_json(self) -> dict[str, Any]:
        """For machines: what may be shown."""
        names = ("release_id", "created", "dataset", "folder")
        return {**{name: getattr(self.facts, name) for name in names}, "can_resume": self.sealed is not None}


class PendingReleases:
    """The records beside a ledger."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        path = ledger.path.resolve()
        self.folder = path.with_name(path.name + ENDING)

    def add(self, pending: Pending) -> None:
        """Keep a record, on the disk when this returns; OSError where that fails."""
        content = {"format": FORMAT, "facts": asdict(pending.facts), "sealed": pending.sealed}
        with self._alone():
            self.folder.mkdir(mode=0o700, exist_ok=True)
            write_secret(self._path(pending), json.dumps(content).encode())
            flush(self.folder)
            flush(self.folder.parent)

    def mark_paid(self, pending: Pending, row: str) -> None:
        """Note the hash of the ledger's row in a record: from now on no ledger that lacks the row takes it away.

        Added at its end: what is sealed stays where it is on the disk, to be overwritten there.
        """
        with self._alone(), self._path(pending).open("r+b", buffering=0) as file:
            file.seek(0, os.SEEK_END)
            file.write(f"\n{row}\n".encode())
            os.fsync(file.fileno())

    def _is_marked_paid(self, pending: Pending) -> bool:
        """Whether a record has a second line; half of one, which a power cut may leave, was begun after the row too."""
        try:
            return b"\n" in self._path(pending).read_bytes()
        except OSError:
            return False

    def remove(self, pending: Pending) -> None:
        """Overwrite and remove a record; a disk may keep what was overwritten, as flash memory and backups do."""
        path = self._path(pending)
        if not is_there(path):
            return
        with self._alone(), suppress(FileNotFoundError):
            with path.open("r+b", buffering=0) as file:
                file.write(bytes(path.stat().st_size))
                os.fsync(file.fileno())
            path.unlink()
            flush(self.folder)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Nobody else writes or removes a record at the same time; what a kill left half written or removed goes."""
        with (
            LedgerError.from_system(
                "the records of paid releases cannot be read or written: {reason}", value=str(self.folder)
            ),
            locked(self.folder.with_name(f".{self.folder.name}.lock"), remove=True),
        ):
            for left in (*self.folder.glob(".*.partial-*"), *self.folder.glob("*.json")):
                if left.name.startswith(".") or not any(left.read_bytes()):
                    left.unlink()
            yield
            with suppress(OSError):
                self.folder.rmdir()  # unless it holds a record

    def waiting(self, folder: Path | None = None) -> tuple[Pending, ...]:
        """The releases that are paid for and not out, oldest first; runs that are at work are left alone.

        With ``folder``, which the caller must have taken, those that go there.
        """
        found = self._idle(folder)
        return tuple(filter(self.is_waiting, found))

    def of_another_ledger(self, folder: Path | None = None) -> tuple[Pending, ...]:
        """The releases that were paid for by rows which this ledger lacks: restore the newer one to complete them."""
        found = self._idle(folder)
        return tuple(each for each in found if self.row_of(each) is None and self._is_marked_paid(each))

    def _idle(self, folder: Path | None) -> list[Pending]:
        """The records of runs that are not at work, oldest first."""
        place = None if folder is None else os.path.realpath(folder)
        if not is_there(self.folder):
            return []
        with self._alone():
            found = [self._read(path) for path in sorted(self.folder.glob("*.json"))]
        chosen = [each for each in found if place in (None, each.facts.folder)]
        # Of those for ``folder``, the caller has the lock.
        idle = [each for each in chosen if place is not None or not _is_at_work(each)]
        return sorted(idle, key=lambda each: each.facts.created)

    def is_waiting(self, pending: Pending) -> bool:
        """Whether a release is paid for and not out; where it is not, its record goes. No run may be at work on it.

        A ledger that lacks the row of a record that is marked as paid, or the row and the head before it, is an older
        copy or another one: the record stays then.
        """
        entry = self.row_of(pending)
        if entry is not None and not _is_out(pending, entry):
            return True
        known = not pending.facts.before or self._ledger.holds(pending.facts.before)
        if entry is not None or (known and not self._is_marked_paid(pending)):
            self.remove(pending)
        return False

    def row_of(self, pending: Pending) -> Entry | None:
        """The ledger's row of a release."""
        rows = self._ledger.entries(pending.facts.dataset)
        named = (row for row in rows if row.kind == "spend" and row.content["release_id"] == pending.facts.release_id)
        return next(named, None)

    @contextmanager
    def kept(self, pending: Pending) -> Iterator[None]:
        """Whatever ends the block: a release that is out or not paid for leaves no record, any other one is named.

        An error becomes a `PaidError`. An interrupt or an exit stays what it is, with the `PaidError` as its cause.
        """
        try:
            yield
        except BaseException as end:
            with undisturbed():
                try:
                    waits = self.is_waiting(pending)
                except LedgerError:  # one that cannot be read now may have the row: the record stays
                    waits = self._path(pending).exists()
                if not waits:
                    raise
                if isinstance(end, Exception):
                    raise pending.refused(_reason(end)) from end
                raise end from pending.refused(Message("the run was interrupted"))
        self.remove(pending)

    def _path(self, pending: Pending) -> Path:
        return self.folder / f"{pending.facts.release_id}.json"

    def _read(self, path: Path) -> Pending:
        try:
            content = json.loads(path.read_text(encoding="utf-8").partition("\n")[0])
            facts = PendingFacts(**content["facts"])
            if content["format"] == FORMAT and path.stem == facts.release_id:
                return Pending(facts, content["sealed"])
        except (OSError, ValueError, KeyError, TypeError):
            pass
        raise LedgerError(
            "the record of a release that was paid for cannot be read",
            value=str(path),
            hint="It was changed, or is of a newer Sudare; put it back as it was, or remove it and pay once more.",
        )


def versions() -> dict[str, str]:
    """Of what makes a release's bytes: the same versions make the same."""
    own = {"sudare": __version__, "python": platform.python_version(), "machine": platform.machine()}
    found = packages() | own  # a kind or a method may come from any of the packages
    return found | {name: there for name in _MATTERING if (there := _installed(name)) is not None}


@cache
def _installed(name: str) -> str | None:
    """The version of a package, None where it is not there; which is looked for on the disk."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _cipher(facts: PendingFacts, signing: Ed25519PrivateKey) -> AESGCM:
    private = signing.private_bytes(Encoding.Raw, PrivateFormat.Raw, NoEncryption())
    name = facts.release_id.encode()
    return AESGCM(hashlib.blake2b(name, key=private, person=b"sudare sealed", digest_size=32).digest())


def gathered_hash(data: Any, source: Source) -> str | None:
    """A hash of all values of what a job gathered, under the key of its noise: it tells nothing without that key.

    None where a value of another type is among them, such as a frame: it would not be compared, and the release could
    be completed on other data.
    """
    found = hashlib.blake2b(key=source.key_to_seal(), person=b"sudare gathered", digest_size=32)
    parts = [data]
    while parts:
        part = parts.pop()
        if isinstance(part, np.ndarray | np.generic):
            found.update(f"{part.dtype}{part.shape}".encode())
            found.update(repr(part.tolist()).encode() if part.dtype.hasobject else part.tobytes())
        elif is_dataclass(part):
            parts += [getattr(part, each.name) for each in fields(part)]
        elif isinstance(part, Mapping | list | tuple):
            found.update(f"{len(part)} {type(part).__name__}".encode())
            parts += part.items() if isinstance(part, Mapping) else part
        elif isinstance(part, str | bytes | Number | None):
            found.update(f"{part!r};".encode())
        else:
            return None
    return found.hexdigest()


def _is_at_work(pending: Pending) -> bool:
    """Whether a run has the release's folder. Where that can no longer be asked, no run can write there either."""
    try:
        return is_locked(lock_path(Path(pending.facts.folder)))
    except OSError:
        return False


def _is_out(pending: Pending, entry: Entry) -> bool:
    """Whether the release's folder has its certificate; that appears under this name with everything else, or never."""
    try:
        certificate = json.loads((Path(pending.facts.folder) / CERTIFICATE).read_text(encoding="utf-8-sig"))
        return bool((certificate["release_id"], certificate["ledger_head"]) == (pending.facts.release_id, entry.hash))
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _reason(problem: Exception) -> Message | SudareError:
    """What ended a run; the text of an error that is not the package's could quote a value."""
    if isinstance(problem, SudareError):
        return problem
    if isinstance(problem, OSError):
        return system_reason(problem)
    if isinstance(problem, MemoryError):
        return Message("the machine ran out of memory")
    return Message("{type}", type=type(problem).__name__)
