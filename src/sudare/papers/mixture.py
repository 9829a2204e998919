"""Hasegawa et al.: distributions of perturbed records, by Gaussian mixtures and by iterative Bayes (IBT).

The paper perturbs numbers with Laplace noise for Pk-anonymity and recovers their distribution by a mixture whose means
and deviations climb a gradient. Its synthetic experiment (1,000 to a million records, 2 to 6 components) finds the
mixture ahead of IBT up to 10,000 records and behind from 100,000 on; its numbers for Adult are in `mixture_adult`. Its
bins are not stated. Here: 50 bins between the least and the largest value of the synthetic sets, age by year, years of
education by their 16 values, capital-gain in 100 bins. Of these the paper's 91.67 for capital-gain is exactly the share
of records without any.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np

from sudare.errors import ParameterError
from sudare.language.messages import OnProgress, PageMessage, Value, unheard
from sudare.papers import mixture_adult as adult
from sudare.papers import mixture_correlated as correlated
from sudare.papers import mixture_synthetic as synthetic
from sudare.papers.mixture_figures import figures
from sudare.papers.mixture_synthetic import RecoveredDraw, l1_percent
from sudare.papers.reproduction import Reproduction
from sudare.papers.sheet import Entry, Sheet
from sudare.papers.units import Unit, run_units
from sudare.render.charts import Spec

RUNS, QUICK_RUNS = 20, {1_000: 4, 10_000: 2, 100_000: 1, 1_000_000: 1}


@dataclass(frozen=True)
class MixtureReproduction(Reproduction):
    """Draws by number of records, the columns of Adult and their cross table, and correlated attributes."""

    key = "mixture"
    draws: dict[int, list[RecoveredDraw]]
    columns: dict[str, adult.RecoveredColumn]
    cross: adult.Cross
    cases: list[correlated.CorrelatedCase]

    def mean(self, size: int, name: str) -> float:
        """The mean L1 accuracy of a method over the runs in which it took part; NaN where it took part in none."""
        found = [draw.accuracy(name) for draw in self.draws[size] if name in draw.found]
        return float(np.mean(found)) if found else float("nan")

    @property
    def said(self) -> dict[str, dict[str, Value]]:
        runs = tuple(
            PageMessage("paper.fact.mixture.draws", runs=runs, size=int(size)) for size, runs in self.runs.items()
        )
        return {"data": {"basis": self.basis, "records": adult.RECORDS}, "runs": {"draws": runs}, "note": {}}

    @property
    def figures(self) -> dict[str, Spec]:
        return figures(self)

    @property
    def sheets(self) -> tuple[Sheet, ...]:
        """Synthetic accuracy, what the start does to it, Adult, the cross table, and correlated attributes."""
        crossed = self._cross(), self._cross_accuracy()
        return self._synthetic(), self._starts(), self._adult(), *crossed, self._correlated()

    def _synthetic(self) -> Sheet:
        methods = [synthetic.PRINTED_IBT, *map(synthetic.printed_name, synthetic.COMPONENTS), *synthetic.CHANGES]
        methods += [synthetic.LATE, synthetic.EARLY, *map(synthetic.mixture_name, synthetic.COMPONENTS)]
        methods += [synthetic.AUTO, synthetic.CHOSEN, synthetic.SQUARE]
        rows: list[tuple[Entry, ...]] = [
            ("scale of the noise, paper", *(synthetic.SCALES[size] for size in self.draws)),
            ("scale of the noise, here", *(float(np.mean([d.scale for d in draws])) for draws in self.draws.values())),
        ]
        rows += [(name, *(self.mean(size, name) for size in self.draws)) for name in methods]
        header = ("L1 accuracy %, mean", *(f"N = {size:,}" for size in self.draws))
        return Sheet("synthetic", header, tuple(rows))

    def _starts(self) -> Sheet:
        """The printed mixture from random starts: each as often as it was drawn, and the likeliest of each draw."""
        rows: list[tuple[Entry, ...]] = []
        for name in synthetic.STARTS:
            for size, draws in self.draws.items():
                found = np.array([[one.accuracy for one in draw.starts[name]] for draw in draws])
                likeliest = [max(draw.starts[name], key=lambda one: one.log_likelihood).accuracy for draw in draws]
                ibt = np.array([draw.accuracy(synthetic.PRINTED_IBT) for draw in draws])
                ahead = float(np.mean(found > ibt[:, None]))
                spread = (float(found.std()), float(found.min()), float(found.max()))
                rows.append(
                    (name, size, float(ibt.mean()), float(found.mean()), *spread, float(np.mean(likeliest)), ahead)
                )
        header = (
            "random start",
            "records",
            "IBT as printed",
            "mixture as printed, mean",
            "sd",
            "least",
            "largest",
            f"likeliest of {synthetic.DRAWN_STARTS}",
            "share ahead of IBT",
        )
        return Sheet("starts", header, tuple(rows))

    def _adult(self) -> Sheet:
        rows = [
            (
                name,
                adult.SCALES[name],
                column.scale,
                adult.PAPER[name][0],
                column.accuracy(adult.PRINTED_IBT),
                adult.PAPER[name][1],
                column.accuracy(adult.PRINTED),
                column.accuracy(adult.IBT),
                column.accuracy(adult.IBT_LATE),
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
            adult.PRINTED_IBT,
            "mixture, paper",
            adult.PRINTED,
            "Sudare: IBT",
            adult.IBT_LATE,
            "Sudare: mixture",
            adult.PLAIN,
        )
        return Sheet("adult", header, tuple(rows))

    def _cross(self) -> Sheet:
        ages, years = (adult.CROSS[name] for name in adult.CROSS)
        rows: list[tuple[Entry, ...]] = []
        for place, (low, high) in enumerate(pairwise(ages)):
            for source, table in (("true", self.cross.true), *self.cross.found.items()):
                rows.append((f"{low:g} to {high:g}", source, *(100 * table[place]).round(2).tolist()))
        spans = [(np.ceil(low), np.floor(high)) for low, high in pairwise(years)]
        header = ("age", "source", *(f"{a:g} years" if a == b else f"{a:g}-{b:g} years" for a, b in spans))
        return Sheet("table1", header, tuple(rows))

    def _cross_accuracy(self) -> Sheet:
        rows = tuple((name, l1_percent(self.cross.true, table)) for name, table in self.cross.found.items())
        return Sheet("table1_accuracy", ("method", "accuracy"), rows)

    def _correlated(self) -> Sheet:
        methods = tuple(self.cases[0].accuracy)
        rows: list[tuple[Entry, ...]] = [
            (case.size, case.noise, case.scale, *(case.accuracy[name] for name in methods)) for case in self.cases
        ]
        header = ("records", "noise", "scale of the first", *methods)
        return Sheet("correlated", header, tuple(rows))


def reproduce(
    folder: Path,
    quick: bool = False,
    progress: OnProgress = unheard,
    *,
    runs: dict[int, int] | None = None,
) -> MixtureReproduction:
    """Run the experiments and write tables (CSV) and figures (PNG) into ``folder``.

    20 runs of each size, or one to four if ``quick``; ``runs`` gives other sizes and numbers. The true
    values are read to compare with them: the files are as private as the records.
    """
    wanted = runs or (QUICK_RUNS if quick else dict.fromkeys(synthetic.SCALES, RUNS))
    if any(size not in synthetic.SCALES or times < 1 for size, times in wanted.items()):
        raise ParameterError("runs does not give a number of runs for each of the paper's sizes", value=wanted)
    repeated = max(1, min(wanted.values()) if quick or runs else 5)
    data, basis = adult.adult_numbers()
    drawn = {(size, run): f"{size:,} records, draw {run + 1}" for size, times in wanted.items() for run in range(times)}
    cases = {f"correlated, {case[0]:,} records, {case[1]}": case for case in correlated.CASES}
    units = [Unit(name, partial(synthetic.draw, *which)) for which, name in drawn.items()]
    units += [Unit(f"Adult, {name}", partial(adult.recovered, data, name, repeated)) for name in adult.BOUNDS]
    units += [Unit("the cross table", partial(adult.cross_table, data))]
    units += [Unit(name, partial(correlated.experiment, case, repeated)) for name, case in cases.items()]
    settings = {"paper": "mixture", "basis": basis, "repeated": repeated, "steps": synthetic.PRINTED_STEPS}
    found = run_units(folder, units, settings, progress)
    made = MixtureReproduction(
        basis,
        {str(size): times for size, times in wanted.items()},
        {size: [found[drawn[size, run]] for run in range(times)] for size, times in wanted.items()},
        {name: found[f"Adult, {name}"] for name in adult.BOUNDS},
        found["the cross table"],
        [found[name] for name in cases],
    )
    return made.written(folder, progress)
