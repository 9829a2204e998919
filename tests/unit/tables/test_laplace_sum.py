"""The law of sums of discrete Laplace noise: exact for few terms, and right where it is approximated."""

import math

import numpy as np
import pytest

from sudare.tables.laplace_sum import EXACT_TERMS, deviation, expected_size, reach


def _summed(terms, scale, points=20_000):
    """The probabilities of sizes 0, 1, 2, ... by plain convolution."""
    ratio = math.exp(-1 / scale)
    size = np.arange(-points, points + 1)
    one = (1 - ratio) / (1 + ratio) * ratio ** np.abs(size)
    law = one
    for _ in range(terms - 1):
        law = np.convolve(law, one, mode="same")
    return law[points:]


@pytest.mark.parametrize(("terms", "scale"), [(1, 0.3), (1, 10.0), (2, 0.5), (2, 10.0), (5, 3.0)])
@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
def test_the_reach_is_the_smallest_that_holds_enough(terms, scale, level):
    law = _summed(terms, scale, 2_000)
    within = 2 * np.cumsum(law) - law[0]
    assert reach(terms, scale, level) == np.searchsorted(within, level - 1e-12)


@pytest.mark.parametrize(("terms", "scale"), [(1, 0.3), (3, 10.0)])
def test_the_expected_size_is_the_mean_of_the_law(terms, scale):
    law = _summed(terms, scale, 2_000)
    assert expected_size(terms, scale) == pytest.approx(2 * np.arange(len(law)) @ law)


@pytest.mark.slow
@pytest.mark.parametrize("scale", [0.5, 10.0, 1e6])
def test_many_terms_join_the_exact_law(scale):
    near, far = reach(EXACT_TERMS, scale, 0.9), reach(EXACT_TERMS + 1, scale, 0.9)
    growth = math.sqrt((EXACT_TERMS + 1) / EXACT_TERMS)
    assert far == pytest.approx(near * growth, rel=0.002, abs=1)
    assert expected_size(EXACT_TERMS + 1, scale) == pytest.approx(expected_size(EXACT_TERMS, scale) * growth, rel=5e-3)


def test_the_deviation_is_that_of_the_law():
    law = _summed(2, 4.0, 2_000)
    assert deviation(2, 4.0) == pytest.approx(math.sqrt(2 * np.arange(len(law)) ** 2 @ law))


def test_noise_that_is_certainly_0_has_no_reach():
    assert reach(1, 1e-6, 0.9) == reach(9, 1e-6, 0.9) == reach(10**6, 1e-6, 0.9) == 0
    assert expected_size(1, 1e-6) == expected_size(10**6, 1e-6) == 0
