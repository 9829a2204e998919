"""How time and memory grow with populated cells, 1e4 to 1e7 of 2**37, by method, beside NumPy's float Laplace draws.

Goals: 1e6 populated cells in at most 6 times the time of 2e7 float draws, 1e7 in under 8 GB. The table is invented (a
random cascade: areas within areas, about a hundred people per populated cell). Sizes ascend, so that the peak of memory
is that of the largest so far, with making the table; 1e8 cells are in `cluster_cells`.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator

import numpy as np

import sudare as sd
from memory import peak_megabytes
from part import run_part
from row import Row
from sudare.tables.negative_l2 import NegativeL2
from sudare.tables.synthetic import synthetic_table
from sudare.tables.top_down import TopDown
from timing import core_seconds

METHODS: dict[str, sd.tables.Method] = {
    "Tree": sd.Tree(),
    "TopDown": TopDown(),
    "Simplex": sd.Simplex(),
    "NegativeL2": NegativeL2(0.01),
}
DOMAIN = sd.Domain(cell=sd.Grid(2**15, 2**14), kind=sd.Categories(list(range(256))))
POPULATED = (10**4, 10**5, 10**6, 10**7)
JUDGED, MOST_TIMES, MOST_MEGABYTES = 10**6, 6.0, 8000.0
DRAWS, PEOPLE_PER_CELL, EPSILON = 20_000_000, 100, 0.1


def rows(quick: bool) -> Iterator[Row]:
    """By number of populated cells and method."""
    rng = np.random.default_rng(1)
    # In parts, so that the yardstick is not the peak of memory.
    numpy = core_seconds(lambda: [rng.laplace(0, 1, DRAWS // 10).sum() for _ in range(10)], 5)
    yield Row("NumPy, 2e7 float Laplace draws", numpy, "CPU s", case="the yardstick")
    gc.collect()
    for populated in POPULATED[:2] if quick else POPULATED:
        table = synthetic_table(DOMAIN, PEOPLE_PER_CELL * populated, seed=1, populated_share=populated / DOMAIN.size)
        case = f"{populated:,} populated of 2**37 cells, epsilon {EPSILON}"
        for name, method in METHODS.items():
            runs = 1 if populated > JUDGED else 3
            sizes: list[int] = []
            seconds = core_seconds(
                lambda table=table, method=method, sizes=sizes: sizes.append(
                    len(sd.release(table, method, epsilon=EPSILON).table)
                ),
                runs,
            )
            note = f"{sizes[-1]:,} cells released"
            yield Row(name, seconds, "CPU s", note=note, case=case, series=name, at=populated)
            if populated == JUDGED and name in ("Tree", "TopDown"):
                times = seconds / numpy
                yield Row(f"{name} over NumPy's draws", times, "times", case=case, at_most=MOST_TIMES)
        peak = peak_megabytes()
        if peak is not None:
            goal = {"at_most": MOST_MEGABYTES} if populated == max(POPULATED) else {}
            yield Row("peak memory", peak, "MB", case=case, series="memory", at=populated, **goal)
        del table
        gc.collect()


if __name__ == "__main__":
    run_part(rows)
