"""Theorem 3 of the paper on top-down refinement, which does not hold (errata T4), and what it gains by density.

One full cell among empty ones is a table where top-down is far worse than Privelet; `top_down_bound` is a bound that
holds for every table. How much is gained on tables of other densities is the paper's future work.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sudare.arrays import Floats
from sudare.domain import CountTable, Domain, Line
from sudare.measure import error_by_block
from sudare.papers.sheet import Phrase, Sheet
from sudare.privacy import exact
from sudare.render.charts import Spec
from sudare.render.curves import Series, curves
from sudare.tables.method import Method
from sudare.tables.privelet import Privelet
from sudare.tables.release import release
from sudare.tables.top_down import TopDown

METHODS: tuple[Method, Method] = (TopDown(), Privelet())
BITS, PEOPLE, EPSILON = 10, 10**6, exact("0.5")
DENSITY_BITS, DENSITIES, DENSITY_LEVELS = 12, (0.002, 0.01, 0.05, 0.2, 0.5, 1.0), (0, 4, 8)
DENSITY_EPSILON = exact("0.1")


@dataclass(frozen=True)
class Concentrated:
    """Top-down and Privelet on one full cell among empty ones: deviation, bias and RMSE of that cell."""

    runs: int
    top_down: tuple[float, float, float]
    privelet: tuple[float, float, float]
    theorem: float
    bound: float

    @property
    def sheet(self) -> Sheet:
        rows = (
            ("Top-down", *self.top_down, self.theorem, self.bound),
            ("Privelet", *self.privelet, self.theorem, None),
        )
        return Sheet("theorem3", ("method", "deviation", "bias", "RMSE", "theorem 3", "a bound that holds"), rows)


def concentrated(runs: int) -> Concentrated:
    """A million people in one of 1,024 cells at epsilon 0.5, where theorem 3 promises a deviation below 17.96.

    The true difference of every node above the cell is its whole sum, so the clip at the refined sum cuts the noise on
    one side only, and moves with the noise above: a node of error e gives its half the error (e + min(e, N))/2.
    """
    table = CountTable(Domain(cell=Line(1 << BITS)), np.array([0]), np.array([PEOPLE]))
    found = []
    for method in METHODS:
        cells = []
        for seed in range(runs):
            made = release(table, method, EPSILON, seed=seed).table
            cells.append(float(made.count[made.index == 0].sum()) - PEOPLE)
        errors = np.array(cells)
        found.append((float(errors.std()), float(errors.mean()), float(np.sqrt((errors**2).mean()))))
    scale = (1 + BITS) / float(EPSILON)
    theorem = scale * np.sqrt(2 / 3 * (1 + 2 / 4**BITS))
    return Concentrated(runs, found[0], found[1], float(theorem), top_down_bound(BITS, 0, scale))


def by_density(runs: int) -> dict[float, Floats]:
    """RMSE of top-down over that of Privelet for blocks of `DENSITY_LEVELS`, by the share of cells with people.

    4,096 cells at epsilon 0.1; populated ones are chosen at random and hold 100 people on average, geometrically.
    """
    found = {}
    for share in DENSITIES:
        squares = np.zeros((2, len(DENSITY_LEVELS)))
        for seed in range(runs):
            generator = np.random.default_rng([seed, round(1000 * share)])
            cells = 1 << DENSITY_BITS
            index = np.sort(generator.choice(cells, max(1, round(share * cells)), replace=False))
            table = CountTable(Domain(cell=Line(cells)), index, generator.geometric(0.01, len(index)))
            for place, method in enumerate(METHODS):
                made = release(table, method, DENSITY_EPSILON, seed=seed).table
                squares[place] += error_by_block(table, made, DENSITY_LEVELS).root_mean_square_error ** 2
        found[share] = np.sqrt(squares[0] / squares[1])
    return found


def density_sheet(found: dict[float, Floats]) -> Sheet:
    """What `by_density` found."""
    rows = tuple((100 * share, *ratios.tolist()) for share, ratios in found.items())
    return Sheet(
        "density",
        ("cells with people %", *(Phrase("blocks of {cells}", cells=1 << level) for level in DENSITY_LEVELS)),
        rows,
    )


def density_chart(found: dict[float, Floats]) -> Spec:
    """The same as a picture."""
    shares = [100 * share for share in found]
    series = [
        Series(Phrase("blocks of {cells}", cells=1 << level), shares, [float(each[place]) for each in found.values()])
        for place, level in enumerate(DENSITY_LEVELS)
    ]
    series.append(Series("Privelet", shares, [1.0] * len(shares), "line", dashed=True))
    chart = curves(
        series,
        title="What top-down gains over Privelet, by density",
        subtitle=Phrase(
            "RMSE over Privelet's; {cells:,} cells, 100 people in a populated one, epsilon 0.1",
            cells=1 << DENSITY_BITS,
        ),
        x_title="cells with people, %",
        y_title="RMSE, Privelet = 1",
        width=520,
        height=340,
        x_domain=(0.15, 130),
        y_domain=(0, 1.3),
    )
    chart["encoding"]["x"]["scale"]["type"] = "log"
    chart["encoding"]["x"]["axis"]["values"] = shares
    return chart


def top_down_bound(bits: int, level: int, scale: float) -> float:
    """A bound on the RMSE of a block of 2**level cells under top-down refinement that holds for every table.

    It takes the place of the paper's theorem 3 (errata T4). Let E be the error of a node's sum S, d the true
    difference of its halves, and N the noise on it. Clipped to the refined sum, the difference errs by at most
    max(|N|, |E|), since d lies within S: so a half errs by at most (|E| + max(|N|, |E|))/2 <= max(|N|, |E|), and any
    block by at most the largest of the m = 1 + bits - level noises on its path. The largest of m exponentials of one
    scale has the mean H_m and the variance sum 1/i**2, in scales. Rounding to whole numbers adds at most 1/2 a level.

    >>> round(top_down_bound(10, 0, 22.0), 1)
    71.9
    """
    steps = np.arange(1, 2 + bits - level)
    return float(scale * math.sqrt((1 / steps).sum() ** 2 + (1 / steps**2).sum()))
