"""2,000 random rectangles on real grids (128 x 128, 1e3 to 1e7 records): the default method beside published ones.

The rivals of `rivals.py`: HB, QuadTree, UGrid, AGrid (cells of whole widths), PrivTree, AHP, DAWA along the Hilbert
curve with a 16-ary tree of rising shares as its second stage. Two runs each, one with ``--quick``. Goal: a smaller
root mean square error than each of them on geometric average over the grids, at every scale; then the same on the two
grids that nothing was tuned on (`held_out.py`), opened here for the second time.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import rivals
import sudare as sd
from grids import grids, real
from held_out import GRIDS
from part import run_part
from row import Row

EPSILON, SIDE, QUERIES = 0.1, 128, 2000
SCALES = (10**3, 10**4, 10**5, 10**6, 10**7)
METHODS: dict[str, rivals.Rival] = {
    "HB": rivals.hb,
    "QuadTree": rivals.quadtree,
    "UGrid": rivals.ugrid,
    "AGrid": rivals.agrid,
    "PrivTree": rivals.privtree,
    "AHP": rivals.ahp,
}
Array = np.ndarray


def tree(counts: Array, epsilon: float, rng: np.random.Generator) -> Array:
    table = sd.CountTable.from_array(counts)
    return sd.release(table, epsilon=epsilon, seed=int(rng.integers(2**62))).table.to_array()


def dawa(counts: Array) -> rivals.Rival:
    """With the exact costs of buckets, which all runs share."""
    curve = rivals.hilbert(SIDE)
    costs = rivals.deviations(counts[curve])

    def released(counts: Array, epsilon: float, rng: np.random.Generator) -> Array:
        result = np.zeros(counts.shape)
        result[curve] = rivals.dawa(counts[curve], costs, epsilon, rng, prefixes=None)
        return result

    return released


def rectangle_sums(values: Array, corners: Array) -> Array:
    table = np.zeros((SIDE + 1, SIDE + 1))
    table[1:, 1:] = values.cumsum(0).cumsum(1)
    top, bottom, left, right = corners
    return table[bottom, right] - table[top, right] - table[bottom, left] + table[top, left]


def rows(quick: bool) -> Iterator[Row]:
    """By scale: every rival over the tree, on geometric average; then by grid the rivals that are ahead of it."""
    runs, rng = 1 if quick else 2, np.random.default_rng(7)
    sides = np.sort(rng.integers(0, SIDE + 1, (2, 2, 4 * QUERIES)), axis=1)
    proper = ((sides[:, 1] - sides[:, 0]) > 0).all(axis=0)
    corners = sides[:, :, proper].reshape(4, -1)[:, :QUERIES]
    note = "" if real() else "synthetic tables: the real ones are not at hand"
    for size in SCALES:
        ratios: dict[str, dict[str, float]] = {}
        for name, grid in grids():
            counts = rivals.pool(rng.multinomial(size, grid.ravel() / grid.sum()).reshape(grid.shape), 2)
            errors = {
                label: np.mean(
                    [rectangle_sums(method(counts, EPSILON, rng) - counts, corners) ** 2 for _ in range(runs)]
                )
                ** 0.5
                for label, method in {"Tree": tree, **METHODS, "DAWA": dawa(counts)}.items()
            }
            ratios[name] = {label: float(error / errors["Tree"]) for label, error in errors.items()}
            unit = "people, RMSE"
            yield Row("Tree", float(errors["Tree"]), unit, case=f"{name}, {size:.0e} records", note=_ahead(errors))
        for which, title in ((list(ratios), "all grids"), (GRIDS["held out"], "held-out grids")):
            known = [ratios[name] for name in which if name in ratios]
            for label in (*METHODS, "DAWA") if known else ():
                mean = float(np.exp(np.mean([np.log(own[label]) for own in known])))
                goal = {"at_least": 1.0} if title == "all grids" else {}
                case = f"{title}, {size:.0e} records, geometric mean"
                yield Row(label, mean, "times Tree's RMSE", note=note, case=case, **goal)


def _ahead(errors: dict[str, float]) -> str:
    better = [f"{label} {error:.0f}" for label, error in errors.items() if error < errors["Tree"]]
    return f"ahead of it: {', '.join(better)}" if better else "nobody is ahead of it"


if __name__ == "__main__":
    run_part(rows)
