"""Real traces: where 1,000 people in central Tokyo were, in 1,024 regions, as local reports.

Nightley pseudo people flow (CC BY 4.0 by its authors), on a grid of 32 x 32. The files are not part of the package:
they are looked for in the folder that SUDARE_DATA names, else in ``../shared/data``; elsewhere an invented stand-in
says so. Every position is one report: the guarantee is for a person and a time, and 35 times add up to 35 epsilon.
"""

from __future__ import annotations

import gzip
import zlib
from dataclasses import dataclass

import numpy as np

from sudare.arrays import Floats, Integers
from sudare.errors import InputError
from sudare.language.messages import PageMessage
from sudare.local import Encoding, HadamardResponse, LocalHashing, SubsetSelection, SymmetricUnary, estimate
from sudare.papers.data import data_folder
from sudare.papers.sheet import Entry, Sheet
from sudare.privacy import exact

SIDE = 32
EPSILONS = (1, 2, 3, 5)
KINDS: tuple[type[Encoding], ...] = (SymmetricUnary, SubsetSelection, LocalHashing, HadamardResponse)
METHODS = {"MLE": "mle", "Simplex": "simplex", "EM (prior)": "em"}
SHOWN = 3
STAND_IN = 70_000
"""Positions that are invented where there are no real ones."""
_FILES = ("traintraces_TK.csv.gz", "testtraces_TK.csv.gz")
_LARGEST = 50


@dataclass(frozen=True)
class Traces:
    """What the reports of traces gave: ``error`` {(encoding, epsilon, estimate): L1 of shares}, and maps to draw."""

    truth: Integers
    basis: PageMessage
    error: dict[tuple[str, float, str], float]
    found: dict[tuple[str, float, str], float]
    maps: dict[str, Floats]

    @property
    def sheet(self) -> Sheet:
        names = [*METHODS]
        header = (
            "epsilon",
            "encoding",
            *(f"L1, {name}" for name in names),
            *(f"largest 50 found, {name}" for name in names),
        )
        rows: list[tuple[Entry, ...]] = [
            (
                epsilon,
                kind.name,
                *(self.error[kind.name, epsilon, name] for name in names),
                *(self.found[kind.name, epsilon, name] for name in names),
            )
            for epsilon in EPSILONS
            for kind in KINDS
        ]
        return Sheet("traces", header, tuple(rows))


def positions() -> tuple[Integers, PageMessage]:
    """Regions 0..1023 of all positions (n,), and what they are."""
    folder = data_folder() / "tokyo"
    if not all((folder / name).exists() for name in _FILES):
        share = 1 / np.arange(1, SIDE**2 + 1)
        drawn = np.random.default_rng(1).choice(SIDE**2, STAND_IN, p=share / share.sum())
        return drawn, PageMessage("paper.basis.stand_in")
    regions = []
    for name in _FILES:
        try:
            with gzip.open(folder / name, "rt", encoding="utf-8") as lines:
                place = lines.readline().strip().split(",").index("reg_id")
                regions.append(np.loadtxt(lines, delimiter=",", usecols=place, dtype=np.int64) - 1)
        except (OSError, EOFError, ValueError, zlib.error):
            raise InputError("the traces cannot be read", value=folder / name, allowed="a column reg_id") from None
    return np.concatenate(regions), PageMessage("paper.basis.traces")


def trace_experiment(runs: int) -> Traces:
    """Report and estimate all positions ``runs`` times (at most three), by every encoding and epsilon."""
    values, basis = positions()
    truth = np.bincount(values, minlength=SIDE**2)
    repetitions = min(runs, 3)
    largest = set(np.argsort(-truth, kind="stable")[:_LARGEST].tolist())
    error: dict[tuple[str, float, str], float] = {}
    found: dict[tuple[str, float, str], float] = {}
    maps = {"truth": truth.astype(np.float64)}
    for epsilon in EPSILONS:
        for kind in KINDS:
            for run in range(repetitions):
                reports = kind(SIDE**2, exact(epsilon)).randomize(values, seed=run)
                for name, method in METHODS.items():
                    counts = estimate(reports, method).counts
                    key = kind.name, float(epsilon), name
                    off = float(np.abs(counts - truth).sum() / truth.sum()) / repetitions
                    hits = len(largest & set(np.argsort(-counts, kind="stable")[:_LARGEST].tolist())) / _LARGEST
                    error[key] = error.get(key, 0.0) + off
                    found[key] = found.get(key, 0.0) + hits / repetitions
                    if (kind, epsilon, run) == (SubsetSelection, SHOWN, 0):
                        maps[name] = counts
    return Traces(truth, basis, error, found, maps)
