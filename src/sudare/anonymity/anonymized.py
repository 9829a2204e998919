"""The result of `anonymize`: what may be published, what it promises, and what only the steward may see."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from sudare.anonymity.assessment import Assessment
from sudare.anonymity.classes import Classes, expanded
from sudare.anonymity.sampling import evaluated_epsilon
from sudare.anonymity.terms import Terms
from sudare.privacy import Guarantee

if TYPE_CHECKING:
    import pyarrow as pa


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
