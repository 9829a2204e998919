"""Periods of a series: how often intervals of change hold the true change, and what a tree over time would gain.

*Change*: a window of the 2020 census and what might have become of it: each person moves away with probability 0.03,
as many people come in proportion to where people are, and one square of 16 x 16 cells in fifty grows or shrinks by a
fifth. Both are released with independent noise; the interval of `Series.change` should hold the true difference in
87 % or more of the blocks that either release lists. The data are read from SUDARE_DATA or ../shared/data; elsewhere a
synthetic table stands in, and the notes say so.

*Tree over time*: the root mean squared error of sums of consecutive periods, over all places where they can begin, of
a strategy that measures every period and also sums of 2, 3, 4, 8, ... of them in a tree, all weights and the branching
chosen best for that length of sum, estimated by least squares, over that of independent periods at the same guarantee.
Nothing is simulated: the variance of least squares is known.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt

import numpy as np
from scipy.optimize import minimize

import sudare as sd
from coverage import FOLDER, WINDOWS, window
from part import run_part
from row import Row
from sudare.tables.pyramid import at_blocks
from sudare.tables.synthetic import synthetic_table

LEVELS = (0, 2, 4, 6, 8, 10)
SIDE = 16


def later(table: sd.CountTable, seed: int) -> sd.CountTable:
    """The table a period on."""
    rng = np.random.default_rng(seed)
    count = rng.binomial(table.count, 0.97)
    count = count + rng.multinomial(int(table.total) - int(count.sum()), table.count / table.total)
    row, column = table.domain.coordinates(table.index)
    square = (row // SIDE) * 10_000 + column // SIDE
    moved = rng.permutation(np.unique(square))
    share = len(moved) // 100
    for squares, factor in ((moved[:share], 1.2), (moved[share : 2 * share], 0.8)):
        chosen = np.isin(square, squares)
        count[chosen] = rng.poisson(factor * count[chosen])
    return sd.CountTable(table.domain, table.index, count)


def changes(quick: bool) -> Iterator[Row]:
    """Coverage by method, epsilon per period, and size of area."""
    here = (FOLDER / "jp-mesh").exists()
    note = "" if here else "a synthetic table: the census is not at hand"
    tables = (
        {name: window(*corner) for name, corner in WINDOWS["testing"].items()}
        if here
        else {"synthetic": synthetic_table(sd.Domain(cell=sd.Grid(256, 256)), 10**6, seed=6)}
    )
    for method in (sd.Tree(), sd.Laplace()):
        for epsilon in (0.1, 1):
            found = {level: np.zeros(3) for level in LEVELS}
            for table in list(tables.values())[: 1 if quick else None]:
                after = later(table, 1)
                series = sd.reading.Series(
                    {
                        name: sd.release(truth, method, epsilon=epsilon, seed=40 + number)
                        for number, (name, truth) in enumerate((("before", table), ("after", after)))
                    }
                )
                for level in LEVELS:
                    bars = series.change("before", "after", block_level=level)
                    true = [at_blocks(bars.where, *truth.block_sums(level)) for truth in (table, after)]
                    moved = true[1] - true[0]
                    holds = (moved >= bars.low) & (moved <= bars.high)
                    wrong = bars.beyond_noise & (np.sign(moved) != np.sign(bars.value))
                    found[level] += (len(holds), holds.sum(), wrong.sum())
            case = f"change, {method.name}, epsilon {epsilon} per period"
            for level, (blocks, held, wrong) in found.items():
                text = f"of {int(blocks):,}; {100 * wrong / blocks:.2g} % marked without a change in that direction"
                name = f"areas of {1 << level} cells" if level else "cells"
                yield Row(name, 100 * held / blocks, "% held", None, "; ".join(filter(None, (text, note))), case)


def strategy(periods: int, branching: int) -> list[np.ndarray]:
    """Sums of a tree, one matrix (nodes, periods) for each level, the leaves first."""
    levels, width = [np.eye(periods)], 1
    while width < periods:
        width *= branching
        owner = np.arange(periods) // width
        levels.append((owner[None, :] == np.arange(owner[-1] + 1)[:, None]).astype(float))
    return levels


def gain(periods: int, length: int, unit: str, law: str, branching: int) -> float:
    """The error of sums of ``length`` periods by the best weights of a tree, over that of independent periods."""
    levels = strategy(periods, branching)
    grams = [level.T @ level for level in levels]
    # What one protected unit changes at a level: a period's own count by 1, or every period's by 1.
    one = np.eye(periods)[0] if unit == "person and period" else np.ones(periods)
    reach = np.array(
        [np.abs(level @ one).sum() if law == "Laplace" else (level @ one) @ (level @ one) for level in levels]
    )
    sums = np.array(
        [(np.arange(periods) >= k) & (np.arange(periods) < k + length) for k in range(periods - length + 1)]
    )
    sums = sums.astype(float).T

    def error(logs: np.ndarray) -> float:
        weight = np.exp(np.append(0, np.clip(logs, -8, 8)))
        gram = sum(w * w * g for w, g in zip(weight, grams, strict=True))
        variance = np.einsum("ij,ij->j", sums, np.linalg.solve(gram, sums)).mean()
        cost = (weight * reach).sum() ** 2 if law == "Laplace" else (weight**2 * reach).sum()
        alone = length * (reach[0] ** 2 if law == "Laplace" else reach[0])
        return float(sqrt(variance * cost / alone))

    found = minimize(error, np.full(len(levels) - 1, -1.0), method="Nelder-Mead", options={"maxiter": 300})
    return min(1.0, found.fun)


def trees(quick: bool) -> Iterator[Row]:
    """By number of periods, length of the sum, unit and law."""
    for periods, lengths in ((12, (3, 12)), (52, (13, 52)), (365, (7, 30, 91, 365))):
        if quick and periods > 52:
            continue
        for unit in ("person and period", "person in all periods"):
            for law in ("Laplace", "Gaussian"):
                for length in lengths:
                    tried = {b: gain(periods, length, unit, law, b) for b in (2, 4, 7, 16, periods)}
                    best = min(tried, key=lambda b: tried[b])
                    case = f"tree over time, {periods} periods, {unit}, {law}"
                    note = f"branching {best}" if tried[best] < 0.995 else "independent periods are best"
                    yield Row(f"sums of {length}", tried[best], "of the error of independent periods", None, note, case)


def rows(quick: bool) -> Iterator[Row]:
    """Both."""
    yield from changes(quick)
    yield from trees(quick)


if __name__ == "__main__":
    run_part(rows)
