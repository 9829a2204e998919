"""Tuples of records, the lattice of levels over them, and the point of least loss in it.

Recoding works on distinct tuples with counts, so that its cost hardly depends on the number of records. A point of the
lattice takes each attribute to one level of its hierarchy (full-domain recoding). Classes that may not be published are
suppressed. Going up merges classes. A `Generalisation` is a global recoding: one node for every leaf, the same in all
records.

The loss is the normalized certainty penalty (NCP, Xu et al. 2006): m/M for a cell that covers m of an attribute's M
leaves, and 0 for a single leaf. The NCP of a record is the sum over its attributes; of a table, the mean over records
and attributes, between 0 and 1, where a suppressed record counts 1 in every attribute. Horigome's formula
(2020) has no exception for a single leaf, which then costs 1/M: ``single_leaf="share"``.

`optimal` searches by branch and bound, so that most points are never evaluated. Every point has a lower bound of its
loss, at first the penalty of its levels without suppression, computed for the whole lattice at once. Evaluating one
point sharpens the bounds of all points below it, which suppress at least as much; where it suppresses more than the
limit, so do they, and they are excluded. The search ends when no bound is below the best loss found, so its result is
that of an exhaustive search.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudare.anonymity.grouping import first_rows, group, totals
from sudare.anonymity.hierarchy import Hierarchy
from sudare.anonymity.requirements import Judge, Requirement, Sensitive
from sudare.arrays import Floats, Integers
from sudare.errors import Message, ParameterError, either
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

    @classmethod
    def of_columns(
        cls,
        hierarchies: Mapping[str, Hierarchy],
        sensitive: Mapping[str, tuple[str | None, ...]],
        columns: Sequence[Integers],
        counts: Integers,
    ) -> Tuples:
        """From codes row by row: ``columns`` of the ``hierarchies``, then of the ``sensitive`` columns' values."""
        sizes = [*(len(tree.leaves) for tree in hierarchies.values()), *map(len, sensitive.values())]
        tuple_of, tuples = group(columns, sizes)
        first = first_rows(tuple_of, tuples)
        distinct = [column[first] for column in columns]
        codes = np.stack(distinct[: len(hierarchies)], axis=1).astype(np.int32)
        beside = zip(sensitive.items(), distinct[len(hierarchies) :], strict=True)
        return cls(
            tuple(hierarchies),
            tuple(hierarchies.values()),
            codes,
            totals(tuple_of, tuples, counts),
            {name: Sensitive(column, values) for (name, values), column in beside},
        )

    @property
    def total(self) -> int:
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
        """The judge of whether classes of these tuples may be published."""
        return Judge.of(k, self.counts, requirements, self.sensitive)


SINGLE_LEAF = ("zero", "share")


def penalty(hierarchy: Hierarchy, cells: Integers, single_leaf: str = "zero") -> Floats:
    """The penalty of each cell of an attribute.

    >>> penalty(Hierarchy.from_nested({"Government": ["State", "Local"], "Private": None}), np.array([0, 1, 2]))
    array([1.        , 0.66666667, 0.        ])
    """
    if single_leaf not in SINGLE_LEAF:
        raise ParameterError("unknown way to count a single leaf", value=single_leaf, allowed=either(SINGLE_LEAF))
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
        return np.stack([cut[codes[:, place]] for place, cut in enumerate(self.cuts)], axis=1)


def refuse_many_points(hierarchies: Sequence[Hierarchy], most: int, hint: Message) -> None:
    """Refuse hierarchies with more than ``most`` combinations of levels."""
    points = math.prod(tree.height + 1 for tree in hierarchies)
    if points > most:
        raise ParameterError(
            "the hierarchies have too many combinations of levels",
            value=points,
            allowed="at most {most}",
            hint=hint,
            most=most,
        )


def unsatisfiable() -> ParameterError:
    """The error where even one class of all records may not be published."""
    return ParameterError(
        "no generalisation satisfies the requirements, not even with every column at its root",
        hint="Ask for a smaller k, l or larger t, or allow more suppression.",
    )


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


LARGEST_LATTICE = 2**24


class Found(NamedTuple):
    """The best point, its loss, and how many points were evaluated."""

    levels: Levels
    point: Point
    loss: float
    looks: int


def optimal(lattice: Lattice, limit: float = 0.0) -> Found:
    """The levels of least loss that suppress at most the share ``limit`` of all records.

    Bounds may be carried downwards where merging classes never makes more records unpublishable: for k-anonymity and
    distinct l-diversity always, for the other requirements where nothing may be suppressed (averages of classes that
    satisfy them do too). Elsewhere only the first bounds are used.
    """
    hint = Message('Use fewer columns or levels, or method="greedy" or "mondrian".')
    refuse_many_points(lattice.tuples.hierarchies, LARGEST_LATTICE, hint)
    allowed = lattice.tuples.share(limit)
    carried = lattice.judge.monotone or allowed == 0
    floor = lattice.floor(lattice.tuples.counts) / (lattice.tuples.total * len(lattice.shape))
    bound = floor.copy()
    best: Found | None = None
    looks = 0
    while True:
        worst = np.inf if best is None else best.loss
        lowest = tuple(map(int, np.unravel_index(int(np.argmin(bound)), lattice.shape)))
        if bound[lowest] >= worst:
            break
        # Halfway up from the most promising point: either result there decides about many points.
        promising = [levels for levels in _way_up(lowest, floor) if bound[levels] < worst] if carried else [lowest]
        levels = promising[len(promising) // 2]
        point, looks = lattice.look(levels), looks + 1
        below = tuple(slice(0, level + 1) for level in levels)
        if point.suppressed > allowed:
            bound[below if carried else levels] = np.inf
            continue
        losses = lattice.losses(point)
        if best is None or losses[levels] < best.loss:
            best = Found(levels, point, float(losses[levels]), looks)
        if carried:
            np.maximum(bound[below], losses[below], out=bound[below])
        bound[levels] = np.inf
    if best is None:
        raise unsatisfiable()
    return best._replace(looks=looks)


def _way_up(levels: Levels, floor: Floats) -> list[Levels]:
    """A chain of points from ``levels`` to the top, each step where the penalty rises least."""
    chain = [levels]
    while True:
        last = chain[-1]
        above = [
            (*last[:place], level + 1, *last[place + 1 :])
            for place, level in enumerate(last)
            if level + 1 < floor.shape[place]
        ]
        if not above:
            return chain
        chain.append(min(above, key=lambda point: float(floor[point])))
