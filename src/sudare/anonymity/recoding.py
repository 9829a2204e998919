"""What a recoding makes of tuples: the classes of a sample, which records went to each, and the rows to publish."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sudare.anonymity.grouping import first_rows, group, totals
from sudare.anonymity.hierarchy import Hierarchy
from sudare.anonymity.lattice import Generalisation, Tuples, record_penalty
from sudare.anonymity.requirements import Requirement
from sudare.arrays import Integers

if TYPE_CHECKING:
    import pyarrow as pa


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
        return self.tuples.total - int(self.sizes.sum())

    @property
    def loss(self) -> float:
        """The NCP of the table, 0 to 1, suppressed records counting 1."""
        attributes = len(self.tuples.hierarchies)
        kept = float((self.sizes * record_penalty(self.tuples.hierarchies, self.cells)).sum())
        return (kept + self.suppressed * attributes) / (self.tuples.total * attributes)


_AT_ONCE = 2**22


@dataclass(frozen=True, repr=False)
class Classes:
    """The published classes: ``cells`` (classes x attributes), ``taken`` the records n_t of each in the file.

    ``held``, d_t, is how many records there are that generalise to a class: it is private.
    """

    recoding: Recoding
    population: Tuples

    @property
    def cells(self) -> Integers:
        return self.recoding.cells

    @property
    def taken(self) -> Integers:
        return self.recoding.sizes

    @cached_property
    def held(self) -> Integers:
        made = self.recoding.generalisation
        return _held_inside(self.cells, self.population) if made is None else self._held_everywhere(made)

    def _held_everywhere(self, made: Generalisation) -> Integers:
        """Records whose cells are exactly those of a class."""
        everyone = Recoding.everywhere(self.population, made)
        both = np.concatenate([self.cells, everyone.cells])
        class_of, classes = group(list(both.T), [len(tree.labels) for tree in self.population.hierarchies])
        held = np.zeros(classes, dtype=np.int64)
        held[class_of[len(self) :]] = everyone.sizes
        return np.asarray(held[class_of[: len(self)]])

    def __len__(self) -> int:
        return len(self.cells)

    def labels(self, place: int) -> list[str | None]:
        """What is published for each class in one column."""
        return labels_of(self.population.hierarchies[place], self.cells[:, place])

    def to_arrow(self) -> pa.Table:
        """A table for the steward: the published values, n_t as ``taken``, d_t as ``held``. Private."""
        import pyarrow as pa

        columns = {name: pa.array(self.labels(place), pa.string()) for place, name in enumerate(self.population.names)}
        return pa.table({**columns, "taken": self.taken, "held": self.held})

    def __repr__(self) -> str:
        return f"Classes({len(self)} of {', '.join(self.population.names)})"


def labels_of(tree: Hierarchy, cells: Integers) -> list[str | None]:
    """The labels of many cells, each distinct one written once."""
    distinct, place = np.unique(cells, return_inverse=True)
    written = [tree.label(int(cell)) for cell in distinct]
    return [written[each] for each in place]


def _held_inside(cells: Integers, population: Tuples) -> Integers:
    """Records that lie under the cells of a class in every column; one record may lie under several classes."""
    spans = [tree.spans(cells[:, place]) for place, tree in enumerate(population.hierarchies)]
    step = max(1, _AT_ONCE // max(len(population.counts), 1))
    held = [np.empty(0, dtype=np.int64)]
    for start in range(0, len(cells), step):
        here = slice(start, start + step)
        inside = np.ones((len(cells[here]), len(population.counts)), dtype=np.bool_)
        for place, (low, high) in enumerate(spans):
            codes = population.codes[:, place]
            inside &= (codes >= low[here, None]) & (codes < high[here, None])
        held.append(np.where(inside, population.counts, 0).sum(axis=1))
    return np.concatenate(held)


def expanded(recoding: Recoding) -> pa.Table:
    """The published rows: every record of every class, sorted, with the sensitive columns as they are.

    Nothing of the order of the records is left in it.
    """
    import pyarrow as pa

    tuples = recoding.tuples
    beside = {name: column.codes[recoding.member] for name, column in tuples.sensitive.items()}
    sizes = [len(tuples.sensitive[name].values) for name in beside]
    row_of, rows = group([recoding.class_of, *beside.values()], [max(len(recoding.cells), 1), *sizes])
    first = first_rows(row_of, rows)
    number = totals(row_of, rows, recoding.count)
    columns = {}
    for place, name in enumerate(tuples.names):
        labels = pa.array(labels_of(tuples.hierarchies[place], recoding.cells[:, place]), pa.string())
        columns[name] = labels.take(pa.array(np.repeat(recoding.class_of[first], number)))
    for name, codes in beside.items():
        values = pa.array(tuples.sensitive[name].values, pa.string())
        columns[name] = values.take(pa.array(np.repeat(codes[first], number)))
    return pa.table(columns)
