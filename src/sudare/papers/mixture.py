"""Paper 4: distributions of perturbed records, by Gaussian mixtures and by iterative Bayes (IBT).

The paper perturbs numbers with Laplace noise for Pk-anonymity and recovers their distribution by a mixture whose means
and deviations climb a gradient. Its synthetic experiment (1,000 to a million records, 2 to 6 components) finds the
mixture ahead of IBT up to 10,000 records and behind from 100,000 on; its numbers for Adult are in `mixture_adult`. Its
bins are not stated. Here: 50 bins between the least and the largest value of the synthetic sets, age by year, years of
education by their 16 values, capital-gain in 100 bins. Of these the paper's 91.67 for capital-gain is exactly the share
of records without any.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from sudare.errors import ParameterError
from sudare.language.messages import OnProgress, Progress, Stage, unheard
from sudare.papers import mixture_adult as adult
from sudare.papers import mixture_correlated as correlated
from sudare.papers import mixture_synthetic as synthetic
from sudare.papers.mixture_figures import figures
from sudare.papers.mixture_synthetic import RecoveredDraw, l1_percent
from sudare.papers.sheet import Entry, Sheet, make_folder, write_files

RUNS, QUICK_RUNS = 20, {1_000: 4, 10_000: 2, 100_000: 1}


@dataclass(frozen=True)
class Reproduction:
    """The paper's experiments, done again: ``sheets`` are its tables with our numbers, ``files`` what was written."""

    basis: str
    draws: dict[int, list[RecoveredDraw]]
    columns: dict[str, adult.RecoveredColumn]
    cross: adult.Cross
    cases: list[correlated.CorrelatedCase]
    files: tuple[Path, ...] = ()

    def mean(self, size: int, name: str) -> float:
        """The mean L1 accuracy of a method over the runs in which it took part; NaN where it took part in none."""
        found = [draw.accuracy(name) for draw in self.draws[size] if name in draw.found]
        return float(np.mean(found)) if found else float("nan")

    @property
    def facts(self) -> dict[str, str]:
        """A short summary for people."""
        runs = ", ".join(f"{len(draws)} of {size:,}" for size, draws in self.draws.items())
        return {
            "paper": "perturbed records and Gaussian mixtures (synthetic mixture, Adult, cross table)",
            "data": f"{self.basis}, {adult.RECORDS:,} records; synthetic draws: {runs}",
            "chosen by": "perturbed values alone: components, steps, smoothing, and which of the two methods",
        }

    @property
    def sheets(self) -> tuple[Sheet, ...]:
        """Synthetic accuracy, Adult, the cross table, and correlated attributes."""
        return self._synthetic(), self._adult(), self._cross(), self._cross_accuracy(), self._correlated()

    def _synthetic(self) -> Sheet:
        methods = [synthetic.LATE, synthetic.EARLY]
        methods += [synthetic.mixture_name(count) for count in synthetic.COMPONENTS]
        methods += [synthetic.AUTO, synthetic.CHOSEN, *map(synthetic.gradient_name, synthetic.RATES), synthetic.SQUARE]
        rows: list[tuple[Entry, ...]] = [
            ("scale of the noise, paper", *(synthetic.SCALES[size] for size in self.draws)),
            ("scale of the noise, here", *(float(np.mean([d.scale for d in draws])) for draws in self.draws.values())),
        ]
        rows += [(name, *(self.mean(size, name) for size in self.draws)) for name in methods]
        header = ("L1 accuracy %, mean", *(f"N = {size:,}" for size in self.draws))
        return Sheet("synthetic", "The synthetic mixture", header, tuple(rows))

    def _adult(self) -> Sheet:
        rows = [
            (
                name,
                adult.SCALES[name],
                column.scale,
                adult.PAPER[name][0],
                column.accuracy(adult.IBT),
                column.accuracy(adult.IBT_LATE),
                adult.PAPER[name][1],
                column.accuracy(adult.MIXTURE),
                column.accuracy(adult.PLAIN),
            )
            for name, column in self.columns.items()
        ]
        header = (
            "column",
            "scale, paper",
            "scale, here",
            "IBT, paper",
            "IBT, here",
            adult.IBT_LATE,
            "mixture, paper",
            "mixture, here",
            adult.PLAIN,
        )
        return Sheet("adult", "Adult, one column at a time: L1 accuracy %", header, tuple(rows))

    def _cross(self) -> Sheet:
        ages, years = (adult.CROSS[name] for name in adult.CROSS)
        rows: list[tuple[Entry, ...]] = []
        for place, (low, high) in enumerate(pairwise(ages)):
            for source, table in (("true", self.cross.true), *self.cross.found.items()):
                rows.append((f"{low:g} to {high:g}", source, *(100 * table[place]).round(2).tolist()))
        spans = [(np.ceil(low), np.floor(high)) for low, high in pairwise(years)]
        header = ("age", "source", *(f"{a:g} years" if a == b else f"{a:g}-{b:g} years" for a, b in spans))
        return Sheet("table1", "Table 1: age by years of education, % of records", header, tuple(rows))

    def _cross_accuracy(self) -> Sheet:
        rows = tuple((name, l1_percent(self.cross.true, table)) for name, table in self.cross.found.items())
        return Sheet("table1_accuracy", "Table 1: L1 accuracy %", ("method", "accuracy"), rows)

    def _correlated(self) -> Sheet:
        methods = tuple(self.cases[0].accuracy)
        rows: list[tuple[Entry, ...]] = [
            (case.size, case.noise, case.scale, *(case.accuracy[name] for name in methods)) for case in self.cases
        ]
        header = ("records", "noise", "scale of the first", *methods)
        return Sheet("correlated", "Two correlated attributes, 12 x 12 cells: L1 accuracy %", header, tuple(rows))

    def to_json(self) -> dict[str, Any]:
        """For machines."""
        return {
            "paper": "mixture",
            "basis": self.basis,
            "runs": {str(size): len(draws) for size, draws in self.draws.items()},
            "sheets": [sheet.to_json() for sheet in self.sheets],
            "files": [str(path) for path in self.files],
        }


def reproduce(
    folder: Path,
    quick: bool = False,
    progress: OnProgress = unheard,
    *,
    runs: dict[int, int] | None = None,
) -> Reproduction:
    """Run the experiments and write tables (CSV) and figures (PNG) into ``folder``.

    20 runs of each size, or a few up to 100,000 records if ``quick``; ``runs`` gives other sizes and numbers. The true
    values are read to compare with them: the files are as private as the records.
    """
    wanted = runs or (QUICK_RUNS if quick else dict.fromkeys(synthetic.SCALES, RUNS))
    if any(size not in synthetic.SCALES or times < 1 for size, times in wanted.items()):
        raise ParameterError("runs are not numbers of runs by the paper's sizes", value=wanted)
    make_folder(folder)
    repeated = max(1, min(wanted.values()) if quick or runs else 5)
    data, basis = adult.adult_numbers()
    draws = synthetic.experiment(wanted, progress)
    columns = adult.columns(data, repeated, progress)
    progress(Progress(Stage.EXPERIMENT, detail="the cross table"))
    made = Reproduction(basis, draws, columns, adult.cross_table(data), correlated.experiment(repeated, progress))
    return replace(made, files=write_files(folder, made.sheets, figures(made), progress))
