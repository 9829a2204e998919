"""What a recoding makes of tuples: classes, and which class each record went to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sudare.anonymity.grouping import first_rows, group, totals
from sudare.anonymity.lattice import Generalisation, record_penalty
from sudare.anonymity.requirements import Requirement
from sudare.anonymity.tuples import Tuples
from sudare.arrays import Integers


@dataclass(frozen=True)
class Recoding:
    """``cells`` (classes x attributes) are distinct; the records of tuple ``member[i]``, or ``count[i]`` of them, are
    in class ``class_of[i]``. Records in no class are suppressed. ``generalisation`` where it
    is the same for all.
    """

    tuples: Tuples
    cells: Integers
    member: Integers
    class_of: Integers
    count: Integers
    generalisation: Generalisation | None = None

    @classmethod
    def of(cls, tuples: Tuples, cells: Integers, member: Integers, count: Integers) -> Recoding:
        """The recoding that gives row i of ``cells`` to ``count[i]`` records of tuple ``member[i]``."""
        # Cells of ranges are large numbers, so each column is ranked by itself first.
        columns = [group([column], [int(column.max(initial=0)) + 1]) for column in cells.T]
        class_of, classes = group([column for column, _ in columns], [size for _, size in columns])
        return cls(tuples, cells[first_rows(class_of, classes)], member, class_of, count)

    @classmethod
    def everywhere(cls, tuples: Tuples, made: Generalisation) -> Recoding:
        """The classes of a global recoding, none suppressed."""
        ranks = [group([cut], [int(cut.max()) + 1]) for cut in made.cuts]
        columns = [rank[tuples.codes[:, place]] for place, (rank, _) in enumerate(ranks)]
        class_of, classes = group(columns, [size for _, size in ranks])
        cells = made.cells(tuples.codes[first_rows(class_of, classes)])
        return cls(tuples, cells, np.arange(len(tuples.counts)), class_of, tuples.counts, made)

    def published(self, k: int, requirements: Sequence[Requirement] = ()) -> Recoding:
        """Only the classes that may be published.

        Requirements that compare with the whole table compare with the published one: what is left is judged again
        until nothing falls out, so that a reader of the file alone can check it.
        """
        kept = self
        while True:
            judge = kept.tuples.selected(kept.member, kept.count).judge(k, requirements)
            fine = judge(kept.class_of, len(kept.cells))
            if fine.all():
                return kept
            kept = kept.only(fine)

    def only(self, classes: NDArray[np.bool_]) -> Recoding:
        """The given classes; the others are suppressed."""
        inside = classes[self.class_of]
        place = np.cumsum(classes) - 1
        return Recoding(
            self.tuples,
            self.cells[classes],
            self.member[inside],
            place[self.class_of[inside]],
            self.count[inside],
            self.generalisation,
        )

    @cached_property
    def sizes(self) -> Integers:
        """n_t: the records of each class."""
        return totals(self.class_of, len(self.cells), self.count)

    @property
    def suppressed(self) -> int:
        """Records in no class."""
        return self.tuples.total - int(self.sizes.sum())

    @property
    def loss(self) -> float:
        """The NCP of the table, 0 to 1, suppressed records counting 1."""
        attributes = len(self.tuples.hierarchies)
        kept = float((self.sizes * record_penalty(self.tuples.hierarchies, self.cells)).sum())
        return (kept + self.suppressed * attributes) / (self.tuples.total * attributes)
