"""`plan`: what a recipe would do and cost, without touching a private value."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from sudare.errors import BudgetError, CapacityError, OutputError, SudareError
from sudare.privacy import Balance, Guarantee
from sudare.publish.folder import is_there, nearest_folder
from sudare.publish.job import Job
from sudare.publish.kind import Outlook
from sudare.publish.kinds import RecipeSource
from sudare.publish.machine import available_memory, free_disk
from sudare.publish.needs import memory_refused, refuse_scarce, rounded
from sudare.words import Lines, PageMessage

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
    def errors_from(self) -> PageMessage:
        """What the errors rest on."""
        return self.outlook.errors_from

    @property
    def details(self) -> dict[str, Any]:
        """The numbers of this kind."""
        return self.outlook.details

    def _repr_html_(self) -> str:
        from sudare.publish.shown import plan_card
        from sudare.words import current_language

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
            "errors": self.errors,
            "errors_from": str(self.errors_from),
            "balance": self.balance.to_json(),
            "balance_after": self.balance_after.to_json() if self.balance_after else None,
            "remarks": [str(remark) for remark in self.remarks],
        }


def remarks_on_files(job: Job) -> list[Remark]:
    """What would stop a publication: data that are not there, an output folder that is, or cannot be."""
    remarks: list[Remark] = []
    if job.lacks_data:
        remarks.append(PageMessage("remark.data", path=job.recipe.data.path))
    target = job.target
    if is_there(target):
        remarks.append(PageMessage("remark.folder", path=job.recipe.output.folder))
    else:
        try:
            nearest_folder(target)
        except OutputError as refusal:
            remarks.append(refusal)
    return remarks


def _scarce(job: Job, outlook: Outlook) -> list[Remark]:
    """The refusal that a publication of the stand-in would meet for want of memory or disk."""
    try:
        refuse_scarce(outlook.needs, job.target)
    except CapacityError as refusal:
        return [refusal]
    return []


@memory_refused()
def plan(recipe: RecipeSource, *, folder: str | Path | None = None) -> Plan:
    """What comes out, expected errors, and the budget after: from the recipe and the ledger alone.

    The errors are exact where they do not depend on the data. Elsewhere they come from a seeded release of the
    recipe's public data, or of synthetic people, and say so. ``recipe`` is the path of a file, a dictionary or a
    `sudare.Recipe`; the paths of the latter two are relative to ``folder``, by default the current one.
    """
    job = Job.ready(recipe, folder)
    outlook = job.kind.outlook()
    remarks: list[Remark] = []
    try:
        after = job.ledger.check(job.recipe.dataset, job.guarantee, **job.terms)
    except BudgetError as refusal:
        after = None
        remarks.append(refusal)
    remarks += [*remarks_on_files(job), *_scarce(job, outlook), *job.cautions]
    balance = job.ledger.balance(job.recipe.dataset)
    here = {"memory": available_memory(), "disk": free_disk(job.target)}
    return Plan(job.recipe.kind, job.recipe.dataset, job.guarantee, outlook, balance, after, tuple(remarks), here)
