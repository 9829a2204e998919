"""The certificate `release.json`: lets a third party check a release from its public bytes alone."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sudare.domain.text import steers_terminal
from sudare.errors import Message, MissingExtraError, SudareError, VerificationError
from sudare.language.catalogue import Words
from sudare.language.messages import PageMessage, said
from sudare.privacy import Guarantee, Publishable
from sudare.privacy.fingerprint import file_digest
from sudare.privacy.notebook import headline
from sudare.registry import KINDS
from sudare.version import __version__
from sudare.workflow.folder import CERTIFICATE, is_there
from sudare.workflow.reports import LIST, ReleaseReports, canonical, check_reports, fingerprint, is_signed, public_text

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

FORMAT = "sudare-release/1"
_FORMAT = re.compile(r"sudare-release/([0-9]{1,9})")


def certify(
    release: Publishable,
    *,
    kind: str,
    further: dict[str, Any],
    release_id: str,
    created: str,
    dataset: str,
    title: str,
    recipe_sha256: str,
    ledger_head: str,
    files: Mapping[str, Path | Sequence[Path]],
    key: Ed25519PrivateKey,
) -> dict[str, Any]:
    """The signed certificate of a release whose files are written: public facts only."""
    body = {
        "format": FORMAT,
        "sudare": __version__,
        "kind": kind,
        "release_id": release_id,
        "created": created,
        "dataset": dataset,
        "title": title,
        "guarantee": release.guarantee.to_json(),
        **further,
        "summary": release.summary,
        "recipe_sha256": recipe_sha256,
        "ledger_head": ledger_head,
        "files": {
            path.name: {"format": name, "sha256": file_digest(path), "bytes": path.stat().st_size}
            for name, paths in files.items()
            for path in ([paths] if isinstance(paths, Path) else paths)
        },
        "reports": LIST,
        "publisher": public_text(key),
    }
    return {**body, "signature": key.sign(canonical(body)).hex()}


@dataclass(frozen=True)
class Verification:
    """What was checked and found right; ``reports`` says what else lies in the folder."""

    certificate: dict[str, Any]
    guarantee: Guarantee
    checks: tuple[PageMessage | str, ...]
    reports: ReleaseReports

    @property
    def ok(self) -> bool:
        """Always true: a release that fails a check raises instead."""
        return True

    def said(self, words: Words) -> list[str]:
        """What was found right, in words."""
        promise = f"{words('guarantee.promise')}：{headline(self.guarantee, words)}"
        own = words.language != "en"
        return [promise if own and _is_guarantee(check) else said(check, words) for check in self.checks]

    def to_json(self) -> dict[str, Any]:
        """For machines."""
        return {
            "ok": True,
            "release_id": self.certificate["release_id"],
            "dataset": self.certificate["dataset"],
            "publisher": fingerprint(self.certificate["publisher"]),
            "guarantee": self.guarantee.to_json(),
            "checks": [str(check) for check in self.checks],
            "reports": {name: report.language for name, report in self.reports.listed.items()},
            "missing_reports": list(self.reports.missing),
            "uncertified_reports": list(self.reports.uncertified),
            "unlisted_files": list(self.reports.unlisted),
            "remarks": [str(remark) for remark in self.reports.remarks],
        }


def _is_guarantee(check: PageMessage | str) -> bool:
    return isinstance(check, PageMessage) and check.key == "verified.guarantee"


def verify(path: str | Path, *, publisher: str | Path | None = None) -> Verification:
    """Check a release from its certificate and the files beside it; raises VerificationError at the first fault.

    ``publisher`` is the publisher's public key, a PEM file or 64 hexadecimal digits, got from somewhere else
    than the release itself; without it the signature only shows that nothing changed since it was signed. Files of the
    folder that the publisher did not certify are named in ``reports.remarks``; a report must be certified, unless the
    release is older than the list of reports.
    """
    path, certificate, guarantee, checks = checked_release(Path(path), publisher)
    found, reports = check_reports(path, certificate)
    return Verification(certificate, guarantee, (*checks, *found), reports)


def checked_release(
    path: Path, publisher: str | Path | None = None
) -> tuple[Path, dict[str, Any], Guarantee, tuple[PageMessage | str, ...]]:
    """A release without its reports: path and content of the certificate, its guarantee, and what was found right."""
    path = path / CERTIFICATE if is_there(path) and path.is_dir() else path
    certificate = _read(path)
    checks = [_signature(certificate, publisher)]
    try:
        guarantee = Guarantee.from_json(certificate["guarantee"])
    except (SudareError, KeyError, TypeError, ValueError) as problem:
        raise VerificationError("the certificate states no valid guarantee: {reason}", reason=problem) from None
    checks.append(PageMessage("verified.guarantee", guarantee=str(guarantee)))
    for name, facts in _files(certificate).items():
        file = path.parent / name
        if Path(name).name != name or not is_there(file) or not file.is_file():
            raise VerificationError("a file of the release is missing", value=name)
        if not isinstance(facts, dict) or (file_digest(file), file.stat().st_size) != (
            facts.get("sha256"),
            facts.get("bytes"),
        ):
            raise VerificationError("a file differs from the one that was certified", value=name)
        checks.append(PageMessage("verified.hash", file=name))
    kind = certificate.get("kind", "table")  # the first certificates were all of tables and did not say so
    if not isinstance(kind, str) or kind not in KINDS:
        raise VerificationError("a release of an unknown kind", value=kind, allowed=KINDS)
    with as_a_release(kind):
        checks += KINDS[kind].check(path.parent, certificate)
        if isinstance(series := certificate.get("series"), dict):
            checks.append(_period(series))
    return path, certificate, guarantee, tuple(checks)


def _period(series: dict[str, Any]) -> PageMessage:
    """Which period of a series the certificate says this is; `open_series` checks it against its predecessor."""
    facts: dict[str, Any] = {
        "period": str(series["period"]),
        "number": int(series["number"]),
        "of": len(series["periods"]),
    }
    before = series["predecessor"]
    if before is None:
        return PageMessage("verified.series_first", **facts)
    return PageMessage("verified.series", **facts, before=f"{before['period']}, {before['release_id']}")


def _files(certificate: dict[str, Any]) -> dict[str, Any]:
    """What the certificate states of each file, checked for its form: anybody can sign anything."""
    stated = certificate["files"]
    if not isinstance(stated, dict) or not isinstance(certificate["summary"], dict):
        raise VerificationError("the certificate does not list files and a summary", allowed="as Sudare writes them")
    return stated


@contextmanager
def as_a_release(kind: str) -> Iterator[None]:
    """Turn whatever goes wrong with the files of a release into one refusal."""
    try:
        yield
    except (VerificationError, MissingExtraError):
        raise
    except SudareError as problem:
        raise VerificationError(
            "the files are not a release of this kind: {reason}", value=kind, reason=problem
        ) from None
    except Exception:
        # A file made to mislead can fail in any of the libraries that read it: it is no release in any case.
        raise VerificationError("the files are not a release of this kind", value=kind) from None


def _read(path: Path) -> dict[str, Any]:
    try:
        certificate = json.loads(path.read_text(encoding="utf-8-sig"))  # a byte order mark changes nothing signed
    except FileNotFoundError:
        raise VerificationError("there is no such certificate", value=str(path)) from None
    except (OSError, ValueError, RecursionError):
        raise VerificationError(
            "the certificate cannot be read as JSON",
            value=str(path),
            hint="It is text in UTF-8, as its publisher wrote it: fetch it again.",
        ) from None
    named = isinstance(certificate, dict) and _FORMAT.fullmatch(str(certificate.get("format")))
    if not isinstance(certificate, dict) or not named:
        raise VerificationError("not a certificate of this format", value=str(path), allowed=[FORMAT])
    VerificationError.refuse_newer(
        Message("the certificate {path}", path=path), int(named[1]), int(FORMAT.partition("/")[2])
    )
    if steers_terminal(certificate):
        raise VerificationError("a text of the certificate holds control characters", value=str(path))
    needed = {"signature", "publisher", "guarantee", "files", "summary", "release_id", "dataset"}
    if missing := needed - certificate.keys():
        raise VerificationError("the certificate is incomplete", value=sorted(missing))
    return certificate


def _signature(certificate: dict[str, Any], publisher: str | Path | None) -> PageMessage:
    from sudare.workflow.reports import read_public

    stated = str(certificate["publisher"])
    body = {name: value for name, value in certificate.items() if name != "signature"}
    try:
        signed = is_signed(canonical(body), str(certificate["signature"]), stated)
    except UnicodeEncodeError:  # half a character, which JSON can spell and nobody can sign
        signed = False
    if not signed:
        raise VerificationError("the signature does not match the certificate")
    if publisher is None:
        return PageMessage("verified.signature", key=fingerprint(stated))
    text = str(publisher)
    trusted = text.lower() if len(text) == 64 and not is_there(Path(text)) else read_public(Path(text))
    if trusted != stated:
        raise VerificationError("the release was signed by another publisher", value=fingerprint(stated))
    return PageMessage("verified.publisher", key=fingerprint(stated))
