"""Hasegawa et al.: distributions of perturbed records, by Gaussian mixtures and by iterative Bayes (IBT).

The paper perturbs numbers with Laplace noise for Pk-anonymity and recovers their distribution by a mixture whose means
and deviations climb a gradient. Its synthetic experiment (1,000 to a million records, 2 to 6 components) finds the
mixture ahead of IBT up to 10,000 records and behind from 100,000 on; its numbers for Adult are in `mixture_adult`. Its
bins are not stated. Here: 50 bins between the least and the largest value of the synthetic sets, age by year, years of
education by their 16 values, capital-gain in 100 bins. Of these the paper's 91.67 for capital-gain is exactly the share
of records without any.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from typing import ClassVar

import numpy as np

from sudare.arrays import Floats
from sudare.errors import ParameterError
from sudare.language.messages import PageMessage, Value
from sudare.papers import mixture_adult as adult
from sudare.papers import mixture_synthetic as synthetic
from sudare.papers.data import TRAINING_RECORDS
from sudare.papers.mixture_synthetic import RecoveredDraw, l1_percent
from sudare.papers.reproduction import Reproduction, Units
from sudare.papers.sheet import Entry, Sheet
from sudare.render.charts import Spec
from sudare.render.curves import Series, curves


@dataclass(frozen=True, kw_only=True)
class MixtureReproduction(Reproduction):
    """Draws by number of records, the columns of Adult, which are ``data``, and their cross table.

    ``runs`` maps numbers of records to how often they are drawn.
    """

    key = "mixture"
    usual: ClassVar = (dict.fromkeys(synthetic.SCALES, 20), {1_000: 4, 10_000: 2, 100_000: 1, 1_000_000: 1})

    def __post_init__(self) -> None:
        super().__post_init__()
        if not set(self.runs) <= set(synthetic.SCALES):
            raise ParameterError("runs does not give a number of runs for each of the paper's sizes", value=self.runs)

    def read(self) -> tuple[dict[str, Floats], Value]:
        return adult.adult_numbers()

    def units(self) -> Units:
        assert self.data is not None  # noqa: S101 - `reproduce` reads it
        repeated = min(5, *self.runs.values())
        drawn = {_draw(size, run): (size, run) for size, times in self.runs.items() for run in range(times)}
        return (
            {name: partial(synthetic.draw, *which) for name, which in drawn.items()}
            | {f"Adult, {name}": partial(adult.recovered, self.data[0], name, repeated) for name in adult.BOUNDS}
            | {"the cross table": partial(adult.cross_table, self.data[0])}
        )

    @cached_property
    def draws(self) -> dict[int, list[RecoveredDraw]]:
        return {size: [self.found[_draw(size, run)] for run in range(times)] for size, times in self.runs.items()}

    @property
    def cross(self) -> adult.Cross:
        found: adult.Cross = self.found["the cross table"]
        return found

    def mean(self, size: int, name: str) -> float:
        """The mean L1 accuracy of a method over the runs."""
        return float(np.mean([draw.accuracy(name) for draw in self.draws[size]]))

    @property
    def said(self) -> dict[str, dict[str, Value]]:
        runs = tuple(PageMessage("paper.fact.mixture.draws", runs=runs, size=size) for size, runs in self.runs.items())
        return {"data": {"basis": self.basis, "records": TRAINING_RECORDS}, "runs": {"draws": runs}, "note": {}}

    @cached_property
    def figures(self) -> dict[str, Spec]:
        """Figure 2 as printed, and by Sudare."""
        printed = (synthetic.PRINTED_IBT, *map(synthetic.printed_name, synthetic.COMPONENTS))
        ours = (synthetic.LATE, synthetic.EARLY, synthetic.AUTO, synthetic.CHOSEN)
        return {
            "figure2_as_printed": self._accuracy(printed, "Figure 2, as printed"),
            "figure2_sudare": self._accuracy(ours, "The same records, by Sudare"),
        }

    def _accuracy(self, names: Sequence[str], title: str) -> Spec:
        """L1 accuracy against the number of records."""
        sizes, dashed = list(self.draws), (synthetic.CHOSEN, synthetic.PRINTED_IBT)
        chart = curves(
            [Series(name, sizes, [self.mean(size, name) for size in sizes], dashed=name in dashed) for name in names],
            title=title,
            subtitle="L1 accuracy by number of records: 50 bins, k = 2, mean of the runs",
            x_title="records",
            y_title="L1 accuracy, %",
            width=520,
            height=340,
            x_domain=(0.8 * min(sizes), 1.25 * max(sizes)),
            y_domain=(0, 100),
        )
        chart["encoding"]["x"]["scale"]["type"] = "log"
        chart["encoding"]["x"]["axis"]["values"] = sizes
        return chart

    @property
    def sheets(self) -> tuple[Sheet, ...]:
        """Synthetic accuracy, Adult, and the cross table."""
        accuracy = tuple((name, l1_percent(self.cross.true, table)) for name, table in self.cross.found.items())
        crossed = self._cross(), Sheet("table1_accuracy", ("method", "accuracy"), accuracy)
        return self._synthetic(), self._adult(), *crossed

    def _synthetic(self) -> Sheet:
        methods = [synthetic.PRINTED_IBT, *map(synthetic.printed_name, synthetic.COMPONENTS), *synthetic.CHANGES]
        methods += [synthetic.LATE, synthetic.EARLY, *map(synthetic.mixture_name, synthetic.COMPONENTS)]
        methods += [synthetic.AUTO, synthetic.CHOSEN]
        rows: list[tuple[Entry, ...]] = [
            ("scale of the noise, paper", *(synthetic.SCALES[size] for size in self.draws)),
            ("scale of the noise, here", *(float(np.mean([d.scale for d in draws])) for draws in self.draws.values())),
        ]
        rows += [(name, *(self.mean(size, name) for size in self.draws)) for name in methods]
        header = ("L1 accuracy %, mean", *(f"N = {size:,}" for size in self.draws))
        return Sheet("synthetic", header, tuple(rows))

    def _adult(self) -> Sheet:
        columns: dict[str, adult.RecoveredColumn] = {name: self.found[f"Adult, {name}"] for name in adult.BOUNDS}
        rows: list[tuple[Entry, ...]] = []
        for name, column in columns.items():
            ours = map(column.accuracy, (adult.PRINTED_IBT, adult.PRINTED, adult.IBT, adult.MIXTURE))
            rows.append((name, adult.SCALES[name], column.scale, *adult.PAPER[name], *ours))
        scales, paper = ("scale, paper", "scale, here"), ("IBT, paper", "mixture, paper")
        header = ("column", *scales, *paper, adult.PRINTED_IBT, adult.PRINTED, "Sudare: IBT", "Sudare: mixture")
        return Sheet("adult", header, tuple(rows))

    def _cross(self) -> Sheet:
        ages, years = adult.CROSS.values()
        rows: list[tuple[Entry, ...]] = []
        for place, (low, high) in enumerate(pairwise(ages)):
            for source, table in (("true", self.cross.true), *self.cross.found.items()):
                rows.append((f"{low:g} to {high:g}", source, *(100 * table[place]).round(2).tolist()))
        spans = [(np.ceil(low), np.floor(high)) for low, high in pairwise(years)]
        header = ("age", "source", *(f"{a:g} years" if a == b else f"{a:g}-{b:g} years" for a, b in spans))
        return Sheet("table1", header, tuple(rows))


reproduce = MixtureReproduction.reproduce


def _draw(size: int, run: int) -> str:
    return f"{size:,} records, draw {run + 1}"
