"""l-diversity and t-closeness, against their definitions written out."""

from __future__ import annotations

import numpy as np
import pytest

from sudare.anonymity import Closeness, DistinctDiversity, EntropyDiversity, requirements
from sudare.anonymity.requirements import Judge, Sensitive, distances, entropies, requirement_from_json
from sudare.errors import ParameterError

HISTOGRAM = np.array([[4, 4, 0], [8, 0, 0], [2, 3, 3]])
OVERALL = HISTOGRAM.sum(axis=0)


def test_distinct_values() -> None:
    assert DistinctDiversity("ill", 2).holds(HISTOGRAM, OVERALL).tolist() == [True, False, True]
    assert DistinctDiversity("ill", 3).holds(HISTOGRAM, OVERALL).tolist() == [False, False, True]


def test_entropy_of_equal_shares_is_the_logarithm_of_their_number() -> None:
    assert entropies(HISTOGRAM)[:2] == pytest.approx([np.log(2), 0.0])
    assert EntropyDiversity("ill", 2).holds(HISTOGRAM, OVERALL).tolist() == [True, False, True]
    assert EntropyDiversity("ill", 2.5).holds(HISTOGRAM, OVERALL).tolist() == [False, False, True]


def test_distances_by_moving_earth() -> None:
    whole = OVERALL / OVERALL.sum()
    share = HISTOGRAM / HISTOGRAM.sum(axis=1, keepdims=True)
    assert distances(HISTOGRAM, OVERALL, False) == pytest.approx(np.abs(share - whole).sum(axis=1) / 2)
    # In order, all of the second class has to be moved by one or two places.
    assert distances(HISTOGRAM, OVERALL, True)[1] == pytest.approx((whole[1] + 2 * whole[2]) / 2)


def test_closeness_of_everybody_is_perfect() -> None:
    for ordered in (False, True):
        assert Closeness("ill", 0.01, ordered).holds(OVERALL[None], OVERALL).all()


def test_the_judge_wants_all_of_it() -> None:
    counts = np.array([4, 4, 8, 2, 3, 3])
    codes = np.array([0, 1, 0, 0, 1, 2])
    class_of = np.array([0, 0, 1, 2, 2, 2])
    column = {"ill": Sensitive(codes, ("a", "b", "c"))}
    judge = Judge.of(8, counts, [DistinctDiversity("ill", 2)], column)
    assert judge(class_of, 3).tolist() == [True, False, True]
    assert judge.monotone
    assert not Judge.of(8, counts, [Closeness("ill", 0.5)], column).monotone
    assert Judge.of(9, counts, [], column)(class_of, 3).tolist() == [False, False, False]
    kept = class_of != 1
    assert judge.narrowed(kept)(np.array([0, 0, 1, 1, 1]), 2).tolist() == [True, True]
    part = np.array([0, 3])
    assert judge(np.array([0, 0]), 1, part, counts[part]).tolist() == [False]


def test_many_classes_are_judged_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(2)
    class_of = generator.permutation(np.repeat(np.arange(50), 6))
    codes, counts = generator.integers(0, 3, 300), generator.integers(1, 4, 300)
    column = {"ill": Sensitive(codes, ("a", "b", "c"))}
    for requirement in (DistinctDiversity("ill", 3), EntropyDiversity("ill", 2.2), Closeness("ill", 0.2, True)):
        judge = Judge.of(8, counts, [requirement], column)
        whole = judge(class_of, 50)
        assert 0 < whole.sum() < 50
        monkeypatch.setattr(requirements, "_CELLS", 3 * 7)
        assert judge(class_of, 50).tolist() == whole.tolist()
        monkeypatch.undo()


def test_json_and_back() -> None:
    for each in (DistinctDiversity("ill", 3), EntropyDiversity("ill", 2.5), Closeness("ill", 0.2, True)):
        assert requirement_from_json(each.to_json()) == each
    with pytest.raises(ParameterError, match="unknown kind of requirement"):
        requirement_from_json({"type": "recursive", "column": "ill"})
    with pytest.raises(ParameterError, match="a requirement of kind distinct takes other numbers"):
        requirement_from_json({"type": "distinct", "column": "ill", "t": 0.1})


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: DistinctDiversity("ill", 1), "l is not a whole number from 2 on (got 1)"),
        (lambda: EntropyDiversity("ill", 1), "l is not a finite number above 1 (got 1)"),
        (lambda: Closeness("ill", 1.0), "t is not between 0 and 1 (got 1.0)"),
    ],
)
def test_numbers_that_require_nothing(wrong: object, message: str) -> None:
    with pytest.raises(ParameterError) as refused:
        wrong()  # type: ignore[operator]  # a lambda
    assert str(refused.value) == message


def test_they_say_what_they_are() -> None:
    said = [str(each) for each in (DistinctDiversity("ill", 3), EntropyDiversity("ill", 2.5), Closeness("ill", 0.2))]
    assert said == ["distinct 3-diversity of ill", "entropy 2.5-diversity of ill", "0.2-closeness of ill"]
