"""The paper's dense estimates against the conditions that define them."""

import numpy as np
import pytest

from sudare.domain import CountTable
from sudare.papers.contest import dc_iteration, float_release, negative_l2, nonnegative_lasso, simplex

NOISY = np.random.default_rng(1).normal(2, 5, 200)


def test_the_projection_is_the_nearest_point_of_the_simplex():
    nearest = simplex(NOISY, 150)
    assert nearest.sum() == pytest.approx(150)
    assert nearest.min() >= 0
    # Karush-Kuhn-Tucker: one multiplier where positive, a larger one where 0.
    multiplier = NOISY - nearest
    active = nearest > 0
    assert np.ptp(multiplier[active]) < 1e-9
    assert (multiplier[~active] <= multiplier[active].max() + 1e-9).all()


def test_negative_l2_minimises_its_objective_among_neighbours():
    strength, total = 0.2, 150
    best = negative_l2(NOISY, total, strength)

    def objective(b):
        return ((NOISY - b) ** 2).sum() - strength * (b**2).sum()

    rng = np.random.default_rng(2)
    for _ in range(500):
        other = simplex(best + rng.normal(0, rng.choice([0.01, 1]), 200), total)
        assert objective(other) >= objective(best) - 1e-9


@pytest.mark.parametrize("strength", [0.05, 0.5])
def test_the_dc_iteration_ends_at_the_closed_form(strength):
    """gamma = 1 - lambda, and not the printed 1 - n lambda (errata N1)."""
    found, _ = dc_iteration(NOISY, 150, strength)
    assert found == pytest.approx(negative_l2(NOISY, 150, strength), abs=1e-6)
    assert found != pytest.approx(simplex(NOISY / (1 - 2 * strength / 3), 150), abs=1e-3)


def test_the_lasso_is_scaled_to_the_total_and_clips_at_strength_0():
    assert nonnegative_lasso(NOISY, 150, 6).sum() == pytest.approx(150)
    clipped = nonnegative_lasso(NOISY, 150, 0)
    assert (clipped > 0).sum() == (NOISY > 0).sum()
    assert np.corrcoef(clipped, np.maximum(NOISY, 0))[0, 1] == pytest.approx(1)


def test_a_float_release_is_whole_keeps_the_total_and_repeats():
    table = CountTable.from_array(np.random.default_rng(3).integers(0, 50, (8, 8)))
    one, again, other = (float_release(table, simplex, 0.0, 0.5, seed) for seed in (1, 1, 2))
    assert one == again != other
    assert one.count.dtype == np.int64
    assert one.total == table.total
    exact = float_release(table, simplex, 0.0, 1e6, 1)
    assert np.array_equal(exact.to_array(), table.to_array())
