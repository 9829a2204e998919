"""The lattice of levels: one level for every attribute, and what a choice of them loses.

A point of the lattice takes each attribute to one level of its hierarchy (full-domain recoding). Classes that may not
be published are suppressed. Going up merges classes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudare.anonymity.generalisation import Levels
from sudare.anonymity.grouping import group
from sudare.anonymity.ncp import penalty
from sudare.anonymity.requirements import Judge
from sudare.anonymity.tuples import Tuples
from sudare.arrays import Floats, Integers


class Point(NamedTuple):
    """What happens at one point: which tuples are published, and how many records are not."""

    published: NDArray[np.bool_]
    suppressed: int


@dataclass(frozen=True)
class Lattice:
    """All levels of the hierarchies of ``tuples``; ``judge`` says which classes may be published.

    Loss is the NCP of the table: the mean over records and attributes, suppressed records counting 1 throughout.
    """

    tuples: Tuples
    judge: Judge

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """Number of levels of each attribute."""
        return tuple(tree.height + 1 for tree in self.tuples.hierarchies)

    @cached_property
    def penalties(self) -> list[Floats]:
        """For each attribute, levels x leaves: the NCP of a leaf at a level."""
        return [penalty(tree, tree.table) for tree in self.tuples.hierarchies]

    def without(self, tuples: NDArray[np.bool_]) -> Lattice:
        """The same lattice for the other tuples; requirements still compare with the whole table."""
        return Lattice(self.tuples.selected(~tuples), self.judge.narrowed(~tuples))

    def floor(self, counts: Integers) -> Floats:
        """The penalty of records with these ``counts`` at every point if none were suppressed, summed; lattice-shaped.

        It is a sum over attributes, so every point is known without looking at classes; it never falls going up.
        """
        total = np.zeros(self.shape)
        for place, table in enumerate(self.penalties):
            mass = np.bincount(self.tuples.codes[:, place], weights=counts, minlength=table.shape[1])
            total += (table @ mass).reshape([-1 if axis == place else 1 for axis in range(len(self.shape))])
        return total

    def classes(self, levels: Levels) -> tuple[Integers, int]:
        """The class of each tuple at a point, and how many there are."""
        codes = self.tuples.codes
        ranks = [tree.level_ranks[level] for tree, level in zip(self.tuples.hierarchies, levels, strict=True)]
        columns = [rank[codes[:, place]] for place, (rank, _) in enumerate(ranks)]
        return group(columns, [size for _, size in ranks])

    def look(self, levels: Levels) -> Point:
        """Group the tuples at a point, and judge the classes."""
        class_of, classes = self.classes(levels)
        published = self.judge(class_of, classes)[class_of]
        return Point(published, int(self.tuples.counts[~published].sum()))

    def losses(self, point: Point) -> Floats:
        """What every point would lose if it suppressed what ``point`` does; lattice-shaped.

        At the point itself that is its loss. Below it, where at least as much is suppressed, it is a lower bound.
        """
        attributes = len(self.shape)
        lost = self.floor(self.tuples.counts * point.published) + point.suppressed * attributes
        return np.asarray(lost / (self.tuples.total * attributes))
