"""What every published class must satisfy beside k: l-diversity, distinct or by entropy, and t-closeness.

A class is the published rows with the same generalised values. Its histogram counts how often each value of a
sensitive column occurs in it. These requirements are about what a reader learns who knows the class of a person; they
are no differential privacy, and publishing a sensitive column beside the classes gives that up.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar

import numpy as np

from sudare.anonymity.grouping import totals
from sudare.arrays import Booleans, Floats, Integers
from sudare.errors import ParameterError
from sudare.language.messages import PageMessage
from sudare.privacy import Fact, whole

_CELLS = 2**24
_ROUNDING = 1e-12  # of entropies and distances, which are sums of a few logarithms and quotients


@dataclass(frozen=True)
class Requirement(ABC):
    """A condition on the histogram of one sensitive ``column`` in each class.

    ``outlives_merging``: whether a class that satisfies it still does after any other class is merged into it.
    """

    type: ClassVar[str]
    outlives_merging: ClassVar[bool] = False
    column: str

    @abstractmethod
    def holds(self, histogram: Integers, overall: Integers) -> Booleans:
        """Whether each class satisfies it: ``histogram`` is classes x values, ``overall`` the whole table's."""

    @property
    @abstractmethod
    def number(self) -> dict[str, str]:
        """The parameter by its letter, as it is shown: ``{"l": "3"}``."""

    def to_json(self) -> dict[str, Any]:
        """Plain JSON, with its ``type``."""
        return {"type": self.type, **asdict(self)}

    @property
    def fact(self) -> Fact:
        return Fact(self.type, **self.number, column=self.column)

    @property
    def message(self) -> PageMessage:
        return PageMessage(f"requirement.{self.type}", **self.number, column=self.column)

    def __str__(self) -> str:
        return str(self.message)


@dataclass(frozen=True)
class DistinctDiversity(Requirement):
    """At least ``l`` different sensitive values in every class.

    >>> DistinctDiversity("illness", 2).holds(np.array([[3, 1], [4, 0]]), np.array([7, 1]))
    array([ True, False])
    """

    type: ClassVar[str] = "distinct"
    outlives_merging: ClassVar[bool] = True
    l: int  # noqa: E741 - the letter of the definition

    def __post_init__(self) -> None:
        object.__setattr__(self, "l", whole(self.l, "l", least=2))

    def holds(self, histogram: Integers, overall: Integers) -> Booleans:  # noqa: ARG002 - of the base class
        return np.asarray(np.count_nonzero(histogram, axis=1) >= self.l)

    @property
    def number(self) -> dict[str, str]:
        return {"l": str(self.l)}


@dataclass(frozen=True)
class EntropyDiversity(Requirement):
    """The entropy of the sensitive values of every class is at least ln ``l``: as spread as ``l`` equal shares.

    >>> EntropyDiversity("illness", 2).holds(np.array([[3, 3], [3, 1]]), np.array([6, 4]))
    array([ True, False])
    """

    type: ClassVar[str] = "entropy"
    l: float  # noqa: E741 - the letter of the definition

    def __post_init__(self) -> None:
        if not 1 < self.l < np.inf:
            raise ParameterError("l is not a finite number above 1", value=self.l)

    def holds(self, histogram: Integers, overall: Integers) -> Booleans:  # noqa: ARG002 - of the base class
        return np.asarray(entropies(histogram) >= np.log(self.l) - _ROUNDING)

    @property
    def number(self) -> dict[str, str]:
        return {"l": f"{self.l:g}"}


@dataclass(frozen=True)
class Closeness(Requirement):
    """The sensitive values of every class are distributed as in the whole published table, up to a distance ``t``.

    The distance is the earth mover's: half the L1 distance where all values are equally far from each other, and with
    ``ordered`` the mean difference of the running sums, values being in the order of their numbers, else of their
    text (Li, Li and Venkatasubramanian 2007).

    >>> Closeness("illness", 0.2).holds(np.array([[3, 3], [1, 0]]), np.array([4, 3]))
    array([ True, False])
    """

    type: ClassVar[str] = "closeness"
    t: float
    ordered: bool = False

    def __post_init__(self) -> None:
        if not 0 < self.t < 1:
            raise ParameterError("t is not between 0 and 1", value=self.t)

    def holds(self, histogram: Integers, overall: Integers) -> Booleans:
        return distances(histogram, overall, self.ordered) <= self.t + _ROUNDING

    @property
    def number(self) -> dict[str, str]:
        return {"t": f"{self.t:g}"}


KINDS = {kind.type: kind for kind in (DistinctDiversity, EntropyDiversity, Closeness)}


def requirement_from_json(data: Mapping[str, Any]) -> Requirement:
    """The inverse of ``to_json``.

    >>> requirement_from_json({"type": "distinct", "column": "illness", "l": 3})
    DistinctDiversity(column='illness', l=3)
    """
    given = dict(data)
    kind = given.pop("type", None)
    if kind not in KINDS:
        raise ParameterError("unknown kind of requirement", value=kind, allowed=KINDS)
    try:
        return KINDS[kind](**given)
    except TypeError:
        raise ParameterError(
            "a requirement of kind {kind} takes other numbers", value=sorted(given), kind=kind
        ) from None


def entropies(histogram: Integers) -> Floats:
    """The entropy of each row, in nats."""
    share = histogram / np.maximum(histogram.sum(axis=1, keepdims=True), 1)
    return np.asarray(-np.sum(share * np.log(np.where(share > 0, share, 1.0)), axis=1))


def distances(histogram: Integers, overall: Integers, ordered: bool) -> Floats:
    """The earth mover's distance of each row from the whole, between 0 and 1."""
    share = histogram / np.maximum(histogram.sum(axis=1, keepdims=True), 1)
    # Values that do not occur are left out: a reader of the file does not know of them.
    difference = (share - overall / max(int(overall.sum()), 1))[:, overall > 0]
    if not ordered:
        return np.asarray(np.abs(difference).sum(axis=1) / 2)
    return np.asarray(np.abs(np.cumsum(difference, axis=1)).sum(axis=1) / max(difference.shape[1] - 1, 1))


@dataclass(frozen=True)
class Sensitive:
    """A sensitive column: the code of its value in each tuple, and the values in order."""

    codes: Integers
    values: tuple[str | None, ...]


@dataclass(frozen=True)
class Demand:
    """A requirement with its column's ``codes`` in each tuple, and the histogram of the whole table."""

    requirement: Requirement
    codes: Integers
    overall: Integers

    def holds(self, class_of: Integers, classes: int, codes: Integers, counts: Integers) -> Booleans:
        """Whether each class satisfies it; in batches of classes whose histograms fit into memory."""
        size = len(self.overall)
        step = max(1, _CELLS // size)
        if classes <= step:
            histogram = totals(class_of * size + codes, classes * size, counts).reshape(classes, size)
            return self.requirement.holds(histogram, self.overall)
        order = np.argsort(class_of, kind="stable")
        edges = np.searchsorted(class_of[order], np.arange(0, classes + step, step))
        parts = []
        for start, low, high in zip(range(0, classes, step), edges[:-1], edges[1:], strict=True):
            rows, number = order[low:high], min(step, classes - start)
            parts.append(self.holds(class_of[rows] - start, number, codes[rows], counts[rows]))
        return np.concatenate(parts)


@dataclass(frozen=True)
class Judge:
    """Says of classes whether they may be published: at least ``k`` records each, and every demand.

    ``counts`` are the records of each tuple that takes part.

    >>> judge = Judge(2, np.array([2, 1, 1]))
    >>> judge(np.array([0, 1, 1]), 2), judge(np.array([0, 1, 2]), 3)
    (array([ True,  True]), array([ True, False, False]))
    """

    k: int
    counts: Integers
    demands: tuple[Demand, ...] = ()

    @classmethod
    def of(cls, k: int, counts: Integers, required: Sequence[Requirement], columns: Mapping[str, Sensitive]) -> Judge:
        """The judge of tuples with these ``counts`` and sensitive ``columns``, which are the whole table."""
        demands = [
            Demand(each, column.codes, totals(column.codes, len(column.values), counts))
            for each in required
            for column in [columns[each.column]]
        ]
        return cls(k, counts, tuple(demands))

    @property
    def monotone(self) -> bool:
        """Whether merging classes can only reduce what is suppressed."""
        return all(demand.requirement.outlives_merging for demand in self.demands)

    def narrowed(self, kept: Booleans) -> Judge:
        """The judge of some of the tuples, which still compares with the whole table."""
        return Judge(self.k, self.counts[kept], tuple(replace(each, codes=each.codes[kept]) for each in self.demands))

    def __call__(
        self, class_of: Integers, classes: int, tuples: Integers | None = None, counts: Integers | None = None
    ) -> Booleans:
        """Whether each class may be published; ``tuples`` and ``counts`` where only part of the tuples take part."""
        own = self.counts if counts is None else counts
        fine = np.asarray(totals(class_of, classes, own) >= self.k)
        for demand in self.demands:
            fine &= demand.holds(class_of, classes, demand.codes if tuples is None else demand.codes[tuples], own)
        return fine
