"""The projection onto the simplex in integers, against the textbook's sort."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare.errors import ParameterError
from sudare.measure.simplex import round_real_to_total, round_to_total, simplex_level


def threshold_by_sorting(values: list[int], total: int) -> Fraction:
    """t = (u_1 + ... + u_rho - total) / rho, rho the last with u_rho above it."""
    ordered = sorted(values, reverse=True)
    best = None
    for rho in range(1, len(ordered) + 1):
        t = Fraction(sum(ordered[:rho]) - total, rho)
        if ordered[rho - 1] > t:
            best = t
    return best


tables = st.lists(st.integers(-1000, 1000), min_size=1, max_size=60)


@pytest.mark.slow
@given(tables, st.integers(1, 5000))
def test_the_level_is_the_floor_of_the_textbooks_threshold(values, total):
    t = threshold_by_sorting(values, total)
    assert simplex_level(np.array(values), total) == t.numerator // t.denominator


@pytest.mark.slow
@given(tables, st.integers(1, 5000), st.integers(0, 2**32))
def test_rounding_is_the_nearest_integer_point(values, total, seed):
    values = np.array(values)
    active = values[values > simplex_level(values, total)]
    t = Fraction(int(active.sum()) - total, len(active))
    rounded = round_to_total(active, total, np.random.default_rng(seed))
    assert rounded.sum() == total
    assert (rounded >= 0).all()
    # Each is the value rounded down or up: no integer point with this sum is nearer.
    assert all(abs(Fraction(int(r)) - (int(z) - t)) < 1 for r, z in zip(rounded, active, strict=True))


@pytest.mark.slow
def test_units_left_over_fall_on_every_cell_alike():
    generator = np.random.default_rng(1)
    gains = sum(round_to_total(np.full(10, 5), 53, generator) - 5 for _ in range(20_000))
    # Each cell gains with chance 0.3: ten counts beyond 6.5 sigma have chance 8e-10.
    assert np.abs(gains - 6000).max() < 6.5 * (20_000 * 0.3 * 0.7) ** 0.5


@pytest.mark.parametrize(("values", "total"), [([], 5), ([3], 0), ([3], -2)])
def test_nothing_to_project_is_refused(values, total):
    with pytest.raises(ParameterError, match="needs cells and a positive total"):
        simplex_level(np.array(values, dtype=np.int64), total)


@pytest.mark.slow
@given(tables, st.fractions(Fraction(1, 1000), 5000))
def test_the_level_is_exact_for_rational_totals(values, total):
    t = threshold_by_sorting(values, total)
    assert simplex_level(np.array(values), total) == t.numerator // t.denominator


@pytest.mark.slow
@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=60), st.integers(1, 10**6), st.integers(0, 2**32))
def test_real_values_are_rounded_to_the_nearest_integer_point(weights, total, seed):
    weights = np.array(weights) + (sum(weights) == 0)
    values = weights * (total / weights.sum())
    rounded = round_real_to_total(values, total, np.random.default_rng(seed))
    assert rounded.sum() == total
    assert (rounded >= 0).all()
    gained = rounded - np.floor(values)
    assert set(gained.tolist()) <= {0, 1}
    fractions = values - np.floor(values)
    if 0 < gained.sum() < len(gained):
        # Nearest: no cell that gained has a smaller fraction than one that did not.
        assert fractions[gained == 1].min() >= fractions[gained == 0].max() - 2.0**-19


@pytest.mark.slow
def test_equal_fractions_gain_alike():
    generator = np.random.default_rng(1)
    values = np.array([0.3, 1.3, 2.3, 7.3, 1000.3, 10**6 + 0.3, 0.2, 0.0, 5.0, 6.0]) + 1e-9
    total = round(float(values.sum()))
    gains = sum(round_real_to_total(values, total, generator) - np.floor(values) for _ in range(20_000))
    assert gains[6:].sum() == 0
    # Two of six cells gain in each run: six counts beyond 6.5 sigma have chance 5e-10.
    assert np.abs(gains[:6] - 20_000 / 3).max() < 6.5 * (20_000 * 2 / 9) ** 0.5


@pytest.mark.parametrize("total", [10**12, 2**53 + 1, 2**61 - 1])
def test_the_total_is_kept_where_floats_have_no_fractions(total):
    weights = np.array([1.0, 1.0, 1.0, 1e-9, 0.37, 0.0])
    values = weights * (total / weights.sum())
    for scale in (1 - 2.0**-52, 1, 1 + 2.0**-52):
        rounded = round_real_to_total(values * scale, total, np.random.default_rng(1))
        assert int(rounded.sum()) == total
        assert (rounded >= 0).all()
        assert rounded[:5].astype(float) == pytest.approx(values[:5], rel=1e-6, abs=1)


@pytest.mark.parametrize("values", [[], [1.0, 2.0], [-1.0, 6.0], [float("nan"), 5.0]])
def test_values_that_are_no_split_of_the_total_are_refused(values):
    with pytest.raises(ParameterError, match="add up to the total"):
        round_real_to_total(np.array(values), 5, np.random.default_rng(1))
