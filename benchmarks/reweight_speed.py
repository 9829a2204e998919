"""A private fit of 1e6 private and 1e5 public rows with 200 centres beside its bare kernel matrix products, in one run.

Goals: under 3 times the bare products, peak memory under 2 GB. The bare products are what nobody can leave out: the
kernel matrix of the private rows and its mean, that of the public rows and its second moments, in chunks, by NumPy.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import sudare.reweight as reweight
from memory import peak_megabytes
from part import run_part
from row import Row
from sudare.reweight.rows import guarded
from sudare.reweight.space import Space
from timing import core_seconds

PRIVATE, PUBLIC, CENTRES, COLUMNS = 1_000_000, 100_000, 200, 3
GOAL, MEMORY = 3.0, 2000.0
CHUNK = 2048


def kernel(points: np.ndarray, centres: np.ndarray, width: float) -> np.ndarray:
    square = points @ (-2 * centres.T)
    square += (points**2).sum(axis=1)[:, None]
    square += (centres**2).sum(axis=1)
    square *= -0.5 / width**2
    return np.exp(square, out=square)


def bare(private: np.ndarray, public: np.ndarray, centres: np.ndarray, width: float) -> tuple[np.ndarray, np.ndarray]:
    mean, second = np.zeros(len(centres)), np.zeros((len(centres), len(centres)))
    for first in range(0, len(private), CHUNK):
        part = private[first : first + CHUNK]
        mean += np.ones(len(part)) @ kernel(part, centres, width)
    for first in range(0, len(public), CHUNK):
        values = kernel(public[first : first + CHUNK], centres, width)
        second += values.T @ values
    return mean / len(private), second / len(public)


def rows(quick: bool) -> Iterator[Row]:
    """The bare products, then fits of all kinds."""
    people, public_rows, runs = (100_000, 10_000, 1) if quick else (PRIVATE, PUBLIC, 3)
    generator = np.random.default_rng(1)
    private = generator.normal(0.3, 0.8, (people, COLUMNS))
    public = generator.normal(0.0, 1.0, (public_rows, COLUMNS))
    bounds = [(-6.0, 6.0)] * COLUMNS
    products = core_seconds(lambda: bare(private, public, public[:CENTRES], 1.5), runs)
    case = f"{people:,} private rows, {public_rows:,} public rows, {COLUMNS} columns, {CENTRES} centres"
    yield Row("bare kernel products", products, "CPU s", case=case)
    fits = {
        "kernels, tilt": {"basis": "kernel", "number": CENTRES},
        "kernels, uLSIF": {"estimator": "ulsif", "number": CENTRES, "regularisation": 0.1},
        "kernels, Gaussian-process noise, tilt": {"basis": "kernel", "number": CENTRES, "delta": 1e-6},
        "hats (the default), tilt": {},
    }
    compared = core_seconds(lambda: guarded(private, public, Space.declare(bounds), None, False, False), runs)
    yield Row("of each fit: are public rows private ones?", compared, "CPU s", "bare kernel products", case=case)
    worst = 0.0
    for name, options in fits.items():
        seconds = core_seconds(
            lambda options=options: reweight.fit(private, public, 1.0, bounds=bounds, **options), runs
        )
        worst = max(worst, seconds / products)
        yield Row(name, seconds, "CPU s", "bare kernel products", case=case)
    yield Row("slowest over the products", worst, "times", case=case, at_most=GOAL)
    peak = peak_megabytes()
    if peak is not None:
        yield Row("peak memory", peak, "MB", case=case, at_most=MEMORY)


if __name__ == "__main__":
    run_part(rows)
