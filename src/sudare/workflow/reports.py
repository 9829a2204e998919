"""The list of a release's reports, ``reports.json``: signed by the key of the certificate.

A report names the SHA-256 of the certificate, so the certificate cannot list it. It says instead, from 0.1 on, that
its reports are certified: a report that no list names is then not the publisher's.

The publisher's Ed25519 key: made once, kept by the publisher, its public half printed in certificates.
"""

from __future__ import annotations

import codecs
import hashlib
import json
import re
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

from sudare.errors import Message, OutputError, VerificationError
from sudare.language.messages import PageMessage
from sudare.privacy.fingerprint import file_digest
from sudare.privacy.private_files import ensure_secret
from sudare.workflow.folder import flush

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes, PublicKeyTypes
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey


def canonical(body: dict[str, Any]) -> bytes:
    """The bytes that are signed: JSON with sorted keys and no spaces."""
    return json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def load_or_create(path: Path) -> Ed25519PrivateKey:
    """The key in ``path``; made there, readable by its owner alone, when there is none yet."""
    with OutputError.from_system("the signing key cannot be written: {reason}", value=str(path)):
        path.parent.mkdir(parents=True, exist_ok=True)
        ensure_secret(path, lambda: pem_of(Ed25519PrivateKey.generate()))
    with OutputError.from_system("the signing key cannot be read: {reason}", value=str(path)):
        key = key_in(path.read_bytes())
    if not isinstance(key, Ed25519PrivateKey):
        raise OutputError("not an unencrypted Ed25519 private key in PEM form", value=str(path))
    return key


def pem_of(key: Ed25519PrivateKey | X25519PrivateKey) -> bytes:
    """A private key as the text of a file."""
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def key_in(pem: bytes) -> PrivateKeyTypes | PublicKeyTypes | None:
    """The private or public key in the text of a file; None where there is none, or it is encrypted."""
    try:
        return load_pem_private_key(pem, password=None) if b"PRIVATE" in pem else load_pem_public_key(pem)
    except (ValueError, TypeError):
        return None


def public_text(key: Ed25519PrivateKey) -> str:
    """The public half as 64 hexadecimal digits."""
    return key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw).hex()


def fingerprint(public: str) -> str:
    """A short form of a public key for people to compare.

    >>> fingerprint("00" * 32)
    '66687aadf862bd77'
    """
    return hashlib.sha256(bytes.fromhex(public)).hexdigest()[:16]


def read_public(path: Path) -> str:
    """The public key in a PEM file, private or public, as 64 hexadecimal digits."""
    with VerificationError.from_system("the key cannot be read: {reason}", value=str(path)):
        found = key_in(path.read_bytes())
    key = found.public_key() if isinstance(found, Ed25519PrivateKey) else found
    if not isinstance(key, Ed25519PublicKey):
        raise VerificationError("not an Ed25519 key in PEM form", value=str(path))
    return key.public_bytes(Encoding.Raw, PublicFormat.Raw).hex()


def is_signed(message: bytes, signature: str, public: str) -> bool:
    """Whether ``signature`` (hexadecimal) of ``message`` was made with the key of ``public``."""
    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(public)).verify(bytes.fromhex(signature), message)
    except (InvalidSignature, ValueError):
        return False
    return True


FORMAT = "sudare-reports/1"
_FORMAT = re.compile(r"sudare-reports/([0-9]{1,9})")
LIST = "reports.json"
PUBLIC = "report.html"
_OF_SYSTEMS = frozenset({".DS_Store", "Thumbs.db", "desktop.ini"})
"""What systems put into folders by themselves, and nobody takes for a part of a release."""
_MOST_NAMED = 20


@dataclass(frozen=True)
class ListedReport:
    """One report: the language it is in, and the SHA-256 of its bytes."""

    language: str
    sha256: str


@dataclass(frozen=True)
class ReleaseReports:
    """The reports of a release: those listed, which of them are missing, those no list names; and other files."""

    listed: dict[str, ListedReport]
    missing: tuple[str, ...] = ()
    uncertified: tuple[str, ...] = ()
    unlisted: tuple[str, ...] = ()

    @property
    def remarks(self) -> tuple[PageMessage, ...]:
        """What a reader should hear though nothing is wrong."""
        first = [PageMessage("verified.missing_report", file=name) for name in self.missing]
        first += [PageMessage("verified.uncertified_report", file=name) for name in self.uncertified]
        others = [PageMessage("verified.unlisted", file=name) for name in self.unlisted[:_MOST_NAMED]]
        more = len(self.unlisted) - len(others)
        return (*first, *others, *([PageMessage("verified.more_unlisted", files=more)] if more > 0 else []))


def certificate_bytes(path: Path) -> bytes:
    """A certificate as it was written: editors and transfers put byte order marks and line ends of their system in.

    Neither is part of what is signed, and no text in JSON holds one of them in plain.
    """
    return path.read_bytes().removeprefix(codecs.BOM_UTF8).replace(b"\r\n", b"\n")


def _certificate_hash(path: Path) -> str:
    return hashlib.sha256(certificate_bytes(path)).hexdigest()


def read_list(certificate_path: Path, certificate: dict[str, Any]) -> dict[str, ListedReport]:
    """The reports that the publisher certified, by file name; empty without a list, and none but this release's."""
    path = certificate_path.parent / LIST
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError):
        raise VerificationError(
            "the list of reports cannot be read as JSON",
            value=LIST,
            hint="Remove it and draw it again with: sudare report FOLDER --key KEY",
        ) from None
    named = isinstance(content, dict) and _FORMAT.fullmatch(str(content.get("format")))
    if not isinstance(content, dict) or not named:
        raise VerificationError("not a list of reports of this format", value=LIST, allowed=[FORMAT])
    what = Message("the list of reports {path}", path=path)
    VerificationError.refuse_newer(what, int(named[1]), int(FORMAT.partition("/")[2]))
    body = {name: value for name, value in content.items() if name != "signature"}
    stated = (content.get("publisher"), content.get("release_id"), content.get("certificate_sha256"))
    try:
        signed = is_signed(canonical(body), str(content.get("signature")), str(certificate["publisher"]))
        found = {str(name): ListedReport(one["language"], one["sha256"]) for name, one in content["reports"].items()}
    except (UnicodeEncodeError, KeyError, TypeError, AttributeError):
        signed, found = False, {}
    if not signed:
        raise VerificationError(
            "the signature does not match the list of reports",
            value=LIST,
            hint="Remove it and draw it again with: sudare report FOLDER --key KEY",
        )
    if stated != (certificate["publisher"], certificate["release_id"], _certificate_hash(certificate_path)):
        raise VerificationError("the list of reports is that of another release", value=LIST)
    return found


def check_reports(certificate_path: Path, certificate: dict[str, Any]) -> tuple[list[PageMessage], ReleaseReports]:
    """What is right with the reports, and what else lies beside them; raises `VerificationError`."""
    folder, listed = certificate_path.parent, read_list(certificate_path, certificate)
    checks, missing = [], []
    for name, report in listed.items():
        if Path(name).name != name:
            raise VerificationError("a report lies outside of the release", value=name)
        if not (folder / name).is_file():  # lost, as by a kill before it was drawn: it misleads nobody
            missing.append(name)
            continue
        if file_digest(folder / name) != report.sha256:
            raise VerificationError(
                "a report differs from the one that was certified",
                value=name,
                hint="Remove it and draw it again with: sudare report FOLDER --key KEY",
            )
        checks.append(PageMessage("verified.hash", file=name))
    known = {certificate_path.name, *certificate["files"], *([LIST] if listed else []), *listed, *_OF_SYSTEMS}
    others = {path.name for path in folder.iterdir()} - known
    posing = {name for name in others if _is_called_report(name)}
    if posing and "reports" in certificate:
        raise VerificationError(
            "a report is not certified",
            value=min(posing),
            hint="Remove it and draw it again with: sudare report FOLDER --key KEY",
        )
    # Anybody can give a file a name: one that would steer a terminal is shown as Python writes it.
    unlisted = tuple(name if name.isprintable() else repr(name) for name in sorted(others - posing))
    return checks, ReleaseReports(listed, tuple(missing), tuple(sorted(posing)), unlisted)


def _is_called_report(name: str) -> bool:
    """Whether a reader takes a file for a report of the release, in whatever language.

    >>> _is_called_report("Report.ja.HTML"), _is_called_report("reported.csv")
    (True, False)
    """
    return name.casefold().startswith("report") and name.casefold().endswith((".html", ".htm"))


def write_list(path: Path, certificate: dict[str, Any], known: dict[str, ListedReport], key: Ed25519PrivateKey) -> None:
    """Write the signed list of the reports ``known`` of the certificate at ``path``, in place of the one before."""
    body = {
        "format": FORMAT,
        "release_id": certificate["release_id"],
        "certificate_sha256": _certificate_hash(path),
        "reports": {name: {"language": one.language, "sha256": one.sha256} for name, one in sorted(known.items())},
        "publisher": public_text(key),
    }
    text = json.dumps({**body, "signature": key.sign(canonical(body)).hex()}, indent=2, ensure_ascii=False)
    partial = path.with_name(f".{LIST}.partial-{secrets.token_hex(8)}")
    try:
        with OutputError.from_system("the list of reports cannot be written: {reason}", value=str(path.parent)):
            partial.write_text(text + "\n", encoding="utf-8", newline="\n")
            flush(partial)
            partial.replace(path.with_name(LIST))
    finally:
        partial.unlink(missing_ok=True)
