"""Laws by which a record's own value is randomised: randomised response and the discrete square wave.

Both draw the report from a favoured set of values around the true one with a larger chance each, and from all others
with a smaller one, in the ratio e**epsilon: exactly epsilon-LDP, whatever the true value. As channels they are applied
without a matrix: ``forward`` gives the law of reports from a law of values, ``back`` is its adjoint, as EM needs them.

Samples are drawn here too (`draw_sample`). Whether a record was drawn is unknown to an observer and protects it, as
noise does; so the coins are part of the seam, and are recorded and replayed. All records with equal values are one
kind, identified by a key. Records of one kind are interchangeable, so a tape keeps how many of each kind were kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import exp, expm1, nextafter
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sudare.arrays import Integers
from sudare.errors import DomainError, Message, ParameterError
from sudare.noise.bernoulli import Bernoulli, Real, uniform
from sudare.noise.source import Source
from sudare.privacy import exact, positive


class Law(Protocol):
    """How reports are drawn for values; ``epsilon`` bounds |ln P(report | value) - ln P(report | other value)|."""

    @property
    def epsilon(self) -> Fraction:
        """The local epsilon."""

    def draw(self, values: NDArray[np.int64], source: Source) -> NDArray[Any]:
        """One report for each value."""


class Channel(Protocol):
    """A known channel between ``inputs`` values and ``outputs`` reports, applied without its matrix.

    Distributions lie along the last axis: ``forward`` maps (..., inputs) to (..., outputs), ``back`` the other way.
    """

    @property
    def inputs(self) -> int:
        """Number of values."""

    @property
    def outputs(self) -> int:
        """Number of reports."""

    def forward(self, law: NDArray[np.float64]) -> NDArray[np.float64]:
        """The law of reports when values follow ``law``."""

    def back(self, score: NDArray[np.float64]) -> NDArray[np.float64]:
        """For each value, the mean ``score`` of its report."""


@dataclass(frozen=True)
class RandomisedResponse:
    """Generalised randomised response over ``size`` values: the true one e**epsilon times as likely as any other.

    Privacy: P(y | x) is e**epsilon/(e**epsilon + size - 1) for y = x and 1/(e**epsilon + size - 1) else. For every y
    and two values x, x' the quotient of these is at most e**epsilon, and reaches it. The draw is exact: a coin whose
    chance is the irrational number itself decides between the two cases, and a uniform whole number the rest.
    """

    size: int
    epsilon: Fraction

    def __post_init__(self) -> None:
        if type(self.size) is not int or self.size < 2:
            raise ParameterError("randomised response needs at least two values", value=self.size)
        object.__setattr__(self, "epsilon", positive(self.epsilon, "epsilon"))

    @classmethod
    def retention(cls, kept: Any, size: int) -> RandomisedResponse:
        """Keep the value with probability ``kept``, else draw one of all ``size`` uniformly.

        The same law with epsilon = ln(1 + kept size/(1 - kept)), taken down to a nearby double, so that what is drawn
        is never less private than what is asked for.
        """
        share = exact(kept, Message("the kept share"))
        if not 0 < share < 1:
            raise ParameterError("the kept share is not between 0 and 1", value=kept)
        odds = float(np.log1p(float(share * size / (1 - share))))
        return cls(size, Fraction(nextafter(odds * (1 - 2**-50), 0)))

    @property
    def inputs(self) -> int:
        return self.size

    @property
    def outputs(self) -> int:
        return self.size

    @cached_property
    def _other_coin(self) -> Bernoulli:
        return Bernoulli(lambda real: (self.size - 1) / (_power(real, self.epsilon) + self.size - 1))

    def draw(self, values: NDArray[np.int64], source: Source) -> NDArray[np.int64]:
        _inside(values, self.size)
        changed = self._other_coin.draw(source, len(values))
        # One of the size - 1 others, reached by a step around the circle of values.
        step = 1 + uniform(self.size - 1, source, len(values))
        return np.where(changed, (values + step) % self.size, values)

    def forward(self, law: NDArray[np.float64]) -> NDArray[np.float64]:
        """The law of reports when values follow ``law``."""
        return _mixed(law, law.sum(axis=-1, keepdims=True), self.epsilon, 1, self.size - 1)

    back = forward  # the matrix is symmetric

    def matrix(self) -> NDArray[np.float64]:
        """Outputs x inputs, for checks."""
        return np.ascontiguousarray(self.forward(np.eye(self.size)).T)


@dataclass(frozen=True)
class SquareWave:
    """The discrete square wave: a number in one of ``cells`` bins reports a bin near it, or less often any other.

    Value i in [0, cells) reports j in [0, cells + 2 reach); those at most ``reach`` away from i + reach
    are e**epsilon times as likely as the others. ``reach`` follows the continuous law of Li et al. (2020), who chose it
    for the information of a report. Privacy: every value has 2 reach + 1 near reports of chance p and cells - 1 others
    of chance q = p/e**epsilon, so the quotient for two values is at most e**epsilon, and reaches it.
    """

    cells: int
    epsilon: Fraction

    def __post_init__(self) -> None:
        if type(self.cells) is not int or self.cells < 2:
            raise ParameterError("a square wave needs at least two cells", value=self.cells)
        object.__setattr__(self, "epsilon", positive(self.epsilon, "epsilon"))

    @cached_property
    def reach(self) -> int:
        """How many cells a near report may be off: b (2 reach + 1 near cells stand for a width of 2 b)."""
        epsilon = float(self.epsilon)
        if epsilon < 1e-3:  # the quotient's series: both of its parts vanish
            return round((0.5 - epsilon / 3) * self.cells - 0.5)
        half = (epsilon + expm1(-epsilon)) / (2 * (expm1(min(epsilon, 700.0)) - epsilon))
        return max(0, round(half * self.cells - 0.5))

    @property
    def inputs(self) -> int:
        return self.cells

    @property
    def outputs(self) -> int:
        return self.cells + 2 * self.reach

    @cached_property
    def _far_coin(self) -> Bernoulli:
        near, far = 2 * self.reach + 1, self.cells - 1
        return Bernoulli(lambda real: far / (near * _power(real, self.epsilon) + far))

    def draw(self, values: NDArray[np.int64], source: Source) -> NDArray[np.int64]:
        _inside(values, self.cells)
        far = self._far_coin.draw(source, len(values))
        near = values + uniform(2 * self.reach + 1, source, len(values))
        outside = uniform(self.cells - 1, source, len(values))
        # The far reports are those before the near ones and those behind them.
        outside += np.where(outside >= values, 2 * self.reach + 1, 0)
        return np.where(far, outside, near)

    def forward(self, law: NDArray[np.float64]) -> NDArray[np.float64]:
        """The law of reports when values follow ``law``: a running sum over the near cells."""
        width = 2 * self.reach + 1
        total = np.concatenate([np.zeros((*law.shape[:-1], 1)), np.cumsum(law, axis=-1)], axis=-1)
        stop = np.minimum(np.arange(self.outputs) + 1, self.cells)
        start = np.maximum(np.arange(self.outputs) + 1 - width, 0)
        near = total[..., stop] - total[..., start]
        return _mixed(near, total[..., -1:], self.epsilon, width, self.cells - 1)

    def back(self, score: NDArray[np.float64]) -> NDArray[np.float64]:
        """For each value, the mean ``score`` of its report."""
        width = 2 * self.reach + 1
        total = np.concatenate([np.zeros((*score.shape[:-1], 1)), np.cumsum(score, axis=-1)], axis=-1)
        near = total[..., width:] - total[..., :-width]
        return _mixed(near, total[..., -1:], self.epsilon, width, self.cells - 1)

    def matrix(self) -> NDArray[np.float64]:
        """Outputs x inputs, for checks."""
        return np.ascontiguousarray(self.forward(np.eye(self.cells)).T)


def _mixed(
    near: NDArray[np.float64], total: NDArray[np.float64], epsilon: Fraction, favoured: int, others: int
) -> NDArray[np.float64]:
    """q total + (p - q) near, with p e**-epsilon = q and favoured p + others q = 1; no power overflows."""
    likely = 1 / (favoured + others * exp(-epsilon))
    result: NDArray[np.float64] = likely * (exp(-epsilon) * total - expm1(-epsilon) * near)
    return result


def _power(real: Any, epsilon: Fraction) -> Real:
    """e**epsilon in a context of mpmath."""
    return real.exp(real.mpf(epsilon.numerator) / epsilon.denominator)


def _inside(values: NDArray[np.int64], size: int) -> None:
    if values.dtype != np.int64 or (len(values) and not 0 <= values.min() <= values.max() < size):
        raise DomainError(
            "some values are not positions in the declared list", allowed="whole numbers 0 to {size}", size=size - 1
        )


_COINS = 2**26


def draw_sample(counts: Integers, rate: Fraction, source: Source) -> Integers:
    """How many records of each kind are drawn: an exact coin for every record.

    >>> draw_sample(np.array([1000, 0, 3]), Fraction(1, 2), Source.from_seed(5)).shape
    (3,)
    """
    coin = Bernoulli(rate)
    ends = np.cumsum(counts)
    heads = np.zeros(len(counts) + 1, dtype=np.int64)  # among all coins up to the end of a kind
    before = 0
    for start in range(0, int(ends[-1]) if len(ends) else 0, _COINS):
        stop = min(start + _COINS, int(ends[-1]))
        packed = np.append(coin.packed(source, stop - start), np.uint8(0))
        running = before + np.concatenate([[0], np.cumsum(np.bitwise_count(packed), dtype=np.int64)])
        inside = np.flatnonzero((ends > start) & (ends <= stop))
        byte, bit = np.divmod(ends[inside] - start, 8)
        part = packed[byte] & ((1 << bit) - 1).astype(np.uint8)
        heads[1 + inside] = running[byte] + np.bitwise_count(part)
        before = int(running[-1])
    # A kind without records ends where the one before it does.
    return np.diff(np.maximum.accumulate(heads))


@dataclass(frozen=True)
class Sampled:
    """One sample on a tape: ``counts`` records of each kind (a row of ``keys``), of which ``kept`` were drawn."""

    label: str
    rate: Fraction
    keys: Integers
    counts: Integers
    kept: Integers

    def again(self, keys: Integers, counts: Integers, drawn: bool) -> Integers:
        """How many records of a neighbouring data set are kept, with the same coins for the records that both have.

        Of a kind with fewer records now, records that were not kept are removed first; new records are all ``drawn``,
        or none of them.

        >>> tape = Sampled("rows", Fraction(1, 2), np.array([[0], [1]]), np.array([3, 2]), np.array([2, 2]))
        >>> tape.again(np.array([[0], [1], [2]]), np.array([2, 1, 1]), drawn=True).tolist()
        [2, 1, 1]
        """
        known = {tuple(key): place for place, key in enumerate(self.keys.tolist())}
        places = [known.get(tuple(key)) for key in keys.tolist()]
        had = np.array([0 if place is None else self.counts[place] for place in places], dtype=np.int64)
        kept = np.array([0 if place is None else self.kept[place] for place in places], dtype=np.int64)
        return np.asarray(np.minimum(kept, counts) + drawn * np.maximum(counts - had, 0))
