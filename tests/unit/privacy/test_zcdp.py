import math
from fractions import Fraction
from itertools import pairwise

import mpmath
import numpy as np
import pytest

from sudare.errors import ParameterError
from sudare.privacy import epsilon_for, rho_for, rho_of_pure
from sudare.privacy.zcdp import offset_above

RHOS = ["1e-12", "1e-6", "0.001", "0.05", "0.5", "1", "20", "1e4"]
DELTAS = ["1e-200", "1e-12", "1e-6", "0.01", "0.3"]


def at_order(rho: float, delta: float, alpha: np.ndarray) -> np.ndarray:
    return rho * alpha + np.log(1 / (alpha * delta)) / (alpha - 1) + np.log1p(-1 / alpha)


def true_epsilon(rho: str, delta: str) -> mpmath.mpf:
    """The minimum over the order, by golden section in 60 digits and a formula written on its own."""
    with mpmath.workdps(60):
        rho, delta = mpmath.mpf(rho), mpmath.mpf(delta)

        def log_delta(log_x, epsilon):  # the paper's form: delta as a function of epsilon and the order
            alpha = 1 + mpmath.exp(log_x)
            return (alpha - 1) * (alpha * rho - epsilon) - mpmath.log(alpha - 1) + alpha * mpmath.log1p(-1 / alpha)

        def epsilon(log_x):
            at_zero = log_delta(log_x, 0)
            return (at_zero - mpmath.log(delta)) / mpmath.exp(log_x)

        low, high = mpmath.mpf(-60), mpmath.mpf(500)
        ratio = (mpmath.sqrt(5) - 1) / 2
        for _ in range(160):
            left, right = high - ratio * (high - low), low + ratio * (high - low)
            if epsilon(left) < epsilon(right):
                high = right
            else:
                low = left
        return max(epsilon((low + high) / 2), mpmath.mpf(0))


@pytest.mark.slow
@pytest.mark.parametrize("rho", RHOS)
@pytest.mark.parametrize("delta", DELTAS)
def test_epsilon_is_never_below_the_truth_and_hardly_above(rho, delta):
    computed, truth = epsilon_for(rho, delta), true_epsilon(rho, delta)
    with mpmath.workdps(60):
        excess = mpmath.mpf(computed.numerator) / computed.denominator - truth
        # The golden section finds the minimum to 1e-40; the rounding is to 12 places or, below one, 12 digits.
        assert excess > -(mpmath.mpf(10) ** -40)
        assert excess <= mpmath.mpf("1.001e-12") * min(1, 10 * truth)


@pytest.mark.parametrize("rho", [0.001, 0.05, 0.5, 3.0])
@pytest.mark.parametrize("delta", [1e-12, 1e-6, 0.01])
def test_epsilon_agrees_with_a_dense_grid_of_orders(rho, delta):
    grid = at_order(rho, delta, 1 + np.geomspace(1e-3, 1e6, 2_000_001))
    assert float(epsilon_for(rho, delta)) == pytest.approx(grid.min(), rel=1e-9)
    assert float(epsilon_for(rho, delta)) <= grid.min() + 1e-12


@pytest.mark.parametrize("rho", RHOS)
@pytest.mark.parametrize("delta", DELTAS)
def test_epsilon_is_at_most_the_simple_bound(rho, delta):
    simple = float(rho) + 2 * math.sqrt(float(rho) * math.log(1 / float(delta)))
    assert float(epsilon_for(rho, delta)) < simple


@pytest.mark.slow
def test_epsilon_rises_with_rho_and_falls_with_delta():
    by_rho = [epsilon_for(Fraction(n, 10**6), 1e-6) for n in range(1, 400)]
    by_delta = [epsilon_for(0.1, Fraction(n, 10**6)) for n in range(1, 400)]
    assert all(a < b for a, b in pairwise(by_rho))
    assert all(a > b for a, b in pairwise(by_delta))


def test_nearly_equal_rhos_keep_their_order():
    rhos = [Fraction(1, 7) + Fraction(n, 10**14) for n in range(200)]
    epsilons = [epsilon_for(rho, 1e-9) for rho in rhos]
    assert epsilons == sorted(epsilons)


def test_delta_alone_may_cover_a_release():
    assert epsilon_for(1e-8, 0.1) == 0


@pytest.mark.parametrize("epsilon", ["1e-15", "1e-6", "1/3", "0.1", "1", "7.3", "1000"])
@pytest.mark.parametrize("delta", DELTAS)
def test_rho_is_within_and_the_next_larger_one_is_not(epsilon, delta):
    rho = rho_for(epsilon, delta)
    assert rho > 0
    assert epsilon_for(rho, delta) <= Fraction(epsilon)
    assert epsilon_for(rho * (1 + Fraction(1, 10**10)), delta) > Fraction(epsilon)


def test_pure_epsilon_as_rho():
    assert rho_of_pure(0.1) == Fraction(1, 200)


@pytest.mark.parametrize("convert", [epsilon_for, rho_for])
def test_conversion_refuses_what_is_no_budget(convert):
    with pytest.raises(ParameterError, match=r"(rho|epsilon) is not positive"):
        convert(0, 1e-6)
    with pytest.raises(ParameterError, match="delta is not positive"):
        convert(1, 0)
    with pytest.raises(ParameterError, match=r"delta is not a probability below one \(got 1; allowed: 0 < delta < 1"):
        convert(1, 1)


def test_precision_of_others_is_left_alone():
    before = (mpmath.mp.prec, mpmath.iv.prec)
    epsilon_for(1, 1e-6)
    assert (mpmath.mp.prec, mpmath.iv.prec) == before


@pytest.mark.parametrize("x", [Fraction(1, 10**9), Fraction(1, 3), Fraction(7), Fraction(10**12 + 1, 3)])
def test_the_enclosed_logarithms_err_to_the_safe_side_by_a_hair(x):
    delta = Fraction(1, 10**6)
    bound = offset_above(x, delta)
    with mpmath.workprec(900):
        order = mpmath.mpf(x.numerator) / x.denominator
        truth = (mpmath.log(10**6) - mpmath.log1p(order)) / order + mpmath.log(order / (1 + order))
        excess = mpmath.mpf(bound.numerator) / bound.denominator - truth
        # Each of the three logarithms gives way by 2^-200 in its own direction.
        assert mpmath.mpf(2) ** -200 < excess < mpmath.mpf(10) ** -45
