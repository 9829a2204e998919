"""Local recoding: Mondrian and passes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from sudare.anonymity import Closeness, DistinctDiversity, EntropyDiversity, Hierarchy
from sudare.anonymity.lattice import Tuples
from sudare.anonymity.mondrian import mondrian
from sudare.anonymity.recoders import by_passes
from sudare.anonymity.recoding import Recoding
from sudare.anonymity.requirements import Requirement
from sudare.errors import ParameterError

METHODS: dict[str, Callable[..., Recoding]] = {
    "strict": lambda tuples, judge: mondrian(tuples, judge),
    "relaxed": lambda tuples, judge: mondrian(tuples, judge, relaxed=True),
    "passes": lambda tuples, judge: by_passes(tuples, judge),
}
REQUIREMENTS = [(), (DistinctDiversity("ill", 2),), (EntropyDiversity("ill", 1.5),), (Closeness("ill", 0.3),)]


def numbers(records: int, seed: int, attributes: int = 2) -> Tuples:
    """Ordered attributes only."""
    generator = np.random.default_rng(seed)
    codes = np.minimum(generator.exponential(10, (records, attributes)), 39).astype(np.int32)
    distinct, counts = np.unique(codes, axis=0, return_counts=True)
    tree = Hierarchy.from_widths(0, 40, 1, 5, 20)
    return Tuples(tuple(map(str, range(attributes))), (tree,) * attributes, distinct, counts.astype(np.int64))


def inside(made: Recoding) -> bool:
    """Every record lies under the cells of its class."""
    cells = made.cells[made.class_of]
    codes = made.tuples.codes[made.member]
    for place, tree in enumerate(made.tuples.hierarchies):
        low, high = tree.spans(cells[:, place])
        if not ((low <= codes[:, place]) & (codes[:, place] < high)).all():
            return False
    return True


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("requirements", REQUIREMENTS)
def test_every_record_is_published_in_a_class_that_may_be(
    people: Callable[..., Tuples], method: str, requirements: tuple[Requirement, ...]
) -> None:
    for seed in range(4):
        tuples = people(600, seed)
        made = METHODS[method](tuples, tuples.judge(7, requirements))
        assert made.suppressed == 0
        assert inside(made)
        assert (made.sizes >= 7).all()
        assert made.published(7, requirements) is made
        # All records of all tuples, each once.
        assert np.bincount(made.member, weights=made.count, minlength=len(tuples.counts)).tolist() == (
            tuples.counts.tolist()
        )


@pytest.mark.parametrize("method", ["strict", "relaxed"])
def test_ranges_are_those_of_the_records_in_the_class(method: str) -> None:
    """A known fault elsewhere leaves the ranges of the cut, wider than the records."""
    made = METHODS[method](tuples := numbers(800, 3), tuples.judge(9))
    codes = tuples.codes[made.member]
    for each in range(len(made.cells)):
        own = codes[made.class_of == each]
        for place, tree in enumerate(tuples.hierarchies):
            low, high = tree.spans(made.cells[[each], place])
            assert (own[:, place].min(), own[:, place].max()) == (low[0], high[0] - 1)


def test_strict_boxes_do_not_overlap() -> None:
    tuples = numbers(1500, 5, attributes=3)
    made = mondrian(tuples, tuples.judge(12))
    spans = [tree.spans(made.cells[:, place]) for place, tree in enumerate(tuples.hierarchies)]
    for one in range(len(made.cells)):
        meets = np.ones(len(made.cells), dtype=bool)
        for low, high in spans:
            meets &= (low[one] < high) & (low < high[one])
        assert meets.sum() == 1
    assert len(np.unique(made.member)) == len(made.member)  # equal values on the same side


def test_relaxed_cuts_lose_less() -> None:
    tuples = numbers(1500, 6)
    assert mondrian(tuples, tuples.judge(20), relaxed=True).loss < mondrian(tuples, tuples.judge(20)).loss


def test_a_box_is_cut_where_it_gains_most() -> None:
    """Two heaps far apart: the cut goes between them, not through the median of the larger one."""
    tree = Hierarchy.from_widths(0, 100, 1)
    tuples = Tuples(("x",), (tree,), np.array([[0], [1], [2], [98], [99]], dtype=np.int32), np.array([9, 9, 9, 2, 3]))
    made = mondrian(tuples, tuples.judge(5))
    assert [tree.label(int(cell)) for cell in made.cells[:, 0]][-1] == "98-99"


def test_categories_are_cut_along_their_tree(work: Hierarchy) -> None:
    counts = np.array([5, 5, 5, 2, 2, 9])
    tuples = Tuples(("work",), (work,), np.arange(6, dtype=np.int32)[:, None], counts)
    strict = mondrian(tuples, tuples.judge(4))
    assert sorted(str(work.label(int(cell))) for cell in strict.cells[:, 0]) == [
        "Federal",
        "Local",
        "Private",
        "Self",
        "State",
    ]
    thin = Tuples(("work",), (work,), np.arange(6, dtype=np.int32)[:, None], np.array([5, 5, 5, 1, 1, 9]))
    assert len(mondrian(thin, thin.judge(4)).cells) == 1  # Self has not enough, so nothing is cut
    relaxed = mondrian(thin, thin.judge(4), relaxed=True)
    # Government leaves, and is cut further; the rest keep the node above them.
    assert sorted(str(work.label(int(cell))) for cell in relaxed.cells[:, 0]) == ["*", "Federal", "Local", "State"]


def test_passes_publish_at_the_cheapest_levels_first(age: Hierarchy) -> None:
    counts = np.array([20, 3, 4, 30, 2, 2])
    tuples = Tuples(("age",), (age,), np.arange(6, dtype=np.int32)[:, None], counts)
    made = by_passes(tuples, tuples.judge(10))
    found = {str(age.label(int(cell))): int(size) for cell, size in zip(made.cells[:, 0], made.sizes, strict=True)}
    assert found == {"10s": 20, "40s": 30, "*": 11}


def test_the_last_few_join_the_cheapest_class(age: Hierarchy) -> None:
    counts = np.array([20, 1, 1, 30, 0, 0])[:4]
    tuples = Tuples(("age",), (age,), np.arange(4, dtype=np.int32)[:, None], counts)
    made = by_passes(tuples, tuples.judge(10))
    assert made.suppressed == 0
    assert (made.sizes >= 10).all()
    # Joining the smaller class costs less than joining the larger one.
    assert {int(size) for size in made.sizes} == {22, 30}
    left = by_passes(tuples, tuples.judge(10), limit=0.1)
    assert left.suppressed == 2


@pytest.mark.parametrize("method", METHODS)
def test_nothing_satisfies_the_requirement(people: Callable[..., Tuples], method: str) -> None:
    tuples = people()
    with pytest.raises(ParameterError, match="not even with every column at its root"):
        METHODS[method](tuples, tuples.judge(2, [DistinctDiversity("ill", 4)]))


def test_too_many_passes() -> None:
    tree = Hierarchy.from_nested({"a": {"b": {"c": {"d": {"e": {"f": {"g": ["h"]}}}}}}, "i": None})
    names = tuple(map(str, range(7)))
    tuples = Tuples(names, (tree,) * 7, np.zeros((1, 7), dtype=np.int32), np.array([5]))
    with pytest.raises(ParameterError, match="too many combinations of levels"):
        by_passes(tuples, tuples.judge(2))
