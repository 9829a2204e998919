"""Sums by orders, against the exact optimum of composed randomized responses and the closed forms of the literature."""

import math
from fractions import Fraction
from itertools import product

import mpmath
import pytest

from sudare.privacy import Guarantee, epsilon_for
from sudare.privacy.composition import WORTH_IT, Total
from sudare.privacy.renyi import MOST_VALUES, composed_epsilon, divergence_above, few, power_below

DELTA = Fraction(1, 10**6)


def optimum(epsilons, delta):
    """The smallest epsilon of a composition of randomized responses, by bisection of its exact privacy curve."""
    with mpmath.workdps(60):
        outcomes = {mpmath.mpf(0): mpmath.mpf(1)}  # privacy loss -> probability
        for epsilon, count in epsilons:
            size = mpmath.mpf(epsilon.numerator) / epsilon.denominator
            right = 1 / (1 + mpmath.exp(-size))
            own = {
                size * (2 * yes - count): mpmath.binomial(count, yes) * right**yes * (1 - right) ** (count - yes)
                for yes in range(count + 1)
            }
            outcomes = {
                loss + more: outcomes[loss] * own[more] for loss, more in product(outcomes, own)
            }  # sizes are chosen so that no two losses coincide by accident

        def failed(epsilon):
            return sum(
                (chance * (1 - mpmath.exp(epsilon - loss)) for loss, chance in outcomes.items() if loss > epsilon),
                mpmath.mpf(0),
            )

        low, high = mpmath.mpf(0), mpmath.mpf(float(sum(count * epsilon for epsilon, count in epsilons)))
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if failed(middle) > delta else (low, middle)
        return float(high)


SEVERAL = [
    ((Fraction(1, 100), 1000),),
    ((Fraction(1, 10), 365),),
    ((Fraction(1, 2), 30),),
    ((Fraction(1), 12),),
    ((Fraction(3), 5),),
    ((Fraction(1, 50), 365), (Fraction(1, 3), 7)),
    ((Fraction(1, 1000), 500), (Fraction(2), 1)),
]


@pytest.mark.slow
@pytest.mark.parametrize("epsilons", SEVERAL, ids=str)
@pytest.mark.parametrize("delta", [Fraction(1, 10**6), Fraction(1, 10**10)])
def test_the_sum_is_above_the_truth_and_near_it(epsilons, delta):
    truth = optimum(epsilons, mpmath.mpf(1) / delta.denominator)
    ours = float(Total(epsilons).epsilon_at(delta))
    assert truth <= ours <= 1.12 * truth


@pytest.mark.parametrize("epsilons", SEVERAL, ids=str)
@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-12])
def test_the_sum_is_below_the_closed_forms(epsilons, delta):
    """Kairouz, Oh and Viswanath 2015, theorem 3.5; Dwork, Rothblum and Vadhan 2010 for equal epsilons; and the sum."""
    ours = float(Total(epsilons).epsilon_at(delta))
    added = sum(count * float(epsilon) for epsilon, count in epsilons)
    mean = sum(count * float(epsilon) * math.tanh(float(epsilon) / 2) for epsilon, count in epsilons)
    square = sum(count * float(epsilon) ** 2 for epsilon, count in epsilons)
    closed = [
        added,
        mean + math.sqrt(2 * square * math.log(math.e + math.sqrt(square) / delta)),
        mean + math.sqrt(2 * square * math.log(1 / delta)),
    ]
    if len(epsilons) == 1:
        ((epsilon, count),) = epsilons
        closed.append(math.sqrt(2 * count * math.log(1 / delta)) * epsilon + count * epsilon * math.expm1(epsilon))
    assert ours <= min(closed) * (1 + 1e-9)
    assert ours <= float(epsilon_for(Fraction(square) / 2, delta)) * float(WORTH_IT)


@pytest.mark.parametrize("epsilon", ["1e-6", "1/100", "1/2", "3", "40"])
@pytest.mark.parametrize("x", ["1e-3", "1/2", "7", "1e6"])
def test_the_divergence_of_randomized_response_is_bounded_from_above(epsilon, x):
    size, order = Fraction(epsilon), Fraction(x)
    with mpmath.workdps(80):
        exact, alpha = (
            mpmath.mpf(size.numerator) / size.denominator,
            1 + mpmath.mpf(order.numerator) / order.denominator,
        )
        right = 1 / (1 + mpmath.exp(-exact))
        moments = right**alpha * (1 - right) ** (1 - alpha) + (1 - right) ** alpha * right ** (1 - alpha)
        truth = mpmath.log(moments) / (alpha - 1)
        bound = divergence_above(size, order)
        above = mpmath.mpf(bound.numerator) / bound.denominator
        assert truth <= above <= truth * (1 + mpmath.mpf(10) ** -30) + mpmath.mpf(10) ** -40
        assert above <= min(exact, alpha * exact**2 / 2, alpha * exact * mpmath.tanh(exact / 2)) * (
            1 + mpmath.mpf(10) ** -30
        )


@pytest.mark.parametrize("x", [Fraction(1, 100), Fraction(1), Fraction(50)])
def test_two_halves_cost_at_most_the_whole(x):
    """D(a) + D(b) <= D(2 max(a, b)), on which parts and moves between them rest."""
    for a, b in product([Fraction(1, 100), Fraction(1, 3), Fraction(1), Fraction(5)], repeat=2):
        halves = divergence_above(a, x) + divergence_above(b, x)
        assert halves <= divergence_above(2 * max(a, b), x) + Fraction(1, 10**30)


def test_rho_alone_is_converted_as_ever():
    for rho in (Fraction(1, 1000), Fraction(1, 2), Fraction(40)):
        found, _ = composed_epsilon((), rho, DELTA)
        assert found >= epsilon_for(rho, DELTA) * (1 - Fraction(1, 10**9))
        assert found <= epsilon_for(rho, DELTA) * (1 + Fraction(1, 10**9))


def test_many_different_values_are_rounded_up_once():
    many = tuple((Fraction(number, 100_003), 1) for number in range(1, 5000))
    fewer = few(many)
    assert len(fewer) <= MOST_VALUES
    assert sum(count for _, count in fewer) == len(many)
    assert few(fewer) == fewer
    above = sorted((epsilon for epsilon, count in fewer for _ in range(count)), reverse=True)
    exact = sorted((epsilon for epsilon, _ in many), reverse=True)
    assert all(one <= other <= one * Fraction(105, 100) for one, other in zip(exact, above, strict=True))
    for size in (Fraction(1, 7), Fraction(3), Fraction(1, 10**7)):
        below = power_below(size)
        assert size * Fraction(95, 100) <= below <= size
        assert (below, 1) in few((*many, (below, 1))) or dict(few((*many, (below, 1))))[below] >= 1


def test_an_approximate_release_is_a_pure_one_and_its_delta():
    """Kairouz, Oh and Viswanath 2015, theorem 3.3: n times (epsilon, delta) fail by 1 - (1 - delta)^n (1 - rest)."""
    epsilon, delta, count = Fraction(1, 10), Fraction(1, 10**9), 100
    made = [Guarantee("(epsilon, delta)-DP", epsilon=epsilon, delta=delta)] * count
    ours = Total.of(made).epsilon_at(DELTA)
    rest = 1 - (1 - DELTA) / (1 - delta) ** count
    truth = optimum(((epsilon, count),), mpmath.mpf(rest.numerator) / rest.denominator)
    assert truth <= float(ours) <= 1.12 * truth
    assert ours < count * epsilon * Fraction(2, 3)  # what was booked before: ten, the sum


def test_a_single_release_is_what_it_says():
    assert Total.of([Guarantee("epsilon-DP", epsilon=1)]).epsilon_at(DELTA) == 1
    assert Total.of([Guarantee("epsilon-DP", epsilon="1/2")] * 2).epsilon_at(DELTA) == 1
