"""The data sets of the accuracy benchmarks: real ones where they are, else synthetic ones of the same size."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import sudare as sd
from sudare.tables.synthetic import synthetic_table

SAMPLES = (10**4, 10**6)


def data_folder() -> Path:
    return Path(os.environ.get("SUDARE_DATA", Path(__file__).parents[2] / "shared" / "data"))


def real() -> bool:
    """Whether the census and the grids are at hand."""
    folder = data_folder()
    return (folder / "jp-mesh" / "jp500m_2020.csv.gz").exists() and any((folder / "dpbench-2d").glob("*.npy"))


def census_window() -> sd.CountTable:
    """512 x 512 cells of 500 m around Tokyo in the census of 2020."""
    domain = sd.Domain(mesh=sd.Mesh("500m", rows=(8426, 8938), columns=(6044, 6556)))
    path = data_folder() / "jp-mesh" / "jp500m_2020.csv.gz"
    if path.exists():
        return sd.read(path).table(domain, columns={"mesh": "mesh500m"}, count="pop", outside="drop")
    print("the census is not at hand: synthetic tables stand in for all data sets")
    return synthetic_table(domain, 48_070_008, populated_share=0.39)


def grids() -> Iterator[tuple[str, np.ndarray]]:
    """Name and counts of the 256 x 256 grids."""
    paths = sorted((data_folder() / "dpbench-2d").glob("*.npy"))
    for path in paths:
        yield path.stem.removesuffix("_256_256"), np.load(path)
    if not paths:
        for seed in range(6):
            table = synthetic_table(
                sd.Domain(cell=sd.Grid(256, 256)), 500_000, seed=seed, populated_share=0.02 * 2**seed
            )
            yield f"synthetic {seed}", table.to_array()


def data_sets() -> Iterator[tuple[str, sd.CountTable, bool]]:
    """Name, table, and whether it is the census: the window, then each grid sampled to 1e4 and to 1e6 records."""
    yield "window", census_window(), True
    rng = np.random.default_rng(12345)
    for name, counts in grids():
        share = counts.ravel() / counts.sum()
        for size in SAMPLES:
            sample = rng.multinomial(size, share).reshape(counts.shape)
            yield f"{name} {size:.0e}", sd.CountTable.from_array(sample), False
