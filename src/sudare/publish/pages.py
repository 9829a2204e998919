"""The pages of a publication: the public report inside its folder, the internal one outside of it.

Both are drawn when the release is out already. A report is not part of what was paid for: it names the SHA-256 of the
certificate, so the certificate cannot list it, and whoever has the release can draw it again.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sudare.errors import OutputError, SudareError
from sudare.privacy.shown import headline
from sudare.publish.certificate import NAME
from sudare.publish.folder import refuse_existing
from sudare.publish.job import Job
from sudare.publish.needs import memory_refused
from sudare.words import Words

PUBLIC = "report.html"


@dataclass(frozen=True)
class Pages:
    """Where the pages are, None where they were not asked for, and a sentence for each that could not be drawn."""

    report: Path | None = None
    internal_report: Path | None = None
    left_out: tuple[str, ...] = ()


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
    job: Job[Any, Any],
    data: Any,
    made: Any,
    certificate: dict[str, Any],
    folder: Path,
    words: Words,
    progress: Callable[[str], None],
) -> Pages:
    """The pages that the recipe asks for; the release stands even where one cannot be written."""
    wanted: dict[str, Callable[[], Path]] = {}
    if job.recipe.report.public:
        wanted["report"] = lambda: write_public(job, made, certificate, folder, words)
    if job.recipe.report.internal:
        wanted["internal_report"] = lambda: write_internal(job, data, made, folder, words)
    written: dict[str, Path] = {}
    left_out = []
    for name, write in wanted.items():
        called = name.replace("_", " ")
        progress(f"drawing the {called}")
        try:
            with memory_refused():
                written[name] = write()
        except SudareError as problem:
            left_out.append(f"the {called} is left out: {problem}")
    return Pages(written.get("report"), written.get("internal_report"), tuple(left_out))


def write_public(job: Job[Any, Any], made: Any, certificate: dict[str, Any], folder: Path, words: Words) -> Path:
    """Draw the public report from the release and the certificate in ``folder``, and nothing else."""
    from sudare.report import Cover, public_page

    cover = Cover.of_certificate(certificate, (folder / NAME).read_bytes(), words)
    page = public_page(cover, job.public_sections(made, words), words)
    return _write(page, public_path(folder), mode=0o644)


def write_internal(job: Job[Any, Any], data: Any, made: Any, folder: Path, words: Words) -> Path:
    """Draw the internal report: it holds true values and is readable for its owner only."""
    from sudare.report import internal_page, ledger_section

    dataset = job.recipe.dataset
    facts = {
        words("ledger.dataset"): dataset,
        words("guarantee.promise"): headline(made.guarantee, words),
        words("files.folder"): folder.name,
    }
    sections = [
        *job.internal_sections(data, made, words),
        ledger_section(job.ledger.balance(dataset), job.ledger.entries(dataset), words),
    ]
    page = internal_page(sections, words, title=job.recipe.title or dataset, facts=facts)
    return _write(page, internal_path(folder), mode=0o600)


def _write(page: str, path: Path, *, mode: int) -> Path:
    """A page appears whole or not at all, and not in place of another."""
    refuse_existing(path)
    partial = path.with_name(f".{path.name}.partial-{secrets.token_hex(8)}")
    try:
        handle = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(page)
        partial.rename(path)
    except OSError as problem:
        raise OutputError(f"the page cannot be written: {problem.strerror}", value=str(path)) from None
    finally:
        partial.unlink(missing_ok=True)
    return path
