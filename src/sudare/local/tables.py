"""An estimate as rows that a person reads: one per value, with its label."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from sudare.errors import InputError, Message, OutputError, system_reason
from sudare.local.estimation import Estimate
from sudare.local.square_wave import SquareWave


class ValueRow(NamedTuple):
    """One value: its label, the estimated count, its standard error and interval."""

    label: str
    people: float
    standard_error: float
    low: float
    high: float


def named_rows(made: Estimate, labels: Sequence[str] | None = None) -> list[ValueRow]:
    """One row per value, in order; without ``labels``, numbers from 0 on, or the cells of numbers.

    >>> from sudare.local import SymmetricUnary, estimate
    >>> reports = SymmetricUnary(size=2, epsilon=2).randomize([0, 0, 0, 1], seed=1)
    >>> [row.label for row in named_rows(estimate(reports), ["yes", "no"])]
    ['yes', 'no']
    """
    if labels is None and isinstance(made.encoding, SquareWave):
        edges = made.encoding.edges
        labels = [f"{low:g} to {high:g}" for low, high in pairwise(edges.tolist())]
    elif labels is None:
        labels = [str(value) for value in range(made.encoding.size)]
    columns = (made.counts, made.standard_error, made.low, made.high)
    return [ValueRow(*row) for row in zip(labels, *(column.tolist() for column in columns), strict=True)]


def read_labels(path: Path, size: int) -> list[str]:
    """Names of the values, one a line of a text file."""
    try:
        labels = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as problem:
        raise InputError(
            "the labels cannot be read: {reason}",
            value=path,
            reason=system_reason(problem) if isinstance(problem, OSError) else Message("it is not text in UTF-8"),
        ) from None
    if len(labels) != size:
        raise InputError("the labels do not fit the survey", value=len(labels), allowed="{size} lines", size=size)
    return labels


def write_csv(rows: Sequence[ValueRow], path: Path) -> Path:
    """All rows with all digits."""
    try:
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(ValueRow._fields)
            writer.writerows(rows)
    except OSError as problem:
        raise OutputError("the counts cannot be written: {reason}", value=path, reason=system_reason(problem)) from None
    return path
