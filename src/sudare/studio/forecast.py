"""How large the error would be at any epsilon, quickly enough for a slider.

What `plan` says at one value of the budget comes from the law of the noise or from one seeded rehearsal on synthetic
people; neither sees a private value. Plans are made at the values of a logarithmic grid and kept; between two of them
errors are read off a straight line in logarithms. Budget, guarantee and ledger are those of the exact value.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, replace
from typing import Any

from sudare.errors import BudgetError
from sudare.studio.editing import contents_of, edited
from sudare.studio.prefetch import PrefetchCache
from sudare.studio.refusals import RequestError
from sudare.studio.workspace import Workspace
from sudare.workflow import plan
from sudare.workflow.job import Job
from sudare.workflow.plan import Plan

PER_DECADE, PER_DECADE_IF_SLOW = 8, 2
PATIENCE = 0.4
"""Seconds that a question waits for an answer that is not known yet."""
_RANGES = {"epsilon": (0.01, 10.0), "rho": (0.0001, 10.0), "k": (1.1, 1000.0)}


@dataclass(frozen=True)
class Slider:
    """The key of a recipe that says how much may be spent, its value, and the range it may slide in."""

    path: str
    value: float
    low: float
    high: float
    symbol: str


def slider_of(contents: dict[str, Any], kind: str) -> Slider | None:
    """What of a recipe slides: epsilon where there is one, else rho or k; None where nothing does.

    >>> slider_of({"privacy": {"rho": 0.5}}, "table").path
    'privacy.rho'
    """
    choices = {
        "table": ("privacy.epsilon", "privacy.rho"),
        "sample": ("sample.choose_epsilon", "sample.epsilon"),
        "perturbation": ("perturbation.epsilon", "perturbation.k"),
        "weights": ("weights.epsilon",),
    }
    for path in choices[kind]:
        part, _, key = path.partition(".")
        table = contents.get(part)
        value = table.get(key) if isinstance(table, dict) else None
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < math.inf:
            name = key.removeprefix("choose_")
            low, high = _RANGES[name]
            return Slider(
                path, float(value), min(low, value), max(high, value), {"epsilon": "ε", "rho": "ρ"}.get(name, name)
            )
    return None


@dataclass(frozen=True)
class Forecast:
    """A plan at an exact value, with errors from the grid around it; None while those are not known yet."""

    slider: Slider | None
    value: float | None
    plan: Plan | None


class Forecasts:
    """Plans along the slider for the recipes of a workspace, made one after the other in the background."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._plans = PrefetchCache(self._plan)

    def close(self) -> None:
        """Start no further work."""
        self._plans.close()

    def at(self, text: str, kind: str, value: float | None = None) -> Forecast:
        """The forecast for a recipe with its slider at ``value``, or where the recipe has it."""
        slider = slider_of(contents_of(text), kind)
        if slider is None:
            if value is not None:
                raise RequestError(422, "this recipe has no epsilon to slide", value=value)
            return Forecast(None, None, self._exact(text))
        if value is None or value == slider.value:
            made = self._exact(text)
            if made is not None:
                self._look_ahead(text, slider)
            return Forecast(slider, slider.value, made)
        if not slider.low / 10 <= value <= slider.high * 10:
            raise RequestError(
                422,
                "the value is out of the slider's range",
                value=value,
                allowed="{low:g} to {high:g}",
                low=slider.low / 10,
                high=slider.high * 10,
            )
        per_decade = self._per_decade(text)
        step = math.log10(value) * per_decade
        nodes = sorted({math.floor(step + 1e-9), math.ceil(step - 1e-9)})
        points = [_at(text, slider, node / per_decade) for node in nodes]
        found = self._plans.get(self._signature(text), points, PATIENCE)
        if found is None:
            return Forecast(slider, value, None)
        errors = between(found[0].errors, found[-1].errors, 0.0 if len(nodes) == 1 else step - nodes[0])
        here = edited(text, {slider.path: _short(value)})
        return Forecast(slider, value, self._with_books(here, found[0], errors))

    def _exact(self, text: str) -> Plan | None:
        found = self._plans.get(self._signature(text), [text], PATIENCE)
        return None if found is None else self._with_books(text, found[0], found[0].errors)

    def _look_ahead(self, text: str, slider: Slider) -> None:
        """Have the whole grid made, from where the slider is outwards."""
        per_decade = self._per_decade(text)
        here = math.log10(slider.value) * per_decade
        low, high = (math.log10(end) * per_decade for end in (slider.low, slider.high))
        nodes = sorted(range(math.floor(low), math.ceil(high) + 1), key=lambda node: abs(node - here))
        self._plans.look_ahead(self._signature(text), [_at(text, slider, node / per_decade) for node in nodes])

    def _per_decade(self, text: str) -> int:
        """How fine the grid is: a recipe whose plans take long has a coarse one."""
        return PER_DECADE_IF_SLOW if self._plans.is_slow(self._signature(text)) else PER_DECADE

    def _signature(self, text: str) -> str:
        """The recipe, and which files there are: a plan also remarks on those."""
        names = ",".join(sorted(path.name for path in self._workspace.folder.iterdir() if path.name[0] != "."))
        return hashlib.sha256(f"{text}\n{names}".encode(errors="replace")).hexdigest()

    def _plan(self, text: str) -> Plan:
        with self._workspace.written(text) as path:
            return plan(path)

    def _with_books(self, text: str, made: Plan, errors: list[dict[str, Any]]) -> Plan:
        """The plan with the guarantee of ``text`` and the ledger as it is now."""
        with self._workspace.written(text) as path:
            job = Job.open(path)
        # The refusal, where there was one, is the first remark of a plan; here it is asked for anew.
        remarks = list(made.remarks[1:] if made.balance_after is None else made.remarks)
        try:
            after = job.ledger.check(job.recipe.dataset, job.guarantee, parameters=job.terms)
        except BudgetError as refusal:
            after, remarks = None, [refusal, *remarks]
        balance = job.ledger.balance(job.recipe.dataset)
        outlook = replace(made.outlook, errors=errors)
        return replace(
            made, guarantee=job.guarantee, outlook=outlook, balance=balance, balance_after=after, remarks=tuple(remarks)
        )


def between(lower: list[dict[str, Any]], upper: list[dict[str, Any]], share: float) -> list[dict[str, Any]]:
    """Rows of errors between two neighbours on the grid: logarithmic where both are positive, else linear.

    >>> (row,) = between([{"cells": 4, "error": 1.0}], [{"cells": 4, "error": 100.0}], 0.5)
    >>> row["cells"], round(row["error"], 6)
    (4, 10.0)
    """
    if share == 0 or len(lower) != len(upper):
        return lower
    rows = []
    for first, second in zip(lower, upper, strict=True):
        row = dict(first)
        for name, low in first.items():
            high = second.get(name)
            if isinstance(low, float) and isinstance(high, float):
                if low > 0 and high > 0:
                    row[name] = math.exp((1 - share) * math.log(low) + share * math.log(high))
                else:
                    row[name] = (1 - share) * low + share * high
        rows.append(row)
    return rows


def _at(text: str, slider: Slider, exponent: float) -> str:
    """The recipe with its slider at a point of the grid."""
    return edited(text, {slider.path: _short(10**exponent)})


def _short(value: float) -> float:
    """A value of the slider as a person would write it into a recipe: four digits."""
    return float(f"{value:.4g}")
