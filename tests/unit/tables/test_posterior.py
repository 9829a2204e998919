"""Blocks by empirical Bayes: they add up, none is negative or padding, and sparse ones are nearer to the truth."""

import numpy as np
import pytest

import sudare as sd
from sudare.tables.posterior import Posterior, Surroundings
from sudare.tables.tree_level import Level


def noisy_level(truth: np.ndarray, scale: float, gaussian: bool) -> Level:
    domain = sd.Domain(cell=sd.Line(truth.size))
    level = Level.of(domain, np.arange(len(truth)), 4, 0)
    rng = np.random.default_rng(5)
    noise = rng.normal(0, 2**0.5 * scale, truth.shape) if gaussian else rng.laplace(0, scale, truth.shape)
    level.learn(level.logical, (truth + noise)[level.logical], 2 * scale**2)
    return level


def posterior_rows(level: Level, totals: np.ndarray, *, gaussian: bool) -> np.ndarray:
    """All nodes at once, with priors by their people."""
    around = np.broadcast_to(totals[:, None], level.noisy.shape)
    ((piece, value),) = level.rows(0.0)
    return Posterior.of(level, around, gaussian=gaussian).rows(level, piece, value, totals)


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


@pytest.mark.parametrize("shape", [(32, 32), (20, 27), (300,)])
def test_neighbours_are_those_on_the_map_or_the_line(shape: tuple[int, ...]) -> None:
    """Against a sum over the real neighbours of every cell; padding counts nowhere."""
    counts = np.random.default_rng(4).integers(0, 9, shape)
    table = sd.CountTable.from_array(counts)
    bits = table.domain.bits
    dense = np.zeros(1 << bits)
    dense[table.index] = table.count
    surroundings, totals = Surroundings(table.domain), np.array([counts.sum()])
    top = Level.of(table.domain, np.zeros(1, dtype=np.int64), bits - 4, 4)
    top.learn(top.logical, dense.reshape(-1, 16).sum(axis=1)[top.logical[0]].astype(np.int64), 1.0)
    surroundings.means(top, totals)
    surroundings.placed(top, dense.reshape(-1, 16).sum(axis=1)[None].astype(np.int64))
    split = np.flatnonzero(top.logical[0])[::2]
    level = Level.of(table.domain, split, 4, 0)
    level.learn(level.logical, dense.reshape(-1, 16)[split][level.logical].astype(np.int64), 1.0)
    found = surroundings.means(level, dense.reshape(-1, 16)[split].sum(axis=1))
    known = np.zeros(1 << bits)
    sizes = table.domain.block_sizes(np.arange(1 << (bits - 4)), 4)
    logical = table.domain.block_sizes(np.arange(1 << bits), 0) > 0
    known[logical] = np.repeat(dense.reshape(-1, 16).sum(axis=1) / np.maximum(sizes, 1), 16)[logical]
    known.reshape(-1, 16)[split] = dense.reshape(-1, 16)[split]
    places = np.column_stack(
        [np.broadcast_to(axis, 1 << bits) for axis in table.domain.coordinates(np.arange(1 << bits))]
    )
    for node, row in zip(split, found, strict=True):
        for child, mean in enumerate(row):
            number = node * 16 + child
            apart = np.abs(places - places[number]).max(axis=1)
            near = logical & (apart > 0) & (apart <= (1 if len(shape) == 2 else 2))
            if logical[number]:
                assert mean == pytest.approx(known[near].mean() if near.any() else 0.0)


def test_blocks_that_are_split_further_keep_what_their_children_told() -> None:
    truth = sparse(60)
    level = noisy_level(truth, 20.0, gaussian=False)
    level.goes[:, 0] = True
    level.joined = np.array([truth[:, 0] + 0.5, np.full(60, 1e-6)])
    made = posterior_rows(level, truth.sum(axis=1), gaussian=False)
    np.testing.assert_allclose(made.sum(axis=1), truth.sum(axis=1))
    thick = truth[:, 0] > 0
    assert np.abs(made - truth)[thick, 0].max() < 1


def test_a_level_where_few_end_has_no_posterior() -> None:
    level = noisy_level(sparse(3), 20.0, gaussian=False)
    assert Posterior.of(level, np.zeros(level.noisy.shape), gaussian=False) is None
