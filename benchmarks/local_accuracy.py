"""How exact estimates from local reports are, by encoding and estimate, and how often their intervals hold.

Run: python benchmarks/local_accuracy.py [--runs 20]
People have the shape of a city (shares fall as rank**-0.8). L1 is sum |estimated - true share|; "holds" is the share of
true counts inside intervals of 90 %, among values with people, and among the rarest half of them.
"""

from __future__ import annotations

import argparse

import numpy as np

from sudare.local import (
    Encoding,
    HadamardResponse,
    LocalHashing,
    OptimisedUnary,
    RandomisedResponse,
    SquareWave,
    SubsetSelection,
    SymmetricUnary,
    choose,
    estimate,
)

KINDS: tuple[type[Encoding], ...] = (
    SymmetricUnary,
    OptimisedUnary,
    SubsetSelection,
    LocalHashing,
    HadamardResponse,
    RandomisedResponse,
)
CASES = ((23, 100_000, 1.0), (23, 100_000, 3.0), (256, 100_000, 1.0), (256, 100_000, 3.0))


def counting(runs: int) -> None:
    print(
        f"{'values':>6} {'reports':>8} {'epsilon':>7} {'encoding':20} {'estimate':9} {'L1':>7} {'holds':>6} {'rare':>6}"
    )
    for size, users, epsilon in CASES:
        share = 1 / np.arange(1, size + 1) ** 0.8
        true = np.random.default_rng(1).multinomial(users, share / share.sum())
        values = np.repeat(np.arange(size), true)
        rare = true <= np.median(true)
        for kind in KINDS:
            found: dict[str, list[tuple[float, float, float]]] = {}
            for run in range(runs):
                reports = kind(size=size, epsilon=epsilon).randomize(values, seed=run)
                for method in ("mle", "simplex", "em"):
                    made = estimate(reports, method)
                    inside = (made.low <= true) & (true <= made.high)
                    off = np.abs(made.counts - true).sum() / users
                    found.setdefault(method, []).append((off, inside.mean(), inside[rare].mean()))
            for method, rows in found.items():
                off, holds, rarely = np.mean(rows, axis=0)
                case = f"{size:>6} {users:>8,} {epsilon:>7g} {kind.name:20} {method:9}"
                print(f"{case} {off:7.4f} {holds:6.3f} {rarely:6.3f}", flush=True)
        print("chosen:", choose(size=size, epsilon=epsilon, users=users), "\n")


def numbers(runs: int) -> None:
    generator = np.random.default_rng(1)
    humps = np.concatenate([generator.normal(0.3, 0.08, 60_000), generator.normal(0.7, 0.05, 40_000)])
    shapes = {"two humps": np.clip(humps, 0, 1), "beta(2, 5)": generator.beta(2, 5, 100_000)}
    print("Numbers: earth mover's distance on [0, 1] times 1,000, and how often intervals hold")
    print(f"{'shape':12} {'cells':>5} {'epsilon':>7} {'estimate':9} {'distance':>8} {'holds':>6}")
    for name, values in shapes.items():
        for cells, epsilon in ((32, 1.0), (256, 1.0), (32, 3.0), (256, 3.0)):
            true = np.histogram(values, cells, (0, 1))[0]
            for method in ("em", "ems"):
                rows = []
                for run in range(max(runs // 4, 2)):
                    made = estimate(SquareWave(size=cells, epsilon=epsilon).randomize(values, seed=run), method)
                    distance = np.abs(np.cumsum(made.counts - true)).sum() / len(values) / cells
                    rows.append((1000 * distance, ((made.low <= true) & (true <= made.high)).mean()))
                distance, holds = np.mean(rows, axis=0)
                print(f"{name:12} {cells:>5} {epsilon:>7g} {method:9} {distance:8.2f} {holds:6.3f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20)
    runs = parser.parse_args().runs
    counting(runs)
    numbers(runs)


if __name__ == "__main__":
    main()
