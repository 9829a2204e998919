"""Prefixes, ranges and cells of lines of 4,096 counts (1e3 to 1e7 records): the default method beside published ones.

The rivals of `rivals.py`: DAWA with GreedyH (made for prefixes, and made for ranges), HB, PrivTree, AHP, MWEM (30
sweeps a round, on the 2,000 ranges that are asked), and noise per cell. Four runs each, on the four lines that
nothing was tuned on (`held_out.py`, opened here for the second time); ``--tuning`` takes the other four. Goals, on
geometric average over the lines, at every scale: prefixes and ranges ahead of DAWA, cells within 5 % of it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np

import rivals
from held_out import LINES, line, sampled
from part import run_part
from rectangles import tree
from row import Row

EPSILON, SCALES = 0.1, (10**3, 10**4, 10**5, 10**6, 10**7)
ASKED = ("prefixes", "ranges", "cells")
Array = np.ndarray


def noise_per_cell(counts: Array, epsilon: float, rng: np.random.Generator) -> Array:
    return counts + rng.laplace(0, 1 / epsilon, counts.shape)


def errors(counts: Array, runs: int, low: Array, high: Array) -> dict[str, Array]:
    """By method: root mean square errors of `ASKED`."""
    costs = rivals.deviations(counts)
    methods: dict[str, rivals.Rival] = {
        "Tree": tree,
        "DAWA, prefixes": lambda *asked: rivals.dawa(asked[0], costs, *asked[1:], prefixes=True),
        "DAWA, ranges": lambda *asked: rivals.dawa(asked[0], costs, *asked[1:], prefixes=False),
        "HB": rivals.hb,
        "PrivTree": rivals.privtree,
        "AHP": rivals.ahp,
        "MWEM": lambda *asked: rivals.mwem(*asked, low, high),
        "noise per cell": noise_per_cell,
    }
    rng, found = np.random.default_rng(11), {}
    for label, method in methods.items():
        squares = []
        for _ in range(runs if label != "MWEM" else 1):
            apart = method(counts, EPSILON, rng) - counts
            before = np.append(0, np.cumsum(apart))
            squares.append([(before[1:] ** 2).mean(), ((before[high] - before[low]) ** 2).mean(), (apart**2).mean()])
        found[label] = np.sqrt(np.mean(squares, axis=0))
    return found


def rows(quick: bool, part: str = "held out") -> Iterator[Row]:
    """By scale, on geometric average: every rival over the tree; which of them is ahead on single lines."""
    low, high = np.sort(np.random.default_rng(1).integers(0, 4097, (2, 2000)), axis=0)
    for size in SCALES:
        found = {
            name: errors(sampled(line(name), size).to_array(), 1 if quick else 4, low, high) for name in LINES[part]
        }
        for place, what in enumerate(ASKED):
            for label in next(iter(found.values())):
                ratios = {name: float(own[label][place] / own["Tree"][place]) for name, own in found.items()}
                better = ", ".join(f"{name} {ratio:.2f}" for name, ratio in ratios.items() if ratio < 1)
                goal = {"at_least": 1 / 1.05 if what == "cells" else 1.0} if label.startswith("DAWA") else {}
                mean = float(np.exp(np.mean(np.log(list(ratios.values())))))
                case, note = f"{what}, {part} lines, {size:.0e} records", f"ahead on {better}" if better else ""
                if label != "Tree":
                    yield Row(label, mean, "times Tree's RMSE", note=note, case=case, **goal)


if __name__ == "__main__":
    if "--tuning" in sys.argv:
        for row in rows(quick=False, part="tuning"):
            print(f"{row.case:40} {row.name:16} {row.value:.3f} {row.note}", flush=True)
    else:
        run_part(rows)
