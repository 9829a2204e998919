"""Cells by empirical Bayes: they add up, none is negative or padding, and sparse cells are nearer to the truth."""

import numpy as np
import pytest

import sudare as sd
from sudare.tables.posterior import Posterior
from sudare.tables.tree_level import Level


def noisy_level(truth: np.ndarray, scale: float, gaussian: bool) -> Level:
    domain = sd.Domain(cell=sd.Line(truth.size))
    level = Level.of(domain, np.arange(len(truth)), 4, 0)
    rng = np.random.default_rng(5)
    noise = rng.normal(0, 2**0.5 * scale, truth.shape) if gaussian else rng.laplace(0, scale, truth.shape)
    level.learn(level.logical, (truth + noise)[level.logical], 2 * scale**2)
    return level


def posterior_rows(level: Level, totals: np.ndarray, *, gaussian: bool) -> np.ndarray:
    return Posterior.of(level, totals, gaussian=gaussian).rows(level, slice(None), totals)


def sparse(nodes: int) -> np.ndarray:
    rng = np.random.default_rng(2)
    return np.where(rng.random((nodes, 16)) < 0.15, rng.integers(100, 200, (nodes, 16)), 0)


@pytest.mark.parametrize("gaussian", [False, True])
@pytest.mark.parametrize("nodes", [20, 400])
def test_sparse_cells_are_nearer_than_by_the_projection(gaussian: bool, nodes: int) -> None:
    truth = sparse(nodes)
    level, totals = noisy_level(truth, 20.0, gaussian), truth.sum(axis=1)
    made = posterior_rows(level, totals, gaussian=gaussian)
    np.testing.assert_allclose(made.sum(axis=1), totals, rtol=1e-9, atol=1e-9)
    assert made.min() >= 0
    projected = level.project(totals.astype(np.float64))
    assert np.square(made - truth).sum() < 0.9 * np.square(projected - truth).sum()


def test_padding_and_nodes_without_people_get_nobody() -> None:
    truth = sparse(40)
    level = noisy_level(truth, 20.0, gaussian=False)
    level.logical = np.tile(np.arange(16) < 12, (len(truth), 1))
    level.noisy[:, 12:] = 0
    totals = truth[:, :12].sum(axis=1)
    totals[:3] = 0
    made = posterior_rows(level, totals, gaussian=False)
    assert not made[:, 12:].any()
    assert not made[:3].any()
    np.testing.assert_allclose(made.sum(axis=1), totals, rtol=1e-9, atol=1e-9)


def test_a_node_whose_posterior_is_nobody_keeps_its_people() -> None:
    level = noisy_level(np.zeros((40, 16), dtype=np.int64), 20.0, gaussian=False)
    made = posterior_rows(level, np.full(40, 7), gaussian=False)
    np.testing.assert_allclose(made.sum(axis=1), 7)


def test_small_noise_leaves_whole_numbers() -> None:
    """Far above the noise nothing is drawn anywhere."""
    truth = np.random.default_rng(3).integers(50, 90, (30, 16))
    level = noisy_level(truth, 0.2, gaussian=False)
    made = posterior_rows(level, truth.sum(axis=1), gaussian=False)
    assert np.abs(made - truth).max() < 4
