"""Multidimensional recoding: the records are cut into ever smaller boxes, each along the attribute that gains most.

Mondrian (LeFevre, DeWitt and Ramakrishnan 2006), with three differences: a cut is placed where the NCP falls most and
not at the median; attributes without an order are cut along the children of their hierarchy; and all boxes of a round
are cut at once. A strict cut sends equal values to the same side. A relaxed one may divide records of equal value, and
may split off some children of a node while the rest stays at the node. The published cells of a box are computed at the
end from the records in it.

The gain of a cut is the decrease of the records' total NCP. Both sides, or all parts, keep at least k records.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sudare.anonymity.grouping import group, totals
from sudare.anonymity.hierarchy import Hierarchy
from sudare.anonymity.lattice import Tuples, penalty, unsatisfiable
from sudare.anonymity.recoding import Recoding
from sudare.anonymity.requirements import Judge
from sudare.arrays import Booleans, Floats, Integers


@dataclass(frozen=True)
class Pieces:
    """``count[i]`` records of tuple ``member[i]`` are in box ``box[i]``, of ``boxes`` in all; none is empty."""

    member: Integers
    box: Integers
    count: Integers
    boxes: int

    @classmethod
    def joined(cls, parts: Sequence[Pieces]) -> Pieces:
        """The boxes of several sets of pieces, numbered one after the other."""
        offsets = np.cumsum([0, *(part.boxes for part in parts)])
        box = [part.box + offset for part, offset in zip(parts, offsets[:-1], strict=True)]
        none = [np.empty(0, dtype=np.int64)]
        member, count = ([getattr(part, name) for part in parts] for name in ("member", "count"))
        return cls(
            np.concatenate(none + member), np.concatenate(none + box), np.concatenate(none + count), int(offsets[-1])
        )

    def only(self, boxes: Booleans) -> Pieces:
        """The given boxes, numbered anew."""
        inside = boxes[self.box]
        place = np.cumsum(boxes) - 1
        return Pieces(self.member[inside], place[self.box[inside]], self.count[inside], int(boxes.sum()))

    def ends(self, codes: Integers) -> tuple[Integers, Integers]:
        return ends(self.box, self.boxes, codes)


class BoxCut(NamedTuple):
    """How each box would be cut: what it gains, -inf where it cannot be cut, and where its pieces go.

    Of piece i, ``low[i]`` records go to part ``part[i]`` of its box and the others to the part after it.
    """

    gain: Floats
    part: Integers
    low: Integers


def cut_along_order(tree: Hierarchy, codes: Integers, pieces: Pieces, k: int, relaxed: bool) -> BoxCut:
    """Into those up to some value and those above it; a relaxed cut may divide the records of one value."""
    leaves = len(tree.leaves)
    order = np.argsort(pieces.box * leaves + codes, kind="stable")
    box, count = pieces.box[order], pieces.count[order]
    before = np.cumsum(count) - count  # records sorted before a piece, in all boxes
    run, runs = group([box * leaves + codes[order]], [pieces.boxes * leaves])
    first = np.flatnonzero(np.diff(run, prepend=-1))
    run_box, value, stop = box[first], codes[order][first], before[first] + totals(run, runs, count)
    total = totals(box, pieces.boxes, count)
    start = np.cumsum(total) - total
    lowest, highest = ends(run_box, pieces.boxes, value)

    # A cut is where the left side ends: how many records it has, the last value in it, the first value after it.
    upto = stop - start[run_box]
    following = np.append(value[1:], 0)
    choices = [(run_box, upto, value, following)]
    if relaxed:
        held = np.diff(np.append(before[first], before[-1] + count[-1]))
        choices += [
            (run_box[inside], left[inside], value[inside], value[inside])
            for left in (np.full(runs, k), total[run_box] - k)
            for inside in [(upto - held < left) & (left < upto)]
        ]
    where, left, last, after = (np.concatenate(column) for column in zip(*choices, strict=True))
    right = total[where] - left
    gain = total[where] * _range_penalty(highest[where] - lowest[where], leaves) - (
        left * _range_penalty(last - lowest[where], leaves) + right * _range_penalty(highest[where] - after, leaves)
    )
    gain[(left < k) | (right < k)] = -np.inf
    best, chosen = _best(where, pieces.boxes, gain)
    low = np.empty(len(codes), dtype=np.int64)
    low[order] = np.clip(left[chosen][box] - (before - start[box]), 0, count)
    return BoxCut(best, np.zeros(len(codes), dtype=np.int64), low)


def cut_along_children(tree: Hierarchy, codes: Integers, pieces: Pieces, k: int, relaxed: bool) -> BoxCut:
    """Into the children of the lowest node above the box; a relaxed cut leaves children below k together."""
    low, high = pieces.ends(codes)
    node = tree.cover(low, high)
    leaf = low == high
    step = np.where(leaf, 0, tree.height - tree.depth[node] - 1)
    child = tree.table[step[pieces.box], codes]
    part, parts = group([pieces.box, child], [pieces.boxes, len(tree.labels)])
    part_box = np.empty(parts, dtype=np.int64)
    part_box[part] = pieces.box
    size = totals(part, parts, pieces.count)
    if relaxed:
        together = _left_together(part_box, pieces.boxes, size, k)
        # The children left together become the first part of their box.
        part, parts = group([pieces.box, np.where(together[part], 0, part + 1)], [pieces.boxes, parts + 1])
        part_box = np.empty(parts, dtype=np.int64)
        part_box[part] = pieces.box
        size = totals(part, parts, pieces.count)
    part_low, part_high = ends(part, parts, codes)
    cost = size * penalty(tree, tree.cover(part_low, part_high))
    whole = totals(part_box, pieces.boxes, size) * penalty(tree, node)
    gain = whole - np.bincount(part_box, weights=cost, minlength=pieces.boxes)
    number = np.bincount(part_box, minlength=pieces.boxes)
    thin = np.bincount(part_box, weights=size < k, minlength=pieces.boxes) > 0
    gain[thin | (number < 2)] = -np.inf
    return BoxCut(gain, part - (np.cumsum(number) - number)[pieces.box], pieces.count)


def _left_together(part_box: Integers, boxes: int, size: Integers, k: int) -> Booleans:
    """The parts below k, with the smallest other part of their box where they have not k together."""
    together = size < k
    held = totals(part_box, boxes, size * together)
    short = (held > 0) & (held < k)
    _, smallest = _best(part_box, boxes, np.where(together, -np.inf, -size.astype(np.float64)))
    together[smallest[short]] = True
    return np.asarray(together)


def _best(where: Integers, boxes: int, gain: Floats) -> tuple[Floats, Integers]:
    """The largest gain of each box, and its place; every box has one."""
    order = np.lexsort((-gain, where))
    first = order[np.searchsorted(where[order], np.arange(boxes))]
    return gain[first], first


def _range_penalty(steps: Integers, leaves: int) -> Floats:
    """The NCP of a range over ``steps`` + 1 leaves."""
    return np.asarray(np.where(steps == 0, 0.0, (steps + 1) / leaves))


def ends(group_of: Integers, groups: int, codes: Integers) -> tuple[Integers, Integers]:
    """The smallest and largest code of each group; every group has one."""
    order = np.argsort(group_of, kind="stable")
    first = np.searchsorted(group_of[order], np.arange(groups))
    if not groups:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    return np.minimum.reduceat(codes[order], first), np.maximum.reduceat(codes[order], first)


def mondrian(tuples: Tuples, judge: Judge, relaxed: bool = False) -> Recoding:
    """Cut until no box can be cut; every box may then be published, and nothing is suppressed."""
    size = len(tuples.counts)
    pieces = Pieces(np.arange(size), np.zeros(size, dtype=np.int64), tuples.counts, 1)
    if not judge(pieces.box, 1).all():
        raise unsatisfiable()
    finished: list[Pieces] = []
    while pieces.boxes:
        done, pieces = _round(tuples, judge, pieces, relaxed)
        finished.append(done)
    whole = Pieces.joined(finished)
    return Recoding.of(tuples, _cells(tuples, whole)[whole.box], whole.member, whole.count)


def _round(tuples: Tuples, judge: Judge, pieces: Pieces, relaxed: bool) -> tuple[Pieces, Pieces]:
    """Boxes that cannot be cut, and what the others were cut into."""
    cuts = [
        (cut_along_order if tree.ordered else cut_along_children)(
            tree, tuples.codes[pieces.member, place].astype(np.int64), pieces, judge.k, relaxed
        )
        for place, tree in enumerate(tuples.hierarchies)
    ]
    gains = np.stack([cut.gain for cut in cuts])
    whole = np.ones(pieces.boxes, dtype=np.bool_)
    made: list[Pieces] = []
    while True:
        choice = np.argmax(gains, axis=0)
        trying = whole & (gains[choice, np.arange(pieces.boxes)] > 0)
        if not trying.any():
            break
        parts, origin = _parts(pieces, cuts, np.where(trying, choice, -1))
        fine = judge(parts.box, parts.boxes, parts.member, parts.count)
        refused = np.zeros(pieces.boxes, dtype=np.bool_)
        refused[origin[~fine]] = True
        gains[choice[refused], np.flatnonzero(refused)] = -np.inf
        made.append(parts.only(~refused[origin]))
        whole &= ~trying | refused
    return pieces.only(whole), Pieces.joined(made)


def _parts(pieces: Pieces, cuts: list[BoxCut], choice: Integers) -> tuple[Pieces, Integers]:
    """The boxes with a choice, cut along it; and which box each part was cut from."""
    own = choice[pieces.box]
    chosen = [np.flatnonzero(own == place) for place in range(len(cuts))]
    row = np.concatenate(chosen)
    part = np.concatenate([cut.part[rows] for cut, rows in zip(cuts, chosen, strict=True)])
    low = np.concatenate([cut.low[rows] for cut, rows in zip(cuts, chosen, strict=True)])
    row, part = np.concatenate([row, row]), np.concatenate([part, part + 1])
    count = np.concatenate([low, pieces.count[row[: len(low)]] - low])
    some = count > 0
    row, part, count = row[some], part[some], count[some]
    width = int(part.max()) + 1
    distinct, box = np.unique(pieces.box[row] * width + part, return_inverse=True)
    return Pieces(pieces.member[row], box.astype(np.int64), count, len(distinct)), distinct // width


def _cells(tuples: Tuples, pieces: Pieces) -> Integers:
    """What is published for each box: the range of its records, or the lowest node above them."""
    columns = []
    for place, tree in enumerate(tuples.hierarchies):
        low, high = pieces.ends(tuples.codes[pieces.member, place].astype(np.int64))
        columns.append(tree.runs(low, high) if tree.ordered else tree.cover(low, high))
    return np.stack(columns, axis=1)
