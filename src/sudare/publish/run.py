"""`publish`: do it once and spend."""

from __future__ import annotations

import json
import secrets
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sudare.errors import AccountingError, PrivacyWarning
from sudare.noise import Source, stamped
from sudare.privacy import Balance
from sudare.publish.certificate import NAME, certify
from sudare.publish.folder import refuse_existing, refuse_unusable, whole_folder
from sudare.publish.job import Job
from sudare.publish.needs import memory_refused
from sudare.publish.pages import internal_path, write_pages
from sudare.publish.public_sources import Sources, refuse_private_rows
from sudare.publish.signing import load_or_create
from sudare.words import Words


@dataclass(frozen=True)
class Publication:
    """A release that is out: where it is, what it cost, what is left."""

    release_id: str
    folder: Path
    release: Any
    certificate: dict[str, Any]
    balance: Balance
    headline: dict[str, str]
    left_out: tuple[str, ...] = ()
    report: Path | None = None
    internal_report: Path | None = None

    def to_json(self) -> dict[str, Any]:
        """For machines; public facts only."""
        return {
            "release_id": self.release_id,
            "folder": str(self.folder),
            "files": sorted([*self.certificate["files"], NAME]),
            "report": None if self.report is None else str(self.report),
            "internal_report": None if self.internal_report is None else str(self.internal_report),
            "left_out": list(self.left_out),
            "summary": self.release.summary,
            "guarantee": self.release.guarantee.to_json(),
            "balance": self.balance.to_json(),
        }


@memory_refused()
def publish(
    recipe: str | Path, *, language: str | None = None, progress: Callable[[str], None] = lambda _: None
) -> Publication:
    """Read, spend, protect, write, certify, report; in this order. ``language`` is of the reports, if not the recipe's.

    The ledger's row is on the disk before noise meets data, so a crash at any moment can only over-count. The
    files appear under their final folder all together, or not at all; reports are drawn once they are there, so that
    nothing that goes wrong with a page can lose a release that is paid for.
    """
    job = Job.ready(recipe)
    words = Words(language or job.recipe.report.language)
    target = job.path(job.recipe.output.folder)
    refuse_existing(target)
    refuse_unusable(target)
    if job.recipe.report.internal:
        refuse_existing(internal_path(target))
    key = load_or_create(job.path(job.recipe.output.key))
    # A cap that is too small refuses here, before the long work; the binding check is the spending below.
    job.ledger.check(job.recipe.dataset, job.guarantee, **job.terms)
    for caution in job.cautions:
        warnings.warn(caution, stacklevel=2)
    refuse_private_rows(job)
    sources = Sources.of(job)
    source = Source.system()
    release_id = stamped("release id", f"{datetime.now(UTC):%Y%m%d}-{secrets.token_hex(6)}")
    progress("reading")
    with job.gathered(source) as data, whole_folder(target) as folder:
        if not job.recipe.output.confirm_resources:
            job.needs(data).refuse_scarce(target)
        progress("spending")
        sources.require_unchanged(job)
        entry = job.ledger.spend(
            job.recipe.dataset,
            job.guarantee,
            release_id,
            recipe_hash=job.recipe_sha256,
            sources=[sources.fingerprint],
            confirm_same_data=job.recipe.ledger.confirm_same_data,
            **job.terms,
        )
        progress("protecting")
        with warnings.catch_warnings(), memory_refused():
            warnings.simplefilter("ignore", PrivacyWarning)  # said above
            made = job.protect(data, source)
        if made.guarantee != job.guarantee:
            raise AccountingError("the release promises something else than was paid for")
        progress("writing")
        with memory_refused():
            files = job.write(made, folder)
        certificate = certify(
            made,
            kind=job.recipe.kind,
            further=job.certified(made),
            release_id=release_id,
            dataset=job.recipe.dataset,
            title=job.recipe.title,
            recipe_sha256=job.recipe_sha256,
            ledger_head=stamped("ledger head", entry.hash),
            files=files,
            key=key,
        )
        text = json.dumps(certificate, indent=2, ensure_ascii=False)
        (folder / NAME).write_text(text + "\n", encoding="utf-8")
    balance = job.ledger.balance(job.recipe.dataset)
    pages = write_pages(job, data, made, certificate, target, words, progress)
    left_out = (*job.left_out(made), *pages.left_out)
    headline = job.headline(made)
    return Publication(
        release_id, target, made, certificate, balance, headline, left_out, pages.report, pages.internal_report
    )
