"""Samples of kind "sample": every sample of small data sets, so that delta is exact and nothing is drawn.

The replay shows that a record acts on nothing but its own class. That this is worth (epsilon, delta) is the theorem of
Li, Qardaji and Su (2012), which is checked by itself: the recoding is run on each of the 2**n samples, which gives the
exact law of what is published, and laws of neighbours may differ by no more than delta.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator
from fractions import Fraction
from itertools import product

import numpy as np
from numpy.typing import NDArray

from sudare.anonymity import Hierarchy, delta
from sudare.anonymity.lattice import Generalisation, Tuples
from sudare.anonymity.recoding import Recoding
from sudare.audit.finding import Finding, said
from sudare.audit.laws import OFF, LawFit, fit, law_finding
from sudare.measure.science import scipy_of
from sudare.noise import Source
from sudare.noise.response import draw_sample

Mechanism = Callable[[NDArray[np.int64], int], Hashable]
"""What is published of the drawn counts of the four leaves, at k."""
Law = dict[Hashable, Fraction]

TREE = Hierarchy.from_nested({"a": ["a1", "a2"], "b": ["b1", "b2"]})
_FIXED = Generalisation.at([TREE], [1])
SETTINGS = ((2, Fraction(3, 10), 0.5), (2, Fraction(3, 10), 1.5), (3, Fraction(1, 2), 0.8), (3, Fraction(1, 5), 0.23))


def published(counts: NDArray[np.int64], k: int) -> Hashable:
    """The mechanism itself: a fixed generalisation, classes below k left out."""
    some = np.flatnonzero(counts)
    if not len(some):
        return ()
    tuples = Tuples(("x",), (TREE,), some[:, None].astype(np.int32), counts[some].astype(np.int64))
    made = Recoding.everywhere(tuples, _FIXED).published(k)
    return tuple(zip(made.cells[:, 0].tolist(), made.sizes.tolist(), strict=True))


def law_of(leaves: tuple[int, ...], mechanism: Mechanism, k: int, rate: Fraction) -> Law:
    """The exact law of what is published of records at these ``leaves``."""
    weight: dict[tuple[int, ...], Fraction] = defaultdict(Fraction)
    for taken in product((0, 1), repeat=len(leaves)):
        counts = np.bincount(np.array(leaves, dtype=np.int64), weights=taken, minlength=4).astype(int)
        weight[tuple(counts.tolist())] += rate ** sum(taken) * (1 - rate) ** (len(leaves) - sum(taken))
    law: Law = defaultdict(Fraction)
    for counted, chance in weight.items():
        law[mechanism(np.array(counted), k)] += chance
    return law


def divergence(one: Law, other: Law, epsilon: float) -> float:
    """The smallest delta with one(S) <= e**epsilon other(S) + delta for every set S.

    >>> divergence({"x": Fraction(1)}, {"x": Fraction(1, 2), "y": Fraction(1, 2)}, 0.0)
    0.5
    """
    factor = Fraction(math.exp(epsilon))
    return float(sum(max(chance - factor * other.get(what, Fraction(0)), Fraction(0)) for what, chance in one.items()))


def worst(leaves: tuple[int, ...], mechanism: Mechanism, k: int, rate: Fraction, epsilon: float) -> float:
    """The largest divergence between a data set and the same without one record, either way."""
    whole, found = law_of(leaves, mechanism, k, rate), 0.0
    for place in {leaves.index(leaf) for leaf in leaves}:
        less = law_of(leaves[:place] + leaves[place + 1 :], mechanism, k, rate)
        found = max(found, divergence(whole, less, epsilon), divergence(less, whole, epsilon))
    return found


def data_sets(records: int) -> Iterator[tuple[int, ...]]:
    """One class of every size up to ``records``, and records in all leaves."""
    yield from ((0,) * size for size in range(1, records + 1))
    yield from ((0, 1, 2), (0, 0, 1, 1, 1), (0, 1, 1, 1, 1, 2, 3), (0, 0, 2, 2, 3, 3))


def sampling_finding(mechanism: Mechanism, records: int, setting: tuple[int, Fraction, float]) -> Finding:
    """The exact delta of ``mechanism`` over small data sets, beside the promised one."""
    k, rate, epsilon = setting
    sets = list(data_sets(records))
    found = max(worst(leaves, mechanism, k, rate, epsilon) for leaves in sets)
    promised = delta(k=k, sample=rate, epsilon=epsilon)
    trials = sum(2 ** len(leaves) for leaves in sets)
    name = f"k = {k}, rate {rate}, epsilon {epsilon:g}, every sample"
    seen, allowed = said("seen_delta", delta=f"{found:.4g}"), said("allowed_delta", delta=f"{promised:.4g}")
    return Finding("sampling", name, found <= promised, trials, seen, allowed)


def sample_fit(draws: int) -> LawFit:
    """How many of nine records are drawn, against the binomial law and with a rate 30 % off."""
    binom = scipy_of("stats").binom

    observed = np.bincount(draw_sample(np.full(draws, 9), Fraction(3, 10), Source.system()), minlength=10)

    def fitted(rate: float) -> float:
        return fit(observed, binom.pmf(np.arange(10), 9, rate))

    return LawFit(draws, fitted(0.3), tuple(fitted(0.3 * float(factor)) for factor in OFF))


def sampling_findings(records: int, draws: int) -> Iterator[Finding]:
    """The theorem at every setting, and the law of the coins."""
    for setting in SETTINGS:
        yield sampling_finding(published, records, setting)
    yield law_finding("records of a sample, rate 3/10", sample_fit(draws))
