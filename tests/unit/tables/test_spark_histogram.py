"""Fits made from a histogram are those made from the cells."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from sudare.measure.simplex import round_to_total, simplex_level
from sudare.tables.spark_histogram import FittedValues, ValueCounts, chosen_by_group, fit_by_scale, fit_to_simplex
from sudare.tables.threshold import fit_to_total

cells = st.lists(st.one_of(st.integers(-5, 30), st.integers(0, 10**6)), min_size=1, max_size=60).map(np.array)


def histogram(values):
    value, times = np.unique(values, return_counts=True)
    return ValueCounts(value, times)


def fitted(fit, values, seed=0):
    """The fit of each cell, with the units that are left to chance given to the first of those tied."""
    rounded, tied = fit.of(values)
    rounded[np.flatnonzero(tied)[: fit.gaining]] += 1
    return rounded


@settings(deadline=None)
@given(cells, st.integers(1, 10**7), st.fractions(0, 1, max_denominator=50))
def test_levels_and_simplex_fits(values, total, share):
    seen = histogram(values)
    assert seen.simplex_level(total) == simplex_level(values, total)
    if total * share > 0:
        assert seen.simplex_level(total * share) == simplex_level(values, total * share)
    fit = fit_to_simplex(seen, total)
    active = values[values > simplex_level(values, total)]
    plain = round_to_total(active, total, np.random.default_rng(1))
    assert sorted(fitted(fit, active)) == pytest.approx(sorted(plain), abs=1)
    assert fitted(fit, values).sum() == total == plain.sum()
    assert (fitted(fit, values)[values <= active.min() - 1] == 0).all()


@settings(deadline=None)
@given(cells, st.integers(1, 10**7), st.fractions(0, 1, max_denominator=50).filter(lambda share: 0 < share < 1))
def test_scaled_fits(values, total, share):
    level = simplex_level(values, total * share)
    active = values[values > level]
    threshold = Fraction(int(active.sum()) - total * share) / len(active)
    fit = fit_by_scale(histogram(active), total, threshold)
    plain = fit_to_total(active, total, threshold, "scale", np.random.default_rng(1))
    assert fitted(fit, active).sum() == total
    exact = [(int(value) - threshold) * total / (total * share) for value in active]
    assert max(abs(own - real) for own, real in zip(fitted(fit, active).tolist(), exact, strict=True)) <= 1
    # Cells whose value is not tied are rounded alike.
    _, tied = fit.of(active)
    assert np.array_equal(fitted(fit, active)[~tied], plain[~tied])


def test_values_that_are_not_listed_become_nothing():
    fit = fit_to_simplex(histogram(np.array([5, 9])), 6)
    assert [part.tolist() for part in fit.of(np.array([5, 7, 9]))] == [[1, 0, 5], [True, False, True]]
    nothing = FittedValues(*(np.empty(0, dtype=np.int64) for _ in range(2)), np.empty(0, dtype=bool), 0)
    assert nothing.of(np.array([3]))[0].tolist() == [0]


def test_large_sums_are_exact():
    seen = ValueCounts(np.array([2**61, 2**61 + 1]), np.array([3, 2]))
    assert seen.sum == 3 * 2**61 + 2 * (2**61 + 1)
    assert seen.simplex_level(4) == 2**61 - 1


def chi_square(seen, expected):
    """The p-value of cells that need not be all there are."""
    return stats.chi2.sf(((seen - expected) ** 2 / expected).sum(), len(seen) - 1)


def test_things_are_chosen_without_preference():
    """The numbers by group follow the multivariate hypergeometric law. Four tests at 1e-8; false alarm below 1e-7."""
    available, number, runs = np.array([3, 5, 0, 8]), 6, 20_000
    generator = np.random.default_rng(5)
    drawn = np.array([chosen_by_group(available, number, generator) for _ in range(runs)])
    assert (drawn.sum(axis=1) == number).all()
    assert (drawn <= available).all()
    for group in (0, 1, 3):
        law = stats.hypergeom(16, available[group], number).pmf(np.arange(number + 1))
        seen = np.bincount(drawn[:, group], minlength=number + 1)
        assert chi_square(seen[law > 1e-3], runs * law[law > 1e-3]) > 1e-8
    # The twin: without the correction to the right number, coins alone spread wider.
    coins = generator.binomial(available[3], number / 16, runs)
    law = stats.hypergeom(16, 8, number).pmf(np.arange(number + 1))
    seen = np.bincount(coins, minlength=number + 1)[: number + 1]
    assert chi_square(seen, runs * law) < 1e-8


def test_so_many_things_that_numpy_refuses():
    available = np.array([3 * 10**9, 10**9, 0])
    drawn = chosen_by_group(available, 2 * 10**9, np.random.default_rng(1))
    assert drawn.sum() == 2 * 10**9
    # Variance n p q (1 - share) / ...: below 5e8 / 2; beyond 6.5 sigma once in 1e10.
    assert abs(drawn[0] - 1.5 * 10**9) < 6.5 * (2.5 * 10**8) ** 0.5
