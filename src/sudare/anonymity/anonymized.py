"""The result of `anonymize`: what may be published, what it promises, and what only the steward may see.

Risk and loss of a published sample: how likely a person is found in it, and how much less it says.

Prosecutor: knows that a person is in the file; the risk is 1/n_t of the person's class. Journalist: knows that the
person is among the records behind the file, of which d_t match; the risk is 1/d_t. Marketer: wants to find many; the
risk is the expected share of published records that would be matched rightly. What is computed from the file alone
may be published; what needs d_t, the suppressed records or the records themselves is for the steward.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sudare.anonymity.classes import Classes, expanded
from sudare.anonymity.evaluated import evaluated_epsilon
from sudare.anonymity.lattice import penalty
from sudare.anonymity.terms import Terms
from sudare.privacy import Guarantee

if TYPE_CHECKING:
    import pyarrow as pa


class Measure(NamedTuple):
    """One line of the table: a name, a number, whether it may be published, and what it means."""

    name: str
    value: float
    public: bool
    meaning: str


@dataclass(frozen=True)
class Assessment:
    """Measures of risk and loss for ``classes``; ``sampled`` is the number of records before suppression."""

    classes: Classes
    sampled: int

    @property
    def table(self) -> tuple[Measure, ...]:
        """All measures, for the steward."""
        return (*self.public, *self._private())

    @property
    def public(self) -> tuple[Measure, ...]:
        """The measures that the file itself gives; nothing else is looked at."""
        taken, cells = self.classes.taken, self.classes.cells
        published = max(int(taken.sum()), 1)
        population = self.classes.population
        by_column = [
            float((taken * penalty(tree, cells[:, place])).sum()) / published
            for place, tree in enumerate(population.hierarchies)
        ]
        largest = float(1 / taken.min()) if len(taken) else 0.0
        values = {
            "ncp": float(np.mean(by_column)),
            **{f"ncp of {name}": loss for name, loss in zip(population.names, by_column, strict=True)},
            "average class size": published / max(len(taken), 1),
            "prosecutor risk": largest,
            "mean prosecutor risk": len(taken) / published,
            "unique after": int((taken == 1).sum()) / published,
        }
        return public_measures({"measures": values})

    def _private(self) -> list[Measure]:
        taken, held, counts = self.classes.taken, self.classes.held, self.classes.population.counts
        published, sampled = int(taken.sum()), max(self.sampled, 1)
        suppressed = self.sampled - published
        loss = next(measure.value for measure in self.public if measure.name == "ncp")
        squares = float((taken.astype(np.float64) ** 2).sum()) + float(suppressed) * self.sampled
        matched = float((taken / held).sum()) / max(published, 1)
        nearest = float((1 / held).max(initial=0.0))
        alone = int((counts == 1).sum()) / max(int(counts.sum()), 1)
        whole = (loss * published + suppressed) / sampled
        return [
            Measure("ncp with suppressed", whole, False, "the NCP when a suppressed record counts as erased"),
            Measure("suppressed share", suppressed / sampled, False, "of the sampled records"),
            Measure("discernibility", squares, False, "sum of squared class sizes; a suppressed record counts all"),
            Measure("journalist risk", nearest, False, "largest, among the records behind it"),
            Measure("marketer risk", matched, False, "expected share of published records matched rightly"),
            Measure("unique before", alone, False, "share of the records alone with their values"),
        ]


_MEANINGS = {
    "ncp": "mean NCP of published records, 0 exact to 1 erased",
    "average class size": "published records per class",
    "prosecutor risk": "largest chance to find a person known to be in the file",
    "mean prosecutor risk": "the same, averaged over the file",
    "unique after": "share of published records alone",
}
"""Of the public measures; all others are the loss of single columns."""


def public_measures(summary: Mapping[str, Any]) -> tuple[Measure, ...]:
    """The measures that the summary of a sample, or its certificate, states."""
    stated = summary["measures"].items()
    return tuple(Measure(name, value, True, _MEANINGS.get(name, "the same of one column")) for name, value in stated)


def promised(k: int) -> tuple[Measure, ...]:
    """What is known of the risks before any record is read: for a plan.

    >>> [(measure.name, measure.value) for measure in promised(10)][:2]
    [('prosecutor risk', 0.1), ('journalist risk', 0.1)]
    """
    return (
        Measure("prosecutor risk", 1 / k, True, "at most: a class has at least k records in the file"),
        Measure("journalist risk", 1 / k, True, "at most: there are at least as many behind it"),
        Measure("marketer risk", 1 / k, True, "at most, where classes do not overlap"),
        Measure("unique after", 0.0, True, "no published record is alone"),
    )


@dataclass(frozen=True, repr=False)
class Anonymized:
    """A k-anonymous sample. ``records`` and ``summary`` may be published; ``classes``, ``epsilon_evaluated``,
    ``assessment`` and ``sampled``, the number of records drawn, are for the steward.
    """

    classes: Classes
    terms: Terms
    guarantee: Guarantee
    method: str
    sampled: int

    @property
    def levels(self) -> dict[str, int] | None:
        """The level of each column, where the recoding is full-domain."""
        made = self.classes.recoding.generalisation
        if made is None or made.levels is None:
            return None
        return dict(zip(self.terms.columns, made.levels, strict=True))

    @cached_property
    def records(self) -> pa.Table:
        """The published rows as an Arrow table of text: the generalised columns, then the sensitive ones, sorted."""
        return expanded(self.classes.recoding)

    @cached_property
    def epsilon_evaluated(self) -> float:
        """The paper's epsilon of this one output, for the steward alone: it shows private counts. See `sampling`."""
        if self.terms.sample is None:
            return math.inf
        return evaluated_epsilon(self.classes.taken, self.classes.held, self.terms.sample)

    @cached_property
    def assessment(self) -> Assessment:
        """Risk and loss, for the steward; ``assessment.public`` for everybody."""
        return Assessment(self.classes, self.sampled)

    @property
    def summary(self) -> dict[str, Any]:
        """Facts that may be public: from the terms and the published rows alone."""
        taken = self.classes.taken
        return {
            "kind": "sample",
            "method": self.method,
            "columns": list(self.terms.columns),
            "k": self.terms.k,
            "sample": None if self.terms.sample is None else str(self.terms.sample),
            "levels": self.levels,
            "requirements": [str(requirement) for requirement in self.terms.requirements],
            "records": int(taken.sum()),
            "classes": len(taken),
            "smallest_class": int(taken.min()) if len(taken) else None,
            "measures": {measure.name: measure.value for measure in self.assessment.public},
        }

    def __repr__(self) -> str:
        return f"Anonymized({self.method}, k = {self.terms.k}, {len(self.classes)} classes, {self.guarantee})"
