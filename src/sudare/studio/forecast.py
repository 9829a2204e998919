"""How large the error would be at any epsilon, quickly enough for a slider.

What `plan` says at one value of the budget comes from the law of the noise or from one seeded rehearsal on synthetic
people; neither sees a private value. Plans are made beforehand for the stops of the slider, and kept.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, replace
from typing import Any

from sudare.errors import BudgetError
from sudare.recipe.model import contents_of_text
from sudare.studio.editing import contents_of, edited
from sudare.studio.models import SliderRange
from sudare.studio.prefetch import PrefetchCache
from sudare.studio.refusals import RequestError
from sudare.studio.workspace import Workspace
from sudare.workflow import plan
from sudare.workflow.plan import Plan

PATIENCE = 0.4
"""Seconds that a question waits for an answer that is not known yet."""
_STOPS = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8)
"""Of each decade."""
_RANGES = {"epsilon": (0.01, 10.0), "rho": (0.0001, 10.0), "k": (1.1, 1000.0)}


def slider_of(contents: dict[str, Any], kind: str) -> SliderRange | None:
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
            low, high = min(low, value), max(high, value)
            decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
            stops = [float(f"{stop}e{decade}") for decade in decades for stop in _STOPS]
            stops = [stop for stop in stops if low * 0.999 <= stop <= high * 1.001]
            symbol = {"epsilon": "ε", "rho": "ρ"}.get(name, name)
            return SliderRange(path=path, value=float(value), low=low, high=high, symbol=symbol, stops=stops)
    return None


@dataclass(frozen=True)
class Forecast:
    """A plan at a value of the slider; None while it is not known yet."""

    slider: SliderRange | None
    value: float | None
    plan: Plan | None


class Forecasts:
    """Plans along the slider for the recipes of a workspace, made one after the other in the background."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._plans = PrefetchCache(lambda text: plan(contents_of_text(text), folder=workspace.folder))

    def close(self) -> None:
        """Start no further work."""
        self._plans.close()

    def at(self, text: str, kind: str, value: float | None = None) -> Forecast:
        """The forecast for a recipe with its slider at ``value``, or where the recipe has it."""
        slider = slider_of(contents_of(text), kind)
        # The recipe, and which files there are: a plan also remarks on those.
        names = ",".join(sorted(path.name for path in self._workspace.folder.iterdir() if path.name[0] != "."))
        topic = hashlib.sha256(f"{text}\n{names}".encode(errors="replace")).hexdigest()
        here = text
        if slider is None:
            if value is not None:
                raise RequestError(422, "this recipe has no epsilon to slide", value=value)
        elif value is not None and value != slider.value:
            if not slider.low / 10 <= value <= slider.high * 10:
                raise RequestError(
                    422,
                    "the value is out of the slider's range",
                    value=value,
                    allowed="{low:g} to {high:g}",
                    low=slider.low / 10,
                    high=slider.high * 10,
                )
            here = edited(text, {slider.path: value})
        made = self._plans.get(topic, here, PATIENCE)
        if slider is not None and made is not None and here == text:
            outwards = sorted(slider.stops, key=lambda stop: abs(math.log(stop / slider.value)))
            self._plans.look_ahead(topic, [edited(text, {slider.path: stop}) for stop in outwards])
        found = None if made is None else self._with_books(here, made)
        return Forecast(slider, slider.value if slider is not None and value is None else value, found)

    def _with_books(self, text: str, made: Plan) -> Plan:
        """The plan of ``text`` with the ledger as it is now."""
        job = self._workspace.job(text)
        # The refusal, where there was one, is the first remark of a plan; here it is asked for anew.
        remarks = list(made.remarks[1:] if made.balance_after is None else made.remarks)
        try:
            after = job.ledger.check(job.recipe.dataset, job.guarantee, parameters=job.terms)
        except BudgetError as refusal:
            after, remarks = None, [refusal, *remarks]
        balance = job.ledger.balance(job.recipe.dataset)
        return replace(made, balance=balance, balance_after=after, remarks=tuple(remarks))
