"""Every method for tables on real grids: error relative to the best of the papers' methods for tables (regret).

For each data set and block size an oracle picks the best of the papers' methods, with strengths tuned on the truth
for that very block size, totals exact or noisy as is better. Every method, as one calls it, is divided by it. Goals for
`Tree`: geometric mean at most 0.76, no block size above 1.12 on average. Data: the census window (512 x 512) and the
grids of DPBench, each sampled to 1e4 and 1e6 records, from SUDARE_DATA or ../shared/data; elsewhere synthetic tables,
and the rows say so.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import sudare as sd
from grids import data_sets, real
from part import run_part
from row import Row
from sudare.measure import error_by_block
from sudare.tables.negative_l2 import NegativeL2
from sudare.tables.nonnegative_lasso import NonnegativeLasso
from sudare.tables.privelet import Privelet
from sudare.tables.top_down import TopDown

EPSILON, LEVELS = 0.1, (0, 4, 8, 12)
STRENGTHS = (0.0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.2)
LASSO = (0, 20, 40, 60, 80, 100, 120)
UNIT = "times the oracle's RMSE"
METHODS: dict[str, sd.tables.Method] = {
    "Tree": sd.Tree(),
    "TopDown": TopDown(),
    "Simplex": sd.Simplex(),
    "NegativeL2": NegativeL2(),
    "NonnegativeLasso": NonnegativeLasso(),
    "Laplace": sd.Laplace(),
    "Privelet": Privelet(),
    "Privelet, 2-D": Privelet(decomposition="standard"),
}


def papers_methods() -> list[tuple[sd.tables.Method, str]]:
    """Each with how it treats the total."""
    methods: list[tuple[sd.tables.Method, str]] = [(sd.Laplace(), "noisy"), (sd.Laplace(clip=True), "public")]
    for total in ("public", "noisy"):
        methods += [(NegativeL2(strength), total) for strength in STRENGTHS]
        methods += [(NonnegativeLasso(strength), total) for strength in LASSO]
        methods.append((TopDown(), total))
    return [*methods, (Privelet(), "noisy"), (Privelet(decomposition="standard"), "noisy")]


def rmse(table: sd.CountTable, method: sd.tables.Method, total: str, runs: int, seed: int) -> np.ndarray:
    squares = [
        error_by_block(
            table, sd.release(table, method, epsilon=EPSILON, total=total, seed=seed + run).table, LEVELS
        ).root_mean_square_error
        ** 2
        for run in range(runs)
    ]
    return np.sqrt(np.mean(squares, axis=0))


def rows(quick: bool) -> Iterator[Row]:
    """Error of `Tree` by data set; then every method's regret, over all data sets, by block size and over all."""
    runs, regret = 4 if quick else 12, {name: [] for name in METHODS}
    note = "" if real() else "synthetic tables: the real ones are not at hand"
    for number, (name, table, _) in enumerate(data_sets()):
        if quick and number > 4:
            break
        seed = 1_000_003 * (number + 1)
        rivals = [
            rmse(table, method, total, max(2, runs // 4), seed + 10_000 * place)
            for place, (method, total) in enumerate(papers_methods())
        ]
        best = np.min(rivals, axis=0)
        for place, (label, method) in enumerate(METHODS.items()):
            repetitions = runs if label == "Tree" else max(2, runs // 3)
            error = rmse(table, method, "noisy", repetitions, seed + 900_000 + 10_000 * place)
            regret[label].append(error / best)
            if label == "Tree":
                for level, ratio in zip(LEVELS, error / best, strict=True):
                    yield Row(f"{name}, blocks of {1 << level}", float(ratio), UNIT, case="Tree, by data set")
    for label, ratios in regret.items():
        by_size = np.exp(np.log(ratios).mean(axis=0))
        goal = {"at_most": 1.12} if label == "Tree" else {}
        for level, ratio in zip(LEVELS, by_size, strict=True):
            case = f"regret in blocks of {1 << level}"
            yield Row(label, float(ratio), UNIT, note=note, case=case, series=label, at=1 << level, **goal)
    for label, ratios in regret.items():
        overall = float(np.exp(np.log(ratios).mean()))
        goal = {"at_most": 0.76} if label == "Tree" else {}
        yield Row(label, overall, UNIT, note=note, case="regret over all data sets and sizes", **goal)


if __name__ == "__main__":
    run_part(rows)
