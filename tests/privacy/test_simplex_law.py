"""The sparse simplex method has the law of the dense one, which a few lines of NumPy state."""

from fractions import Fraction

import numpy as np
import pytest

import sudare as sd
from sudare.noise import Source, SparseNoise, discrete_laplace

COUNTS = np.zeros(48, dtype=np.int64)
COUNTS[[3, 10, 11, 40]] = [25, 60, 2, 9]
SCALE, RUNS = Fraction(4), 2000


def dense_release(noisy: np.ndarray, total: int, rng: np.random.Generator) -> np.ndarray:
    ordered = np.sort(noisy)[::-1]
    rho = np.arange(1, len(ordered) + 1)
    t = (np.cumsum(ordered) - total) / rho
    last = np.flatnonzero(ordered > t)[-1]
    exact = np.maximum(noisy - t[last], 0)
    rounded = np.floor(exact + 1e-9).astype(int)
    active = np.flatnonzero(exact > 1e-9)
    rounded[rng.permutation(active)[: total - rounded.sum()]] += 1
    return rounded


@pytest.fixture(scope="module")
def dense():
    rng = np.random.default_rng(1)
    noise = discrete_laplace(SCALE, Source.from_seed(1), RUNS * 48).reshape(RUNS, 48)
    return np.array([dense_release(COUNTS + noise[i], int(COUNTS.sum()), rng) for i in range(RUNS)])


def sparse():
    table = sd.CountTable.from_array(COUNTS)
    return np.array(
        [
            sd.release(table, sd.Simplex(), epsilon=1 / SCALE, total="public", seed=seed).table.to_array()
            for seed in range(RUNS)
        ]
    )


def test_sparse_and_dense_agree(agree, dense):
    assert agree(sparse(), dense, COUNTS, 3)  # seven tests: false alarm below 1e-6


def test_a_twin_that_forgets_empty_cells_is_caught(agree, dense, monkeypatch):
    monkeypatch.setattr(SparseNoise, "_lower", lambda self, level: setattr(self, "_level", level))  # nothing ever fires
    monkeypatch.setattr(SparseNoise, "level_for", lambda self, total: 0)
    assert not agree(sparse(), dense, COUNTS, 3)
