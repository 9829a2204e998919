"""`plan`: what a recipe would do and cost, without touching a private value."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sudare.errors import BudgetError
from sudare.privacy import Balance, Guarantee
from sudare.publish.areas import shown_levels, square_km
from sudare.publish.job import Job
from sudare.publish.rehearsal import rehearse_on, stand_in

_BYTES_PER_CELL = 120  # sorted index and count, their noisy copies, and one pass of sorting


@dataclass(frozen=True)
class Plan:
    """What would happen. ``errors``: one row per area size; ``errors_from`` says what they rest on."""

    dataset: str
    domain: str
    cells: int
    index_bits: int
    memory_bytes: int
    method: str
    explanation: str
    guarantee: Guarantee
    errors: list[dict[str, Any]]
    errors_from: str
    balance: Balance
    balance_after: Balance | None
    remarks: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """For machines."""
        return {
            "dataset": self.dataset,
            "domain": self.domain,
            "cells": self.cells,
            "index_bits": self.index_bits,
            "memory_bytes": self.memory_bytes,
            "method": self.method,
            "explanation": self.explanation,
            "guarantee": self.guarantee.to_json(),
            "errors": self.errors,
            "errors_from": self.errors_from,
            "balance": self.balance.to_json(),
            "balance_after": self.balance_after.to_json() if self.balance_after else None,
            "remarks": list(self.remarks),
        }


def plan(recipe: str | Path) -> Plan:
    """Cells, memory, expected error by area size, and the budget after: from the recipe and the ledger alone.

    The errors are exact where they do not depend on the data. Elsewhere they come from a seeded release of the
    recipe's public table, or of synthetic people, and say so.
    """
    job = Job.open(recipe)
    errors, errors_from = expected_errors(job)
    remarks = []
    try:
        after = job.ledger.check(job.recipe.dataset, job.guarantee, default_cap=job.cap)
    except BudgetError as refusal:
        after = None
        remarks.append(str(refusal))
    if not job.path(job.recipe.data.path).exists():
        remarks.append(f"the data are not there yet: {job.recipe.data.path}")
    if job.path(job.recipe.output.folder).exists():
        remarks.append(f"the output folder exists already: {job.recipe.output.folder}")
    dense = job.method.name in ("laplace", "privelet")
    listed = job.domain.size if dense else 10 * job.recipe.rehearsal.people
    return Plan(
        job.recipe.dataset,
        job.domain.describe(),
        job.domain.size,
        job.domain.bits,
        min(job.domain.size, listed) * _BYTES_PER_CELL,
        job.method.name,
        explain(job.domain, job.budget) if (explain := getattr(job.method, "explain", None)) else "",
        job.guarantee,
        errors,
        errors_from,
        job.ledger.balance(job.recipe.dataset),
        after,
        tuple(remarks),
    )


def expected_errors(job: Job) -> tuple[list[dict[str, Any]], str]:
    """Error by area size, exact or rehearsed, and what it rests on."""
    rows = [_exact_error(job, level) for level in shown_levels(job.domain)]
    if all(row["root_mean_square_error"] is not None for row in rows):
        return rows, "the law of the noise: exact, whatever the data"
    truth, basis = stand_in(job)
    return rehearse_on(job, truth, basis, repetitions=1).errors, f"one rehearsal on {basis}: real data differ"


def _exact_error(job: Job, level: int) -> dict[str, Any]:
    rows = job.recipe.data.protected_unit().max_rows
    return {
        "block_level": level,
        "cells": 1 << level,
        "square_km": square_km(job.domain, level),
        "root_mean_square_error": job.method.block_error(job.budget, rows, 1 << level, job.domain),
    }
