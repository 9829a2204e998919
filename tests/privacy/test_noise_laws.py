"""The noise has exactly the law it is said to have; with the scale 30 % off the same tests fail."""

from fractions import Fraction

import numpy as np
import pytest

from sudare.noise import Source, discrete_gaussian, discrete_laplace, geometric
from sudare.noise.bernoulli import Rate
from sudare.noise.discrete import DiscreteLaplace
from sudare.noise.geometric import Geometric

SCALES = ["1/1000", "1/7", "1", "10", "190", "1000", "123456/7", "10000000"]


@pytest.mark.parametrize("scale", SCALES)
def test_discrete_laplace_law_and_its_twins(scale, fits, laws):
    draws = discrete_laplace(Fraction(scale), Source.from_seed(1), 1_000_000)
    assert fits(draws, laws["laplace"](float(Fraction(scale))))
    if Fraction(scale) >= Fraction(1, 7):  # below, a million draws are all zero whatever the scale
        assert not fits(draws, laws["laplace"](float(Fraction(scale)) * 1.3))
        assert not fits(draws, laws["laplace"](float(Fraction(scale)) * 0.7))


@pytest.mark.parametrize("scale", [1, 10, 190, 1000])
def test_discrete_laplace_low_digits_and_sign_are_right_value_by_value(scale):
    """Compares the frequency of every single value |z| <= 3 scale, where splitting could go wrong."""
    size = 4_000_000
    draws = discrete_laplace(Fraction(scale), Source.from_seed(2), size)
    a = np.exp(-1 / scale)
    z = np.arange(-3 * scale, 3 * scale + 1)
    expected = size * (1 - a) / (1 + a) * a ** np.abs(z)
    observed = np.array(np.bincount(draws - draws.min(), minlength=1))[z - draws.min()]
    deviation = (observed - expected) / np.sqrt(expected)
    # 6,001 values at most, each beyond 6.5 sigma with chance 8e-11: false alarm below 5e-7.
    assert np.abs(deviation).max() < 6.5


def test_discrete_laplace_tails_reach_beyond_the_table(fits, laws):
    """Past 16 scales the draw starts anew; the law of the rest is the same geometric one."""
    draws = discrete_laplace(Fraction(1, 2), Source.from_seed(3), 30_000_000)
    a = np.exp(-2.0)
    for tail in (draws[draws >= 3] - 3, -draws[draws <= -3] - 3):
        expected = 30_000_000 * a**3 / (1 + a)
        assert abs(len(tail) - expected) < 6 * expected**0.5  # false alarm 2e-9
        assert fits(tail, lambda z: 1 - a ** (np.asarray(z) + 1.0), cells=8)


@pytest.mark.parametrize("scale", ["3", "5000", "123456/7"])
def test_the_law_is_the_same_where_a_table_ends_early(monkeypatch, fits, laws, scale):
    """A table ends after 16 scales, which one draw in nine million sees; here after one, which a third of them do."""
    monkeypatch.setattr(geometric, "_HEAD_SCALES", 1)
    draws = DiscreteLaplace(Fraction(scale)).draw(Source.from_seed(9), 300_000)
    assert (np.abs(draws) > 6 * float(Fraction(scale))).any()
    assert fits(draws, laws["laplace"](float(Fraction(scale))))
    gaps = Geometric(Rate.rational(1 / Fraction(scale))).draw(Source.from_seed(10), 300_000)
    assert fits(gaps, lambda z: 1 - np.exp(-(np.asarray(z) + 1.0) / float(Fraction(scale))))


@pytest.mark.parametrize("sigma", ["1/1000", "1/3", "1", "5/2", "40", "1000", "10000000"])
def test_discrete_gaussian_law_and_its_twins(sigma, fits, laws):
    sigma = Fraction(sigma)
    draws = discrete_gaussian(sigma**2, Source.from_seed(4), 400_000)
    if sigma > 1000:  # the pmf on the grid is the density to ten digits
        from scipy.stats import norm

        law = lambda factor: lambda z: norm.cdf((np.asarray(z) + 0.5) / (float(sigma) * factor))  # noqa: E731
    else:
        law = lambda factor: laws["gaussian"](float(sigma) * factor)  # noqa: E731
    assert fits(draws, law(1.0))
    if sigma >= Fraction(1, 3):
        assert not fits(draws, law(1.3))
        assert not fits(draws, law(0.7))


def test_gaussian_in_exact_arithmetic_keeps_the_same_proposals(monkeypatch):
    quick = discrete_gaussian(Fraction(49, 4), Source.from_seed(5), 400)
    monkeypatch.setattr("sudare.noise.discrete._UNCLEAR", 2.0)
    assert np.array_equal(quick, discrete_gaussian(Fraction(49, 4), Source.from_seed(5), 400))


@pytest.mark.parametrize("rate", ["2", "1/3", "1/500", "1/1000000", "1/100000000000"])
def test_geometric_law_and_its_twins(rate, fits):
    rate = Fraction(rate)
    draws = Geometric(Rate.rational(rate)).draw(Source.from_seed(6), 500_000)
    law = lambda factor: lambda g: -np.expm1(-(np.asarray(g) + 1.0) * float(rate) / factor)  # noqa: E731
    assert fits(draws, law(1.0))
    assert not fits(draws, law(1.3))
    assert not fits(draws, law(0.7))


def test_a_gap_beyond_every_index_saturates():
    for rate in (Fraction(1, 10**40), Fraction(1, 10**400)):  # the second is 0 as a double
        draws = Geometric(Rate.rational(rate)).draw(Source.from_seed(7), 100)
        assert (draws == 2**62).all()


def test_neighbouring_values_are_told_apart_by_no_more_than_epsilon():
    """Empirical odds of every output for v and v + 1 stay within exp(epsilon), up to sampling error."""
    size, epsilon = 4_000_000, 0.5
    here = discrete_laplace(Fraction(2), Source.from_seed(8), size)
    there = discrete_laplace(Fraction(2), Source.from_seed(9), size) + 1
    worst = 0.0
    for z in range(-12, 14):
        a, b = (here == z).sum(), (there == z).sum()
        slack = 6 * (1 / a + 1 / b) ** 0.5  # 26 comparisons beyond 6 sigma: 5e-8
        assert abs(np.log(a / b)) < epsilon + slack
        worst = max(worst, abs(np.log(a / b)))
    assert worst > epsilon * 0.98  # and the bound is reached: the noise is not needlessly large
