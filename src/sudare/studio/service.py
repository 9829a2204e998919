"""The studio's service: everything that the pages show and ask for, as models, without HTTP.

It has no privacy logic of its own. What it shows comes from `plan`, `rehearse`, `publish`, `verify` and the ledger.
"""

from __future__ import annotations

import os
from typing import Any

from sudare.errors import BudgetError, SudareError
from sudare.language.catalogue import Words
from sudare.language.messages import PageMessage, said
from sudare.privacy import Balance
from sudare.registry import KINDS
from sudare.render.outlines import Outline
from sudare.studio import releases
from sudare.studio.editing import edited
from sudare.studio.forecast import Forecasts
from sudare.studio.models import (
    DataPage,
    JobStatus,
    LedgerPage,
    Look,
    PaidRelease,
    ProtectPage,
    PublishPage,
    RehearsePage,
    State,
)
from sudare.studio.processes import Processes
from sudare.studio.protection import (
    budget_outlook,
    error_by_area,
    place_cells,
    promise_texts,
    said_rows,
    with_remarks,
    with_smallest_areas,
)
from sudare.studio.reading import RecipeReader, RecipeReading, plain, problem_parts
from sudare.studio.refusals import RequestError, StaleError, error_parts
from sudare.studio.rehearsals import listed as listed_rehearsals
from sudare.studio.releases import ledger_page
from sudare.studio.sources import LAYOUT, FileSelection, looked_at, public_tables
from sudare.studio.tasks import JobRecord
from sudare.studio.versions import Version, Versions
from sudare.studio.workspace import Workspace
from sudare.workflow.check import check_job, reason_rows, remarks, summary
from sudare.workflow.pending import PendingReleases
from sudare.workflow.plan import Remark, remarks_on_files

BASIS = "public things and a rehearsal on synthetic data"
UPLOAD_BYTES = 64_000_000
_SHOWN_FIRST = ("table", "sample", "perturbation", "weights")
"""The order of kinds on the page; those of other packages follow."""


class StudioService:
    """What the studio does for one workspace; ``upload_bytes`` is the most that one file may have."""

    def __init__(self, workspace: Workspace, upload_bytes: int = UPLOAD_BYTES) -> None:
        self.workspace, self.upload_bytes = workspace, upload_bytes
        self.readings = RecipeReader(workspace)
        self.versions = Versions(workspace, lambda text: self.readings.read(text).valid)
        self.forecasts = Forecasts(workspace)
        self.processes = Processes(workspace)

    def close(self) -> None:
        """Start no further work; running jobs go on."""
        self.forecasts.close()

    def outline(self) -> Outline | None:
        """The outlines that the recipe names, where they can be read."""
        named = ((self.readings.read(self.versions.current().text).contents or {}).get("report") or {}).get("outline")
        try:
            return Outline.of(self.workspace.folder / named) if isinstance(named, str) else None
        except SudareError:  # checking the recipe says why
            return None

    def state(self, words: Words, now: Version | None = None) -> State:
        """The recipe and its versions."""
        now = now or self.versions.current()
        reading = self.readings.read(now.text)
        contents = reading.contents or {}
        dataset = contents.get("dataset")
        return State(
            version=now.version,
            versions=self.versions.listed(),
            valid=reading.valid,
            problem=problem_parts(reading, words),
            text=now.text,
            recipe=reading.recipe,
            effective=_with_language(reading, words),
            kind=reading.kind,
            kinds=[*_SHOWN_FIRST, *(kind for kind in KINDS if kind not in _SHOWN_FIRST)],
            dataset=dataset if isinstance(dataset, str) else None,
            language=words.language,
            file_name=self.workspace.name,
            can_undo=now.back is not None,
            can_redo=bool(now.forward),
        )

    def contents(self) -> dict[str, Any] | None:
        """What the recipe says, valid or not; None where it is no TOML."""
        return self._reading().contents

    def change(self, changes: dict[str, Any], based_on: int) -> Version:
        """Set or remove keys of the recipe."""
        now = self.versions.current()
        if now.version != based_on:
            raise StaleError(based_on, now.version)
        return self.versions.edit(edited(now.text, changes), based_on, "edit")

    def data(self, words: Words, file: str | None = None, table: str | None = None, header: bool = False) -> DataPage:
        """Files, and the columns of the one named or of the recipe's; of text, if its ``header`` is asked for."""
        declared = (self.contents() or {}).get("data")
        own = declared if isinstance(declared, dict) else {}
        name = file if file is not None else own.get("path")
        if file is None and table is None:
            table = own.get("table")
        layout = {key: own[key] for key, kind in LAYOUT.items() if isinstance(own.get(key), kind) and own[key]}
        written = layout if name == own.get("path") else {}
        chosen = name if isinstance(name, str) and name else None
        sheet = table if isinstance(table, str) else None
        return looked_at(self.workspace, FileSelection(chosen, sheet, written, header), words)

    def protect(self, words: Words, value: float | None = None) -> ProtectPage:
        """The promise, the errors and the cost, at the recipe's own epsilon or at another."""
        reading = self._reading()
        page = ProtectPage(valid=reading.valid, problem=problem_parts(reading, words), based_on=BASIS)
        page.public_tables = public_tables(self.workspace, self.contents())
        if reading.job is None:
            if value is not None:
                reading.required()
            return page
        try:
            found = self.forecasts.at(self.versions.current().text, reading.kind, value)
        except RequestError:
            raise
        except SudareError as problem:
            page.problem = error_parts(problem, words)
            return page
        page.slider = found.slider
        page.value, page.pending = found.value, found.plan is None
        if found.plan is None:
            return page
        made = found.plan
        page.plan = plain(made.to_json())
        page.guarantee = promise_texts(made.guarantee, words)
        page.errors_from_shown = said(made.errors_from, words)
        page.errors_shown = plain(said_rows(made.errors, words))
        page.error_by_area = error_by_area(made, reading.job)
        if page.error_by_area:
            with_smallest_areas(page, made, place_cells(reading.job))
        page.ledger = budget_outlook(made.balance, made.balance_after, made.guarantee, words, reading.job.cap)
        proposed = made.outlook.facts.get("order")
        return with_remarks(page, [*made.remarks, *([proposed] if isinstance(proposed, PageMessage) else [])], words)

    def rehearse_page(self, words: Words) -> RehearsePage:
        """The rehearsals that are kept."""
        reading = self._reading()
        return RehearsePage(
            valid=reading.valid,
            problem=problem_parts(reading, words),
            rehearsals=listed_rehearsals(self.workspace, words),
            public_tables=public_tables(self.workspace, self.contents()),
            job=self._last("rehearse", words),
        )

    def rehearse(self, based_on: int, other: int | None) -> JobRecord:
        """Begin a rehearsal, of two versions if they are to be compared."""
        now = self._exactly(based_on)
        self.readings.read(now.text).required()
        task: dict[str, Any] = {"version": now.version, "text": now.text, "other": None}
        if other is not None and other != now.version:
            beside = self.versions.get(other)
            self.readings.read(beside.text).required()
            task["other"] = {"version": beside.version, "text": beside.text}
        return self.processes.start("rehearse", task)

    def check(self, based_on: int, words: Words) -> Look:
        """Which private rows fit, and why others do not; nothing of it is kept."""
        found = check_job(self.readings.read(self._exactly(based_on).text).required())
        header, rows = reason_rows(found, words)
        return Look(
            internal=words("look.internal"),
            facts=[{"name": name, "value": value} for name, value in summary(found, words).items()],
            header=header,
            reasons=rows,
            remarks=remarks(found, words),
            good=not found.needs_confirmation and not found.would_refuse,
        )

    def publish_page(self, words: Words) -> PublishPage:
        """What a publication would spend, and what became of the last one."""
        reading = self._reading()
        job = reading.job
        page = PublishPage(valid=reading.valid, problem=problem_parts(reading, words), job=self._last("publish", words))
        if job is None:
            return page
        try:
            balance, after, refusal = self._books(job)
            waiting = PendingReleases(job.ledger).waiting()
        except SudareError as problem:
            page.problem = error_parts(problem, words)
            return page
        target = job.path(job.recipe.output.folder)
        remarks: list[Remark] = [] if refusal is None else [refusal]
        remarks += remarks_on_files(job)
        page.can_publish = not remarks  # a new ledger is said, and may begin
        remarks += job.ledger.beginnings(job.recipe.dataset)
        folder, place = self.workspace.shown(target), os.path.realpath(target)
        pending = [PaidRelease(**each.to_json()) for each in waiting if each.facts.folder == place]
        page.pending = pending[-1] if pending else None
        page.dataset = page.confirm = job.recipe.dataset
        page.title, page.output = job.recipe.title or None, job.recipe.output.folder
        page.guarantee = promise_texts(job.guarantee, words)
        page.ledger = budget_outlook(balance, after, job.guarantee, words, job.cap)
        page.release = next((one for one in releases.listed(self.workspace) if one.folder == folder), None)
        return with_remarks(page, remarks, words)

    def publish(self, based_on: int, confirm: str, words: Words, paid: str | None = None) -> JobRecord:
        """Begin a publication of exactly the version that was confirmed; ``paid`` as in `PublishAsked`."""
        now = self._exactly(based_on)
        job = self.readings.read(now.text).required()
        if confirm != job.recipe.dataset:
            raise RequestError(
                422, "the name that was typed is not the data set's", allowed=[job.recipe.dataset], hint="Type it out."
            )
        rows = job.ledger.entries()
        task = {
            "version": now.version,
            "text": now.text,
            "dataset": job.recipe.dataset,
            "ledger": str(job.ledger.path),
            "ledger_row": rows[-1].id if rows else 0,
            "recipe_sha256": job.recipe_sha256,
            "folder": job.recipe.output.folder,
            "report_language": None if "language" in job.recipe.report.model_fields_set else words.language,
            "paid": paid,
        }
        return self.processes.start("publish", task)

    def ledger(self, words: Words) -> LedgerPage:
        """The books, and the releases that are here."""
        return ledger_page(self.workspace, self._reading(), words)

    def _reading(self) -> RecipeReading:
        return self.readings.read(self.versions.current().text)

    def _exactly(self, based_on: int) -> Version:
        now = self.versions.current()
        if now.version != based_on:
            raise StaleError(based_on, now.version)
        return now

    def _books(self, job: Any) -> tuple[Balance, Balance | None, BudgetError | None]:
        balance = job.ledger.balance(job.recipe.dataset)
        try:
            return balance, job.ledger.check(job.recipe.dataset, job.guarantee, parameters=job.terms), None
        except BudgetError as refusal:
            return balance, None, refusal

    def _last(self, verb: str, words: Words) -> JobStatus | None:
        self.processes.settle()
        found = self.processes.tasks.listed(verb)
        return found[0].status(words) if found else None


def _with_language(reading: RecipeReading, words: Words) -> dict[str, Any] | None:
    """What a recipe means with its defaults; its report is in the page's language unless it declares one."""
    found, declared = reading.effective, (reading.contents or {}).get("report")
    if found is None or (isinstance(declared, dict) and "language" in declared):
        return found
    return {**found, "report": {**found.get("report", {}), "language": words.language}}
