"""Paper 0: negative l2 regularisation against the simplex projection, the non-negative lasso and plain Laplace.

K. Matsumoto, H. Matsui and M. Terada, "Differential privacy for large-scale sparse data via negative l2
regularization". The paper prints neither the spread of its bump of people nor how it was made whole: with a = 0.16 on
64 x 64 cells, rounded down, its rows for Simplex and LM come out within 1 to 2 %. It adds float noise; at epsilon 10
whole noise is almost always 0, so both stand beside the paper. Its lambda is tuned on the true table; "auto" is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from sudare.domain import CountTable
from sudare.errors import ParameterError
from sudare.language.messages import OnProgress, Progress, Stage, unheard
from sudare.papers.contest import ContestOutcome, SparseContender, compete, negative_l2, nonnegative_lasso, simplex
from sudare.papers.data import JAPAN, census_window
from sudare.papers.sheet import Entry, Sheet, make_folder, write_files
from sudare.render.charts import Spec
from sudare.render.drawing import View, map_frame
from sudare.render.error_charts import Bars, error_by_value
from sudare.render.maps import Panel, panels
from sudare.tables.laplace import Laplace
from sudare.tables.negative_l2 import NegativeL2
from sudare.tables.nonnegative_lasso import NonnegativeLasso
from sudare.tables.release import release
from sudare.tables.simplex import Simplex

EPSILONS = (0.1, 1.0, 10.0)
SIDES = (64, 256, 1024)
RUNS, QUICK_RUNS = 100, 10
JAPAN_RUNS, QUICK_JAPAN_RUNS = 25, 3
RANGES = ("0", "1-9", "10-99", "100 or more")
_PEOPLE, _POPULATED = 125_000_000, 0.0275  # of the census in this window, for the stand-in
_PEAK, _SPREAD = 1000.0, 0.16
_TIMED_EPSILON = 0.1


CONTENDERS = (
    SparseContender(
        "Proposed",
        NegativeL2,
        negative_l2,
        bounds=(1e-6, 0.9),
        error=(4.3133, 0.5141, 0.0319),
        nonzero=(4.82, 5.63, 3.39),
        seconds=(0.16, 2.24, 48.25),
        seconds_tuned=(1.43, 19.36, 467.63),
    ),
    SparseContender(
        "Simplex",
        lambda _: Simplex(),
        simplex,
        error=(4.8221, 0.5538, 0.0341),
        nonzero=(6.54, 6.76, 3.40),
        seconds=(0.13, 1.97, 49.43),
    ),
    SparseContender(
        "NNL, best lambda",
        NonnegativeLasso,
        nonnegative_lasso,
        bounds=(1.0, 20.0),
        per_noise=True,
        error=(6.4286, 0.6103, 0.0324),
        nonzero=(8.82, 7.23, 3.39),
        seconds_tuned=(5.37, 60.36, None),
    ),
    SparseContender(
        "NNL, lambda epsilon = 3.85",
        NonnegativeLasso,
        nonnegative_lasso,
        strength=3.85,
        per_noise=True,
        error=(6.4286, 0.6103, 0.0324),
        nonzero=(8.82, 7.23, 3.39),
    ),
    SparseContender(
        "LM",
        lambda _: Laplace(clip=True),
        nonnegative_lasso,
        error=(25.2317, 4.6061, 0.5069),
        nonzero=(46.69, 32.41, 7.44),
        seconds=(0.10, 1.59, 34.42),
    ),
    SparseContender("Negative l2, auto (Sudare)", lambda _: NegativeL2()),
)
PAPER_ON_JAPAN = {"Proposed": (5.30, 250.62, 2409.15), "Simplex": (5.96, 233.96, None)}
"""Non-zero %, seconds for 25 runs, and seconds with tuning."""


@dataclass(frozen=True)
class Reproduction:
    """The paper's experiment, done again: ``sheets`` are its tables with our numbers, ``files`` what was written."""

    basis: str
    runs: int
    japan_runs: int
    sheets: tuple[Sheet, ...]
    files: tuple[Path, ...] = ()

    @property
    def facts(self) -> dict[str, str]:
        """A short summary for people."""
        return {
            "paper": "Matsumoto, Matsui and Terada: negative l2 (tables 1 to 4, figures 1 to 6)",
            "data": f"a bump with 1000 people at its peak; Japan: {self.basis}",
            "runs": f"{self.runs}, Japan {self.japan_runs}",
            "noise": "float noise as in the paper, and whole noise, which is smaller: at epsilon 10 almost always 0",
            "NNL": "the paper's rows belong to a lambda of about 3.85/epsilon; its best one is close to the proposal",
            "Japan": "our window has 2.75 % of its cells populated, the paper's 2.10 %: it leaves islands out",
        }

    def to_json(self) -> dict[str, Any]:
        """For machines."""
        return {
            "paper": "sparse-l2",
            "basis": self.basis,
            "runs": self.runs,
            "japan_runs": self.japan_runs,
            "sheets": [sheet.to_json() for sheet in self.sheets],
            "files": [str(path) for path in self.files],
        }


def bump(side: int) -> CountTable:
    """floor(1000 exp(-a r^2)) people on a grid of ``side`` (a power of two) squared cells, the peak on a cell.

    >>> table = bump(64)
    >>> int(table.total), round(len(table) / 4096, 4)
    (19544, 0.0334)
    """
    if type(side) is not int or side < 2 or side & (side - 1):
        raise ParameterError("the side of the grid is not a power of two", value=side)
    away = (np.arange(side) - side // 2) * (64 / side)
    radius = away[:, None] ** 2 + away**2
    return CountTable.from_array(np.floor(_PEAK * np.exp(-_SPREAD * radius)))


def reproduce(
    folder: Path,
    quick: bool = False,
    progress: OnProgress = unheard,
    *,
    sides: Sequence[int] = SIDES,
    runs: int | None = None,
    japan: tuple[CountTable, str] | None = None,
    japan_runs: int | None = None,
) -> Reproduction:
    """Run the experiments, 100 times (Japan 25) or 10 (3) if ``quick``; write tables and figures into ``folder``.

    ``sides`` are the grids: errors are those of the first. ``japan`` is another table with what to call it. It reads
    the true counts: its files are as private as the tables.
    """
    runs = runs if runs is not None else QUICK_RUNS if quick else RUNS
    japan_runs = japan_runs if japan_runs is not None else QUICK_JAPAN_RUNS if quick else JAPAN_RUNS
    if min(runs, japan_runs) < 1:
        raise ParameterError("runs is not a whole number from 1 on", value=min(runs, japan_runs))
    make_folder(folder)
    small, outcomes = bump(sides[0]), []
    for epsilon in EPSILONS:
        for number, contender in enumerate(CONTENDERS, 1):
            progress(Progress(Stage.EXPERIMENT, number, len(CONTENDERS), f"epsilon {epsilon:g}, {contender.name}"))
            outcomes.append(compete(small, contender, epsilon, runs))
    timed = {sides[0]: [outcome for outcome in outcomes if outcome.epsilon == _TIMED_EPSILON]}
    for side in sides[1:]:
        truth = bump(side)
        for number, contender in enumerate(CONTENDERS, 1):
            progress(Progress(Stage.EXPERIMENT, number, len(CONTENDERS), f"{side} x {side} cells, {contender.name}"))
            timed.setdefault(side, []).append(compete(truth, contender, _TIMED_EPSILON, runs, floats=False))
    progress(Progress(Stage.READING))
    large, basis = japan or census_window(JAPAN, _PEOPLE, _POPULATED)
    largest = []
    rivals = [one for one in CONTENDERS if one.name in PAPER_ON_JAPAN or one.floats is None]
    for number, contender in enumerate(rivals, 1):
        progress(Progress(Stage.EXPERIMENT, number, len(rivals), f"Japan, {contender.name}"))
        largest.append(compete(large, contender, _TIMED_EPSILON, japan_runs, floats=False))
    sheets = (
        _against_paper("table1", "Table 1: RMSE of a cell", outcomes, "error"),
        _against_paper("table2", "Table 2: cells not zero, %", outcomes, "nonzero"),
        _times(timed),
        _japan(largest, japan_runs),
        _ranges({f"{sides[0]} x {sides[0]}": outcomes, f"Japan ({basis})": largest}),
        _choices([*outcomes, *largest]),
    )
    made = Reproduction(basis, runs, japan_runs, sheets)
    return replace(made, files=write_files(folder, sheets, _figures(small, outcomes, large, basis, largest), progress))


def _against_paper(name: str, title: str, outcomes: Sequence[ContestOutcome], metric: str) -> Sheet:
    factor = 100 if metric == "nonzero" else 1
    rows: list[tuple[Entry, ...]] = []
    for outcome in outcomes:
        papers = getattr(outcome.contender, metric)
        paper = papers[EPSILONS.index(outcome.epsilon)] if papers else None
        ours = getattr(outcome.floats, metric) * factor if outcome.floats else None
        whole = getattr(outcome.whole, metric) * factor
        ratio = ours / paper if paper and ours is not None else None
        rows.append((outcome.contender.name, outcome.epsilon, paper, ours, ratio, whole))
    header = ("method", "epsilon", "paper", "here, float noise", "here/paper", "here, whole noise")
    return Sheet(name, title, header, tuple(rows))


def _times(timed: dict[int, list[ContestOutcome]]) -> Sheet:
    rows: list[tuple[Entry, ...]] = []
    for place, (side, outcomes) in enumerate(timed.items()):
        for outcome in outcomes:
            for what, papers, seconds in (
                ("", outcome.contender.seconds, outcome.seconds),
                (", with tuning", outcome.contender.seconds_tuned, outcome.seconds_tuned),
            ):
                if not np.isnan(seconds):
                    paper = papers[place] if place < len(papers) else None
                    ours = 100 * seconds
                    rows.append((outcome.contender.name + what, side**2, paper, ours, ours / paper if paper else None))
    header = ("method", "cells", "paper", "here, whole noise", "here/paper")
    return Sheet("table3", "Table 3: seconds for 100 runs", header, tuple(rows))


def _japan(outcomes: Sequence[ContestOutcome], runs: int) -> Sheet:
    rows: list[tuple[Entry, ...]] = []
    for outcome in outcomes:
        nonzero, seconds, with_tuning = PAPER_ON_JAPAN.get(outcome.contender.name, (None, None, None))
        times = (seconds, JAPAN_RUNS * outcome.seconds, with_tuning, JAPAN_RUNS * outcome.seconds_tuned)
        rows.append((outcome.contender.name, nonzero, 100 * outcome.whole.nonzero, *times, outcome.whole.error))
    header = (
        "method",
        "not zero %, paper",
        "not zero %, here",
        "seconds, paper",
        "seconds, here",
        "with tuning, paper",
        "with tuning, here",
        "RMSE, here",
    )
    title = f"Table 4: Japan, epsilon 0.1, seconds for {JAPAN_RUNS} runs ({runs} done)"
    return Sheet("table4", title, header, tuple(rows))


def _ranges(tables: dict[str, Sequence[ContestOutcome]]) -> Sheet:
    rows: list[tuple[Entry, ...]] = []
    for table, outcomes in tables.items():
        for outcome in outcomes:
            of_paper = outcome.floats or outcome.whole
            for place, name in enumerate(RANGES):
                errors = (float(of_paper.range_error[place]), float(of_paper.range_mean[place]))
                rows.append((table, outcome.epsilon, outcome.contender.name, name, *errors))
    header = ("table", "epsilon", "method", "true count", "RMSE", "mean error")
    return Sheet("ranges", "Figures 2 to 4 and 6: error by true count", header, tuple(rows))


def _choices(outcomes: Sequence[ContestOutcome]) -> Sheet:
    rows: list[tuple[Entry, ...]] = [
        (outcome.contender.name, outcome.first.domain.size, outcome.epsilon, *outcome.strengths, outcome.whole.error)
        for outcome in outcomes
        if outcome.contender.bounds or outcome.contender.floats is None
    ]
    header = ("method", "cells", "epsilon", "lambda, float noise", "lambda, whole noise", "RMSE, whole noise")
    return Sheet("strengths", "Lambda tuned on the truth, and auto, which sees noise only", header, tuple(rows))


def _figures(
    small: CountTable,
    outcomes: Sequence[ContestOutcome],
    large: CountTable,
    basis: str,
    largest: Sequence[ContestOutcome],
) -> dict[str, Spec]:
    """Figure 1 with what the methods make of it, 2 to 4, 5 and 6."""
    frame = map_frame(next(iter(small.domain.attributes.values())))
    raw = release(small, Laplace(), EPSILONS[0], seed=0).table
    maps = [Panel("Data", small.to_array()), Panel("Laplace", raw.to_array(), "negative cells in red")]
    maps += [Panel(one.contender.name, one.first.to_array()) for one in outcomes if one.epsilon == EPSILONS[0]]
    drawn = {"maps": panels(frame, maps, columns=4, width=210)}
    for epsilon in EPSILONS:
        chosen = [outcome for outcome in outcomes if outcome.epsilon == epsilon]
        drawn[f"ranges_epsilon_{epsilon:g}"] = _bars(chosen, f"Error by true count, epsilon {epsilon:g}")
        # LM is so far off that the others need a scale of their own.
        others = [outcome for outcome in chosen if outcome.contender.name != "LM"]
        drawn[f"ranges_epsilon_{epsilon:g}_closer"] = _bars(others, f"The same without LM, epsilon {epsilon:g}")
    drawn["japan"] = View.of(large.domain).compared(large, largest[0].first)
    drawn["ranges_japan"] = _bars(largest, f"Error by true count, Japan ({basis}), epsilon {_TIMED_EPSILON:g}")
    return drawn


def _bars(outcomes: Sequence[ContestOutcome], title: str) -> Spec:
    scores = [(outcome.contender.name, outcome.floats or outcome.whole) for outcome in outcomes]
    return error_by_value([Bars(name, one.range_error, one.range_mean) for name, one in scores], RANGES, title=title)
