"""The mean of numbers that change all the time, from one bit a report: Ding, Kulkarni and Yekhanin (2017), 1BitMean.

A device draws a threshold once, uniform between the bounds: its number is above it with chance (number - low)/(high -
low). For each side it draws an answer once, which it remembers, and reports that of the present side.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sudare.errors import InputError, ParameterError
from sudare.local.encoding import logistic, second_flip
from sudare.local.reports import Reports, same_survey
from sudare.local.square_wave import bounds, shares_between
from sudare.local.subset import RandomisedResponse
from sudare.local.tally import Tally
from sudare.noise import Bernoulli, Source, metered, respond
from sudare.privacy import Budget, Guarantee, Number, Unit, positive
from sudare.privacy.fact import Fact

_STEPS = 1 << 32
_NOT_DRAWN = 2


@dataclass(frozen=True, eq=False)
class BitMemory:
    """What devices remember: ``thresholds`` (n,) in 2**-32 of the range, ``answers`` (n, 2) below and above them."""

    mean: OneBitMean
    thresholds: NDArray[np.int64]
    answers: NDArray[np.uint8]
    above: NDArray[np.int64]
    seeded: bool = False

    def __repr__(self) -> str:
        return f"BitMemory({len(self.above)} devices, {self.mean!r})"


@dataclass(frozen=True)
class EstimatedMean:
    """The mean of the numbers of ``reports`` devices; ``low`` to ``high`` holds it with probability ``level``."""

    mean: float
    standard_error: float
    low: float
    high: float
    reports: int
    level: float
    guarantee: Guarantee


@dataclass(frozen=True)
class OneBitMean:
    """Numbers from ``low`` to ``high``: ``epsilon`` for each of the two remembered answers, ``first`` for one report.

    Privacy: the threshold is drawn of nothing private. The answer of a side is randomised response: it is the side with
    chance e**epsilon/(1 + e**epsilon), so it is epsilon-LDP about on which side the number is, and so about the number,
    whatever the threshold. All reports while a number stays on one side are made from that one answer; all reports ever
    from two, which are drawn independently: 2 epsilon, however often the number changes. This is about where numbers
    were, given the moments at which they pass the threshold, which reports blur and do not hide. The two flips of one
    report in a row are one with chance 1/(1 + e**first): by itself it is first-LDP. ``first`` = ``epsilon`` (what is
    taken if it is left out) leaves the second flip out, as in the paper without output perturbation.

    >>> hours = OneBitMean(low=0, high=24, epsilon=1)
    >>> memory = hours.remember([2.0] * 5000 + [8.0] * 5000, seed=1)
    >>> today = hours.estimate(hours.report(memory, seed=2))
    >>> round(today.mean, 1), round(today.standard_error, 1)
    (4.8, 0.2)
    >>> int(hours.lifetime(365).epsilon)
    2
    """

    low: float
    high: float
    epsilon: Fraction
    first: Fraction | None = None

    def __post_init__(self) -> None:
        low, high = bounds(self.low, self.high)
        epsilon = positive(self.epsilon, "epsilon")
        first = epsilon if self.first is None else positive(self.first, "first")
        if first > epsilon:
            raise ParameterError(
                "one report must cost less than all reports together", value=self.first, allowed="first < epsilon"
            )
        for name, value in (("low", low), ("high", high), ("epsilon", epsilon), ("first", first)):
            object.__setattr__(self, name, value)

    @cached_property
    def answer(self) -> RandomisedResponse:
        """The law of a remembered answer."""
        return RandomisedResponse(2, self.epsilon)

    @cached_property
    def encoding(self) -> RandomisedResponse:
        """The law of one report: 1 speaks for the upper bound, 0 for the lower one."""
        return RandomisedResponse(2, self.first or self.epsilon)

    @cached_property
    def _second_flip(self) -> Bernoulli:
        return Bernoulli(lambda real: second_flip(real, self.epsilon, self.encoding.epsilon))

    def remember(
        self,
        numbers: ArrayLike,
        known: BitMemory | None = None,
        *,
        source: Source | None = None,
        seed: int | None = None,
    ) -> BitMemory:
        """What each device stores for its number: what ``known`` has, and an answer for a side that is new to it."""
        own = Source.chosen(source, seed)
        shares = shares_between(numbers, self.low, self.high)
        if known is not None and (known.mean != self or len(known.above) != len(shares)):
            raise ParameterError(
                "the remembered answers are of other devices or for another encoding", value=len(known.above)
            )
        if known is None:
            thresholds = own.child("thresholds").words(len(shares)).astype(np.int64)
            answers = np.full((len(shares), 2), _NOT_DRAWN, dtype=np.uint8)
        else:
            thresholds, answers = known.thresholds, known.answers.copy()
        above = (np.floor(shares * _STEPS) > thresholds).astype(np.int64)
        rows = np.arange(len(shares))
        new = rows[answers[rows, above] == _NOT_DRAWN]
        with metered() as meter:
            drawn = respond(above[new], self.answer, own, "memory")
        meter.check(Budget(epsilon=self.epsilon))
        answers[new, above[new]] = drawn[:, 0]
        return BitMemory(self, thresholds, answers, above, own.seeded or (known is not None and known.seeded))

    def report(self, memory: BitMemory, *, source: Source | None = None, seed: int | None = None) -> Reports:
        """One more report of every device: post-processing of what it remembers."""
        if memory.mean != self:
            raise ParameterError("the remembered answers are for another encoding", value=repr(memory.mean))
        own = Source.chosen(source, seed)
        bits = memory.answers[np.arange(len(memory.above)), memory.above]
        if self.encoding.epsilon < self.epsilon:
            bits = bits ^ self._second_flip.draw(own, len(bits)).astype(np.uint8)
        return Reports(self.encoding, bits[:, None], seeded=own.seeded or memory.seeded)

    def randomize(self, numbers: ArrayLike, *, source: Source | None = None, seed: int | None = None) -> Reports:
        """Reports (n,) for ``numbers`` (n,) of devices that report once and remember nothing."""
        own = Source.chosen(source, seed)
        return self.report(self.remember(numbers, source=own), source=own)

    def estimate(self, reports: Reports | Tally, level: float = 0.9) -> EstimatedMean:
        """The mean of the numbers, unbiased, with an interval; beyond the bounds it is cut to them.

        The bits of devices are independent, so that the variance of their mean m is at most m(1 - m)/n.
        """
        if not 0 < level < 1:
            raise ParameterError("level is not a probability", value=level, allowed="0 < level < 1")
        tally = reports if isinstance(reports, Tally) else Tally(self.encoding).add(reports)
        same_survey(self.encoding, tally.encoding)
        if not tally.reports:
            raise InputError("there are no reports to estimate from", allowed="at least one report")
        seen = float(tally.sums[1]) / tally.reports
        own, other = logistic(self.encoding.epsilon), logistic(-self.encoding.epsilon)
        width = self.high - self.low
        mean = self.low + width * (seen - other) / (own - other)
        error = width * sqrt(max(seen * (1 - seen), 0.25 / tally.reports) / tally.reports) / (own - other)
        reach = NormalDist().inv_cdf((1 + level) / 2) * error
        low, middle, high = (min(max(each, self.low), self.high) for each in (mean - reach, mean, mean + reach))
        promised = self.encoding.guarantee.without_protection() if tally.seeded else self.encoding.guarantee.unbooked()
        return EstimatedMean(middle, error, low, high, tally.reports, level, promised)

    def lifetime(self, reports: Number) -> Guarantee:
        """What so many reports of one person promise together, given the moments at which the number changes sides."""
        number = int(positive(reports, "reports"))
        one = self.encoding.guarantee
        known = (Fact("changes", changes=number - 1),) if number > 1 else ()
        return replace(
            one,
            epsilon=min(number * self.encoding.epsilon, 2 * self.epsilon),
            unit=Unit("person", max_rows=number),
            assumptions=(*one.assumptions, *known),
        )
