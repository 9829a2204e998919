"""How time grows with logical cells, 2**20 to 2**50, when 1e5 of them are populated whatever the size.

Methods that go by what is populated should not feel the size of the domain, but for the depth of a tree and for the
noise that a larger empty domain adds. `Laplace(cut=)` lists cells from a value on at which about 1,000 empty cells
show.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import sudare as sd
from part import run_part
from row import Row
from sudare.tables.negative_l2 import NegativeL2
from sudare.tables.synthetic import synthetic_table
from sudare.tables.top_down import TopDown
from timing import core_seconds

BITS = (20, 26, 32, 38, 44, 50)
POPULATED, PEOPLE_PER_CELL, EPSILON, EMPTY_SHOWN = 100_000, 100, 0.1, 1000


def methods(bits: int) -> dict[str, sd.tables.Method]:
    # An empty cell passes v with a chance of about exp(-epsilon v)/2.
    cut = max(1, math.ceil(math.log(2**bits / (2 * EMPTY_SHOWN)) / EPSILON))
    return {
        "Tree": sd.Tree(),
        "TopDown": TopDown(),
        "Simplex": sd.Simplex(),
        "NegativeL2": NegativeL2(0.01),
        "Laplace, cut": sd.Laplace(cut=cut),
    }


def rows(quick: bool) -> Iterator[Row]:
    """By size of the domain and method."""
    populated = 10_000 if quick else POPULATED
    for bits in BITS:
        domain = sd.Domain(cell=sd.Grid(2 ** (bits // 2), 2 ** (bits - bits // 2)))
        table = synthetic_table(domain, PEOPLE_PER_CELL * populated, seed=1, populated_share=populated / domain.size)
        for name, method in methods(bits).items():
            sizes: list[int] = []
            seconds = core_seconds(
                lambda table=table, method=method, sizes=sizes: sizes.append(
                    len(sd.release(table, method, epsilon=EPSILON).table)
                ),
                1 if quick else 3,
            )
            case = f"2**{bits} logical cells, {populated:,} populated, epsilon {EPSILON}"
            note = f"{sizes[-1]:,} cells released"
            yield Row(name, seconds, "CPU s", note=note, case=case, series=name, at=2.0**bits)


if __name__ == "__main__":
    run_part(rows)
