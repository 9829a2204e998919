"""The pages of a publication: the public report inside its folder, the internal one outside of it.

Both are drawn when the release is out already. A report is not part of what was paid for: whoever has the release can
draw it again by `draw_report`, which reads what `write_public` reads, the released files alone.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sudare.errors import OutputError, SudareError
from sudare.language.catalogue import Words
from sudare.language.messages import OnProgress, PageMessage, Progress, Stage
from sudare.privacy.fingerprint import file_digest
from sudare.privacy.notebook import headline
from sudare.privacy.private_files import NEW_FILE, locked
from sudare.recipe.parts import Output
from sudare.registry import KINDS
from sudare.workflow.certificate import as_a_release, checked_release
from sudare.workflow.folder import CERTIFICATE, lock_path, refuse_existing, remove_leftovers
from sudare.workflow.job import Job
from sudare.workflow.needs import memory_refused
from sudare.workflow.reports import (
    PUBLIC,
    ListedReport,
    certificate_bytes,
    load_or_create,
    public_text,
    read_list,
    write_list,
)

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from sudare.workflow.check import Check


@dataclass(frozen=True)
class Pages:
    """Where the pages are, None where they were not asked for, and why the others could not be drawn."""

    report: Path | None = None
    internal_report: Path | None = None
    left_out: tuple[PageMessage, ...] = ()


def public_path(folder: Path) -> Path:
    """Where the public report of a release lies: beside its certificate."""
    return folder / PUBLIC


def internal_path(folder: Path) -> Path:
    """Where the internal report of a release lies: next to its folder, never inside.

    >>> internal_path(Path("out/release")).as_posix()
    'out/release-internal.html'
    """
    return folder.with_name(f"{folder.name}-internal.html")


def write_pages(
    job: Job,
    data: Any,
    made: Any,
    folder: Path,
    words: Words,
    key: Ed25519PrivateKey,
    progress: OnProgress,
    look: Check | None = None,
) -> Pages:
    """The pages that the recipe asks for; the release stands even where one cannot be written."""
    wanted: dict[str, Callable[[], Path]] = {}
    if job.recipe.report.public:
        wanted["report"] = lambda: write_public(folder, words, key)
    if job.recipe.report.internal:
        wanted["internal_report"] = lambda: write_internal(job, data, made, folder, words, look)
    written: dict[str, Path] = {}
    left_out = []
    for name, write in wanted.items():
        progress(Progress(Stage(name)))
        try:
            with memory_refused():
                written[name] = write()
        except SudareError as problem:
            left_out.append(PageMessage(f"left_out.{name}", reason=problem))
    return Pages(written.get("report"), written.get("internal_report"), tuple(left_out))


def write_public(folder: Path, words: Words, key: Ed25519PrivateKey) -> Path:
    """Draw the public report from what is in ``folder``, and nothing else, and list it."""
    path = folder / CERTIFICATE
    certificate = json.loads(path.read_text(encoding="utf-8"))
    return _list_and_write(path, certificate, PUBLIC, report_page(path, certificate, words), words, key)


@dataclass(frozen=True)
class Drawn:
    """A report drawn again: where it is, its language, and whether the publisher's list names these very bytes."""

    path: Path
    language: str
    certified: bool

    def to_json(self) -> dict[str, Any]:
        """For machines."""
        return {"report": str(self.path), "language": self.language, "certified": self.certified}


def draw_report(release: str | Path, *, language: str | None = None, key: str | Path | None = None) -> Drawn:
    """Draw the public report of a release again, from its files alone: ``release`` is its folder or its certificate.

    ``language`` is "en" or "ja"; without it that of the report that is listed, else English. ``key`` is the
    publisher's private key; without it, the default one of recipes beside the release's folder, if it is there. With
    the key the report goes into the folder and is listed there. Without, only one goes there that is listed already,
    byte for byte; any other is written next to the folder, where nobody takes it for a part of the release.
    """
    path, certificate, _, _ = checked_release(Path(release))
    with ExitStack() as held:
        with suppress(OSError):  # where nothing may be written beside the folder, nothing is cleaned there either
            held.enter_context(locked(lock_path(path.parent), remove=True))
            remove_leftovers(path.parent.resolve())
        return _drawn_again(path, certificate, language, key)


def _drawn_again(path: Path, certificate: dict[str, Any], language: str | None, key: str | Path | None) -> Drawn:
    folder, listed = path.parent, read_list(path, certificate)
    words = Words(language or next((one.language for one in listed.values()), "en"))
    signing = _key_at_hand(folder, certificate, key)
    page = report_page(path, certificate, words)
    sha256 = hashlib.sha256(page.encode()).hexdigest()
    name = _name_of(folder, listed, words.language, sha256)
    if signing is not None:
        return Drawn(_list_and_write(path, certificate, name, page, words, signing), words.language, certified=True)
    certified = listed.get(name) == ListedReport(words.language, sha256)
    target = folder / name if certified else folder.resolve().with_name(f"{folder.resolve().name}-{name}")
    _refuse_another(target, sha256)
    return Drawn(_write(page, target, mode=0o644), words.language, certified)


def report_page(path: Path, certificate: dict[str, Any], words: Words) -> str:
    """The public report of the release with the certificate at ``path``, as a page."""
    from sudare.render.reports import Cover, public_page

    kind = certificate.get("kind", "table")
    with as_a_release(kind):
        words = words.counting(certificate["guarantee"]["unit"]["name"])
        cover = Cover.of_certificate(certificate, certificate_bytes(path), words)
        return public_page(cover, KINDS[kind].public_sections(path.parent, certificate, words), words)


def _name_of(folder: Path, listed: dict[str, ListedReport], language: str, sha256: str) -> str:
    """The name of a report in the folder: that of its language's, else the common one, unless another has it."""
    if same := [name for name, one in listed.items() if one.language == language]:
        return same[0]
    taken = PUBLIC in listed or (public_path(folder).exists() and file_digest(public_path(folder)) != sha256)
    return f"report.{language}.html" if taken else PUBLIC


def _key_at_hand(folder: Path, certificate: dict[str, Any], key: str | Path | None) -> Ed25519PrivateKey | None:
    path = folder.resolve().with_name(Output.model_fields["key"].default) if key is None else Path(key)
    if not path.exists():
        if key is None:
            return None
        raise OutputError("there is no such key", value=str(path))
    found = load_or_create(path)
    if public_text(found) == certificate["publisher"]:
        return found
    if key is None:
        return None
    raise OutputError("the key is not the one that signed the release", value=str(path))


def _list_and_write(
    path: Path, certificate: dict[str, Any], name: str, page: str, words: Words, key: Ed25519PrivateKey
) -> Path:
    """Listed first: a kill in between leaves a report that anybody can draw again, and none that nobody certified."""
    folder, known = path.parent, read_list(path, certificate)
    made = ListedReport(words.language, hashlib.sha256(page.encode()).hexdigest())
    _refuse_another(folder / name, made.sha256)
    if known.get(name) != made:
        write_list(path, certificate, {**known, name: made}, key)
    return _write(page, folder / name, mode=0o644)


def _refuse_another(path: Path, sha256: str) -> None:
    if path.exists() and file_digest(path) != sha256:
        raise OutputError("another report is there already", value=path.name, hint="Remove it first.")


def write_internal(job: Job, data: Any, made: Any, folder: Path, words: Words, look: Check | None = None) -> Path:
    """Draw the internal report: it holds true values, and is readable for its owner only; ``look``: rows dropped."""
    from sudare.render.reports import internal_page, ledger_section
    from sudare.workflow.check import look_section

    dataset, words = job.recipe.dataset, words.counting(made.guarantee.unit.name)
    facts = {
        words("ledger.dataset"): dataset,
        words("guarantee.promise"): headline(made.guarantee, words),
        words("files.folder"): folder.name,
    }
    sections = [
        *([] if look is None else [look_section(look, words)]),
        *job.kind.internal_sections(data, made, words),
        ledger_section(job.ledger.balance(dataset), job.ledger.entries(dataset), words),
    ]
    page = internal_page(sections, words, title=job.recipe.title or dataset, facts=facts)
    return _write(page, internal_path(folder), mode=0o600)


def _write(page: str, path: Path, *, mode: int) -> Path:
    """A page appears whole or not at all, and not in place of another; one of the same bytes stays as it is."""
    if path.is_file() and path.read_bytes() == page.encode():
        return path
    refuse_existing(path)
    partial = path.with_name(f".{path.name}.partial-{secrets.token_hex(8)}")
    try:
        with OutputError.from_system("the page cannot be written: {reason}", value=str(path)):
            handle = os.open(partial, NEW_FILE, mode)
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
                file.write(page)
            partial.rename(path)
    finally:
        partial.unlink(missing_ok=True)
    return path
