"""Fits of laws, and that they fail where they must. False alarms: 1e-9 for each fit."""

from fractions import Fraction

import numpy as np
import pytest

from sudare.audit.distinguish import FALSE_ALARM
from sudare.audit.laws import (
    bit_fit,
    coin_fit,
    encoding_of,
    fit,
    gaussian_law,
    integer_fit,
    laplace_law,
    law_finding,
    response_fit,
    supported,
)
from sudare.local import ENCODINGS
from sudare.noise import Bernoulli, RandomisedResponse, discrete_gaussian, discrete_laplace


@pytest.mark.parametrize("law", [laplace_law, gaussian_law])
def test_laws_sum_to_one_and_have_their_ends(law):
    assert law(3.0, 12).sum() == pytest.approx(1)
    assert law(3.0, 2)[0] == pytest.approx(law(3.0, 60)[:59].sum())


@pytest.mark.parametrize("factor", ["7/10", "13/10"])
def test_noise_of_another_scale_is_found(factor):
    off = Fraction(factor)
    laplace = integer_fit(lambda source, size: discrete_laplace(10 * off, source, size), laplace_law, 10, 50_000)
    gaussian = integer_fit(
        lambda source, size: discrete_gaussian((3 * off) ** 2, source, size), gaussian_law, 3, 50_000
    )
    coin = coin_fit(Bernoulli(Fraction(1, 3) * off), 1 / 3, 50_000)
    wide = RandomisedResponse(5, 2 * off)
    response = response_fit(RandomisedResponse(5, Fraction(2)), wide.draw, 50_000)
    for found in (laplace, gaussian, coin, response):
        assert found.right < FALSE_ALARM
        assert not law_finding("off", found).passed


@pytest.mark.parametrize("name", ["symmetric_unary", "optimised_unary", "subset_selection", "local_hashing"])
def test_reports_of_another_epsilon_are_found(name):
    class Other(ENCODINGS[name]):
        def draw(self, values, source):
            return encoding_of(name, 9, Fraction(26, 10)).draw(values, source)

    assert bit_fit(Other(size=9, epsilon=2), [], 50_000).right < FALSE_ALARM


def test_a_bit_beyond_the_last_value_is_found():
    class Longer(ENCODINGS["symmetric_unary"]):
        def draw(self, values, source):
            return super().draw(values, source) | np.array([0, 0b100], dtype=np.uint8)

    encoding = Longer(size=9, epsilon=2)
    assert supported(encoding, np.array([[0, 4]], dtype=np.uint8)) is None
    assert not bit_fit(encoding, [], 1000).passed


def test_a_test_that_could_not_fail_is_no_test():
    """Ten draws fit every law: then the finding is a failure, since a mistake would not be seen."""
    found = integer_fit(lambda source, size: discrete_laplace(Fraction(10), source, size), laplace_law, 10, 10)
    assert found.right > FALSE_ALARM
    assert not found.passed


def test_p_values_are_exact_and_refuse_the_impossible():
    law = np.array([0.5, 0.4999, 0.0001, 0.0])
    assert fit(np.array([500, 500, 0, 0]), law) > 0.9
    assert fit(np.array([500, 499, 0, 1]), law) == 0
    assert fit(np.array([480, 500, 20, 0]), law) < 1e-20


def test_a_right_law_fails_as_seldom_as_is_stated():
    """P-values of 400 right fits: a share of at most a tenth is below a tenth. More than 80: chance below 1e-8."""
    rng, law = np.random.default_rng(6), np.array([0.7, 0.2, 0.0999, 0.0001])
    found = [fit(rng.multinomial(300, law), law) for _ in range(400)]
    assert sum(one < 0.1 for one in found) <= 80
