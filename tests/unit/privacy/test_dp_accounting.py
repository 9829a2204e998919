"""The ledger's sums beside Google's dp-accounting, which composes whole privacy loss distributions numerically.

Never below its optimistic figure; and for Gaussian noise, of which the ledger knows rho alone, at most 12 % above its
pessimistic one.
"""

import logging
import math
from fractions import Fraction

import pytest
from dp_accounting.pld import privacy_loss_distribution as distributions
from dp_accounting.pld.common import DifferentialPrivacyParameters

from sudare.privacy import Balance, Cap, Guarantee, Unit, rho_for
from sudare.privacy.composition import REPLACED

PERSON = Unit("person")
DELTA = 1e-6


@pytest.fixture(autouse=True)
def _no_warning_of_the_optimistic_estimate():
    logging.disable(logging.WARNING)
    yield
    logging.disable(logging.NOTSET)


def figures(make, step):
    """Optimistic and pessimistic epsilon of a composition that ``make`` builds, on a grid of width ``step``."""
    low, high = (
        make({"pessimistic_estimate": pessimistic, "value_discretization_interval": step})
        for pessimistic in (False, True)
    )
    return low.get_epsilon_for_delta(DELTA), high.get_epsilon_for_delta(DELTA)


def gaussian(sigma, terms, sensitivity=1.0):
    dots = terms["pessimistic_estimate"]  # the finer of its two algorithms, which knows no other estimate
    return distributions.from_gaussian_mechanism(sigma, sensitivity, use_connect_dots=dots, **terms)


def response(epsilon, terms):
    """The privacy loss of randomized response, with a right answer e^epsilon times as likely as a wrong one."""
    return distributions.from_randomized_response(2 / (1 + math.exp(epsilon)), 2, **terms)


def spent(guarantees, delta=DELTA):
    return float(Balance.of("census", Cap.of(epsilon=10**6, delta=delta), guarantees).spent.epsilon)


@pytest.mark.slow
@pytest.mark.parametrize("sigma", [2, 5, 20, 60, 100, 400, 1000, 3000])
def test_a_year_of_gaussian_releases(sigma):
    """A count under Gaussian noise of this standard deviation, daily; asked for in rho."""
    rho = Fraction(1, 2 * sigma**2)
    low, high = figures(lambda terms: gaussian(sigma, terms).self_compose(365), min(1e-3, 0.01 / sigma))
    ours = spent([Guarantee("rho-zCDP", PERSON, rho=rho)] * 365)
    assert low <= ours <= 1.12 * high


@pytest.mark.parametrize("epsilon", ["1/100", "1/10", "1"])
def test_a_year_of_gaussian_releases_asked_for_by_epsilon_and_delta(epsilon):
    """The same however the budget was asked for: the old sum was 365 epsilon, at 365 deltas."""
    rho = rho_for(epsilon, 1e-8)
    sigma = float(1 / (2 * rho)) ** 0.5
    asked = Guarantee("(epsilon, delta)-DP", PERSON, epsilon=epsilon, delta=1e-8, rho=rho)
    low, high = figures(lambda terms: gaussian(sigma, terms).self_compose(365), min(1e-3, 0.01 / sigma))
    ours = spent([asked] * 365)
    assert low <= ours <= 1.12 * high
    assert ours < 365 * float(Fraction(epsilon)) / 5


@pytest.mark.slow
def test_gaussian_releases_of_many_sizes():
    sigmas = [10 + number for number in range(60)]

    def make(terms):
        whole, *rest = (gaussian(sigma, terms) for sigma in sigmas)
        for each in rest:
            whole = whole.compose(each)
        return whole

    low, high = figures(make, 1e-3)
    ours = spent([Guarantee("rho-zCDP", PERSON, rho=Fraction(1, 2 * sigma**2)) for sigma in sigmas])
    assert low <= ours <= 1.12 * high


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "count"), [("1/100", 1000), ("1/10", 365), ("1/2", 30), ("2", 12)])
def test_pure_releases(epsilon, count):
    """Any epsilon-DP release, so the worst of them: randomized response."""
    size = Fraction(epsilon)
    low, high = figures(lambda terms: response(float(size), terms).self_compose(count), 1e-5)
    assert low <= spent([Guarantee("epsilon-DP", PERSON, epsilon=size)] * count) <= 1.12 * high


@pytest.mark.slow
def test_a_mixture_of_gaussian_pure_and_approximate_releases():
    def make(terms):
        noise = gaussian(30, terms).self_compose(100)
        pure = response(0.05, terms).self_compose(50).compose(response(1, terms))
        approximate = response(0.1, terms)  # without its delta, where the estimate shall be too low
        if terms["pessimistic_estimate"]:
            numbers = DifferentialPrivacyParameters(0.1, 1e-9)
            step = terms["value_discretization_interval"]
            approximate = distributions.from_privacy_parameters(numbers, value_discretization_interval=step)
        return noise.compose(pure).compose(approximate.self_compose(20))

    low, high = figures(make, 1e-4)
    ours = spent(
        [
            *[Guarantee("rho-zCDP", PERSON, rho=Fraction(1, 1800))] * 100,
            *[Guarantee("epsilon-DP", PERSON, epsilon="1/20")] * 50,
            *[Guarantee("(epsilon, delta)-DP", PERSON, epsilon="1/10", delta=1e-9)] * 20,
            Guarantee("epsilon-DP", PERSON, epsilon=1),
        ]
    )
    assert low <= ours <= 1.12 * high


def test_whoever_moves_between_two_cells_is_counted():
    """Gaussian noise on disjoint cells: replacing changes two of them by one, which is sensitivity sqrt 2."""
    low, _ = figures(lambda terms: gaussian(20, terms, 2**0.5).self_compose(30), 1e-4)
    moved = Guarantee("rho-zCDP", PERSON, REPLACED, rho=Fraction(1, 400))  # two times 1 / (2 sigma^2)
    stated = Guarantee("rho-zCDP", PERSON, rho=Fraction(1, 800), replace_rho=Fraction(1, 400))
    unstated = Guarantee("rho-zCDP", PERSON, rho=Fraction(1, 800))
    assert low <= spent([moved] + [stated] * 29) == spent([moved] * 30) < spent([moved] + [unstated] * 29)
