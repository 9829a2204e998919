"""Horigome 2020, appendix A: ward populations from RAPPOR reports, by maximum likelihood and by EM.

H. Horigome, graduation thesis, Meiji University, 2020 (appendix A: estimating populations under local differential
privacy). Users of 23 wards at six times of a day send one-hot vectors with every bit flipped with chance
q = 1/(1 + e**(epsilon/2)); the error is S, the sum over wards of |estimate - truth|, mean of ten repetitions. The
paper's "MLE" is the unbiased estimate. Its EM stops by a tolerance that is not printed; of 1e-4 and 1e-6 the latter
came nearer to its numbers and is used here: it was chosen by them.

Ours beside them: the same reports projected on the simplex, EM under a prior read off the reports, and the other
encodings. Then the same on real traces of 1,024 regions, where they are at hand: every position is one report, so that
the guarantee is for a person and a time, and 35 times add up to 35 epsilon.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from sudare.arrays import Floats, Integers
from sudare.language.messages import Value
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
from sudare.papers.data import CORRELATION, EPSILONS, HOURS, PAPER, SIDE, TOTALS, WARDS, people, positions
from sudare.papers.rappor_figures import figures
from sudare.papers.reproduction import Reproduction, Units
from sudare.papers.sheet import Entry, Sheet
from sudare.privacy import exact
from sudare.render.charts import Spec

SHOWN_HOUR = HOURS.index("17:00")
TOLERANCE, _MOST_STEPS = 1e-6, 5_000
TRACE_EPSILONS = (1, 2, 3, 5)
TRACE_KINDS: tuple[type[Encoding], ...] = (SymmetricUnary, SubsetSelection, LocalHashing, HadamardResponse)
TRACE_ESTIMATES = ("MLE", "Simplex", "EM (prior)")


ESTIMATES: dict[str, Callable[[Reports], Floats]] = {
    "MLE": lambda reports: estimate(reports, "mle").counts,
    "EM (plain)": lambda reports: plain_em(reports),
    "Simplex": lambda reports: estimate(reports, "simplex").counts,
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


@dataclass(frozen=True, kw_only=True)
class RapporReproduction(Reproduction):
    """At these ``epsilons`` and ``hours``, as in the paper; ``data`` are the positions of the traces."""

    key = "rappor-em"
    usual = 10, 2
    epsilons: tuple[float, ...] = EPSILONS
    hours: tuple[int, ...] = tuple(range(len(HOURS)))

    def read(self) -> tuple[Integers, Value]:
        return positions()

    def units(self) -> Units:
        assert self.data is not None  # noqa: S101 - `reproduce` reads it
        rows = {
            f"epsilon {epsilon:g}": partial(_at_epsilon, row, epsilon, self.runs, self.hours, self.shown)
            for row, epsilon in enumerate(self.epsilons)
        }
        return {**rows, "traces": partial(trace_errors, self.data[0], min(self.runs, 3))}

    @property
    def rows(self) -> list[EpsilonRow]:
        return [self.found[f"epsilon {epsilon:g}"] for epsilon in self.epsilons]

    @cached_property
    def errors(self) -> dict[str, Errors]:
        rows = self.rows
        return {name: Errors(np.stack([row.errors[name] for row in rows]), rows[0].shown[name]) for name in ESTIMATES}

    @property
    def observed(self) -> Floats:
        """How often each bit was set (runs, wards), at 17:00 and the smallest epsilon."""
        return self.rows[0].observed

    @property
    def said(self) -> dict[str, dict[str, Value]]:
        return {"data": {"positions": sum(TOTALS)}, "runs": {"runs": self.runs}, "traces": {"basis": self.basis}}

    @cached_property
    def figures(self) -> dict[str, Spec]:
        return figures(self)

    @property
    def shown(self) -> int:
        """The hour of the figures about one hour."""
        return SHOWN_HOUR if SHOWN_HOUR in self.hours else self.hours[-1]

    @property
    def sheets(self) -> tuple[Sheet, ...]:
        """Table A.5, the other encodings, correlations, the people, and the real traces."""
        return self._table(), self._encodings(), self._correlations(), self._people(), self._traces()

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
        rows: list[tuple[Entry, ...]] = []
        for place, (epsilon, row) in enumerate(zip(self.epsilons, self.rows, strict=True)):
            for way, own in (("simplex", "Simplex"), ("em", "EM (prior)")):
                symmetric = float(self.errors[own].mean[place].mean())
                rows.append((epsilon, own, symmetric, *(float(row.others[one.name, way].mean()) for one in ENCODINGS)))
        header = ("epsilon", "estimate", SymmetricUnary.name, *(one.name for one in ENCODINGS))
        return Sheet("encodings", header, tuple(rows))

    def _correlations(self) -> Sheet:
        rows: list[tuple[Entry, ...]] = []
        for name, one in self.errors.items():
            error = np.abs(one.shown - people(self.shown)).sum(axis=1).mean()
            rows.append((name, CORRELATION.get(name), self.correlation(name), float(error)))
        return Sheet("correlations", ("estimate", "correlation, paper", "correlation, here", "S here"), tuple(rows))

    def _people(self) -> Sheet:
        counts = np.array([people(hour) for hour in range(len(HOURS))]).T
        rows = [
            (ward, "paper" if place < 10 else "invented", *counts[place].tolist()) for place, ward in enumerate(WARDS)
        ]
        return Sheet("people", ("ward", "source", *HOURS), tuple(rows))

    def _traces(self) -> Sheet:
        found: dict[tuple[str, float, str], float] = self.found["traces"]
        rows: list[tuple[Entry, ...]] = [
            (epsilon, kind.name, *(found[kind.name, epsilon, name] for name in TRACE_ESTIMATES))
            for epsilon in TRACE_EPSILONS
            for kind in TRACE_KINDS
        ]
        return Sheet("traces", ("epsilon", "encoding", *(f"L1, {name}" for name in TRACE_ESTIMATES)), tuple(rows))


reproduce = RapporReproduction.reproduce


@dataclass(frozen=True)
class EpsilonRow:
    """What one epsilon gave: errors by hour of every estimate and of other encodings, and the shown hour's runs."""

    errors: dict[str, Floats]
    others: dict[tuple[str, str], Floats]
    shown: dict[str, Floats]
    observed: Floats


def _at_epsilon(row: int, epsilon: float, runs: int, hours: tuple[int, ...], shown_hour: int) -> EpsilonRow:
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


def trace_errors(values: Integers, runs: int) -> dict[tuple[str, float, str], float]:
    """Report and estimate all positions so often, by encoding, epsilon and estimate: the mean L1 error of shares."""
    truth = np.bincount(values, minlength=SIDE**2)
    error: dict[tuple[str, float, str], float] = dict.fromkeys(
        ((kind.name, epsilon, name) for epsilon in TRACE_EPSILONS for kind in TRACE_KINDS for name in TRACE_ESTIMATES),
        0.0,
    )
    for epsilon in TRACE_EPSILONS:
        for kind in TRACE_KINDS:
            for run in range(runs):
                reports = kind(SIDE**2, exact(epsilon)).randomize(values, seed=run)
                for name in TRACE_ESTIMATES:
                    off = np.abs(ESTIMATES[name](reports) - truth).sum() / truth.sum()
                    error[kind.name, epsilon, name] += float(off) / runs
    return error
