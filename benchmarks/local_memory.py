"""Ten million reports of 1,024 values: time and peak memory of tallying and of EM.

Run: python benchmarks/local_memory.py [--reports 10000000] [--em]   (goal: under 4 GB)
Reports are made and tallied in chunks, as a collector sees them; with --em they are kept packed, one bit per value.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from collections.abc import Iterator

import numpy as np

from sudare.local import Reports, SymmetricUnary, Tally, estimate

SIZE, EPSILON, CHUNK, GOAL = 1024, 1.0, 250_000, 4.0


def chunks(reports: int, true: np.ndarray) -> Iterator[Reports]:
    """Reports of people with the shape of a city; ``true`` counts them."""
    generator = np.random.default_rng(1)
    share = 1 / np.arange(1, SIZE + 1) ** 0.8
    for start in range(0, reports, CHUNK):
        values = generator.choice(SIZE, min(CHUNK, reports - start), p=share / share.sum())
        true += np.bincount(values, minlength=SIZE)
        yield SymmetricUnary(size=SIZE, epsilon=EPSILON).randomize(values)


def peak() -> float:
    """Gigabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reports", type=int, default=10_000_000)
    parser.add_argument("--em", action="store_true")
    options = parser.parse_args()
    true = np.zeros(SIZE, dtype=np.int64)
    start = time.perf_counter()
    if options.em:
        made = estimate(chunks(options.reports, true), "em")
    else:
        tally = Tally(SymmetricUnary(size=SIZE, epsilon=EPSILON))
        for part in chunks(options.reports, true):
            tally.add(part)
        made = estimate(tally)
    seconds = time.perf_counter() - start
    error = np.abs(made.counts - true).sum() / true.sum()
    print(
        f"{options.reports:,} reports of {SIZE:,} values by {made.method}: {seconds:.0f} s with making them, "
        f"L1 error {error:.4f}, {made.steps} steps, peak memory {peak():.2f} GB"
    )
    sys.exit(0 if peak() < GOAL else 1)


if __name__ == "__main__":
    main()
