"""`estimate`: reports in, counts with standard errors and intervals out; and these as labelled rows of a CSV file."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from statistics import NormalDist
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from sudare.arrays import Floats
from sudare.errors import InputError, Message, OutputError, ParameterError, did_you_mean, system_reason
from sudare.local.encoding import Encoding
from sudare.local.estimators import (
    Prior,
    Supports,
    chances_of,
    covariance,
    fit,
    fit_numbers,
    interval,
    noise_terms,
    standard_error,
    unbiased_counts,
    unbiased_numbers,
)
from sudare.local.reports import Reports
from sudare.local.several import Several
from sudare.local.square_wave import SquareWave
from sudare.local.tally import Tally, several
from sudare.measure.em import Fitted
from sudare.measure.simplex import project_rows
from sudare.privacy import Guarantee

Given: TypeAlias = Reports | Tally | Iterable[Reports]
METHODS = ("auto", "mle", "simplex", "em", "ems")
SMALL = 64
"""EM is the default up to this many values."""
LARGEST_COVARIANCE = 4096
_PROJECTIONS = 2000


@dataclass(frozen=True)
class EstimatedSum:
    """People in a set of values: as in `Estimate`, for the whole set."""

    count: float
    standard_error: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Estimate:
    """``counts`` (size,) of people per value among ``reports`` reports, with what is known of their error.

    ``standard_error`` is of the ``unbiased`` counts, which are kept too. ``low`` to ``high`` holds the true count of a
    value with probability ``level``: the interval of the unbiased count, cut to what is possible, and stretched to
    hold ``counts`` where these lie elsewhere: moved by projection or EM, or impossible. ``steps`` are those of EM.
    """

    encoding: Encoding
    method: str
    reports: int
    counts: Floats
    standard_error: Floats
    low: Floats
    high: Floats
    level: float
    guarantee: Guarantee
    unbiased: Floats
    steps: int = 0
    _covariance: Floats | None = field(default=None, repr=False)

    @property
    def frequencies(self) -> Floats:
        """Counts as shares of the reports."""
        return self.counts / self.reports

    def covariance(self) -> Floats:
        """Covariances (size, size) of the unbiased counts; refuses local hashing, of which they are not known."""
        if self._covariance is not None:
            return self._covariance
        if self.encoding.size > LARGEST_COVARIANCE:
            raise ParameterError(
                "too many values for a covariance",
                value=self.encoding.size,
                allowed="at most {largest_covariance}",
                largest_covariance=LARGEST_COVARIANCE,
            )
        return covariance(self.encoding, self.counts, self.reports)

    def sum(self, values: ArrayLike) -> EstimatedSum:
        """The people who hold any of ``values``: a group of places, a range of cells, with its own interval."""
        chosen = np.unique(np.asarray(values, dtype=np.int64))
        if not len(chosen) or not 0 <= chosen[0] <= chosen[-1] < self.encoding.size:
            raise ParameterError(
                "some of these values are not in the domain", allowed="from 0 to {size}", size=self.encoding.size - 1
            )
        error = float(np.sqrt(max(self.covariance()[np.ix_(chosen, chosen)].sum(), 0.0)))
        count, middle = float(self.counts[chosen].sum()), float(np.clip(self.unbiased[chosen].sum(), 0, self.reports))
        low, high = (min(max(middle + sign * _reach(self.level) * error, 0), self.reports) for sign in (-1, 1))
        return EstimatedSum(count, error, min(low, count), max(high, count))

    @property
    def summary(self) -> dict[str, Any]:
        """Plain facts that may be public."""
        return {
            "kind": "estimate",
            "survey": self.encoding.to_json(),
            "method": self.method,
            "reports": self.reports,
            "level": self.level,
            "median_standard_error": float(np.median(self.standard_error)),
        }

    def to_json(self) -> dict[str, Any]:
        """Everything as plain JSON."""
        names = ("counts", "standard_error", "low", "high")
        return {
            **self.summary,
            **{name: getattr(self, name).tolist() for name in names},
            "guarantee": self.guarantee.to_json(),
        }

    def __repr__(self) -> str:
        return f"Estimate({self.encoding.size} values by {self.method} from {self.reports} reports; {self.guarantee})"


def estimate(
    reports: Given,
    method: str = "auto",
    level: float = 0.9,
    *,
    stop: str | int = "auto",
    question: str | None = None,
) -> Estimate:
    """How many people hold each value, from their reports, a tally of them, or chunks of reports in sequence.

    ``mle`` is the unbiased estimate: it may be negative. ``simplex`` is the point nearest to it that is not negative
    and adds up to the number of reports; it needs a tally only, and is the default above 64 values. ``em`` maximises
    the likelihood of the single reports, kept from fitting the noise by ``stop``: "prior", "held_out", "converged" or
    a number of steps, see `sudare.local.estimators`; unary, hashed and subset reports must be given themselves.
    ``ems`` is EM with smoothing, for numbers. Of reports to `Several` questions, those to one ``question`` are taken.

    >>> from sudare.local import SymmetricUnary
    >>> reports = SymmetricUnary(size=3, epsilon=2).randomize([0] * 700 + [1] * 300, seed=1)
    >>> estimate(reports, method="simplex").counts.round().tolist()
    [680.0, 271.0, 50.0]
    """
    if method not in METHODS:
        hint = did_you_mean(str(method), METHODS)
        raise ParameterError("unknown method of estimation", value=method, allowed=METHODS, hint=hint)
    if not 0 < level < 1:
        raise ParameterError("level is not a probability", value=level, allowed="0 < level < 1")
    tally, parts = _gathered(reports if question is None else _to_one(reports, question), method)
    chosen = _chosen(method, tally.encoding, parts is not None)
    if tally.encoding.chances is None:
        return _numbers(tally, chosen, level, stop)
    return _counts(tally, parts, chosen, level, stop)


def _to_one(reports: Given, question: str) -> Given:
    if isinstance(reports, Tally):
        return reports.part(question)
    parts = [reports] if isinstance(reports, Reports) else reports
    return (several(part.encoding).part(part, question) for part in parts)


def _gathered(reports: Given, method: str) -> tuple[Tally, list[Reports] | None]:
    """The tally, and the reports themselves where EM needs each of them."""
    tally: Tally | None = None
    kept: list[Reports] = []
    if isinstance(reports, Tally):
        tally, reports = reports, ()
    for part in [reports] if isinstance(reports, Reports) else reports:
        if not isinstance(part, Reports):
            raise InputError("not reports", value=type(part).__name__, allowed="Reports, a Tally, or chunks of Reports")
        tally = (tally or Tally(part.encoding)).add(part)
        if method == "em" or (method == "auto" and part.encoding.size <= SMALL):
            kept.append(part)
    if tally is None or not tally.reports:
        raise InputError("there are no reports to estimate from", allowed="at least one report")
    return tally, kept or None


def _chosen(method: str, encoding: Encoding, has_reports: bool) -> str:
    """The method that ``auto`` stands for; refuses one that cannot be done."""
    if isinstance(encoding, Several):
        raise ParameterError("the reports are to several questions: name one", allowed=encoding.names)
    if encoding.chances is None:
        if method == "simplex":
            raise ParameterError("method simplex is not for numbers", value=method, allowed="auto, mle, em, ems")
        return "em" if method == "auto" else method
    if method == "ems":
        raise ParameterError("smoothing is for numbers", value=method, allowed="auto, mle, simplex, em")
    possible = encoding.channel is not None or (has_reports and encoding.likely_where_supported)
    if method == "em" and not encoding.likely_where_supported:
        raise ParameterError("method em is not for devices that answer for some values", value=encoding.name)
    if method == "em" and not possible:
        raise ParameterError(
            "a tally of these reports does not suffice for EM",
            value=encoding.name,
            hint="Give the reports themselves, or use method simplex.",
        )
    if method != "auto":
        return method
    return "em" if possible and encoding.size <= SMALL else "simplex"


def _counts(tally: Tally, parts: list[Reports] | None, method: str, level: float, stop: str | int) -> Estimate:
    encoding, number = tally.encoding, tally.reports
    unbiased = unbiased_counts(encoding, tally.support, number)
    steps = 0
    if method == "mle":
        counts = unbiased
    elif method == "simplex":
        counts = project_rows(unbiased[None], np.array([float(number)]))[0]
    else:
        fitted = _fitted(tally, parts, unbiased, "prior" if stop == "auto" else stop)
        counts, steps = number * fitted.probabilities, fitted.steps
    low, high = interval(encoding, unbiased, number, _reach(level))
    low, high = np.minimum(low, counts), np.maximum(high, counts)
    error = standard_error(encoding, counts, number)
    return Estimate(encoding, method, number, counts, error, low, high, level, _promise(tally), unbiased, steps)


def _fitted(tally: Tally, parts: list[Reports] | None, unbiased: Floats, stop: str | int) -> Fitted:
    """EM through the channel where reports are few kinds, else through every single report."""
    encoding, number = tally.encoding, tally.reports
    constant, slope = noise_terms(encoding)
    variance = (constant + slope / encoding.size) / number
    # A step that moves shares by less than a thousandth of their error, or of their size, is as good as none.
    fine = min(variance**0.5, 1 / encoding.size)
    options: dict[str, Any] = {
        "stop": stop,
        "prior": Prior.of(unbiased / number, variance, number),
        "tolerance": 1e-3 * fine if stop == "prior" else min(1e-4 * fine, 1e-6),
    }
    if encoding.channel is not None:
        channel = encoding.channel
        return fit(tally.sums.astype(np.float64), channel.forward, channel.back, encoding.size, **options)
    seen = Supports(encoding, parts or [])
    return fit(seen.counts, seen.forward, seen.back, encoding.size, **options)


def _numbers(tally: Tally, method: str, level: float, stop: str | int) -> Estimate:
    channel, number = tally.encoding.channel, tally.reports
    assert channel is not None  # noqa: S101 - numbers come through the square wave
    sums = tally.sums.astype(np.float64)
    fitted = fit_numbers(sums, channel, method, "held_out" if stop == "auto" else stop)
    unbiased, matrix = unbiased_numbers(sums, channel, fitted.probabilities)
    counts = unbiased if method == "mle" else number * fitted.probabilities
    error = np.sqrt(np.diag(matrix))
    inside = np.clip(unbiased, 0, number)
    low, high = (np.clip(inside + sign * _reach(level) * error, 0, number) for sign in (-1, 1))
    low, high = np.minimum(low, counts), np.maximum(high, counts)
    promise = _promise(tally)
    return Estimate(
        tally.encoding, method, number, counts, error, low, high, level, promise, unbiased, fitted.steps, matrix
    )


def _reach(level: float) -> float:
    """Standard errors on each side of an interval."""
    return NormalDist().inv_cdf((1 + level) / 2)


def _promise(tally: Tally) -> Guarantee:
    promised = tally.encoding.guarantee
    if tally.seeded:
        return promised.without_protection()
    return promised if tally.booked else promised.unbooked()


@dataclass(frozen=True, eq=False)
class JointEstimate:
    """``counts`` (size, other size) of people per pair of answers, as in `Estimate`: with errors and intervals."""

    counts: Floats
    standard_error: Floats
    low: Floats
    high: Floats
    unbiased: Floats
    reports: int
    level: float
    guarantee: Guarantee


def joint(reports: Given, one: str, other: str, level: float = 0.9) -> JointEstimate:
    """How many people gave each pair of answers to two of `Several` questions, from their reports or a tally.

    With s and t whether a report supports a value, p and q the chances of its encoding, (s - q)(t - q')/((p - q)
    (p' - q')) has as its mean whether the person holds both values, since the two are independent given the
    answers. Summed over people this is unbiased; its variance is that of the summands, as they are seen.
    ``counts`` is the nearest table that is not negative and adds up, over either answer, to the estimates of the other
    question (method simplex), whose errors are smaller.

    >>> from sudare.local import Several
    >>> survey = Several.divided({"lunch": 3, "way": 2}, epsilon=4)
    >>> answers = {"lunch": [0] * 3000 + [2] * 3000, "way": [0] * 3000 + [1] * 3000}
    >>> joint(survey.randomize(answers, seed=1), "lunch", "way").counts.round(-3).tolist()  # 3,000 each of two pairs
    [[3000.0, 0.0], [0.0, 0.0], [0.0, 3000.0]]
    """
    if not 0 < level < 1:
        raise ParameterError("level is not a probability", value=level, allowed="0 < level < 1")
    tally, _ = _gathered(reports, "mle")
    encoding, people = several(tally.encoding), tally.reports
    if one == other:
        raise ParameterError("the two questions are the same", value=one)
    (_, rows), (_, columns) = encoding.place(one), encoding.place(other)
    sums = tally.sums.reshape(encoding.layout.values, -1).astype(np.float64)
    both, alone, alone_other = sums[rows, columns], sums.diagonal()[rows, None], sums.diagonal()[columns]
    (p, q), (p_other, q_other) = (chances_of(encoding.questions[name]) for name in (one, other))

    def summed(slope: float, constant: float, slope_other: float, constant_other: float) -> Floats:
        """The sum over people of (slope s + constant)(slope' t + constant')."""
        first = slope * (slope_other * both + constant_other * alone)
        return np.asarray(first + constant * (slope_other * alone_other + people * constant_other))

    scale = (p - q) * (p_other - q_other)
    unbiased = summed(1, -q, 1, -q_other) / scale
    # (s - q)^2 = (1 - 2q) s + q^2, for s is 0 or 1.
    squares = summed(1 - 2 * q, q**2, 1 - 2 * q_other, q_other**2) / scale**2
    error = np.sqrt(np.maximum(squares - unbiased**2 / people, 0))
    counts = _nearest(unbiased, *(estimate(tally.part(name), "simplex").counts for name in (one, other)))
    inside = np.clip(unbiased, 0, people)
    low = np.minimum(np.clip(inside - _reach(level) * error, 0, people), counts)
    high = np.maximum(np.clip(inside + _reach(level) * error, 0, people), counts)
    return JointEstimate(counts, error, low, high, unbiased, people, level, _promise(tally))


def _nearest(table: Floats, rows: Floats, columns: Floats) -> Floats:
    """The nearest table that is not negative and has these sums, by Dykstra's alternating projections."""
    point, moved = table, np.zeros_like(table)
    for _ in range(_PROJECTIONS):
        short, below = rows - point.sum(axis=1), columns - point.sum(axis=0)
        summed = point + (short / len(columns))[:, None] + below / len(rows) - short.sum() / table.size
        point = np.maximum(summed + moved, 0)
        moved += summed - point
        if np.abs(point - summed).max() < 1e-4:
            break
    return point


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
    with (
        OutputError.from_system("the counts cannot be written: {reason}", value=path),
        path.open("w", encoding="utf-8", newline="") as file,
    ):
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(ValueRow._fields)
        writer.writerows(rows)
    return path
