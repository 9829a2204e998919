"""A generalisation chosen with differential privacy: the exponential mechanism over the lattice of levels.

The idea is that of SafePub (Bild, Kuhn and Prasser 2018). The score of a point is the information that the published
file is expected to hold there, as a whole number:

    score(levels) = sum over classes of weight(class) * kept(d),

where d is the number of records in the class, kept(d) a table that rises like the expected number of published
records, E[X; X >= k] with X ~ Bin(d, beta), and weight(class) how specific its cells are, both whole numbers.

Sensitivity: adding a record adds one to the d of exactly one class of every point. Weight and kept are public tables,
kept never falls, and its largest step is ``step``; so the score of every point rises, by at most
``sensitivity`` = (largest weight) * step. Whatever the rounding of the tables, this holds exactly, for they are what
is used. Since all scores rise together, choosing a point with probability proportional to
exp(epsilon * score / sensitivity) is epsilon-DP: the weight of a point grows by a factor in [1, e^epsilon], and so
does their sum, so the quotient of probabilities is between e^-epsilon and e^epsilon (no factor 2 is needed).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from sudare.anonymity.grouping import first_rows, group, totals
from sudare.anonymity.hierarchy import Hierarchy
from sudare.anonymity.lattice import Tuples, penalty, refuse_many_points
from sudare.arrays import Integers
from sudare.errors import Message, ParameterError
from sudare.measure.science import scipy_of
from sudare.noise import Bernoulli, Source, respond
from sudare.noise.bernoulli import Real, uniform

MOST_POINTS = 2**15
_UNITS = 1000  # of a fully specific cell, and of a record that is certainly drawn and published: rounding below 0.1 %


@dataclass(frozen=True)
class ScoreTables:
    """The public tables of the score: the ``steps`` of kept(d) for d = 0, 1, ..., of which the last repeats for ever,
    and for each attribute the weight of a leaf at each level (levels x leaves).
    """

    steps: Integers
    weights: tuple[Integers, ...]

    @classmethod
    def of(cls, hierarchies: tuple[Hierarchy, ...], k: int, sample: Fraction) -> ScoreTables:
        """The score for a sample of this rate, in which classes below ``k`` are left out."""
        weights = [np.rint(_UNITS * (1 - penalty(tree, tree.table))).astype(np.int64) for tree in hierarchies]
        return cls(_steps(k, float(sample)), tuple(weights))

    @property
    def sensitivity(self) -> int:
        """By how much a record can raise the score of a point, at most: see the module."""
        return int(self.steps.max()) * sum(int(weight.max()) for weight in self.weights)

    def kept(self, held: Integers) -> Integers:
        """kept(d), exactly the sum of the first d steps."""
        running = np.concatenate([[0], np.cumsum(self.steps)])
        beyond = np.maximum(held - len(self.steps), 0)
        return np.asarray(running[np.minimum(held, len(self.steps))] + beyond * self.steps[-1])

    def points(self, tuples: Tuples) -> Integers:
        """The score of every point of the lattice; lattice-shaped.

        Attributes are generalised one after the other and classes are merged on the way, so that most points cost
        much less than grouping all tuples.
        """
        hint = Message("Use fewer columns or levels, or give levels= or learn_on=.")
        refuse_many_points(tuples.hierarchies, MOST_POINTS, hint)
        shape = tuple(tree.height + 1 for tree in tuples.hierarchies)
        most = self.sensitivity * max(tuples.total, 1)
        if most > 2**62:
            raise ParameterError("there are too many records to score in 64 bits")
        scores = np.zeros(shape, dtype=np.int64)
        self._fill(scores, tuples.hierarchies, tuples.codes.astype(np.int64), tuples.counts, ())
        return scores

    def _fill(
        self, scores: Integers, trees: tuple[Hierarchy, ...], codes: Integers, counts: Integers, levels: tuple[int, ...]
    ) -> None:
        """Fill in the points that begin with ``levels``; ``codes`` are leaves that stand for their nodes there."""
        place = len(levels)
        if place == len(trees):
            weight = sum(
                table[level][codes[:, each]]
                for each, (table, level) in enumerate(zip(self.weights, levels, strict=True))
            )
            scores[levels] = int((np.asarray(weight) * self.kept(counts)).sum())
            return
        for level in range(trees[place].height + 1):
            rank = [trees[each].level_ranks[at] for each, at in enumerate((*levels, level))]
            rank += [tree.level_ranks[0] for tree in trees[place + 1 :]]
            columns = [ranked[codes[:, each]] for each, (ranked, _) in enumerate(rank)]
            class_of, classes = group(columns, [size for _, size in rank])
            codes, counts = codes[first_rows(class_of, classes)], totals(class_of, classes, counts)
            self._fill(scores, trees, codes, counts, (*levels, level))


def _steps(k: int, beta: float) -> Integers:
    """The steps of E[X; X >= k], X ~ Bin(d, beta), in thousandths of beta, up to where they are beta all over.

    The expectation is d beta P[Bin(d - 1, beta) >= k - 1].
    """
    betainc = scipy_of("special").betainc

    # From here on the chance to be below k is below e^-40, by Chernoff's bound.
    length = math.ceil((k + math.sqrt(80 * k) + 80) / beta)
    held = np.arange(1, length + 1)
    possible = held >= k
    # P[Bin(d - 1, beta) >= k - 1] is 1 for k = 1.
    chance = betainc(k - 1, np.where(possible, held - k + 1, 1), beta) if k > 1 else np.ones(length)
    expected = np.concatenate([[0.0], np.where(possible, held * chance, 0.0)])
    return np.asarray(np.maximum(np.rint(_UNITS * np.diff(expected)).astype(np.int64), 0))


@dataclass(frozen=True)
class Exponential:
    """The exponential mechanism for scores that one unit moves all in the same direction, by at most ``sensitivity``.

    Privacy: see the module. The draw is exact: a place is taken at random and kept with probability
    exp(-epsilon (best score - its score) / sensitivity), by a coin whose chance is that irrational number, until one
    is kept; so it is kept in proportion to exp(epsilon score / sensitivity).
    """

    epsilon: Fraction
    sensitivity: int

    def draw(self, values: Integers, source: Source) -> Integers:
        """The chosen place, as an array of one."""
        gaps = int(values.max()) - values
        while True:
            place = int(uniform(len(values), source, 1)[0])
            rate = self.epsilon * int(gaps[place]) / self.sensitivity
            if rate == 0 or Bernoulli(partial(_decayed, rate)).draw(source, 1)[0]:
                return np.array([place], dtype=np.int64)


def _decayed(rate: Fraction, real: Any) -> Real:
    """exp(-rate) in an mpmath context."""
    return real.exp(-real.mpf(rate.numerator) / rate.denominator)


def choose_levels(tuples: Tuples, k: int, sample: Fraction, epsilon: Fraction, source: Source) -> tuple[int, ...]:
    """Levels chosen by the exponential mechanism, at a cost of ``epsilon`` that the meter sees."""
    score = ScoreTables.of(tuples.hierarchies, k, sample)
    scores = score.points(tuples)
    law = Exponential(epsilon, score.sensitivity)
    chosen = respond(scores.ravel(), law, source, "generalisation")
    return tuple(map(int, np.unravel_index(int(chosen[0]), scores.shape)))
