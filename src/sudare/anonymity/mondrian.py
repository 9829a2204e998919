"""Multidimensional recoding: the records are cut into ever smaller boxes, each along the attribute that gains most.

Mondrian (LeFevre, DeWitt and Ramakrishnan 2006), with three differences: a cut is placed where the NCP falls most and
not at the median; attributes without an order are cut along the children of their hierarchy; and all boxes of a round
are cut at once. A strict cut sends equal values to the same side. A relaxed one may divide records of equal value, and
may split off some children of a node while the rest stays at the node. What is published for a box is found anew from
the records in it at the end.
"""

from __future__ import annotations

import numpy as np

from sudare.anonymity.box_cuts import BoxCut, Pieces, cut_along_children, cut_along_order
from sudare.anonymity.recoding import Recoding
from sudare.anonymity.requirements import Judge
from sudare.anonymity.tuples import Tuples
from sudare.arrays import Integers
from sudare.errors import ParameterError


def mondrian(tuples: Tuples, judge: Judge, relaxed: bool = False) -> Recoding:
    """Cut until no box can be cut; every box may then be published, and nothing is suppressed."""
    size = len(tuples.counts)
    pieces = Pieces(np.arange(size), np.zeros(size, dtype=np.int64), tuples.counts, 1)
    if not judge(pieces.box, 1).all():
        raise ParameterError(
            "no generalisation satisfies the requirements, not even with every column at its root",
            hint="Ask for a smaller k, l or larger t.",
        )
    finished: list[Pieces] = []
    while pieces.boxes:
        done, pieces = _round(tuples, judge, pieces, relaxed)
        finished.append(done)
    offsets = np.cumsum([0, *(part.boxes for part in finished)])
    box = np.concatenate([part.box + offset for part, offset in zip(finished, offsets[:-1], strict=True)])
    member, count = (np.concatenate([getattr(part, name) for part in finished]) for name in ("member", "count"))
    return Recoding.of(tuples, _cells(tuples, Pieces(member, box, count, int(offsets[-1])))[box], member, count)


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
