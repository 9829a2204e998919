"""Greedy top-down specialisation."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from sudare.anonymity import DistinctDiversity, Hierarchy
from sudare.anonymity.lattice import Tuples
from sudare.anonymity.recoders import specialise
from sudare.anonymity.recoding import Recoding
from sudare.errors import ParameterError


def labels(tree: Hierarchy, cut: np.ndarray) -> list[str | None]:
    return [tree.label(int(node)) for node in cut]


def one(tree: Hierarchy, counts: list[int]) -> Tuples:
    codes = np.arange(len(counts), dtype=np.int32)[:, None]
    return Tuples(("age",), (tree,), codes, np.array(counts))


def test_cuts_are_by_node_as_in_figures_2_2_and_2_3(age: Hierarchy) -> None:
    """With k = 5 all decades but the first two are told apart; with k = 10 the last two are not either."""
    tuples = one(age, [3, 40, 30, 30, 11, 7])
    at_five = labels(age, specialise(tuples, tuples.judge(5)).cuts[0])
    at_ten = labels(age, specialise(tuples, tuples.judge(10)).cuts[0])
    assert at_five == ["10s-20s", "10s-20s", "30s", "40s", "50s", "60s"]
    assert at_ten == ["10s-20s", "10s-20s", "30s", "40s", "50s-60s", "50s-60s"]


def test_the_larger_gain_goes_first(age: Hierarchy) -> None:
    """Two columns, of which only one can be specialised: the one whose total NCP falls more."""
    flat = Hierarchy.from_nested(["f", "m"])
    codes = np.array([[0, 0], [2, 1], [4, 0]], dtype=np.int32)
    tuples = Tuples(("age", "sex"), (age, flat), codes, np.array([5, 5, 5]))
    cuts = specialise(tuples, tuples.judge(5)).cuts
    # Age gains 2/3 of every record at its root, then each record's own; sex gains all of every record.
    assert labels(flat, cuts[1]) == ["f", "m"]
    assert labels(age, cuts[0])[::2] == ["10s", "30s", "50s"]
    tight = Tuples(("age", "sex"), (age, flat), codes, np.array([5, 9, 4]))
    cuts = specialise(tight, tight.judge(9)).cuts
    assert labels(flat, cuts[1]) == ["f", "m"]
    assert labels(age, cuts[0]) == ["*"] * 6


@pytest.mark.parametrize("limit", [0.0, 0.05])
def test_nothing_more_can_be_specialised(people: Callable[..., Tuples], limit: float) -> None:
    for seed in range(5):
        tuples = people(500, seed)
        judge = tuples.judge(10)
        made = specialise(tuples, judge, limit)
        assert Recoding.everywhere(tuples, made).published(10).suppressed <= limit * tuples.total
        for place, tree in enumerate(tuples.hierarchies):
            for node in np.unique(made.cuts[place]):
                if not len(tree.children(int(node))):
                    continue
                finer = tree.table[tree.height - tree.depth[node] - 1]
                cut = np.where(made.cuts[place] == node, finer, made.cuts[place])
                cuts = tuple(cut if each == place else own for each, own in enumerate(made.cuts))
                further = Recoding.everywhere(tuples, type(made)(cuts)).published(10)
                assert further.suppressed > limit * tuples.total


def test_nothing_satisfies_the_requirement(people: Callable[..., Tuples]) -> None:
    tuples = people()
    with pytest.raises(ParameterError, match="not even with every column at its root"):
        specialise(tuples, tuples.judge(2, [DistinctDiversity("ill", 4)]))
