"""Negative l2 drawn sparsely has the law of the dense method, which a few lines of NumPy state."""

from fractions import Fraction

import numpy as np
import pytest

import sudare as sd
from sudare.noise import Source, SparseNoise, discrete_laplace
from sudare.tables.negative_l2 import NegativeL2
from sudare.tables.nonnegative_lasso import NonnegativeLasso
from sudare.tables.risk import Visible
from sudare.tables.strength import Automatic

COUNTS = np.zeros(48, dtype=np.int64)
COUNTS[[3, 10, 11, 40]] = [25, 60, 2, 9]
TOTAL = int(COUNTS.sum())
SCALE, RUNS = Fraction(4), 700
METHODS = {
    "fixed": NegativeL2("0.15"),
    "auto": NegativeL2(),
    "shift": NegativeL2("0.15", fit="shift"),
    "lasso": NonnegativeLasso("9.5"),
}


def simplex_threshold(noisy: np.ndarray, total: float) -> float:
    ordered = np.sort(noisy)[::-1]
    t = (np.cumsum(ordered) - total) / np.arange(1, len(ordered) + 1)
    return t[np.flatnonzero(ordered > t)[-1]]


def dense_threshold(name: str, noisy: np.ndarray) -> float:
    if name == "lasso":
        return min(4.75, noisy.max() - 1)
    if name != "auto":
        return simplex_threshold(noisy, 0.85 * TOTAL)
    lowest = simplex_threshold(noisy, TOTAL)
    level = int(np.floor(lowest + 1e-9))
    seen = np.flatnonzero(noisy > level)
    exact = Fraction(int(noisy[seen].sum()) - TOTAL, len(seen))
    return float(Automatic().choose(Visible(seen, noisy[seen], level, 48, TOTAL, SCALE, exact, "scale")))


def dense_release(name: str, noisy: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    threshold = dense_threshold(name, noisy)
    above = noisy > threshold + 1e-9
    if name == "shift":
        estimate = np.where(above, noisy + (TOTAL - noisy[above].sum()) / above.sum(), 0)
    else:
        estimate = np.where(above, noisy - threshold, 0)
        estimate *= TOTAL / estimate.sum()
    rounded = np.floor(estimate + 1e-9).astype(int)
    order = np.lexsort((rng.random(48), np.round(estimate - rounded, 9)))[::-1]
    rounded[order[: TOTAL - rounded.sum()]] += 1
    return rounded


@pytest.fixture(scope="module")
def dense():
    noise = discrete_laplace(SCALE, Source.from_seed(1), RUNS * 48).reshape(RUNS, 48)
    rng = np.random.default_rng(1)
    return {name: np.array([dense_release(name, COUNTS + one, rng) for one in noise]) for name in METHODS}


def sparse(name):
    table = sd.CountTable.from_array(COUNTS)
    return np.array(
        [
            sd.release(table, METHODS[name], epsilon=1 / SCALE, total="public", seed=seed).table.to_array()
            for seed in range(RUNS)
        ]
    )


@pytest.mark.parametrize("name", METHODS)
def test_sparse_and_dense_agree(agree, dense, name):
    assert agree(sparse(name), dense[name], COUNTS, 4)  # seven tests: false alarm below 1e-6


@pytest.mark.parametrize("name", ["fixed", "auto"])
def test_a_twin_that_forgets_empty_cells_is_caught(agree, dense, name, monkeypatch):
    monkeypatch.setattr(SparseNoise, "_lower", lambda self, level: setattr(self, "_level", level))  # nothing ever fires
    monkeypatch.setattr(SparseNoise, "level_for", lambda self, total: 0)
    assert not agree(sparse(name), dense[name], COUNTS, 4)
