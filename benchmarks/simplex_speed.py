"""`Simplex` on 4096 x 4096 cells of Japan beside the dense NumPy way (float noise, sort, clip), in one run.

Run: python benchmarks/simplex_speed.py   (goal: at least 15 times faster)
The census is read from the folder SUDARE_DATA or ../shared/data; elsewhere a synthetic table of the same size
and density stands in, and the output says so.
"""

from __future__ import annotations

import gzip
import os
import resource
import sys
import time
from pathlib import Path

import numpy as np

import sudare as sd
from sudare.publish import synthetic_table

ROWS, COLUMNS = (6782, 10878), (4541, 8637)
EPSILON, RUNS = 0.1, 5


def japan() -> tuple[sd.CountTable, str]:
    mesh = sd.Mesh("500m", rows=ROWS, columns=COLUMNS)
    domain = sd.Domain(mesh=mesh)
    folder = Path(os.environ.get("SUDARE_DATA", Path(__file__).parents[2] / "shared" / "data"))
    path = folder / "jp-mesh" / "jp500m_2020.csv.gz"
    if not path.exists():
        return synthetic_table(domain, 125_000_000, seed=1, populated_share=0.0275), "a synthetic stand-in"
    with gzip.open(path, "rt") as file:
        header = file.readline().strip().split(",")
        code, count = np.loadtxt(
            file,
            delimiter=",",
            usecols=(0, header.index("pop")),
            dtype=np.int64,
            unpack=True,
        )
    index, inside = domain.locate({"mesh": code})
    return sd.CountTable(domain, index[inside], count[inside]), "the census of 2020"


def dense(counts: np.ndarray, total: int, rng: np.random.Generator) -> np.ndarray:
    noisy = counts + rng.laplace(0, 1 / EPSILON, counts.shape)
    ordered = np.sort(noisy)[::-1]
    threshold = (np.cumsum(ordered) - total) / np.arange(1, len(ordered) + 1)
    return np.clip(noisy - threshold[np.flatnonzero(ordered > threshold)[-1]], 0, None)


def best(work, runs: int) -> float:
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    table, what = japan()
    print(f"{what}: {table.domain.size:,} cells, {len(table):,} populated")
    ours = best(lambda: sd.release(table, sd.Simplex(), epsilon=EPSILON, total="public"), RUNS)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    made = sd.release(table, sd.Simplex(), epsilon=EPSILON, total="public").table
    counts, rng = table.to_array().ravel().astype(float), np.random.default_rng(1)
    theirs = best(lambda: dense(counts, table.total, rng), 2)
    print(f"released {len(made):,} cells ({len(made) / table.domain.size:.2%})")
    print(f"sudare {ours:.3f} s, dense NumPy {theirs:.3f} s: {theirs / ours:.1f} times faster; peak {peak:.0f} MB")
    sys.exit(0 if theirs / ours >= 15 else 1)


if __name__ == "__main__":
    main()
