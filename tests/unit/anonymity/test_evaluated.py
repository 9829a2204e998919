"""The paper's epsilon of one sample."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from sudare.anonymity import class_epsilons, epsilon_floor, evaluated_epsilon


def test_no_records() -> None:
    assert evaluated_epsilon(np.empty(0), np.empty(0), Fraction(1, 5)) == 0


def test_epsilon_of_classes_with_the_absolute_value() -> None:
    """d (1 - beta) / (d - n), once above and once below one; all drawn is infinite, none drawn the floor."""
    found = class_epsilons(np.array([5, 1, 3, 0]), np.array([10, 10, 3, 8]), Fraction(1, 5))
    assert found[:2] == pytest.approx([math.log(10 * 0.8 / 5), -math.log(10 * 0.8 / 9)])
    assert math.isinf(found[2])
    assert found[3] == pytest.approx(-math.log(0.8))


def test_the_classes_show_and_the_floor_stands_beside_them() -> None:
    """A larger k gives larger classes, whose shares lie nearer to the rate; the floor does not know k."""
    of_five, of_ten = (evaluated_epsilon(np.array([k]), np.array([4 * k + 2]), Fraction(1, 5)) for k in (5, 10))
    assert of_five < of_ten < epsilon_floor(Fraction(1, 5)) == pytest.approx(-math.log(0.8))
    assert evaluated_epsilon(np.array([20]), np.array([100]), Fraction(1, 5)) == pytest.approx(0)
    assert evaluated_epsilon(np.array([80]), np.array([100]), Fraction(1, 5)) == pytest.approx(math.log(4))


def test_as_printed_there_is_no_absolute_value() -> None:
    found = class_epsilons(np.array([5, 1]), np.array([10, 10]), Fraction(1, 5), printed=True)
    assert found == pytest.approx([math.log(10 * 0.8 / 5), math.log(10 * 0.8 / 9)])
    assert found[1] < 0


def test_the_ratio_is_that_of_the_binomial_laws() -> None:
    """Proposition 1: Pr[n of d] / Pr[n of d - 1] = d (1 - beta) / (d - n)."""
    beta = 0.3
    for held, taken in ((9, 4), (9, 1), (5, 0)):
        ratio = math.comb(held, taken) / math.comb(held - 1, taken) * (1 - beta)
        found = class_epsilons(np.array([taken]), np.array([held]), Fraction(3, 10))
        assert found[0] == pytest.approx(abs(math.log(ratio)))
