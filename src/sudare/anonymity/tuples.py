"""Distinct tuples with counts: all that recoding works on, so that its cost hardly depends on the number of records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from sudare.anonymity.hierarchy import Hierarchy
from sudare.anonymity.requirements import Judge, Requirement, Sensitive
from sudare.arrays import Integers
from sudare.privacy import exact


@dataclass(frozen=True)
class Tuples:
    """``codes`` (tuples x attributes) are leaves of ``hierarchies``; ``counts`` how many records have each tuple.

    Where there are sensitive columns, a tuple is distinct together with their values.
    """

    names: tuple[str, ...]
    hierarchies: tuple[Hierarchy, ...]
    codes: NDArray[np.int32]
    counts: Integers
    sensitive: Mapping[str, Sensitive] = field(default_factory=dict)

    @property
    def total(self) -> int:
        """Records in all."""
        return int(self.counts.sum())

    def share(self, limit: float) -> int:
        """How many records the share ``limit`` allows, the number being taken as it is written.

        >>> Tuples((), (), np.empty((1, 0), dtype=np.int32), np.array([100])).share(0.29)
        29
        """
        return int(exact(limit) * self.total)

    def selected(self, kept: NDArray[np.bool_] | Integers, counts: Integers | None = None) -> Tuples:
        """Only some of the tuples, with other counts if given."""
        own = self.counts[kept] if counts is None else counts
        sensitive = {name: replace(column, codes=column.codes[kept]) for name, column in self.sensitive.items()}
        return replace(self, codes=self.codes[kept], counts=own, sensitive=sensitive)

    def judge(self, k: int, requirements: Sequence[Requirement] = ()) -> Judge:
        """Who says whether classes of these tuples may be published."""
        return Judge.of(k, self.counts, requirements, self.sensitive)
