"""`plan`: what a recipe would do and cost, without touching a private value.

A plan as a small box for notebooks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from sudare.engines.files import scheme_of
from sudare.errors import BudgetError, SudareError
from sudare.language.cards import card, facts, table
from sudare.language.catalogue import Words
from sudare.language.messages import Lines, PageMessage, Value, said
from sudare.language.messages import lines as said_lines
from sudare.privacy import Balance, Cap, Guarantee
from sudare.privacy.notebook import balance_facts, headline, unit_words
from sudare.recipe.kind import Outlook, ranges, rows_to_json
from sudare.workflow.folder import is_there, nearest_folder
from sudare.workflow.job import Job, RecipeSource
from sudare.workflow.needs import available_memory, free_disk, memory_refused, refuse_scarce, rounded

if TYPE_CHECKING:
    from sudare.workflow.check import Check

Remark: TypeAlias = PageMessage | SudareError
"""What a steward should hear: a fact of the files, a caution, or the refusal that a publication would meet."""


@dataclass(frozen=True)
class Plan:
    """What would happen, and what would be left of the budget."""

    kind: str
    dataset: str
    guarantee: Guarantee
    outlook: Outlook
    balance: Balance
    balance_after: Balance | None
    remarks: tuple[Remark, ...]
    here: dict[str, int | None] = field(default_factory=dict, compare=False)
    """Bytes of memory and disk that were left on this machine just then."""
    look: Check | None = None
    """What `check` found, where the private look was asked for: for the steward alone."""
    cap: Cap | None = None
    """The recipe's, which holds from the first release on."""

    @property
    def resources(self) -> Lines:
        """What the release would need, and what was left here."""
        return {name: self._resource(size, self.here.get(name)) for name, size in self.outlook.needs.known.items()}

    @staticmethod
    def _resource(size: int, left: int | None) -> PageMessage:
        if left is None:
            return PageMessage("amount.about", size=rounded(size))
        return PageMessage("amount.about_left", size=rounded(size), left=rounded(left, up=False))

    @property
    def errors(self) -> list[dict[str, Any]]:
        """How far off the release may be, a row for each size of area or query."""
        return self.outlook.errors

    @property
    def errors_from(self) -> PageMessage | str:
        """What the errors rest on."""
        return self.outlook.errors_from

    @property
    def details(self) -> dict[str, Any]:
        """The numbers of this kind."""
        return self.outlook.details

    def _repr_html_(self) -> str:
        from sudare.language.catalogue import current_language

        return plan_card(self, current_language())

    def to_json(self) -> dict[str, Any]:
        """For machines."""
        return {
            "kind": self.kind,
            "dataset": self.dataset,
            **self.outlook.details,
            "memory_bytes": self.outlook.needs.memory,
            "disk_bytes": self.outlook.needs.disk,
            **{f"{name}_bytes_here": left for name, left in self.here.items()},
            "guarantee": self.guarantee.to_json(),
            "errors": rows_to_json(self.errors),
            "errors_from": str(self.errors_from),
            "balance": self.balance.to_json(),
            "balance_after": self.balance_after.to_json() if self.balance_after else None,
            "remarks": [str(remark) for remark in self.remarks],
            **({} if self.look is None else {"private_look": self.look.to_json()}),
        }


def remarks_on_files(job: Job) -> list[Remark]:
    """What would stop a publication: data that are not there, an output folder that is, or cannot be."""
    remarks: list[Remark] = []
    if job.lacks_data:
        remarks.append(PageMessage("remark.data", path=job.recipe.data.path))
    elif job.recipe.data.engine == "duckdb" and not scheme_of(job.recipe.data.path):
        remarks += _refusal(job.kind.require_columns)
    if is_there(job.target):
        remarks.append(PageMessage("remark.folder", path=job.recipe.output.folder))
    else:
        remarks += _refusal(nearest_folder, job.target)
    return remarks


def _refusal(check: Callable[..., object], *facts: object) -> list[Remark]:
    """What a publication would be refused with by this check, if anything."""
    try:
        check(*facts)
    except SudareError as refusal:
        return [refusal]
    return []


@memory_refused()
def plan(
    recipe: RecipeSource, *, folder: str | Path | None = None, private: bool = False, period: str | None = None
) -> Plan:
    """What comes out, expected errors, and the budget after: from the recipe and the ledger alone.

    The errors are exact where they do not depend on the data. Elsewhere they come from a seeded release of the
    recipe's public data, or of synthetic people, and say so. ``recipe`` is the path of a file, a dictionary or a
    `sudare.Recipe`; the paths of the latter two are relative to ``folder``, by default the current one.

    ``period`` is one of a series; without it, its first one is planned.
    ``private`` adds the look of `check` at the private data, which is for the steward alone; it spends nothing either.
    """
    job = Job.ready(recipe, folder, period)
    outlook = job.kind.outlook()
    remarks: list[Remark] = []
    try:
        after = job.ledger.check(job.recipe.dataset, job.guarantee, parameters=job.terms)
    except BudgetError as refusal:
        after = None
        remarks.append(refusal)
    if (series := job.series) is not None:
        of = len(series.folders)
        remarks.append(PageMessage("remark.series", period=series.name, number=series.number, of=of))
    remarks += [*remarks_on_files(job), *_refusal(refuse_scarce, outlook.needs, job.target), *job.cautions]
    balance = job.ledger.balance(job.recipe.dataset)
    here = {"memory": available_memory(), "disk": free_disk(job.target)}
    look = None
    if private:
        from sudare.workflow.check import check_job

        look = check_job(job)
    found = tuple(remarks)
    return Plan(job.recipe.kind, job.recipe.dataset, job.guarantee, outlook, balance, after, found, here, look, job.cap)


_HIDDEN = ("block_level",)


def plan_card(plan: Plan, words: Words) -> str:
    """What would be promised, come out, be spent and be left, and how far off it may be."""
    left = words("ledger.remaining")
    lines = {
        words("guarantee.promise"): headline(plan.guarantee, words),
        words("guarantee.unit"): unit_words(plan.guarantee.unit, words),
        **said_lines(plan.outlook.facts, words),
        **said_lines(plan.resources, words),
        words("ledger.spent"): balance_facts(plan.balance, words)[words("ledger.spent")],
        words("plan.after"): balance_facts(plan.balance_after, words)[left]
        if plan.balance_after
        else words("plan.refused"),
        words("plan.errors_from"): said(plan.errors_from, words),
    }
    lines |= {f"{words('plan.remark')} {number}": said(remark, words) for number, remark in enumerate(plan.remarks, 1)}
    errors = ranges(plan.errors, lambda value: _cell(value, words))
    names = [name for name in dict.fromkeys(key for row in errors for key in row) if name not in _HIDDEN]
    shown = [name for name in names if any(row.get(name) is not None for row in errors)]
    header = [words.label("error", name).replace("_", " ") for name in shown]
    rows = [[_cell(row.get(name), words) for name in shown] for row in errors]
    return card(words("plan.title", dataset=plan.dataset), facts(lines), table(header, rows))


def _cell(value: Value | None, words: Words) -> str:
    return "" if value is None else said(value, words)
