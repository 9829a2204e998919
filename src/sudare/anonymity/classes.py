"""The classes of a published sample: what is in the file of each, and what there is of each behind it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from sudare.anonymity.grouping import first_rows, group, totals
from sudare.anonymity.hierarchy import Hierarchy
from sudare.anonymity.lattice import Generalisation
from sudare.anonymity.recoding import Recoding
from sudare.anonymity.tuples import Tuples
from sudare.arrays import Integers

if TYPE_CHECKING:
    import pyarrow as pa


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
        """Cells of each class, in the order of the columns."""
        return self.recoding.cells

    @property
    def taken(self) -> Integers:
        """n_t."""
        return self.recoding.sizes

    @cached_property
    def held(self) -> Integers:
        """d_t."""
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
        cells, rank = np.unique(recoding.cells[:, place], return_inverse=True)
        labels = pa.array([tuples.hierarchies[place].label(int(cell)) for cell in cells], pa.string())
        columns[name] = labels.take(pa.array(np.repeat(rank[recoding.class_of[first]], number)))
    for name, codes in beside.items():
        values = pa.array(tuples.sensitive[name].values, pa.string())
        columns[name] = values.take(pa.array(np.repeat(codes[first], number)))
    return pa.table(columns)
