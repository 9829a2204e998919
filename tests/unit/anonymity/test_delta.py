"""The delta of Li, Qardaji and Su, and its inverses."""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from sudare.anonymity import delta, largest_sample, smallest_epsilon, smallest_k
from sudare.errors import ParameterError


def binomial(j: int, n: int, beta: Fraction) -> Fraction:
    return math.comb(n, j) * beta**j * (1 - beta) ** (n - j)


def written_out(k: int, beta: Fraction, epsilon: float, most: int) -> float:
    """The theorem's formula word for word, in rational numbers, up to n = most."""
    gamma = (math.exp(epsilon) - 1 + float(beta)) / math.exp(epsilon)
    start = math.ceil(k / gamma - 1)
    tails = (
        sum((binomial(j, n, beta) for j in range(math.floor(gamma * n) + 1, n + 1)), Fraction(0))
        for n in range(start, most)
    )
    return float(max(tails))


def written_out_tightly(k: int, beta: Fraction, epsilon: float, most: int) -> float:
    """The largest sum of positive parts of Bin(j; n) - e^epsilon Bin(j; n - 1) over j >= k."""
    factor = Fraction(math.exp(epsilon))
    return float(
        max(
            sum(
                (max(binomial(j, n, beta) - factor * binomial(j, n - 1, beta), Fraction(0)) for j in range(k, n + 1)),
                Fraction(0),
            )
            for n in range(k, most)
        )
    )


SETTINGS = [(3, "0.35", 2.0), (5, "0.1", 0.5), (10, "0.2", 1.0), (7, "0.3", 0.4), (4, "0.05", 0.2), (2, "0.5", 0.7)]


@pytest.mark.parametrize(("k", "rate", "epsilon"), SETTINGS)
def test_delta_is_the_formula_of_the_theorem(k: int, rate: str, epsilon: float) -> None:
    assert delta(k=k, sample=rate, epsilon=epsilon) == pytest.approx(
        written_out(k, Fraction(rate), epsilon, 90), rel=1e-9
    )


@pytest.mark.parametrize(("k", "rate", "epsilon"), SETTINGS)
def test_the_tight_delta_is_the_divergence_itself(k: int, rate: str, epsilon: float) -> None:
    found = delta(k=k, sample=rate, epsilon=epsilon, tight=True)
    assert found == pytest.approx(written_out_tightly(k, Fraction(rate), epsilon, 60), rel=1e-6)
    assert found <= delta(k=k, sample=rate, epsilon=epsilon) * (1 + 1e-12)


@pytest.mark.parametrize(
    ("epsilon", "expected", "tight"),
    [(0.5, [5, 9, 13, 42], [4, 7, 10, 30]), (1, [4, 7, 9, 22], [4, 6, 8, 17]), (2, [4, 5, 7, 14], [4, 5, 7, 13])],
)
def test_smallest_k(epsilon: float, expected: list[int], tight: list[int]) -> None:
    rates = (0.01, 0.05, 0.1, 0.3)
    assert [smallest_k(sample=rate, epsilon=epsilon, delta=1e-6) for rate in rates] == expected
    assert [smallest_k(sample=rate, epsilon=epsilon, delta=1e-6, tight=True) for rate in rates] == tight
    for rate, k in zip(rates, expected, strict=True):
        assert delta(k=k, sample=rate, epsilon=epsilon) <= 1e-6 < delta(k=k - 1, sample=rate, epsilon=epsilon)


@pytest.mark.parametrize(("k", "epsilon", "target"), [(20, 1, 1e-6), (10, 0.5, 1e-6), (3, 1, 1e-3), (50, 0.1, 1e-9)])
def test_largest_sample_is_the_last_rate_that_will_do(k: int, epsilon: float, target: float) -> None:
    """Delta falls here and there while the rate rises, so a fine grid above the answer is looked at too."""
    rate = largest_sample(k=k, epsilon=epsilon, delta=target)
    assert delta(k=k, sample=rate, epsilon=epsilon) <= target
    top = -math.expm1(-epsilon)
    for above in np.linspace(float(rate) + 1e-9, top * (1 - 1e-9), 200):
        assert delta(k=k, sample=float(above), epsilon=epsilon) > target


def test_which_rate_for_twenty() -> None:
    assert float(largest_sample(k=20, epsilon=1, delta=1e-6)) == pytest.approx(0.2973420889)


def test_the_largest_rate_of_all_is_where_epsilon_is_the_floor() -> None:
    assert float(largest_sample(k=400, epsilon=0.1, delta=1e-6)) == pytest.approx(-math.expm1(-0.1), rel=1e-6)


@pytest.mark.parametrize(("k", "rate", "target"), [(20, 0.1, 1e-6), (10, 0.2, 1e-6), (10, 0.1, 1e-9), (400, 0.1, 1e-6)])
def test_smallest_epsilon(k: int, rate: float, target: float) -> None:
    for tight in (False, True):
        epsilon = smallest_epsilon(k=k, sample=rate, delta=target, tight=tight)
        assert delta(k=k, sample=rate, epsilon=epsilon, tight=tight) <= target
        below = epsilon - Fraction(1, 10**9)
        if float(below) < -math.log1p(-rate):
            continue
        assert delta(k=k, sample=rate, epsilon=below, tight=tight) > target


def test_delta_falls_with_k_and_with_epsilon() -> None:
    by_k = [delta(k=k, sample=0.2, epsilon=1) for k in range(1, 30)]
    by_epsilon = [delta(k=8, sample=0.2, epsilon=epsilon) for epsilon in np.linspace(0.23, 4, 80)]
    assert all(a >= b for a, b in pairwise(by_k))
    assert all(a >= b * (1 - 1e-12) for a, b in pairwise(by_epsilon))


def test_the_floor_itself_is_allowed() -> None:
    assert 0 < delta(k=10, sample=0.2, epsilon=-math.log(0.8)) < 1
    with pytest.raises(ParameterError) as refused:
        delta(k=10, sample=0.2, epsilon=0.2)
    assert str(refused.value) == (
        "epsilon is below what the absence of a record always costs "
        "(got 0.2; allowed: at least -ln(1 - sample) = 0.223144). Sample fewer records."
    )


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: delta(k=0, sample=0.1, epsilon=1), "k is not a whole number from 1 on (got 0)"),
        (lambda: delta(k=2.5, sample=0.1, epsilon=1), "k is not a whole number from 1 on (got 2.5)"),
        (lambda: delta(k=2, sample=0, epsilon=1), "the sampling rate is not between 0 and 1"),
        (lambda: delta(k=2, sample=1, epsilon=1), "the sampling rate is not between 0 and 1"),
        (lambda: delta(k=2, sample=0.1, epsilon=-1), "epsilon is not positive"),
        (lambda: smallest_k(sample=0.1, epsilon=1, delta=1), "delta is not a probability below one"),
        (lambda: smallest_k(sample=0.1, epsilon=1, delta=0), "delta is not positive"),
        (lambda: smallest_epsilon(k=3, sample=0.1, delta=1e-6), "no epsilon gives so small a delta"),
    ],
)
def test_what_has_no_delta(wrong: object, message: str) -> None:
    with pytest.raises(ParameterError) as refused:
        wrong()  # type: ignore[operator]  # a lambda
    assert str(refused.value).startswith(message)


def test_whether_some_epsilon_gives_a_delta(monkeypatch) -> None:
    """By logarithms as by digits, but for a delta that is above by a hair: that is refused."""
    law = sys.modules[smallest_epsilon.__module__]
    for numerator in (1, 123_457, 500_000, 876_543, 999_999):
        rate = Fraction(numerator, 10**6)
        for k in (1, 7, 100, 3000):
            for factor in (Fraction(1, 2), Fraction(999, 1000), Fraction(1), Fraction(1001, 1000), Fraction(2)):
                target = min(rate**k * factor, Fraction(1))
                monkeypatch.setattr(law, "_EXACT_BITS", 10**9)
                exact = law.some_epsilon_gives(k, rate, target)
                monkeypatch.setattr(law, "_EXACT_BITS", 0)
                assert law.some_epsilon_gives(k, rate, target) == exact == (target > rate**k)


def test_extremes_end() -> None:
    assert delta(k=1000, sample=0.1, epsilon=1) == 0.0  # below the smallest double
    assert delta(k=10, sample=1e-6, epsilon=1.1e-6) == pytest.approx(0.0234, abs=1e-3)
    assert 0 < delta(k=10, sample=1e-4, epsilon=1.1e-4, tight=True) < 0.0234
    assert delta(k=5, sample=0.1, epsilon=60) == pytest.approx(1e-5)
