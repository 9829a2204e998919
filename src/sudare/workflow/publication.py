"""`publish`: do it once and spend."""

from __future__ import annotations

import json
import os
import secrets
import warnings
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sudare.errors import AccountingError, LedgerError, LedgerWarning, Message, OutputError, PrivacyWarning
from sudare.language.catalogue import Words
from sudare.language.messages import Lines, OnProgress, PageMessage, Progress, Stage, unheard
from sudare.noise import Source, stamped
from sudare.privacy import Balance, Entry
from sudare.privacy.history import remember_head
from sudare.workflow.certificate import certify
from sudare.workflow.datapackage import write_package
from sudare.workflow.folder import CERTIFICATE, refuse_existing, refuse_unusable, taken, whole_folder
from sudare.workflow.job import Job, RecipeSource
from sudare.workflow.needs import memory_refused, refuse_scarce
from sudare.workflow.pages import internal_path, write_pages
from sudare.workflow.pending import Pending, PendingFacts, PendingReleases, gathered_hash, versions
from sudare.workflow.public_sources import Sources, refuse_private_rows
from sudare.workflow.reports import LIST, load_or_create

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey


@dataclass(frozen=True)
class Publication:
    """A release that is out: where it is, what it cost, what is left."""

    release_id: str
    folder: Path
    release: Any
    certificate: dict[str, Any]
    balance: Balance
    headline: Lines
    left_out: tuple[PageMessage, ...] = ()
    report: Path | None = None
    internal_report: Path | None = None
    begins: tuple[LedgerWarning, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """For machines; public facts only."""
        return {
            "release_id": self.release_id,
            "folder": str(self.folder),
            "files": sorted([*self.certificate["files"], CERTIFICATE, *([LIST] if self.report else [])]),
            "report": None if self.report is None else str(self.report),
            "internal_report": None if self.internal_report is None else str(self.internal_report),
            "left_out": [str(each) for each in self.left_out],
            "begins": [str(begun) for begun in self.begins],
            "summary": self.release.summary,
            "guarantee": self.release.guarantee.to_json(),
            "balance": self.balance.to_json(),
        }


@dataclass(frozen=True)
class _Run:
    """A run that may draw: its facts and its source of noise, new ones, or those of the run that was ``paid`` for."""

    facts: PendingFacts
    source: Source
    sources: Sources
    pending: Pending | None = None
    paid: Entry | None = None
    given_up: tuple[Pending, ...] = ()
    begins: tuple[LedgerWarning, ...] = ()

    @classmethod
    def new(cls, job: Job, target: Path, language: str, given_up: tuple[Pending, ...]) -> _Run:
        """The first run for a release."""
        series = job.series
        own_id = None if series is None else series.new_id(job.ledger, job.terms, given_up=bool(given_up))
        # A cap that is too small refuses here, before the long work; the binding check is the spending.
        job.ledger.check(job.recipe.dataset, job.guarantee, parameters=job.terms)
        begins = job.ledger.beginnings(job.recipe.dataset)
        for caution in (*job.cautions, *begins):
            warnings.warn(caution, stacklevel=4)  # publish is wrapped once
        refuse_private_rows(job.kind)
        sources, now = Sources.of(job), datetime.now(UTC)
        facts = PendingFacts(
            release_id=stamped("release id", own_id or f"{now:%Y%m%d}-{secrets.token_hex(6)}"),
            created=stamped("created", now.isoformat(timespec="seconds")),
            dataset=job.recipe.dataset,
            folder=os.path.realpath(target),
            recipe_sha256=job.recipe_sha256,
            language=language,
            public=sources.public,
            versions=versions(),
            before=job.ledger.head() or "",
        )
        return cls(facts, Source.system(), sources, given_up=given_up, begins=begins)

    @classmethod
    def again(cls, job: Job, pending: Pending, entry: Entry | None, signing: Ed25519PrivateKey) -> _Run:
        """The run that was paid for, once more; refuses whatever would make another one of it: see `pending`."""
        facts = pending.facts
        if entry is None or {facts.recipe_sha256, entry.content["recipe_hash"]} != {job.recipe_sha256}:
            raise pending.refused(Message("the recipe is not the one that was paid for"))
        if pending.sealed is None:
            raise pending.refused(Message("its data have no fingerprint"))
        if facts.versions != (here := versions()):
            others = sorted(name for name in {*here, *facts.versions} if facts.versions.get(name) != here.get(name))
            raise pending.refused(Message("it was begun with another version of {others}", others=", ".join(others)))
        source, sources = pending.open(signing), Sources.of(job)
        if (sources.public, [sources.fingerprint.to_json()]) != (facts.public, entry.content["sources"]):
            raise pending.refused(Message("the private or the public files are not those that were read"))
        return cls(facts, source, sources, pending, entry)

    def recorded(self, data: Any, signing: Ed25519PrivateKey) -> Pending:
        """The record of the release, now that the data are there: a new one, or that of which they must be the same."""
        gathered = gathered_hash(data, self.source)
        if self.pending is None:
            if gathered is None or self.sources.fingerprint.hash is None:
                return Pending(self.facts, None)
            return Pending.seal(replace(self.facts, gathered=gathered), self.source, signing)
        if gathered != self.facts.gathered:
            raise self.pending.refused(Message("the data are read differently than in the first run"))
        return self.pending


@memory_refused()
def publish(
    recipe: RecipeSource,
    *,
    folder: str | Path | None = None,
    language: str | None = None,
    resume: bool = False,
    anew: bool = False,
    period: str | None = None,
    progress: OnProgress = unheard,
) -> Publication:
    """Read, spend, protect, write, certify, report; in this order. ``language`` is of the reports, if not the recipe's.

    ``recipe`` is the path of a file, a dictionary or a `sudare.Recipe`; the paths of the latter two are relative to
    ``folder``, by default the current one.

    ``period`` is the one that is published, where the recipe is a series: each once, and only those of its plan.

    The folder is taken first: of two runs for one folder, one is refused before it spends. The ledger's row is on the
    disk before noise meets data, so a crash at any moment can only over-count. The files appear under their final
    folder all together, or not at all; reports are drawn once they are there, so that nothing that goes wrong with a
    page can lose a release that is paid for.

    A run that ends between its row and its files raises `PaidError`, which names the release. ``resume`` completes such
    a release, of the same recipe on the same data, and spends nothing: its files are, byte for byte, those that the run
    would have written. ``anew`` gives it up and pays for another one; without either it is refused.
    """
    job = Job.ready(recipe, folder, period)
    if job.series is not None:
        job.series.require_choice()
    words = Words(language or job.recipe.report.language)
    target = job.target
    records = PendingReleases(job.ledger)
    for other in records.waiting():  # which removes what runs that were killed in the end could not
        if other.facts.dataset == job.recipe.dataset and other.facts.folder != os.path.realpath(target):
            warnings.warn(other.remark, stacklevel=3)  # publish is wrapped once
    refuse_unusable(target)
    with taken(target):
        if job.recipe.report.internal:
            refuse_existing(internal_path(target))
        key = load_or_create(job.path(job.recipe.output.key))
        waiting, elsewhere = records.waiting(target), records.of_another_ledger(target)
        if elsewhere and not anew and not (resume and waiting):
            raise LedgerError(
                "the row that paid for release {release_id} is not in this ledger",
                release_id=elsewhere[-1].facts.release_id,
                value=str(job.ledger.path),
                hint="It is an older copy, or another one. Restore the newer one; then: sudare publish RECIPE --resume",
            )
        if resume:
            if not waiting:
                raise OutputError("no release that was paid for waits to go into this folder", value=str(target))
            run = _Run.again(job, waiting[-1], records.row_of(waiting[-1]), key)
        else:
            if waiting and not anew:
                raise waiting[-1].refused(Message("another run stopped before its files were complete"))
            run = _Run.new(job, target, words.language, given_up=(*waiting, *elsewhere))
        return _published(job, target, run, records, key, progress)


def _published(
    job: Job,
    target: Path,
    run: _Run,
    records: PendingReleases,
    key: Ed25519PrivateKey,
    progress: OnProgress,
) -> Publication:
    facts, source, kind = run.facts, run.source, job.kind
    series = {} if job.series is None else {"series": job.series.certified(job.ledger, key)}
    look = None
    if job.recipe.report.internal:
        from sudare.workflow.check import check_job

        progress(Progress(Stage.EXAMINING))
        look = check_job(job)
    progress(Progress(Stage.READING))
    with ExitStack() as held:
        data = held.enter_context(kind.gathered(source))
        if run.paid is None and not job.recipe.output.confirm_resources:
            refuse_scarce(kind.needs(data), target)
        pending = run.recorded(kind.compared(data), key)
        held.enter_context(records.kept(pending))
        folder = held.enter_context(whole_folder(target))
        if run.paid is None:
            progress(Progress(Stage.SPENDING))
        run.sources.require_unchanged(job)
        entry = run.paid or _spent(job, run, pending, records)
        progress(Progress(Stage.PROTECTING))
        with warnings.catch_warnings(), memory_refused():
            warnings.simplefilter("ignore", PrivacyWarning)  # said above
            made = kind.protect(data, source)
        if made.guarantee != job.guarantee:
            raise AccountingError("the guarantee of the release is not the one that was paid for")
        progress(Progress(Stage.WRITING))
        with memory_refused():
            files = kind.write(made, folder)
            if columns := kind.released_columns(made):
                package = write_package(
                    folder,
                    files,
                    columns,
                    made.guarantee,
                    release_id=facts.release_id,
                    created=facts.created,
                    title=job.recipe.title,
                )
                files = {**files, "datapackage": package}
        certificate = certify(
            made,
            kind=job.recipe.kind,
            further={**kind.certified(made), **series},
            release_id=facts.release_id,
            created=facts.created,
            dataset=job.recipe.dataset,
            title=job.recipe.title,
            recipe_sha256=job.recipe_sha256,
            ledger_head=stamped("ledger head", entry.hash),
            files=files,
            key=key,
        )
        text = json.dumps(certificate, indent=2, ensure_ascii=False)
        (folder / CERTIFICATE).write_text(text + "\n", encoding="utf-8", newline="\n")
    balance = job.ledger.balance(job.recipe.dataset)
    try:
        pages = write_pages(job, data, made, target, Words(facts.language), key, progress, look)
    except KeyboardInterrupt as end:
        raise end from OutputError(
            "release {release_id} is out, and not all of its reports are drawn",
            hint="Draw the public one with: sudare report FOLDER",
            release_id=facts.release_id,
        )
    left_out = (*kind.left_out(made), *pages.left_out)
    headline = kind.headline(made)
    reports = (pages.report, pages.internal_report)
    return Publication(facts.release_id, target, made, certificate, balance, headline, left_out, *reports, run.begins)


def _spent(job: Job, run: _Run, pending: Pending, records: PendingReleases) -> Entry:
    """The ledger's row of the release; its record is on the disk before."""
    records.add(pending)
    entry = job.ledger.spend(
        job.recipe.dataset,
        job.guarantee,
        run.facts.release_id,
        recipe_hash=job.recipe_sha256,
        note=None if job.series is None else job.series.name,
        parameters=job.terms,
        sources=[run.sources.fingerprint],
    )
    with suppress(LedgerError):  # no reason to end a run that is paid for
        records.mark_paid(pending, entry.hash)
    remember_head(entry.dataset, job.ledger.path, entry.hash)
    for other in run.given_up:
        records.remove(other)
    return entry
