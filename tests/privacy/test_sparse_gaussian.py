"""Gaussian noise drawn only where it shows: the law of noise on every cell, however it is looked at."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy import stats

from sudare.noise import Source, Sparse, SparseNoise, discrete_gaussian
from sudare.noise.sparse import SparseGaussian, theta

NOBODY = np.empty(0, dtype=np.int64)


def chances(variance: Fraction, values: range, factor: float = 1.0) -> np.ndarray:
    """P(Z = z) for the law whose sigma is ``factor`` times as large, from a sum that shares nothing with the code."""
    spread = float(variance) * factor**2
    far = int(40 * spread**0.5) + 60
    support = np.arange(-far, far + 1)
    weight = np.exp(-(support.astype(float) ** 2) / (2 * spread))
    return (weight / weight.sum())[np.array(values) + far]


def fitting(shown: np.ndarray, cells: int, variance: Fraction, level: int, factor: float = 1.0) -> float:
    """p of how many of ``cells`` empty cells show each value above ``level``, and how many show nothing."""
    reach = level + 2 + int(3 * float(variance) ** 0.5)
    expected = cells * chances(variance, range(level + 1, reach + 1), factor)
    observed = np.bincount(np.minimum(shown, reach) - level - 1, minlength=reach - level)
    rest = cells * chances(variance, range(reach + 1, reach + 1 + int(20 * float(variance) ** 0.5) + 20), factor).sum()
    expected[-1] += rest
    expected, observed = np.append(expected, cells - expected.sum()), np.append(observed, cells - len(shown))
    thick = expected >= 10
    expected = np.append(expected[thick], expected[~thick].sum() + 1e-9)
    observed = np.append(observed[thick], observed[~thick].sum())
    if expected[-1] < 10:
        expected[-2:], observed[-2:] = expected[-2:].sum(), observed[-2:].sum()
        expected, observed = expected[:-1], observed[:-1]
    return float(stats.chi2.sf(((observed - expected) ** 2 / expected).sum(), max(1, len(expected) - 1)))


@pytest.mark.parametrize("sigma", ["1/3", "1", "5/2", "40"])
@pytest.mark.parametrize("heights", [(0,), (1,), (3, 1), (2, 0)])
def test_empty_cells_show_what_noise_on_every_cell_would_show(sigma, heights):
    """Levels at so many sigmas, looked at one after the other."""
    sigma, cells = Fraction(sigma), 4_000_000
    levels = [int(height * sigma) for height in heights]
    noise = SparseGaussian(Sparse(NOBODY, NOBODY, cells), sigma**2, Source.from_seed(21))
    for level in levels:
        index, value = noise.above(level)
        assert (value > level).all()
        assert (np.diff(index) > 0).all()
    # Sixteen such tests at 5e-8 each: false alarm below 1e-6.
    assert fitting(value, cells, sigma**2, levels[-1]) > 5e-8
    assert fitting(value, cells, sigma**2, levels[-1], 1.3) < 5e-8
    assert fitting(value, cells, sigma**2, levels[-1], 0.7) < 5e-8


@pytest.mark.parametrize(("sigma", "size", "height"), [("10", 2**40, 6), ("1000", 2**50, 7), ("1/2", 2**60, 7)])
def test_in_a_huge_domain_as_many_cells_fire_as_the_tail_of_the_law_says(sigma, size, height):
    sigma = Fraction(sigma)
    level = int(height * sigma)
    reference = mpmath.mp.clone()
    reference.dps = 60
    weight = lambda z: reference.exp(-(reference.mpf(z) ** 2) / (2 * reference.mpf(float(sigma)) ** 2))  # noqa: E731
    far = int(20 * sigma) + 60
    tail = sum(weight(z) for z in range(level + 1, level + far)) / (1 + 2 * sum(weight(z) for z in range(1, far)))
    found = [
        len(SparseGaussian(Sparse(NOBODY, NOBODY, size), sigma**2, Source.from_seed(seed)).above(level)[0])
        for seed in range(40)
    ]
    expected = float(tail) * size * len(found)
    assert expected > 400
    assert abs(sum(found) - expected) < 6 * expected**0.5  # Poisson at heart: beyond 6 sigma with chance 2e-9


SIZE, VARIANCE, LEVELS, REPETITIONS = 160, Fraction(9), (7, 3, 1), 4_000
EXACT = Sparse(np.array([3, 17]), np.array([5, 1]), SIZE)


def looked(kind: type[SparseNoise], seed: int) -> np.ndarray:
    source = Source.from_seed(seed)
    shown = np.zeros((REPETITIONS, SIZE), dtype=np.int64)
    for row in range(REPETITIONS):
        noise = kind(EXACT, VARIANCE, source.child(str(row)))
        for level in LEVELS:
            index, value = noise.above(level)
        shown[row, index] = value
    return shown


@pytest.fixture(scope="module")
def dense() -> np.ndarray:
    noisy = discrete_gaussian(VARIANCE, Source.from_seed(11), SIZE * REPETITIONS).reshape(REPETITIONS, SIZE)
    noisy[:, [3, 17]] += EXACT.value
    return np.where(noisy > LEVELS[-1], noisy, 0)


def test_sparse_and_dense_agree_in_distribution(dense, agree):
    truth = np.zeros(SIZE, dtype=np.int64)
    truth[EXACT.index] = EXACT.value
    assert agree(looked(SparseGaussian, 12), dense, truth, 1)  # five tests at 1e-7


def test_a_twin_that_draws_afresh_when_lowered_is_caught(dense, agree):
    class Afresh(SparseGaussian):
        def _lower(self, level: int) -> None:
            self._level = None
            super()._lower(level)

    truth = np.zeros(SIZE, dtype=np.int64)
    truth[EXACT.index] = EXACT.value
    assert not agree(looked(Afresh, 13), dense, truth, 1)


def test_completing_the_vector_keeps_what_was_shown(fits, laws):
    values = []
    for row in range(2_000):
        noise = SparseGaussian(Sparse(np.array([0]), np.array([2]), 60), VARIANCE, Source.from_seed(100_000 + row))
        before = dict(zip(*noise.above(4), strict=True))
        index, value = noise.above(-(10**6))
        assert np.array_equal(index, np.arange(60))
        assert {i: v for i, v in zip(index, value, strict=True) if v > 4} == before
        values.append(value[1:])
    assert fits(np.concatenate(values), laws["gaussian"](3.0))
    assert not fits(np.concatenate(values), laws["gaussian"](3.9))


def test_thinning_in_exact_arithmetic_keeps_the_same_cells(monkeypatch):
    made = lambda: SparseGaussian(EXACT, VARIANCE, Source.from_seed(5)).above(2)  # noqa: E731
    quick = made()
    monkeypatch.setattr("sudare.noise.discrete._UNCLEAR", 2.0)
    for one, other in zip(quick, made(), strict=True):
        assert np.array_equal(one, other)


@pytest.mark.parametrize("variance", ["1/100", "1/5", "1/2", "7", "1000000"])
def test_the_sum_of_all_weights_is_known_to_any_precision(variance):
    spread = Fraction(variance)
    for digits in (20, 80):
        real = mpmath.mp.clone()
        real.dps = digits
        nome = real.exp(-1 / (2 * real.mpf(spread.numerator) / spread.denominator))
        fine = mpmath.mp.clone()
        fine.dps = digits + 30
        exponent = fine.mpf(spread.denominator) / (2 * spread.numerator)
        wanted = fine.jtheta(3, 0, fine.exp(-exponent)) if nome < 0.999 else fine.sqrt(2 * fine.pi * spread.numerator)
        assert abs(fine.mpf(theta(spread, real)) / wanted - 1) < fine.mpf(10) ** (2 - digits)


def test_noise_far_narrower_than_a_person_shows_the_populated_cells_alone():
    noise = SparseGaussian(Sparse(np.array([4]), np.array([9]), 2**40), Fraction(1, 10**8), Source.from_seed(1))
    index, value = noise.above(0)
    assert (index.tolist(), value.tolist()) == ([4], [9])
