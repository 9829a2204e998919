"""`Tree` and `Marginals` at the ends of what they are made for: small tables, the largest areas, time and memory.

Small tables have 64, 256 and 512 cells, even ones (Poisson) and uneven ones (gamma) with 10 people for each scale of
the noise a cell. Relative to the better of noise per cell and the default tree at the size that an emphasis names; the
default relative to noise per cell, which is nearly best for cells alone. The largest areas: a window of 512 x 512 cells
of the census, relative to `TopDown`, from SUDARE_DATA or ../shared/data; elsewhere a synthetic table stands in. Time is
processor time for each cell of a table in which every cell has people, and of `Marginals` at a million cells.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import sudare as sd
from grids import census_window
from part import run_part
from row import Row
from sudare.measure import error_by_block
from sudare.tables.top_down import TopDown
from timing import core_seconds

EPSILON = 0.1
SMALL = (64, 256, 512)
WITHOUT = (9, 55, 55, 55, 126)
"""Of three hundred: the root, the areas of 4,096 cells and below, and the cells, where nothing larger is measured."""
EACH = 100
"""People for each cell of a small table: ten scales of the noise."""


def errors(table: sd.CountTable, method: sd.tables.Method, levels: tuple[int, ...], runs: int) -> np.ndarray:
    """Root mean square errors by level of blocks."""
    made = (sd.release(table, method, epsilon=EPSILON, seed=run).table for run in range(runs))
    squares = [error_by_block(table, one, levels).root_mean_square_error ** 2 for one in made]
    return np.sqrt(np.mean(squares, axis=0))


def small(quick: bool) -> Iterator[Row]:
    runs, rng = 40 if quick else 150, np.random.default_rng(2)
    for cells in SMALL:
        for shape, mean in (("even", np.full(cells, EACH)), ("uneven", rng.gamma(0.5, 2 * EACH, cells))):
            table = sd.CountTable.from_array(rng.poisson(mean))
            named = {"noise per cell": sd.Laplace(), "Tree": sd.Tree()}
            named |= {emphasis: sd.Tree(emphasis=emphasis) for emphasis in ("cells", "areas")}
            found = {name: errors(table, method, (0, 4), runs) for name, method in named.items()}
            case, better = f"{shape} table of {cells} cells", np.minimum(found["noise per cell"], found["Tree"])
            unit = "times the better of noise per cell and Tree"
            for place, emphasis, area in ((0, "cells", "cells"), (1, "areas", "blocks of 16")):
                ratio = float(found[emphasis][place] / better[place])
                yield Row(f"emphasis on {emphasis}: {area}", ratio, unit, case=case, at_most=1.05)
            for place, area in enumerate(("cells", "blocks of 16")):
                ratio = float(found["Tree"][place] / found["noise per cell"][place])
                yield Row(f"Tree: {area}", ratio, "times noise per cell", case=case)


def large(quick: bool) -> Iterator[Row]:
    runs, table, levels = 5 if quick else 200, census_window(), (14, 16, 18)
    top_down = errors(table, TopDown(), levels, runs)
    methods = {"Tree": sd.Tree(), "emphasis on areas": sd.Tree(emphasis="areas")}
    methods["without a level of them"] = sd.Tree(shares=WITHOUT)
    for name, method in methods.items():
        for level, ratio in zip(levels, errors(table, method, levels, runs) / top_down, strict=True):
            goal = {"at_most": 1.1} if name == "Tree" and level >= 16 else {}
            yield Row(f"{name}, areas of {1 << level:,} cells", float(ratio), "times TopDown", case="census", **goal)


def time(quick: bool) -> Iterator[Row]:
    rng = np.random.default_rng(3)
    for side in (512, 1024 if quick else 2048):
        table = sd.CountTable.from_array(rng.poisson(rng.gamma(0.5, 40, (side, side))))
        seconds = core_seconds(lambda table=table: sd.release(table, sd.Tree(), epsilon=EPSILON, seed=1), 3)
        case, each = f"dense table of {side} x {side} cells", 1e9 * seconds / side**2
        yield Row("Tree, a cell", each, "CPU ns", case=case, at_most=80.0)
    domain = sd.Domain(**{name: sd.Categories(list(range(8))) for name in "abcdef"}, g=sd.Categories(list(range(4))))
    index = np.sort(rng.choice(domain.size, 100_000, replace=False))
    table = sd.CountTable(domain, domain.cells(index), rng.geometric(0.01, len(index)))
    for label, people in (("few people", table), ("many people", _thicker(table, 100))):
        seconds = core_seconds(lambda people=people: sd.release(people, sd.Marginals(), epsilon=1, seed=1), 1)
        yield Row("Marginals", seconds, "CPU s", case=f"{domain.size:,} cells without places, {label}", at_most=10.0)


def _thicker(table: sd.CountTable, times: int) -> sd.CountTable:
    return sd.CountTable(table.domain, table.index, table.count * times)


def rows(quick: bool) -> Iterator[Row]:
    """Small tables, the largest areas, time."""
    yield from small(quick)
    yield from large(quick)
    yield from time(quick)


if __name__ == "__main__":
    run_part(rows)
