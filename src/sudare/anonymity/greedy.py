"""The paper's recoding: every attribute starts at its root and is specialised node by node, best gain first.

A specialisation replaces one node of an attribute's cut by its children, for every record (global recoding). Among
those possible, the one after which the total NCP is smallest comes first; it stays if the classes may still be
published, else it is dropped for good: classes only become smaller, so it would fail later too.
"""

from __future__ import annotations

import heapq

import numpy as np

from sudare.anonymity.generalisation import Generalisation
from sudare.anonymity.grouping import group
from sudare.anonymity.ncp import penalty
from sudare.anonymity.requirements import Judge
from sudare.anonymity.tuples import Tuples
from sudare.arrays import Floats
from sudare.errors import ParameterError


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
        raise ParameterError(
            "no generalisation satisfies the requirements, not even with every column at its root",
            hint="Ask for a smaller k, l or larger t, or allow more suppression.",
        )
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
