"""Hierarchies: a tree over the values of one column, in which a value may be replaced by a node above it.

Nodes are numbered from the root down with every subtree in one run, so that a node covers a run of leaves. What is
published for an attribute is a *cell*: a node, or, where the leaves are ordered numbers, any run of leaves. Cells are
whole numbers: node numbers first, then runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from sudare.anonymity.grouping import group
from sudare.anonymity.taxonomy import (
    Branch,
    branch_of_csv,
    branch_of_edges,
    branch_of_nested,
    branch_of_rows,
    edges_of_widths,
    interval_label,
    number,
)
from sudare.arrays import Integers
from sudare.domain.text import plain, twice
from sudare.errors import Message, ParameterError

_FORMS = Message("a Hierarchy, nested dicts and lists, or the path of a CSV file")


@dataclass(frozen=True, eq=False, repr=False)
class Hierarchy:
    """A tree of text labels: ``labels`` and ``parents`` of all nodes in preorder, the root first with parent -1.

    ``edges`` is given where the leaves are half-open intervals of numbers: leaf i covers edges[i] <= x < edges[i + 1].
    A missing value is no leaf, except under `with_missing`, where its label is None.

    >>> work = Hierarchy.from_nested({"Government": ["State-gov", "Local-gov", "Federal-gov"], "Private": None})
    >>> work.leaves, work.height
    (('State-gov', 'Local-gov', 'Federal-gov', 'Private'), 2)
    >>> [work.label(cell) for cell in work.level(1)]
    ['Government', 'Government', 'Government', 'Private']
    """

    labels: tuple[str | None, ...]
    parents: Integers
    edges: tuple[float, ...] | None = field(default=None)

    def __post_init__(self) -> None:
        found = self._leaf_labels
        repeated = twice(found)
        if repeated is not None:
            raise ParameterError("a hierarchy has the same leaf twice", value=repeated)
        if self.edges is not None and len(self.edges) != len(found) + 1 - (None in found):
            raise ParameterError("a hierarchy of intervals needs one more edge than it has leaves")

    @classmethod
    def of(cls, given: Any) -> Hierarchy:
        """``given`` itself, or the hierarchy that nested dicts, lists or the path of a CSV file describe."""
        if isinstance(given, Hierarchy):
            return given
        if isinstance(given, str | Path):
            return cls.from_csv(given)
        if isinstance(given, Mapping):
            return cls.from_nested(given)
        if isinstance(given, Sequence):
            rows = len(given) > 0 and all(isinstance(row, list | tuple) for row in given)
            return cls.from_rows(given) if rows else cls.from_nested(given)
        raise ParameterError("this is not a hierarchy", value=type(given).__name__, allowed=_FORMS)

    @classmethod
    def from_nested(cls, tree: Mapping[Any, Any] | Sequence[Any]) -> Hierarchy:
        """From dicts (a node: what is under it) that end in lists of leaves or in None.

        A dict with one key is the root itself; above several, and above a bare list, a root ``"*"`` is added. Leaves
        may lie at different depths: the levels of a shallow one repeat it until the level where its parent begins.
        """
        return cls._built(branch_of_nested(tree))

    @classmethod
    def from_rows(cls, rows: Sequence[Sequence[Any]]) -> Hierarchy:
        """From one row per leaf, all equally long: the leaf, its group, the group's group, and so on to the root."""
        return cls._built(branch_of_rows(rows))

    @classmethod
    def from_csv(cls, path: Path | str, delimiter: str = ";") -> Hierarchy:
        """From a CSV file without a header, one row per leaf, leaf first: the files that users of ARX have."""
        return cls._built(branch_of_csv(Path(path), delimiter))

    @classmethod
    def from_intervals(cls, *levels: Sequence[float]) -> Hierarchy:
        """Of numbers, from the edges of each level, finest first; edges of a level are among those of the one before.

        >>> Hierarchy.from_intervals([0, 15, 25, 65, 100], [0, 25, 100]).leaves
        ('0-14', '15-24', '25-64', '65-99')
        """
        return cls._built(branch_of_edges(levels), tuple(map(float, levels[0])))

    @classmethod
    def from_widths(cls, low: float, high: float, *widths: float, origin: float = 0) -> Hierarchy:
        """Of numbers low <= x < high: leaves of the first width, grouped into each further one, under a root ``"*"``.

        Each width is a multiple of the one before. Groups are counted from ``origin`` on and cut off at both ends.

        >>> age = Hierarchy.from_widths(15, 90, 5, 10)
        >>> age.leaves[:2], [age.label(cell) for cell in age.level(1)[:4]]
        (('15-19', '20-24'), ['15-19', '20-29', '20-29', '30-39'])
        """
        return cls.from_intervals(*edges_of_widths(low, high, widths, origin))

    @classmethod
    def _built(cls, root: Branch, edges: tuple[float, ...] | None = None) -> Hierarchy:
        labels: list[str | None] = []
        parents: list[int] = []
        waiting = [(root, -1)]
        while waiting:
            branch, parent = waiting.pop()
            waiting += [(child, len(labels)) for child in reversed(branch.children)]
            labels.append(branch.label)
            parents.append(parent)
        return cls(tuple(labels), np.array(parents, dtype=np.int64), edges)

    def with_missing(self) -> Hierarchy:
        """The same with one more leaf under the root, for values that are missing."""
        if None in self.labels:
            return self
        if len(self.labels) == 1:
            raise ParameterError("a hierarchy of one value cannot hold missing values beside it", value=self.labels[0])
        return Hierarchy((*self.labels, None), np.append(self.parents, 0), self.edges)

    @cached_property
    def _leaf_nodes(self) -> Integers:
        has_child = np.zeros(len(self.labels), dtype=np.bool_)
        has_child[self.parents[1:]] = True
        return np.flatnonzero(~has_child)

    @property
    def _leaf_labels(self) -> list[str | None]:
        return [self.labels[node] for node in self._leaf_nodes]

    @cached_property
    def leaves(self) -> tuple[str | None, ...]:
        """Labels of the leaves; a leaf's code is its place here."""
        return tuple(self._leaf_labels)

    @cached_property
    def depth(self) -> Integers:
        """Steps from the root, by node."""
        depth = np.zeros(len(self.labels), dtype=np.int64)
        for node, parent in enumerate(self.parents.tolist()[1:], start=1):
            depth[node] = depth[parent] + 1
        return depth

    @cached_property
    def height(self) -> int:
        """The level of the root; leaves are level 0."""
        return int(self.depth.max())

    @cached_property
    def _runs(self) -> tuple[Integers, Integers]:
        """First leaf, and the one behind the last leaf, of every node."""
        place = {int(node): code for code, node in enumerate(self._leaf_nodes)}
        low = np.full(len(self.labels), len(place), dtype=np.int64)
        high = np.zeros(len(self.labels), dtype=np.int64)
        for node in range(len(self.labels) - 1, -1, -1):
            if node in place:
                low[node], high[node] = place[node], place[node] + 1
            parent = self.parents[node]
            if parent >= 0:
                low[parent], high[parent] = min(low[parent], low[node]), max(high[parent], high[node])
        return low, high

    @cached_property
    def table(self) -> Integers:
        """Levels x leaves: the node of each leaf at each level, leaves at level 0 and the root at the last.

        Level l is the ancestor at depth height - l, or the leaf where it is not that deep; so levels are nested.
        """
        rows = [self._leaf_nodes]
        for depth in range(self.height - 1, -1, -1):
            below = rows[-1]
            rows.append(np.where(self.depth[below] > depth, self.parents[below], below))
        return np.stack(rows)

    def level(self, level: int) -> Integers:
        if type(level) is not int or not 0 <= level <= self.height:
            raise ParameterError(
                "a hierarchy has no such level", value=level, allowed="0 to {height}", height=self.height
            )
        return np.asarray(self.table[level])

    @cached_property
    def level_ranks(self) -> list[tuple[Integers, int]]:
        """For each level, the nodes of the leaves as small numbers, and how many there are."""
        return [group([row], [len(self.labels)]) for row in self.table]

    def children(self, node: int) -> Integers:
        return np.flatnonzero(self.parents == node)

    @cached_property
    def ordered(self) -> bool:
        """Whether the leaves are numbers in rising order, so that any run of them can be published as a range."""
        if self.edges is not None:
            return None not in self.labels
        leaves = [number(label) for label in self.leaves]
        known = [leaf for leaf in leaves if leaf is not None]
        return len(known) == len(leaves) > 1 and all(a < b for a, b in pairwise(known))

    def locate(self, values: Sequence[str | None]) -> Integers:
        """The code of each text; -1 where the hierarchy does not have it."""
        if self.edges is not None:
            return self._locate_numbers(values)
        place = {None if label is None else plain(label): code for code, label in enumerate(self.leaves)}
        return np.array([place.get(None if value is None else plain(value), -1) for value in values], dtype=np.int64)

    def _locate_numbers(self, values: Sequence[str | None]) -> Integers:
        edges = np.array(self.edges)
        read = [number(value) for value in values]
        found = np.searchsorted(edges, np.array([0.0 if each is None else each for each in read]), side="right") - 1
        found[np.array([each is None for each in read]) | (found >= len(edges) - 1)] = -1
        if None in self.labels:
            found[[value is None for value in values]] = len(self.leaves) - 1
        return found

    def cover(self, low: Integers, high: Integers) -> Integers:
        """The lowest node above leaves ``low`` and ``high``, both included; for a single leaf, the leaf."""
        node = self._leaf_nodes[low]
        last = self._runs[1]
        while (short := last[node] <= high).any():
            node = np.where(short, self.parents[node], node)
        return np.asarray(node)

    def runs(self, low: Integers, high: Integers) -> Integers:
        """The cells of the ranges from leaf ``low`` to leaf ``high``, both included; a single leaf is its node."""
        size = len(self.leaves)
        return np.where(low == high, self._leaf_nodes[low], len(self.labels) + low * size + high)

    def spans(self, cells: Integers) -> tuple[Integers, Integers]:
        """First leaf, and the one behind the last, of each cell."""
        size, nodes = len(self.leaves), len(self.labels)
        run = np.maximum(cells - nodes, 0)
        node = np.minimum(cells, nodes - 1)
        is_run = cells >= nodes
        low, high = self._runs
        return np.where(is_run, run // size, low[node]), np.where(is_run, run % size + 1, high[node])

    def label(self, cell: int) -> str | None:
        """What is published for a cell."""
        if cell < len(self.labels):
            return self.labels[cell]
        low, last = divmod(int(cell) - len(self.labels), len(self.leaves))
        if self.edges is not None:
            return interval_label(self.edges[low], self.edges[last + 1])
        return f"{self.leaves[low]}-{self.leaves[last]}"

    def __repr__(self) -> str:
        return f"Hierarchy({len(self.leaves)} leaves, levels 0 to {self.height})"
