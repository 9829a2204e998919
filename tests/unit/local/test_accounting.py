"""Shuffled and repeated reports."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from clones import closed_form
from sudare.errors import ParameterError
from sudare.local import PermanentUnary, SymmetricUnary, repeated, shuffled
from sudare.local.accounting import delta_of, smallest_epsilon


def clone_delta(epsilon, local, others):
    """The hockey-stick divergence of the two laws of counts among clones, term by term."""
    own = 1 / (1 + math.exp(-local))
    chance = stats.binom.pmf(np.arange(others + 1), others, 2 / (1 + math.exp(local)))
    total = 0.0
    for clones in np.flatnonzero(chance > 1e-20):
        counts = stats.binom.pmf(np.arange(clones + 1), clones, 0.5)
        one, other = np.convolve(counts, [1 - own, own]), np.convolve(counts, [own, 1 - own])
        total += chance[clones] * np.maximum(one - math.exp(epsilon) * other, 0).sum()
    return total


def response_delta(epsilon, local, others):
    """Exactly what shuffled binary randomised response gives away, for the worst of some neighbouring data."""
    keep, worst = 1 / (1 + math.exp(-local)), 0.0
    for ones in (0, others // 2, others):
        zeros = others - ones
        sums = np.convolve(
            stats.binom.pmf(np.arange(zeros + 1), zeros, 1 - keep), stats.binom.pmf(np.arange(ones + 1), ones, keep)
        )
        one, other = np.convolve(sums, [keep, 1 - keep]), np.convolve(sums, [1 - keep, keep])
        for first, second in ((one, other), (other, one)):
            worst = max(worst, np.maximum(first - math.exp(epsilon) * second, 0).sum())
    return worst


@pytest.mark.slow
@pytest.mark.parametrize("local", [0.5, 1.0, 2.0, 3.0])
@pytest.mark.parametrize(("reports", "delta"), [(300, 1e-4), (2000, 1e-6)])
def test_the_bound_against_the_laws_themselves(local, reports, delta):
    numerical = smallest_epsilon(local, reports - 1, delta)
    closed = closed_form(local, reports - 1, delta)
    assert numerical <= closed <= local
    assert clone_delta(numerical, local, reports - 1) <= delta
    assert clone_delta(closed, local, reports - 1) <= delta
    assert response_delta(numerical, local, reports - 1) <= delta
    # The twin: the numerical bound is tight for the clones, a tenth less is not enough.
    assert clone_delta(0.9 * numerical, local, reports - 1) > delta
    assert delta_of(numerical, local, reports - 1) == pytest.approx(clone_delta(numerical, local, reports - 1), rel=0.2)


@pytest.mark.slow
def test_guarantee_of_shuffled_reports():
    encoding = SymmetricUnary(size=23, epsilon=1)
    promise = shuffled(encoding, 100_000, delta=1e-6)
    assert promise.notion == "(epsilon, delta)-DP"
    assert 0.01 < promise.epsilon < closed_form(1.0, 99_999, 1e-6) < 0.07
    assert "reports arrive shuffled" in str(promise)
    assert shuffled(encoding, 1, delta=1e-6).notion == "epsilon-DP"
    assert shuffled(encoding, 1, delta=1e-6).epsilon == 1
    assert shuffled(PermanentUnary(size=23, epsilon=4, first=1), 1000, delta=1e-6).epsilon < 1


def test_repeated_reports_add_up():
    assert repeated(SymmetricUnary(size=23, epsilon="0.1"), 3).epsilon == SymmetricUnary(size=2, epsilon="0.3").epsilon
    lasting = PermanentUnary(size=23, epsilon=2, first=0.5)
    assert [repeated(lasting, times).epsilon for times in (1, 3, 4, 100)] == [0.5, 1.5, 2, 2]
    assert "the value does not change" in str(repeated(lasting, 3))
    assert repeated(lasting, 30).unit.max_rows == 30


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: shuffled(SymmetricUnary(size=2, epsilon=1), 0, 1e-6), "reports is not a number of reports"),
        (lambda: shuffled(SymmetricUnary(size=2, epsilon=1), 9, 0), "delta is not positive"),
        (lambda: shuffled(SymmetricUnary(size=2, epsilon=1), 9, 1), "delta is too large to protect anybody"),
        (lambda: repeated(SymmetricUnary(size=2, epsilon=1), 0), "times is not a number of reports"),
    ],
)
def test_mistakes(call, sentence):
    with pytest.raises(ParameterError, match=sentence):
        call()


def test_changes_are_paid_for_value_by_value():
    daily = PermanentUnary(size=23, epsilon=2, first=0.5)
    for changes, epsilon in ((0, 2), (1, 4), (3, 8)):
        made = repeated(daily, 365, changes=changes)
        assert made.epsilon == epsilon
    assert "the value changes at most 3 times, at moments that may be known" in str(made)
    assert repeated(daily, 3, changes=9).epsilon == Fraction(3, 2)  # three reports never cost more than three times one
    assert repeated(SymmetricUnary(size=23, epsilon=1), 3, changes=9).epsilon == 3  # nothing is remembered
    with pytest.raises(ParameterError, match="changes is not a number of changes"):
        repeated(daily, 2, changes=-1)
