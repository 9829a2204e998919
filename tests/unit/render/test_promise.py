"""The odds are true bounds: mechanisms that reach them, and none that passes them."""

import math
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare.errors import ParameterError
from sudare.privacy import Guarantee
from sudare.render.promise import factor, right_guesses, suspicion


def bayes(prior, likely, unlikely):
    return prior * likely / (prior * likely + (1 - prior) * unlikely)


@given(st.fractions(Fraction(1, 1000), Fraction(999, 1000)), st.fractions(Fraction(1, 100), Fraction(20)))
def test_randomised_response_reaches_both_ends(prior, epsilon):
    keep = math.exp(epsilon) / (1 + math.exp(epsilon))
    low, high = suspicion(prior, epsilon)
    assert float(high) == pytest.approx(bayes(float(prior), keep, 1 - keep), rel=1e-9)
    assert float(low) == pytest.approx(bayes(float(prior), 1 - keep, keep), rel=1e-9)


@given(st.floats(0.01, 5), st.floats(0, 0.3))
def test_the_optimal_mechanism_of_epsilon_and_delta_is_guessed_exactly_so_often(epsilon, delta):
    """With probability delta it tells, otherwise it answers at random: no mechanism with these numbers tells more."""
    guarantee = Guarantee("(epsilon, delta)-DP", epsilon=epsilon, delta=delta) if delta > 1e-6 else None
    guarantee = guarantee or Guarantee("epsilon-DP", epsilon=epsilon)
    tells = delta if delta > 1e-6 else 0.0
    right = tells + (1 - tells) * math.exp(epsilon) / (1 + math.exp(epsilon))
    assert float(right_guesses(guarantee)) == pytest.approx(right, rel=1e-9)


@given(st.floats(1e-4, 20))
def test_gaussian_noise_of_rho_is_guessed_no_more_often(rho):
    distance = math.sqrt(2 * rho)  # of the means, in standard deviations
    right = 0.5 * (1 + math.erf(distance / 2 / math.sqrt(2)))
    assert right <= float(right_guesses(Guarantee("rho-zCDP", rho=rho))) <= 1


def test_two_steps_cost_as_two_neighbours():
    once, twice = Guarantee("epsilon-DP", epsilon=1), Guarantee("epsilon-DP", epsilon=2)
    assert right_guesses(once, steps=2) == right_guesses(twice)
    small = Guarantee("(epsilon, delta)-DP", epsilon=1, delta=Fraction(1, 1000))
    large = Guarantee("(epsilon, delta)-DP", epsilon=2, delta=0.001 * (1 + math.e))
    assert float(right_guesses(small, steps=2)) == pytest.approx(float(right_guesses(large)), rel=1e-9)
    assert right_guesses(Guarantee("rho-zCDP", rho=1), 2) == right_guesses(Guarantee("rho-zCDP", rho=4))


def test_what_has_no_number_is_not_bounded():
    assert right_guesses(Guarantee("k-anonymity")) == 1


def test_a_huge_epsilon_hides_nothing():
    assert factor(Fraction(10**9)) > 10**100
    assert suspicion(Fraction(1, 2), Fraction(10**9))[1] > Decimal("0.999999999")


@pytest.mark.parametrize("prior", [0, 1, 2])
def test_certainty_is_no_suspicion(prior):
    with pytest.raises(ParameterError, match="a suspicion is not between 0 and 1"):
        suspicion(Fraction(prior), Fraction(1))
