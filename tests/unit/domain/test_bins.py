from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest

from sudare.domain import Bins, attribute_from_json
from sudare.errors import DomainError, ParameterError, SudareError

AGES = Bins(edges=[0, 15, 65, None])


def test_decimal_steps_are_exact():
    tenths = Bins(0, 1, step=0.1)
    assert tenths.size == 10
    assert tenths.edges == (0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1)
    # 0.1 + 0.1 + 0.1 is above 0.3 and three tenths is not: the value 0.3 opens its own bin.
    assert tenths.locate([0.3, 0.7, np.nextafter(0.3, 0)])[0][0].tolist() == [3, 7, 2]
    assert Bins("0", Decimal("0.3"), step="0.1").edges == (0, 0.1, 0.2, 0.3)


def test_bins_are_half_open():
    (position,), inside = Bins(0, 100, step=5).locate([0, 4, 5, 99, 100, -1])
    assert position.tolist() == [0, 0, 1, 19, 0, 0]
    assert inside.tolist() == [True, True, True, True, False, False]


def test_open_ends_take_everything_on_their_side():
    (position,), inside = AGES.locate([-1, 0, 64.5, 65, np.inf, np.nan, None])
    assert position.tolist() == [0, 0, 1, 2, 2, 0, 0]
    assert inside.tolist() == [False, True, True, True, True, False, False]
    (position,), inside = Bins(edges=[None, 0, 10]).locate([-(2**62), -1, 0, 9, 10, -np.inf])
    assert position.tolist() == [0, 0, 1, 1, 0, 0]
    assert inside.tolist() == [True, True, True, True, False, True]


def test_clamped_values_go_to_the_first_or_last_bin():
    (position,), inside = Bins(0, 10, step=5).clamp([-1, 3, 10, np.inf, np.nan])
    assert position.tolist() == [0, 0, 1, 1, 0]
    assert inside.tolist() == [True, True, True, True, False]


def test_whole_numbers_meet_fractional_edges_exactly():
    halves = Bins(edges=[0.5, 1.5, 2.5])
    assert halves.locate([0, 1, 2, 3])[1].tolist() == [False, True, True, False]
    assert halves.locate([1, 2])[0][0].tolist() == [0, 1]
    large = Bins(edges=[0, 2**53, None])
    assert large.locate(np.array([2**53 - 1, 2**53, 2**53 + 1]))[0][0].tolist() == [0, 1, 1]


@pytest.mark.parametrize(
    ("bins", "labels"),
    [
        (AGES, ["0-14", "15-64", "65+"]),
        (Bins(edges=[None, 15, 16, 20]), ["under 15", "15", "16-19"]),
        (Bins(-10, 10, step=10), ["-10 to -1", "0-9"]),
        (Bins(edges=[0, 0.1, 1.5]), ["[0, 0.1)", "[0.1, 1.5)"]),
        (Bins(edges=[None, 0.5, None]), ["(-inf, 0.5)", "[0.5, inf)"]),
        (Bins(edges=[0.0, 5.0]), ["0-4"]),
    ],
)
def test_labels_are_what_a_person_writes(bins, labels):
    assert bins.labels(np.arange(bins.size)).tolist() == labels


def test_json_gives_an_equal_attribute():
    for bins in (AGES, Bins(0, 1, step=0.1), Bins(edges=[None, 0.5, None])):
        assert attribute_from_json(bins.to_json()) == bins
        assert hash(attribute_from_json(bins.to_json())) == hash(bins)
    assert Bins(0, 10, step=5) == Bins(edges=[0, 5.0, 10])
    assert (str(AGES.describe()), str(Bins(0, 1, 1).describe())) == ("3 bins", "1 bin")
    assert (AGES.size, AGES.lengths, AGES.spatial) == (3, (3,), False)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda: Bins(0, 100),
            "declare bins by start, stop and step, or by edges (allowed: start, stop and step, or edges). "
            "Write Bins(0, 100, step=5) or Bins(edges=[0, 15, 65, None]).",
        ),
        (
            lambda: Bins(0, 100, step=5, edges=[0, 1]),
            "declare bins by start, stop and step, or by edges (allowed: start, stop and step, or edges). "
            "Write Bins(0, 100, step=5) or Bins(edges=[0, 15, 65, None]).",
        ),
        (
            lambda: Bins(0, 100, step=7),
            "the step does not divide the range from start to stop (got (0, 100, 7); allowed: stop = start + "
            "a whole number of steps). Other bins can be given by their edges.",
        ),
        (
            lambda: Bins(5, 5, step=1),
            "the step does not divide the range from start to stop (got (5, 5, 1); allowed: stop = start + "
            "a whole number of steps). Other bins can be given by their edges.",
        ),
        (lambda: Bins(0, 2**21, step=1), f"there are too many bins (got {2**21}; allowed: at most 2**20)"),
        (
            lambda: Bins(edges=range(2**20 + 2)),
            f"there are too many bins (got {2**20 + 1}; allowed: at most 2**20)",
        ),
        (lambda: Bins(edges="0-5"), "edges are not a list (got '0-5')"),
        (lambda: Bins(edges=[0, 5, 5]), "edges are not in ascending order (got (5, 5))"),
        (
            lambda: Bins(edges=[0, None, 5]),
            "edges do not make bins (got [0, None, 5]; allowed: two or more numbers in ascending order; "
            "None only as first or last)",
        ),
        (
            lambda: Bins(edges=[None, None]),
            "edges do not make bins (got [None, None]; allowed: two or more numbers in ascending order; "
            "None only as first or last)",
        ),
        (lambda: Bins(edges=[0, 2**60]), f"an edge is too large (got (0, {2**60}); allowed: at most 2**53)"),
        (
            lambda: AGES.locate(["12"]),
            "a value to be binned is not a column of numbers (got 'text'; allowed: whole numbers or floats)",
        ),
    ],
)
def test_mistakes_end_in_one_sentence(call, sentence):
    with pytest.raises(DomainError) as caught:
        call()
    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: Bins(0, 1, step=0), "step is not positive (got 0; allowed: a finite number > 0)"),
        (lambda: Bins(0, float("inf"), step=1), "stop is not a finite number (got inf)"),
        (lambda: Bins(edges=[0, "x"]), "an edge is not a finite number (got 'x')"),
        (lambda: Bins(edges=[0, float("nan")]), "an edge is not a finite number (got nan)"),
    ],
)
def test_numbers_that_are_none_end_in_one_sentence(call, sentence):
    with pytest.raises(ParameterError) as caught:
        call()
    assert str(caught.value) == sentence
    assert isinstance(caught.value, SudareError)
