"""The projection onto the simplex in integers, against the textbook's sort."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare.errors import ParameterError
from sudare.estimate import round_to_total, simplex_level


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


@given(tables, st.integers(1, 5000))
def test_the_level_is_the_floor_of_the_textbooks_threshold(values, total):
    t = threshold_by_sorting(values, total)
    assert simplex_level(np.array(values), total) == t.numerator // t.denominator


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


def test_units_left_over_fall_on_every_cell_alike():
    generator = np.random.default_rng(1)
    gains = sum(round_to_total(np.full(10, 5), 53, generator) - 5 for _ in range(20_000))
    # Each cell gains with chance 0.3: ten counts beyond 6.5 sigma have chance 8e-10.
    assert np.abs(gains - 6000).max() < 6.5 * (20_000 * 0.3 * 0.7) ** 0.5


@pytest.mark.parametrize(("values", "total"), [([], 5), ([3], 0), ([3], -2)])
def test_nothing_to_project_is_refused(values, total):
    with pytest.raises(ParameterError, match="needs cells and a positive total"):
        simplex_level(np.array(values, dtype=np.int64), total)
