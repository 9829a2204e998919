"""Horigome 2020, appendix A: ward populations from RAPPOR reports, by maximum likelihood and by EM.

H. Horigome, graduation thesis, Meiji University, 2020 (appendix A: estimating populations under local differential
privacy). Users of 23 wards at six times of a day send one-hot vectors with every bit flipped with chance
q = 1/(1 + e**(epsilon/2)); the error is S, the sum over wards of |estimate - truth|, mean of ten repetitions. The
paper's "MLE" is the unbiased estimate. Its EM stops by a tolerance that is not printed; of 1e-4 and 1e-6 the latter
came nearer to its numbers and is used here: it was chosen by them.

Ours beside them: the same reports projected on the simplex, EM under a prior read off the reports, EM stopped by
held-out reports, and the other encodings. Then the same on real traces of 1,024 regions, where they are at hand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from sudare.arrays import Floats
from sudare.language.messages import OnProgress, Value, unheard
from sudare.local import (
    Encoding,
    HadamardResponse,
    LocalHashing,
    OptimisedUnary,
    RandomisedResponse,
    Reports,
    SubsetSelection,
    SymmetricUnary,
    estimate,
)
from sudare.local.estimators import Supports
from sudare.papers.data import CORRELATION, EPSILONS, HOURS, PAPER, TOTALS, WARDS, people
from sudare.papers.rappor_figures import figures
from sudare.papers.reproduction import Reproduction, repetitions
from sudare.papers.sheet import Entry, Sheet
from sudare.papers.traces import Traces, trace_experiment
from sudare.papers.units import Unit, run_units
from sudare.privacy import exact
from sudare.render.charts import Spec

DIFFERENCE = 1871.515
"""Between the errors of MLE and EM at 17:00 and epsilon 0.5."""
RUNS = 10, 2
"""In full, and if quick."""
SHOWN_HOUR = HOURS.index("17:00")
TOLERANCE, _MOST_STEPS = 1e-6, 5_000


ESTIMATES: dict[str, Callable[[Reports], Floats]] = {
    "MLE": lambda reports: estimate(reports, "mle").counts,
    "EM (plain)": lambda reports: plain_em(reports),
    "Simplex": lambda reports: estimate(reports, "simplex").counts,
    "EM (held out)": lambda reports: estimate(reports, "em", stop="held_out").counts,
    "EM (prior)": lambda reports: estimate(reports, "em").counts,
}
ENCODINGS: tuple[type[Encoding], ...] = (
    OptimisedUnary,
    SubsetSelection,
    LocalHashing,
    HadamardResponse,
    RandomisedResponse,
)


def plain_em(reports: Reports) -> Floats:
    """People by the paper's iteration (with its indices as in errata R2 and R3): equal shares at first, plain steps
    until none moves by more than `TOLERANCE`."""
    seen = Supports(reports.encoding, [reports])
    share = np.full(reports.encoding.size, 1 / reports.encoding.size)
    for _ in range(_MOST_STEPS):
        moved = share * seen.back(seen.counts / seen.forward(share)) / len(reports)
        change = float(np.abs(moved - share).max())
        share = moved
        if change <= TOLERANCE:
            break
    return len(reports) * share


@dataclass(frozen=True)
class Errors:
    """S of one way to estimate: ``mean`` (epsilons, hours) over all runs, and ``shown`` (runs, wards): its estimates at
    17:00 and the smallest epsilon."""

    mean: Floats
    shown: Floats


@dataclass(frozen=True)
class RapporReproduction(Reproduction):
    """``observed`` (runs, wards): how often each bit was set, at 17:00 and the smallest epsilon."""

    key = "rappor-em"
    epsilons: tuple[float, ...]
    hours: tuple[int, ...]
    errors: dict[str, Errors]
    others: dict[tuple[str, str], Floats]
    observed: Floats
    traces: Traces

    @property
    def said(self) -> dict[str, dict[str, Value]]:
        return {"data": {"positions": sum(TOTALS)}, "runs": {"runs": self.runs}, "traces": {"basis": self.basis}}

    @property
    def figures(self) -> dict[str, Spec]:
        return figures(self)

    @property
    def shown(self) -> int:
        """The hour of the figures about one hour."""
        return SHOWN_HOUR if SHOWN_HOUR in self.hours else self.hours[-1]

    @property
    def sheets(self) -> tuple[Sheet, ...]:
        """Table A.5, the other encodings, correlations, the people, and the real traces."""
        return self._table(), self._encodings(), self._correlations(), self._people(), self.traces.sheet

    def correlation(self, name: str) -> float:
        """Between a ward's mean absolute error and its people, at the shown hour and the smallest epsilon."""
        true = people(self.shown)
        return float(np.corrcoef(np.abs(self.errors[name].shown - true).mean(axis=0), true)[0, 1])

    def _table(self) -> Sheet:
        header = ("epsilon", "EM, paper", "MLE, paper", *(f"{name}, here" for name in self.errors))
        rows: list[tuple[Entry, ...]] = []
        for place, epsilon in enumerate(self.epsilons):
            known = EPSILONS.index(epsilon) if epsilon in EPSILONS else None
            printed = [None if known is None else PAPER[name][known] for name in ("EM", "MLE")]
            rows.append((epsilon, *printed, *(float(one.mean[place].mean()) for one in self.errors.values())))
        return Sheet("table_a5", header, tuple(rows))

    def _encodings(self) -> Sheet:
        names = dict.fromkeys(encoding for encoding, _ in self.others)
        rows: list[tuple[Entry, ...]] = []
        for place, epsilon in enumerate(self.epsilons):
            for way, own in (("simplex", "Simplex"), ("em", "EM (prior)")):
                symmetric = float(self.errors[own].mean[place].mean())
                rest = [float(self.others[name, way][place].mean()) for name in names]
                rows.append((epsilon, "EM (prior)" if way == "em" else "Simplex", symmetric, *rest))
        header = ("epsilon", "estimate", "symmetric_unary", *names)
        return Sheet("encodings", header, tuple(rows))

    def _correlations(self) -> Sheet:
        true = people(self.shown)
        rows: list[tuple[Entry, ...]] = []
        for name, one in self.errors.items():
            printed = CORRELATION.get({"MLE": "MLE", "EM (plain)": "EM"}.get(name, ""))
            error = np.abs(one.shown - true)
            rows.append((name, printed, self.correlation(name), float(error.sum(axis=1).mean())))
        ours = [float(np.abs(self.errors[name].shown - true).sum(axis=1).mean()) for name in ("MLE", "EM (plain)")]
        rows.append(("MLE less EM (plain)", None, None, ours[0] - ours[1]))
        rows.append(("the same in the paper", None, None, DIFFERENCE))
        header = ("estimate", "correlation, paper", "correlation, here", "S here")
        return Sheet("correlations", header, tuple(rows))

    def _people(self) -> Sheet:
        counts = np.array([people(hour) for hour in range(len(HOURS))]).T
        rows = [
            (ward, "paper" if place < 10 else "invented", *counts[place].tolist()) for place, ward in enumerate(WARDS)
        ]
        return Sheet("people", ("ward", "source", *HOURS), tuple(rows))


def reproduce(
    folder: Path,
    quick: bool = False,
    progress: OnProgress = unheard,
    *,
    runs: int | None = None,
    epsilons: Sequence[float] = EPSILONS,
    hours: Sequence[int] = tuple(range(len(HOURS))),
) -> RapporReproduction:
    """Run the experiment ten times, or twice if ``quick``, and write tables (CSV) and figures (PNG) into ``folder``.

    Fewer ``runs``, ``epsilons`` and ``hours`` make a small one.
    """
    runs, epsilons, hours = repetitions(runs, quick, RUNS), tuple(epsilons), tuple(hours)
    units = [
        Unit(f"epsilon {epsilon:g}", partial(_at_epsilon, row, epsilon, runs, hours))
        for row, epsilon in enumerate(epsilons)
    ]
    units.append(Unit("traces", partial(trace_experiment, runs)))
    settings = {"paper": "rappor-em", "runs": runs, "epsilons": epsilons, "hours": hours}
    *rows, traces = run_units(folder, units, settings, progress).values()
    first = rows[0]
    errors = {name: Errors(np.stack([row.errors[name] for row in rows]), first.shown[name]) for name in ESTIMATES}
    others = {name: np.stack([row.others[name] for row in rows]) for name in first.others}
    made = RapporReproduction(traces.basis, runs, epsilons, hours, errors, others, first.observed, traces)
    return made.written(folder, progress)


@dataclass(frozen=True)
class EpsilonRow:
    """What one epsilon gave: errors by hour of every estimate and of other encodings, and the shown hour's runs."""

    errors: dict[str, Floats]
    others: dict[tuple[str, str], Floats]
    shown: dict[str, Floats]
    observed: Floats


def _at_epsilon(row: int, epsilon: float, runs: int, hours: tuple[int, ...]) -> EpsilonRow:
    shown_hour = SHOWN_HOUR if SHOWN_HOUR in hours else hours[-1]
    ways = ("simplex", "em")
    errors = {name: np.zeros(len(hours)) for name in ESTIMATES}
    others = {(kind.name, way): np.zeros(len(hours)) for kind in ENCODINGS for way in ways}
    shown = {name: np.zeros((runs, len(WARDS))) for name in ESTIMATES}
    observed = np.zeros((runs, len(WARDS)))
    for run in range(runs):
        for column, hour in enumerate(hours):
            seed = 1000 * (row * len(HOURS) + hour) + run
            true = people(hour)
            values = np.repeat(np.arange(len(WARDS)), true)
            reports = SymmetricUnary(len(WARDS), exact(epsilon)).randomize(values, seed=seed)
            for name, way in ESTIMATES.items():
                counts = way(reports)
                errors[name][column] += np.abs(counts - true).sum() / runs
                if hour == shown_hour:
                    shown[name][run] = counts
                    observed[run] = reports.encoding.layout.tally(reports.packed)
            for kind in ENCODINGS:
                sent = kind(len(WARDS), exact(epsilon)).randomize(values, seed=seed + 500)
                for method in ways:
                    found = estimate(sent, method).counts
                    others[kind.name, method][column] += np.abs(found - true).sum() / runs
    return EpsilonRow(errors, others, shown, observed)
