"""The (epsilon, delta) of a k-anonymous sample: Li, Qardaji and Su (2012), and its inverses.

The mechanism draws every record independently with probability beta, applies a generalisation that does not depend on
the records, and leaves out rows that occur fewer than k times. Add a person whose row falls into a class of n - 1
others. The class then shows j >= k rows with probability Bin(j; n, beta) instead of Bin(j; n - 1, beta). These are in
the ratio n (1 - beta) / (n - j), which is above e^epsilon where j > gamma n only, with

    gamma = (e^epsilon - 1 + beta) / e^epsilon.

So delta is at most the largest P[Bin(n, beta) > gamma n] over n >= ceil(k / gamma - 1); for smaller n the probability
of any j >= k is smaller still. All other ratios are at most 1 / (1 - beta), so epsilon must be at least -ln(1 - beta).
Among the n with the same first j above gamma n, which is m, the largest is the worst, so that

    delta = max over m >= k of P[Bin(floor(m / gamma), beta) >= m].

The proof in full: docs/explanation/proofs.md, theorem 3.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from sudare.arrays import Floats, Integers
from sudare.errors import Message, ParameterError
from sudare.measure.science import scipy_of
from sudare.noise.bernoulli import scaled_floor
from sudare.privacy import Number, exact, positive, whole

_CHUNK = 128
_BITS = 192
LARGEST_K = 10**9
_EXACT_BITS = 1 << 16
_LOG_MARGIN = 1e-9
_SLACK = 1e-12  # so that -ln(1 - beta), given as a double, counts as that number


def delta(*, k: int, sample: Number, epsilon: Number, tight: bool = False) -> float:
    """The delta of a sample of rate ``sample`` without classes below ``k``, at ``epsilon``.

    The theorem's number by default; ``tight`` gives the smallest for which the statement is true, since part of what
    is above e^epsilon is explained by the other data set: the largest sum of Bin(j; n, beta) - e^epsilon Bin(j; n - 1,
    beta) over j >= k where that is positive.

    >>> f"{delta(k=20, sample=0.1, epsilon=1):.4g}"
    '4.073e-14'
    """
    law = _Law(checked_rate(sample), positive(epsilon, "epsilon"))
    if not law.covered:
        raise ParameterError(
            "epsilon is below what the absence of a record always costs",
            value=epsilon,
            allowed="at least -ln(1 - sample) = {log1p:.6g}",
            hint="Sample fewer records.",
            log1p=-math.log1p(-float(law.beta)),
        )
    return law.tight(checked_k(k)) if tight else law.theorem(checked_k(k))


def smallest_k(*, sample: Number, epsilon: Number, delta: Number, tight: bool = False) -> int:
    """The smallest k with which a sample of this rate is (epsilon, delta)-DP.

    >>> [smallest_k(sample=rate, epsilon=1, delta=1e-6) for rate in (0.01, 0.05, 0.1, 0.3)]
    [4, 7, 9, 22]
    """
    target = float(_probability(delta))

    def enough(k: int) -> bool:
        return _delta(k=k, sample=sample, epsilon=epsilon, tight=tight) <= target

    high = 1
    while not enough(high):
        high *= 2
        if high > LARGEST_K:
            raise ParameterError("no k below 10**9 gives this delta", value=delta, hint="Sample fewer records.")
    return bisect_left(range(high + 1), True, lo=high // 2 + 1, key=enough)


def smallest_epsilon(*, k: int, sample: Number, delta: Number, tight: bool = False) -> Fraction:
    """The smallest epsilon, rounded up at the ninth place, at which a sample has this delta.

    Delta never rises with epsilon: gamma grows, so for every m fewer records may be in the class.

    >>> float(smallest_epsilon(k=20, sample=0.1, delta=1e-6))
    0.291941282
    """
    beta, target, size = checked_rate(sample), _probability(delta), checked_k(k)
    if not some_epsilon_gives(size, beta, target):
        raise ParameterError(
            "no epsilon gives so small a delta, for all k records of a class may be drawn",
            value=delta,
            allowed="more than sample**k = {exp:.3g}",
            hint="Raise k, or sample fewer records.",
            exp=math.exp(size * _log(beta)),
        )

    def enough(ninths: int) -> bool:
        law = _Law(beta, Fraction(ninths, 10**9))
        return law.covered and (law.tight(size) if tight else law.theorem(size)) <= target

    low = math.floor(-math.log1p(-float(beta)) * 10**9)
    high = low + 10**9
    while not enough(high):
        low, high = high, 2 * high
    return Fraction(bisect_left(range(high + 1), True, lo=low + 1, key=enough), 10**9)


def some_epsilon_gives(k: int, sample: Fraction, delta: Fraction) -> bool:
    """Whether delta is above sample**k, the probability that all records of a class of k are drawn.

    Exact where that power has few digits. Where it has millions, by logarithms: a delta that is only just above counts
    as not above, which is the safe side.

    >>> half = Fraction(1, 2)
    >>> some_epsilon_gives(20, half, half**20), some_epsilon_gives(10**9, half, half**20)
    (False, True)
    """
    if k * sample.denominator.bit_length() <= _EXACT_BITS:
        return sample**k < delta
    return k * _log(sample) * (1 - _LOG_MARGIN) < _log(delta)


def largest_sample(*, k: int, epsilon: Number, delta: Number) -> Fraction:
    """The largest rate at which a sample is (epsilon, delta)-DP, rounded down at the twelfth place or later.

    Delta rises with the rate except for drops, where floor(m / gamma) falls by one for some m; all drops are known,
    so the pieces between them are searched one by one, from the largest rate down.

    >>> round(float(largest_sample(k=20, epsilon=1, delta=1e-6)), 6)
    0.297342
    """
    level, target, size = positive(epsilon, "epsilon"), float(_probability(delta)), checked_k(k)
    for left, right in _pieces(size, float(level), target):
        low, high = left * (1 + _SLACK) + 1e-300, right * (1 - _SLACK)
        if low >= high or not _enough(low, level, size, target):
            continue
        while high - low > _SLACK * high and not _enough(high, level, size, target):
            middle = (low + high) / 2
            low, high = (middle, high) if _enough(middle, level, size, target) else (low, middle)
        best = exact(high if _enough(high, level, size, target) else low)
        rounded = Fraction(math.floor(best * 10**12), 10**12)
        return rounded if rounded > 0 and _enough(float(rounded), level, size, target) else best
    raise ParameterError("no sampling rate gives this delta", value=delta, hint="Raise k or epsilon.")


_delta = delta  # the parameter of the inverses has the same name


@dataclass(frozen=True)
class _Law:
    """The mechanism at one rate and one epsilon, both exact."""

    beta: Fraction
    epsilon: Fraction

    @property
    def covered(self) -> bool:
        """Whether epsilon is at least -ln(1 - beta)."""
        return float(self.epsilon) >= -math.log1p(-float(self.beta)) * (1 - _SLACK)

    @cached_property
    def gamma(self) -> int:
        """floor(2**192 gamma); gamma is irrational, since e to a rational power is."""
        absent = 1 - self.beta
        return scaled_floor(
            lambda real: (
                1
                - real.mpf(absent.numerator)
                / absent.denominator
                * real.exp(-real.mpf(self.epsilon.numerator) / self.epsilon.denominator)
            ),
            _BITS,
        )

    @cached_property
    def decay(self) -> float:
        """P[Bin(n, beta) > gamma n] <= exp(-n decay): the relative entropy of gamma to beta (Chernoff)."""
        beta, gamma = float(self.beta), float(Fraction(self.gamma, 2**_BITS))
        if gamma >= 1:  # in doubles: epsilon is large
            return -math.log(beta)
        return gamma * math.log(gamma / beta) + (1 - gamma) * math.log((1 - gamma) / (1 - beta))

    def members(self, least: Integers) -> Integers:
        """floor(m / gamma) for each m: 192 bits of gamma decide it for every m that occurs."""
        return np.array([(int(m) << _BITS) // (self.gamma + 1) for m in least], dtype=np.int64)

    def theorem(self, k: int) -> float:
        """The delta of Li, Qardaji and Su."""
        worst, start = 0.0, k
        while True:
            least = np.arange(start, start + _CHUNK)
            members = self.members(least)
            worst = max(worst, float(_upper_tail(least, members, float(self.beta)).max()))
            start += _CHUNK
            if math.exp(-float(members[-1]) * self.decay) <= worst:
                return worst

    def tight(self, k: int) -> float:
        """The hockey-stick divergence itself, for the worst number of records in the class."""
        worst, beta, factor, gamma = 0.0, float(self.beta), math.exp(float(self.epsilon)), self.gamma / 2.0**_BITS
        start = k
        while True:
            members = np.arange(start, start + max(_CHUNK, start // 8))
            # Doubles may miss the first j above gamma n where it adds next to nothing.
            least = np.maximum(k, np.floor(gamma * members).astype(np.int64) + 1)
            excess = _upper_tail(least, members, beta) - factor * _upper_tail(least, members - 1, beta)
            worst = max(worst, float(excess.max()))
            start = int(members[-1]) + 1
            if math.exp(-start * self.decay) <= worst:
                return worst


def _upper_tail(least: Integers, members: Integers, beta: float) -> Floats:
    """P[Bin(members, beta) >= least]; 0 where there are fewer members."""
    betainc = scipy_of("special").betainc

    possible = members >= least
    tail = betainc(np.where(possible, least, 1), np.where(possible, members - least + 1, 1), beta)
    return np.asarray(np.where(possible, tail, 0.0))


def _enough(rate: float, epsilon: Fraction, k: int, target: float) -> bool:
    law = _Law(exact(rate), epsilon)
    return law.covered and law.theorem(k) <= target


def _pieces(k: int, epsilon: float, target: float) -> Iterator[tuple[float, float]]:
    """Ranges of rates without a drop of delta, from the largest down; those certainly above ``target`` left out."""
    growth = math.exp(epsilon)
    top = -math.expm1(-epsilon)

    def rate(m: int, members: int) -> float:
        """The rate at which m / gamma is ``members``."""
        return 1 - (1 - m / members) * growth

    members = k
    while True:
        left, right = max(rate(k, members + 1), 0.0), min(rate(k, members), top) if members > k else top
        if right > left and (left == 0 or float(_upper_tail(np.array([k]), np.array([members]), left)[0]) <= target):
            gamma = 1 - (1 - (left + right) / 2) / growth
            drops = {left, right}
            m = k + 1
            while m / gamma * _Law(exact((left + right) / 2), exact(epsilon)).decay < -math.log(target) + 1:
                around = round(m / gamma)
                drops |= {at for n in range(around - 2, around + 3) if n > m and left < (at := rate(m, n)) < right}
                m += 1
            edges = sorted(drops, reverse=True)
            yield from zip(edges[1:], edges[:-1], strict=True)
        if left == 0:
            return
        members += 1


def checked_k(k: int, least: int = 1) -> int:
    """``k``, if it is a whole number from ``least`` to `LARGEST_K`."""
    k = whole(k, "k", least)
    if k > LARGEST_K:
        raise ParameterError("k is too large", value=k, allowed="at most {largest_k:,}", largest_k=LARGEST_K)
    return k


def _log(probability: Fraction) -> float:
    """The natural logarithm, also of what no double holds, and precise next to 1."""
    if probability > Fraction(1, 2):
        return math.log1p(-float(1 - probability))
    return math.log(probability.numerator) - math.log(probability.denominator)


def checked_rate(sample: Number, hint_at_one: Message | None = None) -> Fraction:
    """The sampling rate as it was written, if it is between 0 and 1."""
    rate = exact(sample, "sample")
    if not 0 < float(rate) < 1:  # also where only a double cannot tell it from 0 or 1
        raise ParameterError(
            "the sampling rate is not between 0 and 1",
            value=sample,
            allowed="0 < sample < 1",
            hint=hint_at_one if rate == 1 else None,
        )
    return rate


def _probability(delta: Number) -> Fraction:
    value = positive(delta, "delta")
    if value >= 1:
        raise ParameterError("delta is not a probability below one", value=delta, allowed="0 < delta < 1")
    return value
