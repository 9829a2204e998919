"""The lattice of levels: one level for every attribute, and what a choice of them loses.

A point of the lattice takes each attribute to one level of its hierarchy (full-domain recoding). Classes that may not
be published are suppressed. Going up merges classes.

The normalized certainty penalty: how much a generalised value says less than the value itself.

Of a cell that covers m of an attribute's M leaves it is m/M, and 0 for a single leaf (Xu et al. 2006). The NCP of a
record is the sum over its attributes; of a table, the mean over records and attributes, between 0 and 1, where a
suppressed record counts 1 in every attribute. The paper's formula has no exception for a single leaf, which then
costs 1/M: ``single_leaf="share"``.

A global recoding: one node for every leaf, the same in all records.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudare.anonymity.grouping import group
from sudare.anonymity.hierarchy import Hierarchy
from sudare.anonymity.requirements import Judge
from sudare.anonymity.tuples import Tuples
from sudare.arrays import Floats, Integers
from sudare.errors import ParameterError, either

SINGLE_LEAF = ("zero", "share")


def penalty(hierarchy: Hierarchy, cells: Integers, single_leaf: str = "zero") -> Floats:
    """The penalty of each cell of an attribute.

    >>> penalty(Hierarchy.from_nested({"Government": ["State", "Local"], "Private": None}), np.array([0, 1, 2]))
    array([1.        , 0.66666667, 0.        ])
    """
    if single_leaf not in SINGLE_LEAF:
        raise ParameterError("no way to count a single leaf", value=single_leaf, allowed=either(SINGLE_LEAF))
    low, high = hierarchy.spans(cells)
    share = (high - low) / len(hierarchy.leaves)
    return np.where((high - low == 1) & (single_leaf == "zero"), 0.0, share)


def record_penalty(hierarchies: Sequence[Hierarchy], cells: Integers, single_leaf: str = "zero") -> Floats:
    """The NCP of each row of ``cells`` (rows x attributes): the sum over its attributes."""
    parts = [penalty(tree, cells[:, place], single_leaf) for place, tree in enumerate(hierarchies)]
    return np.asarray(np.sum(parts, axis=0))


Levels = tuple[int, ...]


@dataclass(frozen=True)
class Generalisation:
    """``cuts``: for each attribute the node that stands for each leaf; the nodes are a cut through the tree.

    ``levels`` where every attribute is at one level of its hierarchy (full-domain recoding), else None.
    """

    cuts: tuple[Integers, ...]
    levels: Levels | None = None

    @classmethod
    def at(cls, hierarchies: Sequence[Hierarchy], levels: Sequence[int]) -> Generalisation:
        """Every attribute at one level.

        >>> Generalisation.at([Hierarchy.from_nested(["f", "m"])], [1]).cuts
        (array([0, 0]),)
        """
        cuts = tuple(tree.level(level) for tree, level in zip(hierarchies, levels, strict=True))
        return cls(cuts, tuple(levels))

    def cells(self, codes: NDArray[np.int32]) -> Integers:
        """The cell of each tuple in each attribute."""
        return np.stack([cut[codes[:, place]] for place, cut in enumerate(self.cuts)], axis=1)


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
