"""The result of `anonymize`: what may be published, its guarantee, and what only the steward may see.

**Risks of re-identification.** Prosecutor: the attacker knows that a person is in the file; the risk is 1/n_t of the
person's class. Journalist: the attacker knows that the person is among the records behind the file, of which d_t match;
the risk is 1/d_t. Marketer: the attacker wants to find many; the risk is the expected share of published records that
would be matched correctly. What is computed from the file alone may be published; what needs d_t, the suppressed
records or the records themselves is for the steward.

**The epsilon that Horigome (2020) evaluates for one sample.** Every record is drawn independently with probability
beta. A class of which n_t of d_t records were drawn is, after the removal of one of its records, less or more likely by
the factor d_t (1 - beta) / (d_t - n_t); the epsilon of the class is the absolute logarithm of that (`class_epsilons`;
errata K1), and that of the sample the largest of them (`evaluated_epsilon`). Adding a record costs at least
-ln(1 - beta) whatever the classes: `epsilon_floor`, which is ours. It evaluates one output and is no guarantee of the
algorithm: n_t = d_t, where it is infinite, always has a positive probability, and the classes may have been chosen by
looking at the data. And it is a function of the private counts d_t, so it must not be published.

Section 3.2 of the thesis: the probability of an output counts the samples with these class sizes. But where all classes
with some node are large enough to be divided among its children, a sample with the same sizes may allow further
specialisation, and then the algorithm does not end with this output. The thesis excludes such outputs in its proof
and ignores them in its experiment; `sudare.papers.k_anonymity.excluded` finds them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.anonymity.lattice import penalty
from sudare.anonymity.recoding import Classes, expanded
from sudare.anonymity.terms import Terms
from sudare.arrays import Floats, Integers
from sudare.language.messages import PageMessage
from sudare.privacy import Guarantee

if TYPE_CHECKING:
    import pyarrow as pa


def class_epsilons(taken: Integers, held: Integers, sample: Fraction, *, printed: bool = False) -> Floats:
    """Horigome's epsilon of each class: |ln(1 - beta) - ln(1 - n_t / d_t)|; infinite where all were drawn.

    ``taken`` is n_t, the records in the sample, ``held`` d_t, those that there are. A class that vanished from the
    sample, n_t = 0, has -ln(1 - beta). With ``printed`` there is no absolute value, as in proposition 1
    (errata K1): a class of which less than beta was drawn is then negative.

    >>> class_epsilons(np.array([2, 0, 5]), np.array([10, 4, 5]), Fraction(1, 5)).round(4)
    array([0.    , 0.2231,    inf])
    """
    with np.errstate(divide="ignore"):
        found = math.log1p(-float(sample)) - np.log1p(-taken / held)
    return np.asarray(found if printed else np.abs(found))


def evaluated_epsilon(taken: Integers, held: Integers, sample: Fraction) -> float:
    """Horigome's epsilon of a sample: that of its worst class; 0 without classes.

    With the raw rows as classes it is proposition 1: the epsilon of plain sampling, without k-anonymity.

    >>> round(evaluated_epsilon(np.array([30, 12]), np.array([100, 60]), Fraction(1, 5)), 4)
    0.1335
    """
    return float(class_epsilons(taken, held, sample).max(initial=0.0))


def epsilon_floor(sample: Fraction) -> float:
    """-ln(1 - beta): the least cost of adding a record, whatever k and the classes are.

    >>> round(epsilon_floor(Fraction(1, 5)), 4)
    0.2231
    """
    return -math.log1p(-float(sample))


@dataclass(frozen=True)
class Measure:
    """A number for risk or loss, and whether it may be published.

    ``code`` says which measure it is, ``column`` of which column, where it is the loss of one; ``bound`` says why a
    number that is promised cannot be exceeded.
    """

    code: str
    value: float
    public: bool
    column: str | None = None
    bound: str | None = None

    @property
    def name(self) -> str:
        """The name under which the summary of a sample, and so its certificate, states it: ``ncp of age``."""
        return measure_name(self.code, self.column)

    @property
    def title(self) -> PageMessage:
        if self.column is not None:
            return PageMessage(f"sample.{self.code}_of", column=self.column)
        return PageMessage(f"sample.{self.code}")

    @property
    def meaning(self) -> PageMessage:
        """What it says, or why a promised number cannot be exceeded."""
        if self.bound is not None:
            return PageMessage(f"sample.bound_{self.bound}")
        return PageMessage(f"sample.meaning_{self.code}{'' if self.column is None else '_of'}")


def measure_name(code: str, column: str | None = None) -> str:
    """See `Measure.name`.

    >>> measure_name("ncp", "age"), measure_name("unique_after")
    ('ncp of age', 'unique after')
    """
    return f"{code} of {column}" if column is not None else code.replace("_", " ")


@dataclass(frozen=True)
class Assessment:
    """Measures of risk and loss for ``classes``; ``sampled`` is the number of records before suppression."""

    classes: Classes
    sampled: int

    @property
    def table(self) -> tuple[Measure, ...]:
        return (*self.public, *self._private())

    @property
    def public(self) -> tuple[Measure, ...]:
        """The measures that follow from the published file alone."""
        taken, cells = self.classes.taken, self.classes.cells
        published = max(int(taken.sum()), 1)
        population = self.classes.population
        by_column = [
            float((taken * penalty(tree, cells[:, place])).sum()) / published
            for place, tree in enumerate(population.hierarchies)
        ]
        largest = float(1 / taken.min()) if len(taken) else 0.0
        return (
            Measure("ncp", float(np.mean(by_column)), True),
            *(Measure("ncp", loss, True, name) for name, loss in zip(population.names, by_column, strict=True)),
            Measure("average_class_size", published / max(len(taken), 1), True),
            Measure("prosecutor_risk", largest, True),
            Measure("mean_prosecutor_risk", len(taken) / published, True),
            Measure("unique_after", int((taken == 1).sum()) / published, True),
        )

    def _private(self) -> list[Measure]:
        taken, held, counts = self.classes.taken, self.classes.held, self.classes.population.counts
        published, sampled = int(taken.sum()), max(self.sampled, 1)
        suppressed = self.sampled - published
        loss = self.public[0].value  # of all columns
        squares = float((taken.astype(np.float64) ** 2).sum()) + float(suppressed) * self.sampled
        matched = float((taken / held).sum()) / max(published, 1)
        alone = int((counts == 1).sum()) / max(int(counts.sum()), 1)
        return [
            Measure("ncp_with_suppressed", (loss * published + suppressed) / sampled, public=False),
            Measure("suppressed_share", suppressed / sampled, public=False),
            Measure("discernibility", squares, public=False),
            Measure("journalist_risk", float((1 / held).max(initial=0.0)), public=False),
            Measure("marketer_risk", matched, public=False),
            Measure("unique_before", alone, public=False),
        ]


PUBLIC = ("average_class_size", "prosecutor_risk", "mean_prosecutor_risk", "unique_after")
"""The codes of the public measures, beside the loss of all columns and of each of them."""


def public_measures(summary: Mapping[str, Any]) -> tuple[Measure, ...]:
    """The measures that the summary of a sample, or its certificate, states."""
    stated, columns = summary["measures"], (None, *summary["columns"])
    asked = [*(("ncp", column) for column in columns), *((code, None) for code in PUBLIC)]
    return tuple(Measure(code, stated[measure_name(code, column)], True, column) for code, column in asked)


def promised(k: int) -> tuple[Measure, ...]:
    """What is known of the risks before any record is read: for a plan.

    >>> [(measure.name, measure.value) for measure in promised(10)][:2]
    [('prosecutor risk', 0.1), ('journalist risk', 0.1)]
    """
    return (
        Measure("prosecutor_risk", 1 / k, True, bound="file"),
        Measure("journalist_risk", 1 / k, True, bound="behind"),
        Measure("marketer_risk", 1 / k, True, bound="classes"),
        Measure("unique_after", 0.0, True, bound="unique"),
    )


@dataclass(frozen=True, repr=False)
class Anonymized:
    """A k-anonymous sample. ``records``, ``summary`` and ``epsilon_floor`` may be published; ``classes``,
    ``epsilon_evaluated``, ``assessment`` and ``sampled``, the number of records drawn, are for the steward.
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
        """Horigome's epsilon of this one output, that of its worst class, for the steward alone: it shows private
        counts. See `sudare.anonymity.anonymized`."""
        if self.terms.sample is None:
            return math.inf
        return evaluated_epsilon(self.classes.taken, self.classes.held, self.terms.sample)

    @property
    def epsilon_floor(self) -> float:
        """-ln(1 - beta), which adding a record costs at least, whatever the classes; infinite without sampling."""
        return math.inf if self.terms.sample is None else epsilon_floor(self.terms.sample)

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
