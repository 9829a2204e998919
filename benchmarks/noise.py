"""Throughput of exact noise beside OpenDP's exact noise and NumPy's float noise, in one run.

Run: python benchmarks/noise.py   (goal: at least 200 times OpenDP, within 2 times of NumPy's float Laplace)
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from sudare.noise import Source, discrete_gaussian, discrete_laplace
from timing import best

SCALES = (1, 10, 190)


def nanoseconds(work: Callable[[int], object], size: int, rounds: int = 5) -> float:
    """Best time per draw; the first round, which builds tables, is not counted."""
    work(size)
    return best(lambda: work(size), rounds) / size * 1e9


def opendp_laplace(scale: float) -> Callable[[int], object]:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    mechanism = dp.m.make_laplace(dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int), scale=float(scale))
    return lambda size: mechanism([0] * size)


def main() -> None:
    source, rng = Source.system(), np.random.default_rng(1)
    heads = ("scale", "sudare ns", "gaussian ns", "NumPy ns", "OpenDP ns", "OpenDP/sudare", "sudare/NumPy")
    print(" ".join(f"{head:>13}" for head in heads))
    worst = []
    for scale in SCALES:
        ours = nanoseconds(lambda n, s=scale: discrete_laplace(Fraction(s), source, n), 4_000_000)
        gauss = nanoseconds(lambda n, s=scale: discrete_gaussian(Fraction(s) ** 2, source, n), 1_000_000, 2)
        floats = nanoseconds(lambda n, s=scale: rng.laplace(0, s, n), 4_000_000)
        peer = nanoseconds(opendp_laplace(scale), 20_000, 3)
        worst.append((peer / ours, ours / floats))
        row = (scale, ours, gauss, floats, peer, peer / ours, ours / floats)
        print(" ".join(f"{value:>13.4g}" for value in row))
    times, ratio = min(w[0] for w in worst), max(w[1] for w in worst)
    print(f"at least {times:.0f} times OpenDP; at most {ratio:.2f} times NumPy's float Laplace")
    sys.exit(0 if times >= 200 and ratio <= 2 else 1)


if __name__ == "__main__":
    main()
