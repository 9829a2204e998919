from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from sudare.errors import ParameterError
from sudare.privacy import Budget, exact, positive, readable


@pytest.mark.parametrize(
    ("written", "value"),
    [
        (0.1, Fraction(1, 10)),
        ("0.1", Fraction(1, 10)),
        ("1/3", Fraction(1, 3)),
        ("1e-6", Fraction(1, 10**6)),
        (Decimal("0.25"), Fraction(1, 4)),
        (Fraction(2, 7), Fraction(2, 7)),
        (3, Fraction(3)),
        (np.float64(0.1), Fraction(1, 10)),
        (np.int32(5), Fraction(5)),
        ("-0.5", Fraction(-1, 2)),
    ],
)
def test_exact_is_the_number_that_was_written(written, value):
    result = exact(written)
    assert result == value
    assert type(result) is Fraction
    assert type(result.numerator) is int


@pytest.mark.parametrize(
    "wrong",
    [
        float("nan"),
        float("inf"),
        "nan",
        "inf",
        "",
        "abc",
        "1/0",
        "1/2/3",
        Decimal("NaN"),
        Decimal("-Infinity"),
        "1e999999999",
        Decimal("1e-999999999"),
        True,
        None,
        [1],
        1j,
    ],
)
def test_exact_refuses_what_is_not_a_finite_number(wrong):
    with pytest.raises(ParameterError, match="epsilon is not a finite number") as caught:
        exact(wrong, "epsilon")
    assert caught.value.value is wrong


@pytest.mark.parametrize("wrong", [0, -1, -0.5, "0", "-1/3"])
def test_positive_refuses_zero_and_less(wrong):
    with pytest.raises(ParameterError, match=r"epsilon is not positive \(got .*allowed: a finite number > 0"):
        positive(wrong, "epsilon")


def test_three_tenths_are_exactly_the_sum_of_one_and_two():
    assert Budget(epsilon=exact(0.1)) + Budget(epsilon=exact(0.2)) == Budget(epsilon=exact(0.3))


def test_budget_reads_numbers_exactly_and_knows_its_currency():
    epsilon, rho = Budget(epsilon=0.5), Budget(rho="1/8")
    assert (epsilon.amount, epsilon.currency) == (Fraction(1, 2), "epsilon")
    assert (rho.amount, rho.currency) == (Fraction(1, 8), "rho")
    assert rho.times(Fraction(1, 2)) == Budget(rho=Fraction(1, 16))


@pytest.mark.parametrize("amounts", [{}, {"epsilon": Fraction(1), "rho": Fraction(1)}])
def test_budget_is_either_epsilon_or_rho(amounts):
    with pytest.raises(ParameterError, match="a budget has either epsilon or rho"):
        Budget(**amounts)


@pytest.mark.parametrize("amounts", [{"epsilon": 0}, {"rho": -1}, {"epsilon": float("inf")}])
def test_budget_refuses_an_amount_that_is_no_cost(amounts):
    with pytest.raises(ParameterError, match=r"is not (positive|a finite number)"):
        Budget(**amounts)


def test_currencies_do_not_add():
    with pytest.raises(ParameterError, match=r"epsilon and rho do not add. Convert"):
        Budget(epsilon=Fraction(1)) + Budget(rho=Fraction(1))


def test_split_is_proportional_and_exact():
    parts = Budget(epsilon=Fraction(1)).split([1, 0.1, "1/3"])
    assert sum(part.amount for part in parts) == 1
    assert parts[0].amount == 10 * parts[1].amount == 3 * parts[2].amount


def test_split_into_nothing_would_lose_the_budget():
    with pytest.raises(ParameterError, match="cannot be split into no parts"):
        Budget(epsilon=Fraction(1)).split([])


def test_split_refuses_a_share_of_zero():
    with pytest.raises(ParameterError, match="share is not positive"):
        Budget(epsilon=Fraction(1)).split([1, 0])


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (Fraction(0), "0"),
        (Fraction(1), "1"),
        (Fraction(120), "120"),
        (Fraction(-1, 20), "-0.05"),
        (Fraction(1, 10**6), "0.000001"),
        (Fraction(3, 10**15), "3e-15"),
        (Fraction(1, 3), "~0.333333"),
        (Fraction(-1, 3), "~-0.333333"),
        (Fraction(10**30) + Fraction(1, 2), "1" + "0" * 30 + ".5"),
        (Fraction(10**400, 3), "~3.33333e+399"),
        (Fraction(1, 3 * 10**400), "~3.33333e-401"),
    ],
)
def test_readable_is_exact_or_says_that_it_is_not(amount, text):
    assert readable(amount) == text
