"""Ways to recode records: Horigome's greedy specialisation, local recoding by passes, and the choice among all.

**Greedy specialisation** (Horigome 2020): every attribute starts at its root and is specialised node by node. A
specialisation replaces one node of an attribute's cut by its children, for every record (global recoding). The one
after which the total NCP is smallest is tried first; it is kept if the classes may still be published, else it is
dropped for good: classes only become smaller, so it would fail later too.

**Local recoding by passes**: the points of the lattice of levels are visited in the order of their penalty. At each,
the classes that may be published are published, and the other records go on to the next point. On Adult this loses less
than repeating the best point for the remaining records (what ARX calls local recoding), because it keeps cheap classes
that no single best point has.

`recode` applies a method to the records themselves; `learn` finds a generalisation on public records.
"""

from __future__ import annotations

import heapq
import math
from fractions import Fraction

import numpy as np

from sudare.anonymity.grouping import group
from sudare.anonymity.lattice import (
    Generalisation,
    Lattice,
    Tuples,
    optimal,
    penalty,
    record_penalty,
    refuse_many_points,
    unsatisfiable,
)
from sudare.anonymity.mondrian import mondrian
from sudare.anonymity.recoding import Recoding
from sudare.anonymity.requirements import Judge
from sudare.arrays import Floats, Integers
from sudare.errors import InputError, Message


def specialise(tuples: Tuples, judge: Judge, limit: float = 0.0, single_leaf: str = "zero") -> Generalisation:
    """The cuts that greedy top-down specialisation ends with; at most the share ``limit`` of records is suppressed.

    The gain of a specialisation is a sum over the records below the node and does not depend on other attributes, so
    that all gains are known from the counts of each attribute alone.
    """
    allowed = tuples.share(limit)
    gains = [_gains(tuples, place, single_leaf) for place in range(len(tuples.hierarchies))]
    cuts = tuple(np.zeros(len(tree.leaves), dtype=np.int64) for tree in tuples.hierarchies)
    class_of, classes = np.zeros(len(tuples.counts), dtype=np.int64), 1
    published = judge(class_of, classes)[class_of]
    if int(tuples.counts[~published].sum()) > allowed:
        raise unsatisfiable()
    waiting = [(-float(gain[0]), place, 0) for place, gain in enumerate(gains)]
    heapq.heapify(waiting)
    while waiting:
        _, place, node = heapq.heappop(waiting)
        tree = tuples.hierarchies[place]
        children = tree.children(node)
        if not len(children):
            continue
        finer = np.where(cuts[place] == node, tree.table[tree.height - tree.depth[node] - 1], cuts[place])
        inside = np.flatnonzero(cuts[place][tuples.codes[:, place]] == node)
        child = finer[tuples.codes[inside, place]]
        # A class has one cell in each attribute, so it lies wholly inside or wholly outside.
        split, parts = group([class_of[inside], child], [classes, len(tree.labels)])
        fine = judge(split, parts, inside, tuples.counts[inside])[split]
        newly = int(tuples.counts[inside][~fine].sum()) - int(tuples.counts[inside][~published[inside]].sum())
        if int(tuples.counts[~published].sum()) + newly > allowed:
            continue
        cuts = (*cuts[:place], finer, *cuts[place + 1 :])
        published[inside] = fine
        class_of[inside] = classes + split
        class_of, classes = group([class_of], [classes + parts])
        for each in children:
            heapq.heappush(waiting, (-float(gains[place][each]), place, int(each)))
    return Generalisation(cuts)


def _gains(tuples: Tuples, place: int, single_leaf: str) -> Floats:
    """By how much the total NCP falls when a node of an attribute is replaced by its children; by node."""
    tree = tuples.hierarchies[place]
    nodes = np.arange(len(tree.labels))
    mass = np.bincount(tuples.codes[:, place], weights=tuples.counts, minlength=len(tree.leaves))
    low, high = tree.spans(nodes)
    running = np.concatenate([[0.0], np.cumsum(mass)])
    cost = (running[high] - running[low]) * penalty(tree, nodes, single_leaf)
    gain = cost.copy()
    np.subtract.at(gain, tree.parents[1:], cost[1:])
    return np.asarray(gain)


MOST_PASSES = 2**17


def by_passes(tuples: Tuples, judge: Judge, limit: float = 0.0) -> Recoding:
    """Publish by passes; at most the share ``limit`` of records is left suppressed.

    Fewer than k records may remain at the end. Where the limit does not allow to suppress them, they join the class
    whose records lose least by it.
    """
    lattice = Lattice(tuples, judge)
    hint = Message('Use fewer columns or levels, or method="mondrian".')
    refuse_many_points(tuples.hierarchies, MOST_PASSES, hint)
    cells = np.zeros((len(tuples.counts), len(lattice.shape)), dtype=np.int64)
    rest = np.arange(len(tuples.counts))
    order = np.argsort(lattice.floor(tuples.counts), axis=None, kind="stable")
    for levels in np.stack(np.unravel_index(order, lattice.shape), axis=1).tolist():
        if not len(rest):
            break
        fine = lattice.look(tuple(levels)).published
        if fine.any():
            cells[rest[fine]] = Generalisation.at(tuples.hierarchies, levels).cells(lattice.tuples.codes[fine])
            rest = rest[~fine]
            lattice = lattice.without(fine)
    inside = np.ones(len(tuples.counts), dtype=np.bool_)
    inside[rest] = False
    made = Recoding.of(tuples, cells[inside], np.flatnonzero(inside), tuples.counts[inside])
    if made.suppressed > tuples.share(limit):
        return _with_rest(made, rest, judge)
    return made


def _with_rest(made: Recoding, rest: Integers, judge: Judge) -> Recoding:
    """The records of ``rest`` in one class with those for which that costs least, as many as it takes."""
    tuples = made.tuples
    order = np.argsort(_cost_of_joining(made, rest), kind="stable")
    for number in [2**power for power in range(len(order).bit_length() + 1)]:
        taken = np.isin(made.class_of, order[:number])
        together = np.concatenate([made.member[taken], rest])
        codes = tuples.codes[together].astype(np.int64)
        ends = zip(tuples.hierarchies, codes.min(axis=0), codes.max(axis=0), strict=True)
        cell = np.array([[int(tree.cover(low[None], high[None])[0]) for tree, low, high in ends]])
        everyone = Recoding.of(
            tuples,
            np.concatenate([made.cells[made.class_of[~taken]], np.repeat(cell, len(together), axis=0)]),
            np.concatenate([made.member[~taken], together]),
            np.concatenate([made.count[~taken], made.count[taken], tuples.counts[rest]]),
        )
        if judge(everyone.class_of, len(everyone.cells), everyone.member, everyone.count).all():
            return everyone
    raise unsatisfiable()


def _cost_of_joining(made: Recoding, rest: Integers) -> Floats:
    """What the NCP of all records rises by if ``rest`` joins a class; by class."""
    tuples = made.tuples
    joined = np.empty_like(made.cells)
    for place, (tree, codes) in enumerate(zip(tuples.hierarchies, tuples.codes[rest].T, strict=True)):
        low, high = tree.spans(made.cells[:, place])
        joined[:, place] = tree.cover(np.minimum(low, codes.min()), np.maximum(high - 1, codes.max()))
    size = made.sizes + int(tuples.counts[rest].sum())
    before = made.sizes * record_penalty(tuples.hierarchies, made.cells)
    return np.asarray(size * record_penalty(tuples.hierarchies, joined) - before)


METHODS = ("greedy", "optimal", "mondrian", "passes")
LEARNING = ("optimal", "greedy")


def recode(tuples: Tuples, judge: Judge, method: str, limit: float = 0.0, relaxed: bool = False) -> Recoding:
    """The classes that ``method`` makes; those that may not be published hold at most the share ``limit``."""
    if method == "mondrian":
        return mondrian(tuples, judge, relaxed)
    if method == "passes":
        return by_passes(tuples, judge, limit)
    return Recoding.everywhere(tuples, _everywhere(tuples, judge, method, limit))


def learn(public: Tuples, k: int, sample: Fraction | None, method: str, limit: float | None) -> Generalisation:
    """The generalisation of least loss if the private records were as many as the ``public`` ones.

    A class of which fewer than k records are expected in the sample counts as suppressed. "optimal" may suppress what
    it likes, since that counts as lost, unless ``limit`` is given; "greedy" nothing.
    """
    needed = k if sample is None else math.ceil(k / sample)
    if public.total < needed:
        raise InputError(
            "the public records are too few to learn on", allowed="at least k / sample = {needed}", needed=needed
        )
    free = 1.0 if method == "optimal" else 0.0
    return _everywhere(public, public.judge(needed), method, free if limit is None else limit)


def _everywhere(tuples: Tuples, judge: Judge, method: str, limit: float) -> Generalisation:
    if method == "greedy":
        return specialise(tuples, judge, limit)
    return Generalisation.at(tuples.hierarchies, optimal(Lattice(tuples, judge), limit).levels)
