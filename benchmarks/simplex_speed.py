"""`Simplex` and `NegativeL2` on 4096 x 4096 cells of Japan beside dense NumPy (float noise, sort, clip), in one run.

Goal: each at least 15 times as fast. The census is read from the folder SUDARE_DATA or ../shared/data; elsewhere a
synthetic table of the same size and density stands in, and the rows say so.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import sudare as sd
from memory import peak_megabytes
from part import run_part
from row import Row
from sudare.papers.data import JAPAN, census_window
from sudare.tables.negative_l2 import NegativeL2
from timing import core_seconds

EPSILON, RUNS, GOAL = 0.1, 5, 15
STRENGTH = 0.01


def dense(counts: np.ndarray, total: int, rng: np.random.Generator, strength: float) -> np.ndarray:
    noisy = (counts + rng.laplace(0, 1 / EPSILON, counts.shape)) / (1 - strength)
    ordered = np.sort(noisy)[::-1]
    threshold = (np.cumsum(ordered) - total) / np.arange(1, len(ordered) + 1)
    return np.clip(noisy - threshold[np.flatnonzero(ordered > threshold)[-1]], 0, None)


def rows(quick: bool) -> Iterator[Row]:
    """Seconds of a release by method, then of dense NumPy."""
    table, what = census_window(JAPAN, 125_000_000, 0.0275)
    methods = {
        "Simplex": (sd.Simplex(), 0.0),
        f"NegativeL2({STRENGTH})": (NegativeL2(STRENGTH), STRENGTH),
        'NegativeL2("auto")': (NegativeL2(), STRENGTH),
    }
    found = {
        name: core_seconds(lambda method=method: sd.release(table, method, epsilon=EPSILON, total="public"), RUNS)
        for name, (method, _) in methods.items()
    }
    peak = peak_megabytes()
    counts, rng = table.to_array().ravel().astype(float), np.random.default_rng(1)
    theirs = {
        strength: core_seconds(lambda strength=strength: dense(counts, table.total, rng, strength), 1 if quick else 2)
        for strength in (0.0, STRENGTH)
    }
    for name, (method, strength) in methods.items():
        case = f"{name}, {table.domain.size:,} cells, {len(table):,} populated"
        made = sd.release(table, method, epsilon=EPSILON, total="public").table
        note = f"{what}; releases {len(made) / table.domain.size:.2%} of the cells"
        yield Row("Sudare", found[name], "CPU s", note=note, case=case)
        yield Row("dense NumPy, float noise", theirs[strength], "CPU s", "Sudare", "not private", case)
        yield Row("times as fast", theirs[strength] / found[name], "times", case=case, at_least=GOAL)
    if peak is not None:
        yield Row("peak memory of Sudare", peak, "MB", case="memory, with reading the table")


if __name__ == "__main__":
    run_part(rows)
