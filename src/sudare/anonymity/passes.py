"""Local recoding by passes: every record is published at the cheapest levels that its neighbours allow.

The points of the lattice of levels are visited in the order of their penalty. At each, the classes that may be
published are, and the records left over go on to the next point. On Adult this loses less than repeating the best
point for the records left over (what ARX calls local recoding), because it does not give up cheap classes that no
single best point has.
"""

from __future__ import annotations

import numpy as np

from sudare.anonymity.generalisation import Generalisation
from sudare.anonymity.lattice import Lattice
from sudare.anonymity.ncp import record_penalty
from sudare.anonymity.recoding import Recoding
from sudare.anonymity.requirements import Judge
from sudare.anonymity.tuples import Tuples
from sudare.arrays import Floats, Integers
from sudare.errors import ParameterError

MOST_PASSES = 2**17


def by_passes(tuples: Tuples, judge: Judge, limit: float = 0.0) -> Recoding:
    """Publish by passes; at most the share ``limit`` of records is left suppressed.

    Fewer than k records may remain at the end. Where the limit does not allow to suppress them, they join the class
    whose records lose least by it.
    """
    lattice = Lattice(tuples, judge)
    points = int(np.prod([float(levels) for levels in lattice.shape]))
    if points > MOST_PASSES:
        raise ParameterError(
            "the hierarchies have too many combinations of levels for passes",
            value=points,
            allowed="at most {most_passes}",
            hint='Use fewer columns or levels, or method="mondrian".',
            most_passes=MOST_PASSES,
        )
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
    raise ParameterError(
        "no generalisation satisfies the requirements, not even with every column at its root",
        hint="Ask for a smaller k, l or larger t, or allow more suppression.",
    )


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
