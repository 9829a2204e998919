import sys

import numpy as np
import pytest

from sudare.reweight.estimators import directions, solve
from sudare.reweight.rows import FeatureMoments

GENERATOR = np.random.default_rng(6)


def problem(rows=400, size=5):
    features = GENERATOR.normal(size=(rows, size))
    tilted = np.exp(features @ np.array([0.8, -0.5, 0.0, 0.3, 0.0]))
    return features, (tilted / tilted.sum()) @ features


def test_without_a_penalty_the_weighted_means_are_the_target():
    features, target = problem()
    _, shares = solve(target, features, 1e-12 * np.eye(5))
    assert shares @ features == pytest.approx(target, abs=1e-6)
    assert shares.sum() == pytest.approx(1)
    assert (shares > 0).all()


def test_the_solution_is_stationary():
    features, target = problem()
    penalty = np.diag([0.1, 0.2, 0.3, 0.4, 0.5])
    u, shares = solve(target, features, penalty)
    assert target - shares @ features - penalty @ u == pytest.approx(np.zeros(5), abs=1e-6)


def test_many_rows_have_the_solution_of_plain_newton(monkeypatch):
    features, target = problem(50_000)
    u, _ = solve(target, features, 0.01 * np.eye(5))
    monkeypatch.setattr(sys.modules["sudare.reweight.estimators"], "_ENOUGH", 10**9)
    assert u == pytest.approx(solve(target, features, 0.01 * np.eye(5))[0], abs=1e-6)


@pytest.mark.parametrize("far", [3.0, 50.0, 1e6])
def test_a_target_outside_the_reach_of_the_rows_does_not_diverge(far):
    features, _ = problem()
    u, shares = solve(np.full(5, far), features, 0.01 * np.eye(5))
    assert np.isfinite(u).all()
    assert np.isfinite(shares).all()
    assert shares.sum() == pytest.approx(1)


def moments(features):
    return FeatureMoments(features.mean(axis=0), features.T @ features / len(features), len(features))


def test_more_noise_leaves_fewer_directions_and_less_tilt():
    features, target = problem()
    sizes, lengths = [], []
    for variance in (0.0, 0.01, 1.0, 1e6):
        matrix, penalty = directions(moments(features), np.eye(5), variance, 1000.0)
        sizes.append(matrix.shape[1])
        u, _ = solve(target @ matrix, features @ matrix, penalty)
        lengths.append(np.linalg.norm(matrix @ u))
    assert sizes == sorted(sizes, reverse=True)
    assert lengths == sorted(lengths, reverse=True)
    assert sizes[-1] == 0
    assert lengths[-1] == 0


def test_near_zero_the_estimate_is_the_best_linear_one():
    """(J + Q J^-1)^-1 h, by Bayes' rule for a normal prior and noise, where the tilt is small."""
    features, _ = problem(2000)
    made = moments(features)
    matrix, penalty = directions(made, np.eye(5), 0.3, 1e12)
    target = 1e-4 * np.arange(1, 6) + made.mean
    u, _ = solve(target @ matrix, features @ matrix, penalty)
    spread = made.covariance
    noise = 0.3 * np.eye(5) + 2 * spread / 2000
    best = np.linalg.solve(
        spread @ np.linalg.solve(noise, spread) + np.eye(5), spread @ np.linalg.solve(noise, target - made.mean)
    )
    assert matrix @ u == pytest.approx(best, rel=0.02)
