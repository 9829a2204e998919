"""Paper 1: top-down refinement against Laplace and Privelet on 512 x 512 cells around Tokyo.

M. Terada, R. Suzuki, T. Yamaguchi and S. Hongo, "On publishing large tabular data with differential privacy",
IPSJ Journal 56(9), 2015. The paper used the census of 2010; here it is the one of 2020. The rows of Laplace and
Privelet do not depend on the data, so for them the law itself stands beside both.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from sudare.arrays import Floats
from sudare.domain import CountTable
from sudare.errors import ParameterError
from sudare.language.messages import OnProgress, Progress, Stage, unheard
from sudare.measure import density, error_by_block
from sudare.papers.data import TOKYO, census_window
from sudare.papers.sheet import Sheet, make_folder, write_files
from sudare.privacy import Budget, exact
from sudare.render.charts import Spec
from sudare.render.drawing import map_frame
from sudare.render.error_charts import Curve, error_by_area
from sudare.render.maps import Panel, panels
from sudare.tables.laplace import Laplace
from sudare.tables.method import Method
from sudare.tables.privelet import Privelet
from sudare.tables.release import release
from sudare.tables.top_down import TopDown
from sudare.tables.tree import Tree

EPSILON = exact("0.1")
RUNS, QUICK_RUNS = 100, 10
_PEOPLE, _POPULATED = 48_070_008, 0.391  # of the census in this window, for the stand-in
_ZOOM = 800.0  # where the paper's second figure ends
_CUT = 40  # from here on the noise alone lifts one empty cell in a hundred


@dataclass(frozen=True)
class Contender:
    """A method and what the paper says of it: errors for blocks of 2**0, 2**2, ... 2**18 cells, and shares."""

    name: str
    method: Method
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
    Contender("Tree (Sudare)", Tree()),
)


@dataclass(frozen=True)
class Outcome:
    """What a contender did here: errors per block level, pooled over all runs, and the release of the first run.

    ``law`` is the exact RMSE where it does not depend on the data, else NaN.
    """

    contender: Contender
    mean_absolute_error: Floats
    root_mean_square_error: Floats
    law: Floats
    negative: float
    density: float
    first: CountTable


@dataclass(frozen=True)
class Reproduction:
    """The paper's experiment, done again: ``sheets`` are its tables with our numbers, ``files`` what was written."""

    truth: CountTable
    basis: str
    runs: int
    levels: tuple[int, ...]
    outcomes: tuple[Outcome, ...]
    files: tuple[Path, ...] = ()

    @property
    def facts(self) -> dict[str, str]:
        """A short summary for people."""
        populated = density(self.truth)
        return {
            "paper": "Terada et al. 2015: top-down refinement (tables 1 and 2, figures 1 to 7)",
            "data": f"{self.basis}: {self.truth.domain.describe()}, {populated:.1%} populated",
            "runs": f"{self.runs} at epsilon {float(EPSILON):g}; errors pooled over all of them",
            "beside": "the paper's census is of 2010 (36.3% populated) and its noise has fractions; ours is whole",
        }

    @property
    def sheets(self) -> tuple[Sheet, ...]:
        """Table 2, the shares named in the paper's text, and table 1."""
        return self._errors(), self._shares(), self._marks()

    def to_json(self) -> dict[str, Any]:
        """For machines."""
        return {
            "paper": "top-down",
            "basis": self.basis,
            "epsilon": str(EPSILON),
            "runs": self.runs,
            "sheets": [sheet.to_json() for sheet in self.sheets],
            "files": [str(path) for path in self.files],
        }

    def _papers(self, numbers: tuple[float, ...]) -> tuple[float, ...]:
        """The paper's numbers, where it has them for blocks of these sizes."""
        return numbers if len(numbers) == len(self.levels) else ()

    def _errors(self) -> Sheet:
        rows: list[tuple[str | float | None, ...]] = []
        for outcome in self.outcomes:
            contender = outcome.contender
            lines = [
                ("MAE", "paper", self._papers(contender.mean_absolute_error)),
                ("MAE", "here", tuple(outcome.mean_absolute_error.tolist())),
                ("RMSE", "paper", self._papers(contender.root_mean_square_error)),
                ("RMSE", "here", tuple(outcome.root_mean_square_error.tolist())),
                ("RMSE", "law", () if np.isnan(outcome.law).any() else tuple(outcome.law.tolist())),
            ]
            rows += [(contender.name, metric, source, *numbers) for metric, source, numbers in lines if numbers]
        header = ("method", "error", "source", *(f"2^{level}" for level in self.levels))
        return Sheet("table2", "Table 2: error by size of area, in cells", header, tuple(rows))

    def _shares(self) -> Sheet:
        rows = [
            (
                outcome.contender.name,
                _percent(outcome.contender.negative),
                _percent(outcome.negative),
                _percent(outcome.contender.density),
                _percent(outcome.density),
            )
            for outcome in self.outcomes
        ]
        header = ("method", "negative %, paper", "negative %, here", "not zero %, paper", "not zero %, here")
        return Sheet("shares", "Negative cells and output density, of all cells", header, tuple(rows))

    def _marks(self) -> Sheet:
        rows = [
            (
                outcome.contender.name,
                *outcome.contender.marks,
                "yes" if outcome.negative == 0 else "no",
                float(outcome.root_mean_square_error[-2] / outcome.root_mean_square_error[0]),
                round(outcome.density * self.truth.domain.size),
            )
            for outcome in self.outcomes
            if any(outcome.contender.marks)
        ]
        growth = f"here: RMSE, 2^{self.levels[-2]} over 2^{self.levels[0]}"
        header = ("method", "non-negative", "sums of blocks", "cost", "here: non-negative", growth, "here: cells out")
        return Sheet("table1", "Table 1: who solves what (the rivals we have)", header, tuple(rows))


def reproduce(
    folder: Path,
    quick: bool = False,
    progress: OnProgress = unheard,
    *,
    truth: tuple[CountTable, str] | None = None,
    runs: int | None = None,
) -> Reproduction:
    """Run the experiment, 100 times or 10 if ``quick``, and write tables (CSV) and figures (PNG) into ``folder``.

    ``truth`` is another table over a grid or mesh with what to call it, ``runs`` another number of runs. It reads
    the true counts to compare with them: its files are as private as the table.
    """
    repetitions = runs if runs is not None else QUICK_RUNS if quick else RUNS
    if repetitions < 1:
        raise ParameterError("runs is not a whole number from 1 on", value=repetitions)
    make_folder(folder)
    progress(Progress(Stage.READING))
    table, basis = truth or census_window(TOKYO, _PEOPLE, _POPULATED)
    levels = tuple(sorted({*range(0, table.domain.bits + 1, 2), table.domain.bits}))
    outcomes = tuple(
        _outcome(table, contender, levels, repetitions, 1 + number * 10**6, progress)
        for number, contender in enumerate(CONTENDERS)
    )
    made = Reproduction(table, basis, repetitions, levels, outcomes)
    return replace(made, files=write_files(folder, made.sheets, figures(made), progress))


def figures(made: Reproduction) -> dict[str, Spec]:
    """The paper's figures: 1 to 5 as one picture of maps, 6 on logarithmic axes, and 7, its zoom."""
    attribute = next(iter(made.truth.domain.attributes.values()))
    subtitle = f"{made.basis}; {made.runs} runs, epsilon {float(EPSILON):g}"
    curves = [
        Curve(
            outcome.contender.name,
            [1 << level for level in made.levels],
            outcome.root_mean_square_error,
            outcome.mean_absolute_error,
        )
        for outcome in made.outcomes
    ]
    maps = [Panel("Data", made.truth.to_array(), made.basis)]
    maps += [
        Panel(
            outcome.contender.name,
            outcome.first.to_array(),
            f"{outcome.negative:.1%} of cells negative (red)" if outcome.negative else "no cell negative",
        )
        for outcome in made.outcomes
        if outcome.contender.mapped
    ]
    return {
        "maps": panels(map_frame(attribute), maps, columns=3),
        "error_by_area": error_by_area(curves, subtitle=subtitle, width=560, height=380),
        "error_by_area_zoom": error_by_area(
            curves,
            title=f"Error by size of area, up to {_ZOOM:g}",
            subtitle=subtitle,
            width=560,
            height=380,
            up_to=_ZOOM,
        ),
    }


def _outcome(
    table: CountTable,
    contender: Contender,
    levels: tuple[int, ...],
    runs: int,
    seed: int,
    progress: OnProgress,
) -> Outcome:
    """Errors pooled over runs: mean of absolute errors, root of the mean of squared ones."""
    absolute, square = np.zeros(len(levels)), np.zeros(len(levels))
    negative = filled = 0.0
    for run in range(runs):
        progress(Progress(Stage.EXPERIMENT, run + 1, runs, contender.name))
        made = release(table, contender.method, EPSILON, seed=seed + run).table
        errors = error_by_block(table, made, levels)
        absolute += errors.mean_absolute_error
        square += errors.root_mean_square_error**2
        negative += np.count_nonzero(made.count < 0) / table.domain.size
        filled += density(made)
        if run == 0:
            first = made
    law = [_law(contender.method, table, level) for level in levels]
    rmse = np.sqrt(square / runs)
    return Outcome(contender, absolute / runs, rmse, np.array(law), negative / runs, filled / runs, first)


def _law(method: Method, table: CountTable, level: int) -> float:
    """The exact RMSE of a block, or NaN."""
    error = method.block_error(Budget(epsilon=EPSILON), table.unit.max_rows, 1 << level, table.domain)
    return float("nan") if error is None else error


def _percent(share: float | None) -> float | None:
    return None if share is None else round(100 * share, 2)
