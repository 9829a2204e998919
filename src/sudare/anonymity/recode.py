"""Where a generalisation comes from: a method on the records themselves, or learned on public ones."""

from __future__ import annotations

import math
from fractions import Fraction

from sudare.anonymity.generalisation import Generalisation
from sudare.anonymity.greedy import specialise
from sudare.anonymity.lattice import Lattice
from sudare.anonymity.mondrian import mondrian
from sudare.anonymity.passes import by_passes
from sudare.anonymity.recoding import Recoding
from sudare.anonymity.requirements import Judge
from sudare.anonymity.search import optimal
from sudare.anonymity.tuples import Tuples
from sudare.errors import InputError

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
