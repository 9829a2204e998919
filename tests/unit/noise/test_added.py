"""Laws of added noise: which noise a budget buys, what a change costs, and what noisy values say."""

from fractions import Fraction
from math import exp, log

import numpy as np
import pytest

from sudare.noise import AddedGaussian, AddedLaplace, Source, measure, record
from sudare.noise.discrete import added
from sudare.privacy import Budget


def test_a_budget_buys_noise_that_makes_a_unit_cost_it():
    for budget in (Budget(epsilon=Fraction(1, 3)), Budget(rho=Fraction(1, 8))):
        law = added(Fraction(5), budget)
        assert law.cost([5]) == budget.amount
    assert isinstance(added(Fraction(1), Budget(rho=Fraction(1))), AddedGaussian)


@pytest.mark.parametrize("law", [AddedLaplace(Fraction(3)), AddedGaussian(Fraction(7))])
def test_the_log_ratio_is_that_of_the_laws(law):
    weight = (lambda z: exp(-abs(z) / 3)) if isinstance(law, AddedLaplace) else (lambda z: exp(-z * z / 14))
    noisy, here, there = np.array([4, -9]), np.array([2, 0]), np.array([3, 1])
    wanted = sum(log(weight(z - x) / weight(z - y)) for z, x, y in zip(noisy, here, there, strict=True))
    assert law.log_ratio(noisy, here, there) == pytest.approx(wanted)
    assert law.log_ratio(noisy, there, here) == pytest.approx(-wanted)


def test_a_tape_keeps_the_law():
    with record() as tape:
        measure(np.array([1]), 2, Budget(epsilon=Fraction(1, 2)), Source.from_seed(1), "a")
        measure(np.array([1]), 2, Budget(rho=Fraction(1, 2)), Source.from_seed(1), "b")
    assert [one.law for one in tape.measured] == [AddedLaplace(Fraction(4)), AddedGaussian(Fraction(4))]
