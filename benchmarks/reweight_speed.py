"""A private fit of 1e6 private and 1e5 public rows with 200 centres beside its bare kernel matrix products, in one run.

Run: python benchmarks/reweight_speed.py   (goals: under 3 times the bare products, peak memory under 2 GB)
The bare products are what nobody can leave out: the kernel matrix of the private rows and its mean, that of the public
rows and its second moments, in chunks, by NumPy.
"""

from __future__ import annotations

import resource
import sys

import numpy as np

import sudare.reweight as reweight
from timing import best

PRIVATE, PUBLIC, CENTRES, COLUMNS, RUNS = 1_000_000, 100_000, 200, 3, 3
GOAL, MEMORY = 3.0, 2.0
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


def main() -> None:
    generator = np.random.default_rng(1)
    private = generator.normal(0.3, 0.8, (PRIVATE, COLUMNS))
    public = generator.normal(0.0, 1.0, (PUBLIC, COLUMNS))
    bounds = [(-6.0, 6.0)] * COLUMNS
    products = best(lambda: bare(private, public, public[:CENTRES], 1.5), RUNS)
    print(f"{PRIVATE:,} private rows, {PUBLIC:,} public rows, {COLUMNS} columns; bare products {products:.2f} s")
    fits = {
        "kernels, tilt": {"basis": "kernel", "number": CENTRES},
        "kernels, uLSIF": {"estimator": "ulsif", "number": CENTRES, "regularisation": 0.1},
        "kernels, Gaussian-process noise, tilt": {"basis": "kernel", "number": CENTRES, "delta": 1e-6},
        "hats (the default), tilt": {},
    }
    worst = 0.0
    for name, options in fits.items():
        seconds = best(lambda options=options: reweight.fit(private, public, 1.0, bounds=bounds, **options), RUNS)
        worst = max(worst, seconds / products)
        print(f"{name:38s} {seconds:6.2f} s: {seconds / products:.2f} times the bare products")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"peak memory {peak:.2f} GB")
    sys.exit(0 if worst < GOAL and peak < MEMORY else 1)


if __name__ == "__main__":
    main()
