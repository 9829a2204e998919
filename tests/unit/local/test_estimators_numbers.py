"""Numbers through the square wave."""

import numpy as np
import pytest

from sudare.local import SquareWave, Tally, estimate
from sudare.local.estimators import smoothed, unbiased_numbers
from sudare.noise import Source, discrete_laplace


@pytest.fixture(scope="module")
def heights():
    """20,000 numbers of two smooth humps in [0, 1]."""
    generator = np.random.default_rng(1)
    both = np.concatenate([generator.normal(0.3, 0.08, 12_000), generator.normal(0.7, 0.05, 8_000)])
    return np.clip(both, 0, 1)


def distance(shares, values):
    """The earth mover's distance between two distributions on [0, 1]."""
    true = np.histogram(values, bins=len(shares), range=(0, 1))[0] / len(values)
    return np.abs(np.cumsum(shares - true)).sum() / len(shares)


def test_smoothing_keeps_the_total():
    shares = np.random.default_rng(1).dirichlet(np.ones(9), size=4)
    assert np.allclose(smoothed(shares).sum(axis=1), 1)
    assert np.allclose(smoothed(np.full(9, 1 / 9)), 1 / 9)


def test_unbiased_estimate_inverts_the_channel():
    channel = SquareWave(size=12, epsilon=1).channel
    people = np.random.default_rng(1).dirichlet(np.ones(12)) * 1000
    counts, matrix = unbiased_numbers(channel.forward(people), channel, people / 1000)
    assert np.allclose(counts, people)
    assert (np.linalg.eigvalsh(matrix) > -1e-6).all()
    # Everybody reports, so the sum of all cells is known.
    assert matrix.sum() == pytest.approx(0, abs=1e-6)


def test_em_and_ems_find_the_shape(heights):
    encoding = SquareWave(size=128, epsilon=2)
    reports = encoding.randomize(heights, seed=1)
    found = {method: distance(estimate(reports, method).counts / len(reports), heights) for method in ("em", "ems")}
    flat = distance(np.full(128, 1 / 128), heights)
    assert max(found.values()) < 0.1 * flat
    # The same epsilon as rounded Laplace noise on the numbers is several times further off (Li et al. 2020).
    noise = discrete_laplace(encoding.epsilon**-1 * 1000, Source.from_seed(1), len(heights)) / 1000
    noisy = np.clip(heights + noise, 0, 1)
    assert distance(np.histogram(noisy, bins=128, range=(0, 1))[0] / len(noisy), heights) > 5 * max(found.values())


@pytest.mark.slow
def test_intervals_of_numbers_cover_as_promised(heights):
    """160 estimates of 12 cells: five standard deviations of 1,920 are 0.034."""
    true = np.histogram(heights[::10], bins=12, range=(0, 1))[0]
    inside = {"mle": 0.0, "em": 0.0, "ems": 0.0}
    group = 0
    for run in range(160):
        reports = SquareWave(size=12, epsilon=2).randomize(heights[::10], seed=run)
        for method in inside if run < 40 else ("mle",):
            made = estimate(reports, method, stop=30)
            inside[method] += ((made.low <= true) & (true <= made.high)).mean() / (160 if method == "mle" else 40)
        error = np.sqrt(made.covariance()[3:6, 3:6].sum())
        group += abs(made.unbiased[3:6].sum() - true[3:6].sum()) <= 1.645 * error
    assert inside["mle"] > 0.866
    assert inside["em"] > 0.832  # five standard deviations of 480
    assert inside["ems"] > 0.832
    assert group / 160 > 0.78


@pytest.mark.slow
def test_tally_suffices(heights):
    encoding = SquareWave(size=32, epsilon=1)
    reports = encoding.randomize(heights, seed=1)
    assert np.allclose(estimate(reports, "em").counts, estimate(Tally(encoding).add(reports), "em").counts)
    assert len(Tally(encoding).support) == encoding.channel.outputs
