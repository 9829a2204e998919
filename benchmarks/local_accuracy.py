"""How exact estimates from local reports are, by encoding and estimate, and how often their intervals hold.

People have the shape of a city (shares fall as rank**-0.8). L1 is sum |estimated - true share|; "holds" is the share of
true counts inside intervals of 90 %, among values with people, and among the rarest half of them.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from part import run_part
from row import Row
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


def counting(runs: int, cases: tuple[tuple[int, int, float], ...]) -> Iterator[Row]:
    for size, users, epsilon in cases:
        share = 1 / np.arange(1, size + 1) ** 0.8
        true = np.random.default_rng(1).multinomial(users, share / share.sum())
        values = np.repeat(np.arange(size), true)
        rare = true <= np.median(true)
        chosen = choose(size=size, epsilon=epsilon, users=users).encoding.name
        for kind in KINDS:
            found: dict[str, list[tuple[float, float, float]]] = {}
            for run in range(runs):
                reports = kind(size=size, epsilon=epsilon).randomize(values, seed=run)
                for method in ("mle", "simplex", "em"):
                    made = estimate(reports, method)
                    inside = (made.low <= true) & (true <= made.high)
                    off = np.abs(made.counts - true).sum() / users
                    found.setdefault(method, []).append((off, inside.mean(), inside[rare].mean()))
            case = f"{size} values, {users:,} users, epsilon {epsilon:g}"
            for method, runs_of_it in found.items():
                off, holds, rarely = np.mean(runs_of_it, axis=0)
                note = f"90 % intervals hold {holds:.1%}, of rare values {rarely:.1%}"
                note += "; chosen by `choose`" if kind.name == chosen else ""
                yield Row(f"{kind.name}, {method}", float(off), "L1 of shares", note=note, case=case)


def numbers(runs: int, cells_of: tuple[int, ...]) -> Iterator[Row]:
    generator = np.random.default_rng(1)
    humps = np.concatenate([generator.normal(0.3, 0.08, 60_000), generator.normal(0.7, 0.05, 40_000)])
    shapes = {"two humps": np.clip(humps, 0, 1), "beta(2, 5)": generator.beta(2, 5, 100_000)}
    for name, values in shapes.items():
        for cells in cells_of:
            for epsilon in (1.0, 3.0):
                true = np.histogram(values, cells, (0, 1))[0]
                for method in ("em", "ems"):
                    found = []
                    for run in range(runs):
                        made = estimate(SquareWave(size=cells, epsilon=epsilon).randomize(values, seed=run), method)
                        distance = np.abs(np.cumsum(made.counts - true)).sum() / len(values) / cells
                        found.append((1000 * distance, ((made.low <= true) & (true <= made.high)).mean()))
                    distance, holds = np.mean(found, axis=0)
                    case = f"numbers by square wave: {name}, {cells} cells, epsilon {epsilon:g}"
                    note = f"90 % intervals hold {holds:.1%}"
                    yield Row(method, float(distance), "W1 on [0, 1] x 1,000", note=note, case=case)


def rows(quick: bool) -> Iterator[Row]:
    """Counts, then numbers."""
    yield from counting(2 if quick else 5, CASES[:1] if quick else CASES)
    yield from numbers(2, (32,) if quick else (32, 256))


if __name__ == "__main__":
    run_part(rows)
