"""Matsumoto, Matsui and Terada: negative l2 against the simplex projection, the non-negative lasso and plain Laplace.

K. Matsumoto, H. Matsui and M. Terada, "Differential privacy for large-scale sparse data via negative l2
regularization". The paper prints neither the spread of its bump of people nor how it was made whole: with a = 0.16 on
64 x 64 cells, rounded down, its rows for Simplex and LM come out within 1 to 2 %. It adds float noise; at epsilon 10
whole noise is almost always 0, so both stand beside the paper. Its lambda is tuned on the true table; "auto" is not.
Its rows for NNL are those of another lambda than the best (errata N2): both are run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from sudare.domain import CountTable
from sudare.errors import ParameterError
from sudare.language.messages import OnProgress, Progress, Stage, Value, unheard
from sudare.papers.contest import (
    CellScore,
    ClosedFormCheck,
    ContestOutcome,
    SparseContender,
    check_closed_form,
    compete,
    negative_l2,
    nonnegative_lasso,
    simplex,
)
from sudare.papers.data import JAPAN, census_window
from sudare.papers.reproduction import Reproduction, repetitions
from sudare.papers.sheet import Entry, Phrase, Sheet
from sudare.papers.units import Unit, run_units
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
RUNS, JAPAN_RUNS = (100, 10), (25, 3)
"""In full, and if quick."""
RANGES = ("0", "1-9", "10-99", "100 or more", "all")
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
class SparseL2Reproduction(Reproduction):
    """``small`` is the bump with its ``outcomes``, ``large`` Japan with its own; ``timed`` are outcomes by side."""

    key = "sparse-l2"
    japan_runs: int
    small: CountTable
    outcomes: list[ContestOutcome]
    timed: dict[int, list[ContestOutcome]]
    large: CountTable
    largest: list[ContestOutcome]
    checks: list[ClosedFormCheck]

    @property
    def said(self) -> dict[str, dict[str, Value]]:
        return {"data": {"basis": self.basis}, "runs": {"runs": self.runs, "japan": self.japan_runs}, "note": {}}

    @property
    def sheets(self) -> tuple[Sheet, ...]:
        """Tables 1 to 4, figures 2 to 4 and 6 in numbers, the strengths, and the closed form against the iteration."""
        side = self.small.domain.shape[0]
        return (
            _against_paper("table1", self.outcomes, "error"),
            _against_paper("table2", self.outcomes, "nonzero"),
            _times(self.timed),
            _japan(self.largest),
            _ranges({f"{side} x {side}": self.outcomes, "Japan": self.largest}),
            _choices([*self.outcomes, *self.largest]),
            _checked(self.checks),
        )

    @property
    def figures(self) -> dict[str, Spec]:
        """Figure 1 with what the methods make of it, 2 to 4, 5 and 6."""
        frame = map_frame(next(iter(self.small.domain.attributes.values())))
        raw = release(self.small, Laplace(), EPSILONS[0], seed=0).table
        maps = [Panel("Data", self.small.to_array()), Panel("Laplace", raw.to_array(), "negative cells in red")]
        maps += [Panel(one.contender.name, one.first.to_array()) for one in self.outcomes if one.epsilon == EPSILONS[0]]
        drawn = {"maps": panels(frame, maps, columns=4, width=210)}
        for epsilon in EPSILONS:
            chosen = [outcome for outcome in self.outcomes if outcome.epsilon == epsilon]
            drawn[f"ranges_epsilon_{epsilon:g}"] = _bars(
                chosen, Phrase("Error by true count, epsilon {epsilon:g}", epsilon=epsilon)
            )
            # LM is so far off that the others need a scale of their own.
            others = [outcome for outcome in chosen if outcome.contender.name != "LM"]
            drawn[f"ranges_epsilon_{epsilon:g}_closer"] = _bars(
                others, Phrase("The same without LM, epsilon {epsilon:g}", epsilon=epsilon)
            )
        released = {"True counts": self.large, "Released counts": self.largest[0].first}
        drawn["japan"] = View.of(self.large.domain).picture(released, 430)
        for part, table in zip(drawn["japan"]["concat"], released.values(), strict=True):
            part["title"]["subtitle"] = Phrase("{people:,} people", people=int(table.total))
        title = Phrase(
            "Error by true count, Japan ({basis}), epsilon {epsilon:g}", basis=self.basis, epsilon=_TIMED_EPSILON
        )
        return drawn | {"ranges_japan": _bars(self.largest, title)}


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
    japan: tuple[CountTable, Value] | None = None,
    japan_runs: int | None = None,
) -> SparseL2Reproduction:
    """Run the experiments, 100 times (Japan 25) or 10 (3) if ``quick``; write tables and figures into ``folder``.

    ``sides`` are the grids: errors are those of the first. ``japan`` is another table with what to call it. It reads
    the true counts: its files are as private as the tables.
    """
    runs, japan_runs = repetitions(runs, quick, RUNS), repetitions(japan_runs, quick, JAPAN_RUNS)
    small = bump(sides[0])
    progress(Progress(Stage.READING))
    large, basis = japan or census_window(JAPAN, _PEOPLE, _POPULATED)
    rivals = [one for one in CONTENDERS if one.name in PAPER_ON_JAPAN or one.floats is None]
    asked = {
        f"epsilon {epsilon:g}, {one.name}": (small, one, epsilon, runs, True)
        for epsilon in EPSILONS
        for one in CONTENDERS
    }
    asked |= {
        f"{side} x {side} cells, {one.name}": (bump(side), one, _TIMED_EPSILON, runs, False)
        for side in sides[1:]
        for one in CONTENDERS
    }
    asked |= {f"Japan, {one.name}": (large, one, _TIMED_EPSILON, japan_runs, False) for one in rivals}
    units = [Unit(name, partial(_part, *what)) for name, what in asked.items()]
    units.append(Unit("DC iteration", partial(check_closed_form, small, EPSILONS)))
    settings = {"paper": "sparse-l2", "runs": (runs, japan_runs), "basis": basis, "sides": tuple(sides)}
    parts = run_units(folder, units, settings, progress)
    # Contenders hold functions, which cannot be kept between runs.
    made_of = {name: ContestOutcome(one, epsilon, *parts[name]) for name, (_, one, epsilon, *_) in asked.items()}
    outcomes = [made_of[f"epsilon {epsilon:g}, {one.name}"] for epsilon in EPSILONS for one in CONTENDERS]
    timed = {sides[0]: [outcome for outcome in outcomes if outcome.epsilon == _TIMED_EPSILON]}
    timed |= {side: [made_of[f"{side} x {side} cells, {one.name}"] for one in CONTENDERS] for side in sides[1:]}
    largest = [made_of[f"Japan, {one.name}"] for one in rivals]
    checks = parts["DC iteration"]
    made = SparseL2Reproduction(basis, runs, japan_runs, small, outcomes, timed, large, largest, checks)
    return made.written(folder, progress)


def _part(truth: CountTable, contender: SparseContender, epsilon: float, runs: int, floats: bool) -> tuple[Any, ...]:
    """What a contender did, without the contender."""
    made = compete(truth, contender, epsilon, runs, floats=floats)
    return made.floats, made.whole, made.strengths, made.first, made.seconds, made.seconds_tuned


def _against_paper(name: str, outcomes: Sequence[ContestOutcome], metric: str) -> Sheet:
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
    return Sheet(name, header, tuple(rows))


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
    return Sheet("table3", header, tuple(rows))


def _japan(outcomes: Sequence[ContestOutcome]) -> Sheet:
    rows: list[tuple[Entry, ...]] = []
    for outcome in outcomes:
        nonzero, seconds, with_tuning = PAPER_ON_JAPAN.get(outcome.contender.name, (None, None, None))
        times = (seconds, JAPAN_RUNS[0] * outcome.seconds, with_tuning, JAPAN_RUNS[0] * outcome.seconds_tuned)
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
    return Sheet("table4", header, tuple(rows))


def _ranges(tables: dict[str, Sequence[ContestOutcome]]) -> Sheet:
    rows: list[tuple[Entry, ...]] = []
    for table, outcomes in tables.items():
        for outcome in outcomes:
            of_paper = outcome.floats or outcome.whole
            for name, *errors in zip(RANGES, *_with_all(of_paper), strict=True):
                rows.append((table, outcome.epsilon, outcome.contender.name, name, *errors))
    header = ("table", "epsilon", "method", "true count", "RMSE", "mean error")
    return Sheet("ranges", header, tuple(rows))


def _choices(outcomes: Sequence[ContestOutcome]) -> Sheet:
    rows: list[tuple[Entry, ...]] = [
        (outcome.contender.name, outcome.first.domain.size, outcome.epsilon, *outcome.strengths, outcome.whole.error)
        for outcome in outcomes
        if outcome.contender.bounds or outcome.contender.floats is None
    ]
    header = ("method", "cells", "epsilon", "lambda, float noise", "lambda, whole noise", "RMSE, whole noise")
    return Sheet("strengths", header, tuple(rows))


def _checked(checks: Sequence[ClosedFormCheck]) -> Sheet:
    header = (
        "epsilon",
        "lambda",
        "steps of (12), (13)",
        "farthest cell, gamma = 1 - lambda",
        "with gamma = 1 - n lambda",
    )
    return Sheet("closed_form", header, tuple(checks))


def _bars(outcomes: Sequence[ContestOutcome], title: str) -> Spec:
    scores = [(outcome.contender.name, outcome.floats or outcome.whole) for outcome in outcomes]
    return error_by_value([Bars(name, *_with_all(one)) for name, one in scores], RANGES, title=title)


def _with_all(score: CellScore) -> tuple[list[float], list[float]]:
    """RMSE and mean error by true count, and of all cells last: figure 6's bar."""
    return [*score.range_error.tolist(), score.error], [*score.range_mean.tolist(), score.mean]
