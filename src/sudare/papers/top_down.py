"""Terada, Suzuki, Yamaguchi and Hongo 2015: top-down refinement against Laplace, Privelet and the rivals of table 1.

"On publishing large tabular data with differential privacy", IPSJ Journal 56(9), on 512 x 512 cells around Tokyo. The
paper used the census of 2010; here it is the one of 2020. Errors of linear methods do not depend on the data, so for
them the law itself stands beside both. Its theorem 3, that top-down is never worse than Privelet, does not hold
(errata T4): a concentrated table shows it, and the error by density of the table, the paper's future work, shows when.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from sudare.arrays import Floats
from sudare.domain import CountTable
from sudare.language.messages import Value
from sudare.measure import density, error_by_block
from sudare.papers.data import TOKYO, census_window
from sudare.papers.reproduction import Reproduction, Units
from sudare.papers.rivals import Rival, barak, barak_error, hay, li, li_error
from sudare.papers.sheet import Phrase, Sheet
from sudare.papers.top_down_theorem import Concentrated, by_density, concentrated, density_chart, density_sheet
from sudare.privacy import Budget, exact
from sudare.render.charts import Spec
from sudare.render.drawing import map_frame
from sudare.render.error_charts import Curve, error_by_area
from sudare.render.maps import Panel, panels
from sudare.tables.haar import padded_counts
from sudare.tables.laplace import Laplace
from sudare.tables.method import Method
from sudare.tables.privelet import Privelet
from sudare.tables.release import release
from sudare.tables.top_down import TopDown
from sudare.tables.tree import Tree

EPSILON = exact("0.1")
_LEAST_EXAMPLES = 200  # of theorem 3: fewer would hide a bias of two deviations
_PEOPLE, _POPULATED = 48_070_008, 0.391  # of the census in this window, for the stand-in
_ZOOM = 800.0  # where the paper's second figure ends
_CUT = 40  # from here on the noise alone lifts one empty cell in a hundred


@dataclass(frozen=True)
class Contender:
    """A method and what the paper says of it: errors for blocks of 2**0, 2**2, ... 2**18 cells, and shares."""

    name: str
    method: Method | Rival
    mean_absolute_error: tuple[float, ...] = ()
    root_mean_square_error: tuple[float, ...] = ()
    negative: float | None = None
    density: float | None = None
    marks: tuple[str, str, str] = ("", "", "")
    """Table 1: non-negative, sums of blocks, cost."""
    mapped: bool = True
    """Whether it has a map."""


CONTENDERS = (
    Contender(
        "Laplace",
        Laplace(),
        (10.00, 21.87, 44.77, 90.03, 180.69, 363.21, 722.03, 1402.73, 2806.58, 5553.95),
        (14.14, 28.28, 56.55, 113.06, 226.48, 455.65, 906.12, 1789.27, 3474.87, 6907.69),
        negative=0.337,
        density=1.0,
    ),
    Contender(
        "Privelet 2-D",
        Privelet("standard"),
        (361.51, 361.27, 361.67, 361.93, 361.25, 366.09, 378.30, 414.57, 593.86, 1178.56),
        (471.37, 471.01, 471.66, 472.52, 471.26, 479.17, 494.20, 531.12, 756.30, 1631.86),
        negative=0.437,
        density=1.0,
    ),
    Contender(
        "Privelet (Morton)",
        Privelet(),
        (115.74, 115.73, 115.73, 115.56, 115.57, 116.55, 116.69, 118.01, 121.70, 209.08),
        (155.16, 155.16, 155.09, 154.90, 155.00, 155.88, 155.69, 155.93, 161.45, 317.79),
        negative=0.402,
        density=1.0,
    ),
    Contender(
        "Top-down",
        TopDown(),
        (28.73, 44.49, 60.14, 74.91, 89.41, 101.02, 111.14, 119.87, 124.95, 139.32),
        (66.20, 87.54, 106.18, 121.09, 135.07, 145.33, 152.92, 158.95, 168.02, 195.30),
        negative=0.0,
        density=0.275,
        marks=("yes", "yes", "O(m+ log n)"),
    ),
    Contender(
        "Privelet 2-D (Xiao et al.)", Privelet("standard", "original"), marks=("no", "yes", "O(n)"), mapped=False
    ),
    Contender(f"Cut at {_CUT} (Cormode et al.)", Laplace(cut=_CUT), marks=("yes", "no", "by the cut"), mapped=False),
    Contender("Fourier (Barak et al.)", barak, marks=("no", "yes", "O(n log n) and more"), mapped=False),
    Contender("Tree, least squares (Hay et al.)", hay, marks=("no", "yes", "O(n) and more"), mapped=False),
    Contender("Matrix, Haar strategies (Li et al.)", li, marks=("no", "yes", "O(n^2)"), mapped=False),
    Contender("Tree (Sudare)", Tree()),
)


@dataclass(frozen=True)
class Outcome:
    """What a contender did here: errors per block level, pooled over all runs, and the release of the first run.

    ``law`` is the exact RMSE where it does not depend on the data, else NaN; ``seconds`` are for one run.
    """

    mean_absolute_error: Floats
    root_mean_square_error: Floats
    law: Floats
    negative: float
    density: float
    first: CountTable
    seconds: float


@dataclass(frozen=True, kw_only=True)
class TopDownReproduction(Reproduction):
    """On the table of ``data``, over a grid or a mesh."""

    key = "top-down"
    usual = 100, 10

    def read(self) -> tuple[CountTable, Value]:
        return census_window(TOKYO, _PEOPLE, _POPULATED)

    @property
    def truth(self) -> CountTable:
        assert self.data is not None  # noqa: S101 - `reproduce` reads it
        found: CountTable = self.data[0]
        return found

    @property
    def levels(self) -> tuple[int, ...]:
        """Of areas of 2**level cells."""
        bits = self.truth.domain.bits
        return tuple(sorted({*range(0, bits + 1, 2), bits}))

    def units(self) -> Units:
        return {
            one.name: partial(_outcome, self.truth, one.method, self.levels, self.runs, 1 + min(number, 6) * 10**6)
            for number, one in enumerate(CONTENDERS)
        } | {
            "theorem 3": partial(concentrated, max(_LEAST_EXAMPLES, 4 * self.runs)),
            "gain by density": partial(by_density, max(1, self.runs // 10)),
        }

    @property
    def outcomes(self) -> list[tuple[Contender, Outcome]]:
        return [(contender, self.found[contender.name]) for contender in CONTENDERS]

    @property
    def said(self) -> dict[str, dict[str, Value]]:
        found: Concentrated = self.found["theorem 3"]
        rounded = {"top_down": found.top_down[2], "privelet": found.privelet[2], "bound": found.bound}
        populated = round(100 * density(self.truth), 1)
        return {
            "data": {"basis": self.basis, "cells": self.truth.domain.size, "populated": populated},
            "runs": {"runs": self.runs},
            "theorem": {name: round(value, 1) for name, value in rounded.items()}
            | {"theorem": round(found.theorem, 2)},
        }

    @property
    def sheets(self) -> tuple[Sheet, ...]:
        """Table 2, the shares named in the paper's text, table 1, theorem 3, and the gain by density."""
        theorem, gain = self.found["theorem 3"].sheet, density_sheet(self.found["gain by density"])
        return self._errors(), self._shares(), self._marks(), theorem, gain

    @cached_property
    def figures(self) -> dict[str, Spec]:
        """1 to 5 as one picture of maps, 6 on logarithmic axes, 7 its zoom; the gain by density."""
        frame = map_frame(next(iter(self.truth.domain.attributes.values())))
        subtitle = Phrase(
            "{basis}; {runs} runs, epsilon {epsilon:g}", basis=self.basis, runs=self.runs, epsilon=float(EPSILON)
        )
        cells = [1 << level for level in self.levels]
        curves = [
            Curve(contender.name, cells, outcome.root_mean_square_error, outcome.mean_absolute_error)
            for contender, outcome in self.outcomes
            if contender.method is not barak  # a hundred times the others
        ]
        maps = [Panel("Data", self.truth.to_array(), Phrase("{basis}", basis=self.basis))]
        for contender, outcome in self.outcomes:
            if contender.mapped:
                negative = Phrase("{share:.1%} of cells negative (red)", share=outcome.negative)
                shown = negative if outcome.negative else "no cell negative"
                maps.append(Panel(contender.name, outcome.first.to_array(), shown))
        zoom = Phrase("Error by size of area, up to {size:g}", size=_ZOOM)
        return {
            "maps": panels(frame, maps, columns=3),
            "error_by_area": error_by_area(curves, subtitle=subtitle, width=560, height=380),
            "error_by_area_zoom": error_by_area(
                curves, title=zoom, subtitle=subtitle, width=560, height=380, up_to=_ZOOM
            ),
            "gain_by_density": density_chart(self.found["gain by density"]),
        }

    def _errors(self) -> Sheet:
        rows: list[tuple[str | float | None, ...]] = []
        for contender, outcome in self.outcomes:
            printed = contender.mean_absolute_error, contender.root_mean_square_error
            lines = [
                ("MAE", "paper", printed[0]),
                ("MAE", "here", tuple(outcome.mean_absolute_error.tolist())),
                ("RMSE", "paper", printed[1]),
                ("RMSE", "here", tuple(outcome.root_mean_square_error.tolist())),
                ("RMSE", "law", () if np.isnan(outcome.law).any() else tuple(outcome.law.tolist())),
            ]
            # The paper's numbers, where it has them for blocks of these sizes.
            rows += [(contender.name, *what, *errors) for *what, errors in lines if len(errors) == len(self.levels)]
        header = ("method", "error", "source", *(f"2^{level}" for level in self.levels))
        return Sheet("table2", header, tuple(rows))

    def _shares(self) -> Sheet:
        rows = [
            (
                contender.name,
                *(_percent(share) for share in (contender.negative, outcome.negative)),
                *(_percent(share) for share in (contender.density, outcome.density)),
            )
            for contender, outcome in self.outcomes
        ]
        header = ("method", "negative %, paper", "negative %, here", "not zero %, paper", "not zero %, here")
        return Sheet("shares", header, tuple(rows))

    def _marks(self) -> Sheet:
        rows = [
            (
                contender.name,
                *contender.marks,
                "yes" if outcome.negative == 0 else "no",
                float(outcome.root_mean_square_error[-2] / outcome.root_mean_square_error[0]),
                round(outcome.density * self.truth.domain.size),
                1000 * outcome.seconds,
            )
            for contender, outcome in self.outcomes
            if any(contender.marks)
        ]
        paper = ("non-negative", "sums of blocks", "cost")
        here = ("here: non-negative", "here: RMSE, large over small", "here: cells out", "here: ms a trial")
        return Sheet("table1", ("method", *paper, *here), tuple(rows))


reproduce = TopDownReproduction.reproduce


def _outcome(table: CountTable, method: Method | Rival, levels: tuple[int, ...], runs: int, seed: int) -> Outcome:
    """Errors pooled over runs: mean of absolute errors, root of the mean of squared ones."""
    absolute, square = np.zeros(len(levels)), np.zeros(len(levels))
    negative = filled = seconds = 0.0
    for run in range(runs):
        start = time.perf_counter()
        made = _released(table, method, seed + run)
        seconds += time.perf_counter() - start
        errors = error_by_block(table, made, levels)
        absolute += errors.mean_absolute_error
        square += errors.root_mean_square_error**2
        negative += np.count_nonzero(made.count < 0) / table.domain.size
        filled += density(made)
        if run == 0:
            first = made
    law = np.array([_law(method, table, level) for level in levels])
    errors_of = absolute / runs, np.sqrt(square / runs)
    return Outcome(*errors_of, law, negative / runs, filled / runs, first, seconds / runs)


def _released(table: CountTable, method: Method | Rival, seed: int) -> CountTable:
    if not callable(method):
        return release(table, method, EPSILON, seed=seed).table
    cells = method(padded_counts(table), float(EPSILON), np.random.default_rng(seed))
    index = np.sort(table.domain.cells(np.arange(table.domain.size, dtype=np.int64)))
    return CountTable.released(table.domain, index, cells[index])


def _law(method: Method | Rival, table: CountTable, level: int) -> float:
    """The exact RMSE of a block, or NaN."""
    if callable(method):
        laws = {barak: barak_error, li: li_error}
        return laws[method](table.domain.bits, level, float(EPSILON)) if method in laws else float("nan")
    error = method.block_error(Budget(epsilon=EPSILON), table.unit.max_rows, 1 << level, table.domain)
    return float("nan") if error is None else error


def _percent(share: float | None) -> float | None:
    return None if share is None else round(100 * share, 2)
