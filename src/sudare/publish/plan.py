"""`plan`: what a recipe would do and cost, without touching a private value."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sudare.errors import BudgetError, CapacityError, OutputError
from sudare.privacy import Balance, Guarantee
from sudare.publish.folder import is_there, nearest_folder
from sudare.publish.job import Job
from sudare.publish.kind import Outlook
from sudare.publish.kinds import RecipeSource
from sudare.publish.machine import available_memory, free_disk
from sudare.publish.needs import described, memory_refused, refuse_scarce, rounded


@dataclass(frozen=True)
class Plan:
    """What would happen, and what would be left of the budget."""

    kind: str
    dataset: str
    guarantee: Guarantee
    outlook: Outlook
    balance: Balance
    balance_after: Balance | None
    remarks: tuple[str, ...]
    here: dict[str, int | None] = field(default_factory=dict, compare=False)
    """Bytes of memory and disk that were left on this machine just then."""

    @property
    def resources(self) -> dict[str, str]:
        """What the release would need, and what was left here."""
        said = described(self.outlook.needs)
        for name in said:
            left = self.here.get(name)
            said[name] += "" if left is None else f", {rounded(left, up=False)} left here"
        return said

    @property
    def errors(self) -> list[dict[str, Any]]:
        """How far off the release may be, a row for each size of area or query."""
        return self.outlook.errors

    @property
    def errors_from(self) -> str:
        """What the errors rest on."""
        return self.outlook.errors_from

    @property
    def details(self) -> dict[str, Any]:
        """The numbers of this kind."""
        return self.outlook.details

    def _repr_html_(self) -> str:
        from sudare.publish.shown import plan_card
        from sudare.words import spoken_here

        return plan_card(self, spoken_here())

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
            "errors_from": self.errors_from,
            "balance": self.balance.to_json(),
            "balance_after": self.balance_after.to_json() if self.balance_after else None,
            "remarks": list(self.remarks),
        }


def remarks_on_files(job: Job) -> list[str]:
    """What would stop a publication: data that are not there, an output folder that is, or cannot be."""
    remarks = []
    if job.lacks_data:
        remarks.append(f"the data are not there yet: {job.recipe.data.path}")
    target = job.target
    if is_there(target):
        remarks.append(f"the output folder exists already: {job.recipe.output.folder}")
    else:
        try:
            nearest_folder(target)
        except OutputError as refusal:
            remarks.append(str(refusal))
    return remarks


def _scarce(job: Job, outlook: Outlook) -> list[str]:
    """The refusal that a publication of the stand-in would meet for want of memory or disk."""
    try:
        refuse_scarce(outlook.needs, job.target)
    except CapacityError as refusal:
        return [str(refusal)]
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
    remarks = []
    try:
        after = job.ledger.check(job.recipe.dataset, job.guarantee, **job.terms)
    except BudgetError as refusal:
        after = None
        remarks.append(str(refusal))
    remarks += [*remarks_on_files(job), *_scarce(job, outlook), *map(str, job.cautions)]
    balance = job.ledger.balance(job.recipe.dataset)
    here = {"memory": available_memory(), "disk": free_disk(job.target)}
    return Plan(job.recipe.kind, job.recipe.dataset, job.guarantee, outlook, balance, after, tuple(remarks), here)
