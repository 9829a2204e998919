"""`Simplex` and `NegativeL2` on 4096 x 4096 cells of Japan beside dense NumPy (float noise, sort, clip), in one run.

Run: python benchmarks/simplex_speed.py   (goal: each at least 15 times faster)
The census is read from the folder SUDARE_DATA or ../shared/data; elsewhere a synthetic table of the same size
and density stands in, and the output says so.
"""

from __future__ import annotations

import resource
import sys

import numpy as np

import sudare as sd
from sudare.papers.census import JAPAN, census_window
from sudare.tables.negative_l2 import NegativeL2
from timing import best

EPSILON, RUNS, GOAL = 0.1, 5, 15
STRENGTH = 0.01


def dense(counts: np.ndarray, total: int, rng: np.random.Generator, strength: float) -> np.ndarray:
    noisy = (counts + rng.laplace(0, 1 / EPSILON, counts.shape)) / (1 - strength)
    ordered = np.sort(noisy)[::-1]
    threshold = (np.cumsum(ordered) - total) / np.arange(1, len(ordered) + 1)
    return np.clip(noisy - threshold[np.flatnonzero(ordered > threshold)[-1]], 0, None)


def main() -> None:
    table, what = census_window(JAPAN, 125_000_000, 0.0275)
    print(f"{what}: {table.domain.size:,} cells, {len(table):,} populated")
    methods = {
        "Simplex": (sd.Simplex(), 0.0),
        f"NegativeL2({STRENGTH})": (NegativeL2(STRENGTH), STRENGTH),
        'NegativeL2("auto")': (NegativeL2(), STRENGTH),
    }
    ours = {
        name: best(lambda method=method: sd.release(table, method, epsilon=EPSILON, total="public"), RUNS)
        for name, (method, _) in methods.items()
    }
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    counts, rng = table.to_array().ravel().astype(float), np.random.default_rng(1)
    theirs = {
        strength: best(lambda strength=strength: dense(counts, table.total, rng, strength), 2)
        for strength in (0.0, STRENGTH)
    }
    ratios = []
    for name, (method, strength) in methods.items():
        made = sd.release(table, method, epsilon=EPSILON, total="public").table
        ratios.append(theirs[strength] / ours[name])
        print(
            f"{name:20s} sudare {ours[name]:.3f} s, dense NumPy {theirs[strength]:.3f} s:"
            f" {ratios[-1]:.1f} times faster; released {len(made):,} cells ({len(made) / table.domain.size:.2%})"
        )
    print(f"peak memory of sudare {peak:.0f} MB")
    sys.exit(0 if min(ratios) >= GOAL else 1)


if __name__ == "__main__":
    main()
