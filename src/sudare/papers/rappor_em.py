"""Paper 3, appendix A: ward populations from RAPPOR reports, by maximum likelihood and by EM.

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
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from sudare.arrays import Floats
from sudare.errors import ParameterError
from sudare.language.messages import OnProgress, Progress, Stage, unheard
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
from sudare.local.supports import Supports
from sudare.papers.data import CORRELATION, EPSILONS, HOURS, PAPER, TOTALS, WARDS, people
from sudare.papers.rappor_figures import figures
from sudare.papers.sheet import Entry, Sheet, make_folder, write_files
from sudare.papers.traces import Traces, trace_experiment
from sudare.privacy import exact

DIFFERENCE = 1871.515
"""Between the errors of MLE and EM at 17:00 and epsilon 0.5."""
RUNS, QUICK_RUNS = 10, 2
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
    """People by the paper's iteration: equal shares at first, plain steps until none moves by more than `TOLERANCE`."""
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
class Reproduction:
    """The paper's experiment, done again: ``sheets`` are its tables with our numbers, ``files`` what was written.

    ``observed`` (runs, wards): how often each bit was set, at 17:00 and the smallest epsilon.
    """

    runs: int
    epsilons: tuple[float, ...]
    hours: tuple[int, ...]
    errors: dict[str, Errors]
    others: dict[tuple[str, str], Floats]
    observed: Floats
    traces: Traces
    files: tuple[Path, ...] = ()

    @property
    def shown(self) -> int:
        """The hour of the figures about one hour."""
        return SHOWN_HOUR if SHOWN_HOUR in self.hours else self.hours[-1]

    @property
    def facts(self) -> dict[str, str]:
        """A short summary for people."""
        return {
            "paper": "Horigome 2020, appendix A: populations from RAPPOR reports (table A.5, figures A.1 to A.20)",
            "data": f"{sum(TOTALS):,} positions of users in 23 wards at six hours: ten wards and the totals are the "
            "paper's, the split among the other 13 is invented (from 1.4 to 0.6 times their mean, evenly)",
            "runs": f"{self.runs}; error S = sum over wards of |estimate - truth|, mean over hours and runs",
            "traces": self.traces.basis,
        }

    @property
    def sheets(self) -> tuple[Sheet, ...]:
        """Table A.5, the other encodings, correlations, the people, and the real traces."""
        return self._table(), self._encodings(), self._correlations(), self._people(), self.traces.sheet

    def to_json(self) -> dict[str, Any]:
        """For machines."""
        return {
            "paper": "rappor-em",
            "runs": self.runs,
            "basis": self.facts["data"],
            "sheets": [sheet.to_json() for sheet in self.sheets],
            "files": [str(path) for path in self.files],
        }

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
        return Sheet(
            "table_a5", "Table A.5: error S by epsilon, symmetric unary encoding (RAPPOR)", header, tuple(rows)
        )

    def _encodings(self) -> Sheet:
        names = dict.fromkeys(encoding for encoding, _ in self.others)
        rows: list[tuple[Entry, ...]] = []
        for place, epsilon in enumerate(self.epsilons):
            for way, own in (("simplex", "Simplex"), ("em", "EM (prior)")):
                symmetric = float(self.errors[own].mean[place].mean())
                rest = [float(self.others[name, way][place].mean()) for name in names]
                rows.append((epsilon, "EM (prior)" if way == "em" else "Simplex", symmetric, *rest))
        header = ("epsilon", "estimate", "symmetric_unary", *names)
        return Sheet("encodings", "Error S by encoding, as table A.5", header, tuple(rows))

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
        title = f"Error and people of a ward, {HOURS[self.shown]}, epsilon {self.epsilons[0]:g}"
        return Sheet("correlations", title, header, tuple(rows))

    def _people(self) -> Sheet:
        counts = np.array([people(hour) for hour in range(len(HOURS))]).T
        rows = [
            (ward, "paper" if place < 10 else "invented", *counts[place].tolist()) for place, ward in enumerate(WARDS)
        ]
        return Sheet("people", "The people that are estimated", ("ward", "source", *HOURS), tuple(rows))


def reproduce(
    folder: Path,
    quick: bool = False,
    progress: OnProgress = unheard,
    *,
    runs: int | None = None,
    epsilons: Sequence[float] = EPSILONS,
    hours: Sequence[int] = tuple(range(len(HOURS))),
) -> Reproduction:
    """Run the experiment ten times, or twice if ``quick``, and write tables (CSV) and figures (PNG) into ``folder``.

    Fewer ``runs``, ``epsilons`` and ``hours`` make a small one.
    """
    repetitions = runs if runs is not None else QUICK_RUNS if quick else RUNS
    if repetitions < 1:
        raise ParameterError("runs is not a whole number from 1 on", value=repetitions)
    make_folder(folder)
    made = _experiment(repetitions, tuple(epsilons), tuple(hours), progress)
    return replace(made, files=write_files(folder, made.sheets, figures(made), progress))


def _experiment(runs: int, epsilons: tuple[float, ...], hours: tuple[int, ...], progress: OnProgress) -> Reproduction:
    shown_hour = SHOWN_HOUR if SHOWN_HOUR in hours else hours[-1]
    errors = {name: Errors(np.zeros((len(epsilons), len(hours))), np.zeros((runs, len(WARDS)))) for name in ESTIMATES}
    ways = ("simplex", "em")
    others = {(kind.name, way): np.zeros((len(epsilons), len(hours))) for kind in ENCODINGS for way in ways}
    observed = np.zeros((runs, len(WARDS)))
    for row, epsilon in enumerate(epsilons):
        for run in range(runs):
            progress(Progress(Stage.EXPERIMENT, run + 1, runs, f"epsilon {epsilon:g}"))
            for column, hour in enumerate(hours):
                seed = 1000 * (row * len(HOURS) + hour) + run
                true = people(hour)
                values = np.repeat(np.arange(len(WARDS)), true)
                reports = SymmetricUnary(len(WARDS), exact(epsilon)).randomize(values, seed=seed)
                for name, way in ESTIMATES.items():
                    counts = way(reports)
                    errors[name].mean[row, column] += np.abs(counts - true).sum() / runs
                    if row == 0 and hour == shown_hour:
                        errors[name].shown[run] = counts
                        observed[run] = reports.encoding.layout.tally(reports.packed)
                for kind in ENCODINGS:
                    sent = kind(len(WARDS), exact(epsilon)).randomize(values, seed=seed + 500)
                    for method in ways:
                        found = estimate(sent, method).counts
                        others[kind.name, method][row, column] += np.abs(found - true).sum() / runs
    traces = trace_experiment(runs, progress)
    return Reproduction(runs, epsilons, hours, errors, others, observed, traces)
