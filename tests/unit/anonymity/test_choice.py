"""The score of the exponential mechanism, its sensitivity, and its choice."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from sudare.anonymity import Hierarchy
from sudare.anonymity.choice import Exponential, ScoreTables, choose_levels
from sudare.anonymity.lattice import Lattice, Tuples
from sudare.errors import AccountingError, ParameterError
from sudare.noise import Source, metered, record
from sudare.privacy import Budget


def test_scores_are_sums_over_the_classes_of_each_point(people: Callable[..., Tuples]) -> None:
    tuples = people()
    score = ScoreTables.of(tuples.hierarchies, 5, Fraction(1, 4))
    scores = score.points(tuples)
    lattice = Lattice(tuples, tuples.judge(5))
    for levels in product(*map(range, lattice.shape)):
        class_of, classes = lattice.classes(levels)
        held = np.bincount(class_of, weights=tuples.counts).astype(np.int64)
        weight = np.zeros(classes, dtype=np.int64)
        weight[class_of] = sum(
            table[level][tuples.codes[:, place]]
            for place, (table, level) in enumerate(zip(score.weights, levels, strict=True))
        )
        assert scores[levels] == (weight * score.kept(held)).sum()
    assert scores[2, 2] == 0  # everything erased


def test_kept_is_the_expected_number_of_published_records() -> None:
    k, beta = 4, 0.3
    score = ScoreTables.of((Hierarchy.from_nested(["a", "b"]),), k, Fraction(3, 10))
    generator = np.random.default_rng(1)
    for held in (3, 8, 15, 40, 2000):
        draws = generator.binomial(held, beta, 200_000)
        expected = np.where(draws >= k, draws, 0).mean() / beta
        assert score.kept(np.array([held]))[0] / 1000 == pytest.approx(expected, rel=0.02, abs=0.02)


def test_a_record_moves_every_score_up_by_at_most_the_sensitivity(people: Callable[..., Tuples]) -> None:
    """Every neighbour of several tables: the bound holds, and is nearly reached where a class is at its steepest."""
    largest = 0.0
    for records in (30, 120, 500):
        tuples = people(records, records)
        score = ScoreTables.of(tuples.hierarchies, 3, Fraction(1, 4))
        before = score.points(tuples)
        for place in range(len(tuples.counts)):
            counts = tuples.counts.copy()
            counts[place] += 1
            moved = score.points(tuples.selected(np.ones(len(counts), dtype=bool), counts)) - before
            assert moved.min() >= 0
            assert moved.max() <= score.sensitivity
            largest = max(largest, moved.max() / score.sensitivity)
    assert largest > 0.5


def test_a_large_epsilon_takes_the_best_point(people: Callable[..., Tuples]) -> None:
    tuples = people(3000)
    scores = ScoreTables.of(tuples.hierarchies, 5, Fraction(1, 4)).points(tuples)
    best = tuple(map(int, np.unravel_index(int(scores.argmax()), scores.shape)))
    chosen = choose_levels(tuples, 5, Fraction(1, 4), Fraction(50), Source.from_seed(2))
    assert scores[chosen] == scores[best]


def test_the_meter_and_the_tape_see_the_choice(people: Callable[..., Tuples]) -> None:
    tuples = people()
    with metered() as meter, record() as tape:
        chosen = choose_levels(tuples, 5, Fraction(1, 4), Fraction(1, 3), Source.from_seed(2))
    meter.check(Budget(epsilon=Fraction(1, 3)))
    with pytest.raises(AccountingError):
        meter.check(Budget(epsilon=Fraction(1, 2)))
    with record(replay=tape):
        again = choose_levels(people(999, 7), 5, Fraction(1, 4), Fraction(1, 3), Source.from_seed(9))
    assert again == chosen


def test_equal_scores_need_no_coin() -> None:
    law = Exponential(Fraction(1), 10)
    draws = {int(law.draw(np.array([4, 4, 4]), Source.from_seed(seed))[0]) for seed in range(40)}
    assert draws == {0, 1, 2}


def test_too_many_points_to_choose_from() -> None:
    tree = Hierarchy.from_nested({"a": {"b": {"c": {"d": {"e": {"f": {"g": ["h"]}}}}}}, "i": None})
    names = tuple(map(str, range(6)))
    tuples = Tuples(names, (tree,) * 6, np.zeros((1, 6), dtype=np.int32), np.array([5]))
    with pytest.raises(ParameterError, match="too many combinations of levels"):
        choose_levels(tuples, 2, Fraction(1, 4), Fraction(1), Source.from_seed(1))
