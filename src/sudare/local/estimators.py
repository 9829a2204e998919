"""Estimates of counts from reports: the unbiased estimate, EM, and both for numbers sent through the square wave.

**Unbiased.** A report supports its own value with probability p and another with probability q, so with ``people``
(size,) among n reports the support of value v has mean n q + people_v (p - q), and (support - n q)/(p - q) is unbiased.
It may be negative, and need not add up to n. Given the people, reports are independent, so its variance is exactly

    n a + b people_v,  a = q (1 - q)/(p - q)**2,  b = (1 - p - q)/(p - q).

**EM** stops in one of four ways. ``"prior"`` (default) converges under a symmetric Dirichlet prior, which adds A/size
people to every value; A is such that shares vary by (1/size)(1 - 1/size)/(A + 1) as the unbiased ones do beyond noise.
``"held_out"`` stops after the number of steps at which held-out reports are likeliest. ``"converged"`` goes to the
limit, and a number makes that many plain steps, as the paper does. The last three depend on their start, equal shares.

**Numbers** sent through the square wave: reports follow q = A p, p the shares of the cells. EM is stopped by held-out
reports; EMS smooths by (1, 2, 1)/4 after each step and runs to convergence, which suits smooth shapes in fine cells (Li
et al. 2020). Both have an unknown bias towards smooth shapes. What is known is the error of the unbiased estimate,
least squares weighted by 1/q (the maximum-likelihood p if shares could be negative). Given the people, its covariance
is ((A' diag(1/q) A)**-1 - diag(p)) / n; people drawn from p would add (diag(p) - p p') / n. Cells finer than the noise
can resolve have wide intervals.

**Exact EM** works through `Supports`, which values each report supports. The likelihood of value v given report u is
proportional to 1 + gain z_uv, gain = e**epsilon - 1, with z_uv = 1 where u supports v. EM needs two products per step:
Z theta, and Z transposed times weights, both on packed bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import expm1
from typing import TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from sudare.arrays import Floats
from sudare.errors import ParameterError
from sudare.local.encoding import Encoding
from sudare.local.layout import Packed
from sudare.local.reports import Reports
from sudare.measure import em
from sudare.measure.em import FLOOR, Fitted, Stop, accelerate, onto_simplex
from sudare.measure.simplex import project_rows
from sudare.noise.response import Channel


def smoothed(shares: Floats) -> Floats:
    """(1, 2, 1)/4 along the last axis, with the end cells repeated, so that the sum is kept.

    >>> smoothed(np.array([0.0, 1.0, 0.0, 0.0])).tolist()
    [0.25, 0.5, 0.25, 0.0]
    """
    padded = np.concatenate([shares[..., :1], shares, shares[..., -1:]], axis=-1)
    return np.asarray((padded[..., :-2] + 2 * shares + padded[..., 2:]) / 4)


def fit_numbers(sums: Floats, channel: Channel, method: str, stop: str | int) -> Fitted:
    """Shares of the cells from how often each report came, by ``method`` em or ems."""
    cells = channel.inputs
    if method == "ems":
        return fit(sums, channel.forward, channel.back, cells, stop="converged", smooth=smoothed, tolerance=1e-7)
    if stop == "prior":
        raise ParameterError(
            "EM for numbers has no prior", value=stop, allowed="held_out, converged or a number of steps"
        )
    return fit(sums, channel.forward, channel.back, cells, stop=stop)


def unbiased_numbers(sums: Floats, channel: Channel, shares: Floats) -> tuple[Floats, Floats]:
    """Unbiased counts (cells,) and their covariance (cells, cells), given about the right ``shares``."""
    reports = float(sums.sum())
    # back(e_j) is row j of A as it acts on cells: P(report j | cell).
    matrix = channel.back(np.eye(channel.outputs))
    weighted = matrix / channel.forward(shares)[:, None]
    inverse = np.linalg.inv(matrix.T @ weighted)
    counts = inverse @ (weighted.T @ sums)
    return counts, reports * ((inverse + inverse.T) / 2 - np.diag(shares))


def chances_of(encoding: Encoding) -> tuple[float, float]:
    """p and q; refuses the square wave, which has no such numbers."""
    if encoding.chances is None:
        raise ParameterError(
            "this encoding has no unbiased estimate", value=encoding.name, allowed="method em or ems", hint="Use em."
        )
    return encoding.chances


def noise_terms(encoding: Encoding) -> tuple[float, float]:
    """a and b of the variance n a + b people.

    >>> from sudare.local import SymmetricUnary
    >>> [round(term, 4) for term in noise_terms(SymmetricUnary(size=23, epsilon=1))]
    [3.9177, 0.0]
    """
    own, other = chances_of(encoding)
    return other * (1 - other) / (own - other) ** 2, (1 - own - other) / (own - other)


def unbiased_counts(encoding: Encoding, support: Floats, reports: int) -> Floats:
    """People per value (size,) from how many reports support each."""
    own, other = chances_of(encoding)
    return np.asarray((support - reports * other) / (own - other))


def standard_error(encoding: Encoding, people: Floats, reports: int) -> Floats:
    """Of the unbiased counts, if there are ``people`` per value."""
    constant, slope = noise_terms(encoding)
    return np.sqrt(np.maximum(reports * constant + slope * np.clip(people, 0, reports), 0))


def interval(encoding: Encoding, counts: Floats, reports: int, reach: float) -> tuple[Floats, Floats]:
    """All numbers of people from which unbiased ``counts`` are at most ``reach`` standard errors away.

    The standard error is the one of those numbers, not of the estimate (Wilson's interval), so that it holds for few
    people too. An estimate outside 0..reports is taken for the nearest end, and the interval is cut there: that it is
    off by chance is no reason to be surer of the end (else what 5 % of empty answers show is "0 to 0").
    """
    constant, slope = noise_terms(encoding)
    counts = np.clip(counts, 0, reports)
    middle = counts + reach**2 * slope / 2
    half = reach * np.sqrt(np.maximum(reports * constant + slope * counts + (reach * slope / 2) ** 2, 0))
    return np.clip(middle - half, 0, reports), np.clip(middle + half, 0, reports)


def covariance(encoding: Encoding, people: Floats, reports: int) -> Floats:
    """Of the unbiased counts (size, size), if there are ``people`` per value; refuses where it is not known."""
    own, other = chances_of(encoding)
    people = np.clip(people, 0, reports)
    matrix = encoding.support_covariance(people)
    if matrix is None:
        raise ParameterError(
            "the covariance of this encoding is not known",
            value=encoding.name,
            hint="Standard errors are known. Hash buckets are independent for pairs of values only, and a covariance "
            "needs three.",
        )
    matrix = matrix / (own - other) ** 2
    np.fill_diagonal(matrix, standard_error(encoding, people, reports) ** 2)
    return np.asarray(matrix)


Apply: TypeAlias = Callable[[Floats], Floats]
_ROUND = 24
_NOTHING = 0.05
"""EM stops when a round of steps raises the log likelihood of all reports by less than this."""
_LARGEST_PRIOR = 1e6  # people of the prior per report: beyond, the prior decides alone


@dataclass(frozen=True)
class Prior:
    """A symmetric Dirichlet prior that weighs as much as ``people`` people, and ``start`` (size,), near its maximum."""

    people: float
    start: Floats

    @classmethod
    def of(cls, unbiased: Floats, variance: float, reports: int) -> Prior:
        """From unbiased shares (size,) of that mean ``variance`` by noise.

        >>> Prior.of(np.array([0.25, 0.25, 0.25, 0.25]), 1e-4, 1000).people == 1e9  # noise alone: the prior is all
        True
        >>> round(Prior.of(np.array([0.7, 0.1, 0.1, 0.1]), 1e-4, 1000).people, 2)
        1.09
        """
        size = len(unbiased)
        own, most = (1 - 1 / size) / size, _LARGEST_PRIOR * reports
        spread = max(float(unbiased.var(ddof=1)) - variance, own / (most + 1))
        # The posterior mean of a Gaussian model, with a little added so that every share is positive.
        weight = 0.99 * spread / (spread + variance)
        nearest = project_rows(unbiased[None], np.ones(1))[0]
        return cls(min(max(own / spread - 1, 0.0), most), (1 - weight) / size + weight * nearest)


def fit(
    counts: Floats,
    forward: Apply,
    back: Apply,
    size: int,
    *,
    stop: str | int,
    prior: Prior | None = None,
    smooth: Apply | None = None,
    tolerance: float = 1e-8,
) -> Fitted:
    """The distribution (size,) behind ``counts`` of reports, as `sudare.measure.em`, or under ``prior``."""
    if prior is None or stop != "prior":
        start = np.full(size, 1 / size)
        return em(counts, _remembering(forward), back, start, stop=cast(Stop, stop), smooth=smooth, tolerance=tolerance)
    likely = _remembering(forward)
    total, each = float(counts.sum()), prior.people / size

    def step(point: Floats) -> Floats:
        people = point * back(counts / likely(point))
        # Normalised first: `forward` is known up to a factor.
        people *= total / people.sum()
        return np.asarray((people + each) / (total + prior.people))

    def score(point: Floats) -> float:
        own = float(counts @ np.log(likely(point)))
        return (own + each * float(np.log(np.maximum(point, FLOOR)).sum())) / (total + prior.people)

    point, best, made = prior.start, score(prior.start), 0
    while True:
        found = accelerate(step, point, score, tolerance=tolerance, steps=_ROUND, repair=onto_simplex)
        point, made, gained = found.point, made + found.steps, (found.score - best) * (total + prior.people)
        best = found.score
        if found.converged or gained < _NOTHING:
            return Fitted(point, made, best, True)


def _remembering(forward: Apply) -> Apply:
    """``forward`` with its last two results cached: the safeguard and the next step evaluate the same point."""
    known: list[tuple[Floats, Floats]] = []

    def answer(point: Floats) -> Floats:
        for asked, answered in known:
            if asked is point:
                return answered
        answered = forward(point)
        known.append((point, answered))
        del known[:-2]
        return answered

    return answer


_ROWS = 1 << 16
_SAMPLE = 1 << 12
_WORD = 8
_BITS = (np.arange(256)[:, None] >> np.arange(8) & 1).astype(np.float64)


class Supports:
    """Merged reports of one encoding: ``counts`` (rows,) says how many there are of each.

    Memory: a bit per value and report, once, in columns of bytes, of at most 65,536 reports each.

    >>> from sudare.local import SymmetricUnary
    >>> reports = SymmetricUnary(size=3, epsilon=1).randomize([0] * 500 + [2] * 500, seed=1)
    >>> seen = Supports(reports.encoding, [reports])
    >>> len(seen.counts), float(seen.counts.sum())
    (8, 1000.0)
    """

    def __init__(self, encoding: Encoding, parts: Iterable[Reports]) -> None:
        self.size = encoding.size
        self.gain = expm1(float(encoding.report_epsilon))
        width = -(-self.size // 8)
        counts, self._columns = [np.empty(0)], list[NDArray[np.uint8]]()
        for rows, number in merged((encoding.bitmaps(part.packed) for part in parts), width):
            counts.append(number)
            self._columns += [
                np.ascontiguousarray(rows[start : start + _ROWS].T) for start in range(0, len(rows), _ROWS)
            ]
        self.counts: Floats = np.concatenate(counts)

    def forward(self, law: Floats) -> Floats:
        """(size,) to (rows,): how likely each report is when values follow ``law``, up to a factor of its own."""
        table = _padded(law) @ _BITS.T
        likely = np.empty(len(self.counts))
        start = 0
        for columns in self._columns:
            inner = np.zeros(columns.shape[1])
            for sums, column in zip(table, columns, strict=True):
                inner += sums.take(column)
            likely[start : start + len(inner)] = inner
            start += len(inner)
        likely *= self.gain
        likely += law.sum()
        return likely

    def back(self, score: Floats) -> Floats:
        """(rows,) to (size,): the adjoint of `forward`."""
        table = np.zeros((-(-self.size // 8), 256))
        start = 0
        for columns in self._columns:
            weights = score[start : start + columns.shape[1]]
            for sums, column in zip(table, columns, strict=True):
                sums += np.bincount(column, weights, minlength=256)
            start += len(weights)
        return np.asarray(score.sum() + self.gain * (table @ _BITS).ravel()[: self.size])


def merged(parts: Iterable[Packed], width: int) -> Iterable[tuple[Packed, Floats]]:
    """Bitmaps of ``width`` bytes with how many there are of each; chunks that share next to nothing stay as they are.

    Up to eight bytes, all reports are merged by sorting words. Longer ones seldom repeat: a sample shows whether.
    """
    listed = list(parts)
    if width <= _WORD:
        words = np.concatenate([np.empty(0, dtype="<u8"), *(_words(part) for part in listed)])
        distinct, number = np.unique(words, return_counts=True)
        rows = distinct.astype("<u8").view(np.uint8).reshape(-1, _WORD)[:, :width]
        return [(rows, number.astype(np.float64))]
    sample = np.concatenate([part[:_SAMPLE] for part in listed[:1]])
    if len(np.unique(sample, axis=0)) > 0.9 * len(sample):
        return ((part, np.ones(len(part))) for part in listed)
    rows, number = np.unique(np.concatenate(listed), axis=0, return_counts=True)
    return [(rows, number.astype(np.float64))]


def _words(packed: Packed) -> NDArray[np.uint64]:
    wide = np.zeros((len(packed), _WORD), dtype=np.uint8)
    wide[:, : packed.shape[1]] = packed
    return wide.view("<u8").ravel()


def _padded(law: Floats) -> Floats:
    wide = np.zeros(-(-len(law) // 8) * 8)
    wide[: len(law)] = law
    return wide.reshape(-1, 8)
