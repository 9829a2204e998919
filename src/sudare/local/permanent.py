"""Permanent plus instantaneous randomised response: a device may report every day, and the loss stays bounded.

The device randomises each value that it holds once and remembers the result; each report is a fresh randomisation of
what it remembers of its present value (full RAPPOR, Erlingsson, Pihur and Korolova 2014). A value that returns gets its
old answer: a new one would tell more each time that a person comes home. With ``buckets`` = d a device answers for d of
the values alone (dBitFlipPM, Ding, Kulkarni and Yekhanin 2017): a histogram of numbers that change all the time.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import log
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sudare.errors import InputError, ParameterError
from sudare.local.encoding import logistic, second_flip
from sudare.local.layout import Bitmap, Layout, Packed
from sudare.local.reports import Reports
from sudare.local.unary import SymmetricUnary, UnaryEncoding, coins
from sudare.noise import Bernoulli, Source, metered, respond
from sudare.noise.bernoulli import uniform
from sudare.privacy import Budget, Number, exact, positive


@dataclass(frozen=True, eq=False)
class Memory:
    """The permanent randomisations of devices: they stay there, and each is epsilon-LDP itself.

    Row i of ``packed`` is that of device ``keys[i] // states`` for the value ``keys[i] % states``; keys ascend.
    ``held`` are the rows of the values that the devices hold now, one each. ``asked`` are the buckets of each device,
    where it has some: all other values are then the state ``size``.
    """

    encoding: PermanentUnary
    packed: Packed
    keys: NDArray[np.int64]
    held: NDArray[np.int64]
    seeded: bool = False
    asked: Packed | None = None

    @property
    def values(self) -> NDArray[np.int64]:
        """How many values each device remembers: what its reports cost is epsilon for each of them."""
        return np.bincount(self.keys // self.encoding.states, minlength=len(self.held))

    def __repr__(self) -> str:
        return f"Memory({len(self.held)} devices, {self.encoding!r})"


@dataclass(frozen=True)
class AskedBitmap:
    """Which ``asked`` of ``size`` values a device answers for, one bit each, and then its answers, one bit each."""

    size: int
    asked: int

    @property
    def report_bytes(self) -> int:
        return 2 * Bitmap(self.size).report_bytes

    @property
    def sums(self) -> int:
        """How many reports answer with a 1 for each value."""
        return self.size

    def check(self, packed: Packed) -> None:
        """Refuse another number of values that are asked about, and answers for others."""
        asked, answers = np.split(packed, 2, axis=1)
        Bitmap(self.size, self.asked).check(asked)
        if bool((answers & ~asked).any()):
            raise InputError("a report answers for values that its device was not asked about")

    def tally(self, packed: Packed) -> NDArray[np.int64]:
        return Bitmap(self.size).tally(packed[:, packed.shape[1] // 2 :])


@dataclass(frozen=True)
class PermanentUnary(UnaryEncoding):
    """Symmetric unary at ``epsilon`` for a lifetime, seen through a second symmetric flip: ``first`` for one report.

    Privacy: all reports about one value are made from the remembered bits alone, so together they are epsilon-LDP,
    however many. One report has bits kept with p = e**(first/2)/(1 + e**(first/2)): the two flips in a row are one
    flip with that chance, so by itself it is first-LDP. Remembered bits of two values are independent, so a person who
    held m values in all has spent m epsilon on which they were, whatever the number of reports and returns. When a
    value changed, and when an old one returned, is not hidden by this: reports from one memory are alike.

    With ``buckets`` = d: which d values a device answers for is drawn once and of nothing private. What it remembers is
    symmetric unary over the values it answers for and one more value, "none of these", of which the bits that it was
    not asked for are dropped: post-processing. So all of the above holds for these d + 1 values: m is at most d + 1,
    and a change between two values that a device is not asked about is none. But a change that does show tells that
    one of its d values came or went, and its reports name these: the second flip blurs that. ``first`` may then equal
    ``epsilon``, which leaves the second flip out, as in the paper.

    >>> daily = PermanentUnary(size=23, epsilon=2, first=0.5)
    >>> memory = daily.remember([4, 4, 11], seed=1)
    >>> monday, tuesday = daily.report(memory, seed=2), daily.report(memory, seed=3)
    >>> moved = daily.remember([4, 7, 11], known=memory, seed=4)
    >>> moved.values.tolist()
    [1, 2, 1]
    >>> minutes = PermanentUnary(size=64, epsilon=1, first=1, buckets=2)
    >>> minutes.remembered, minutes.report_bytes
    (3, 16)
    """

    first: Fraction = Fraction(0)
    buckets: int | None = None

    name: ClassVar[str] = "permanent_unary"

    def __post_init__(self) -> None:
        super().__post_init__()
        first = positive(self.first, "first")
        if first > self.epsilon or (first == self.epsilon and self.buckets is None):
            raise ParameterError(
                "one report must cost less than all reports together", value=self.first, allowed="first < epsilon"
            )
        object.__setattr__(self, "first", first)
        if self.buckets is not None and (type(self.buckets) is not int or not 1 <= self.buckets < self.size):
            raise ParameterError(
                "buckets is not a number of values to ask for",
                value=self.buckets,
                allowed="1 to {size}",
                size=self.size - 1,
            )

    @property
    def layout(self) -> Layout:
        return Bitmap(self.size) if self.buckets is None else AskedBitmap(self.size, self.buckets)

    @property
    def states(self) -> int:
        """The values that a device may remember an answer for; with buckets there is one more, "none of these"."""
        return self.size + (self.buckets is not None)

    @property
    def remembered(self) -> int:
        return self.size if self.buckets is None else self.buckets + 1

    @property
    def likely_where_supported(self) -> bool:
        """With buckets a value is supported, or not, or not asked about."""
        return self.buckets is None

    @property
    def report_epsilon(self) -> Fraction:
        return self.first

    @property
    def chances(self) -> tuple[float, float]:
        """Of one report, both flips together, for a value that the device is asked about."""
        share = 1.0 if self.buckets is None else self.buckets / self.size
        return share * logistic(self.first / 2), share * logistic(-self.first / 2)

    @property
    def pair_chances(self) -> tuple[float, float]:
        """Both values must be among those that a device is asked about: a draw without replacement."""
        own, other = logistic(self.first / 2), logistic(-self.first / 2)
        both = 1.0
        if self.buckets is not None:
            both = self.buckets * (self.buckets - 1) / (self.size * (self.size - 1))
        return both * own * other, both * other**2

    @property
    def permanent(self) -> SymmetricUnary:
        """The permanent randomisation: drawn once for a value, and remembered by the device."""
        return SymmetricUnary(self.states, self.epsilon)

    def flip(self, real: Any) -> Any:
        """The chance of the second flip, in an mpmath context."""
        return second_flip(real, self.epsilon / 2, self.first / 2)

    @cached_property
    def _second_flip(self) -> Bernoulli:
        return Bernoulli(self.flip)

    def draw(self, values: NDArray[np.int64], source: Source) -> Packed:
        """Remember and report, for devices that report once."""
        asked = self._ask(len(values), source)
        remembered = self.permanent.draw(self._states_of(values, asked), source)
        return self._second(self._kept(remembered, asked), asked, source)

    def _second(self, remembered: Packed, asked: Packed | None, source: Source) -> Packed:
        """A report: what is remembered, flipped once more, behind the buckets that it is about."""
        seen = remembered
        if self.first < self.epsilon:
            seen = remembered ^ coins(self._second_flip, source, len(remembered), self.size)
        return seen if asked is None else np.hstack([asked, seen & asked])

    def _ask(self, devices: int, source: Source) -> Packed | None:
        """The buckets of each device, uniform among sets of ``buckets`` values; None where there are none."""
        if self.buckets is None:
            return None
        chosen = np.zeros((devices, self.size), dtype=np.uint8)
        rows = np.arange(devices)
        # Floyd's sampling: of the first `last` + 1 values one is drawn; where it is chosen already, `last` itself is.
        for last in range(self.size - self.buckets, self.size):
            drawn = uniform(last + 1, source, devices)
            chosen[rows, np.where(chosen[rows, drawn], last, drawn)] = 1
        return np.packbits(chosen, axis=1, bitorder="little")

    def _states_of(self, values: NDArray[np.int64], asked: Packed | None) -> NDArray[np.int64]:
        """The values themselves; with buckets, ``size`` for those that a device is not asked about."""
        if asked is None:
            return values
        bits = asked[np.arange(len(values)), values >> 3] >> (values & 7).astype(np.uint8) & 1
        return np.where(bits, values, self.size)

    def _kept(self, drawn: Packed, asked: Packed | None) -> Packed:
        """Of the permanent bits those that a device was asked for: post-processing."""
        return drawn if asked is None else drawn[:, : asked.shape[1]] & asked

    def remember(
        self, values: ArrayLike, known: Memory | None = None, *, source: Source | None = None, seed: int | None = None
    ) -> Memory:
        """What each device stores for its value: what ``known`` has of it, else a randomisation that is drawn now."""
        own = Source.chosen(source, seed)
        positions = self.positions(values)
        if known is not None and (known.encoding != self or len(known.held) != len(positions)):
            raise ParameterError(
                "the remembered answers are of other devices or for another encoding", value=len(known.held)
            )
        asked = self._ask(len(positions), own.child("buckets")) if known is None else known.asked
        states = self._states_of(positions, asked)
        wanted = np.arange(len(positions)) * self.states + states
        if known is None:
            keys, packed = wanted[:0], np.empty((0, Bitmap(self.size).report_bytes), dtype=np.uint8)
        else:
            keys, packed = known.keys, known.packed
        new = ~np.isin(wanted, keys)
        with metered() as meter:
            drawn = respond(states[new], self.permanent, own, "memory")
        meter.check(Budget(epsilon=self.epsilon))
        drawn = self._kept(drawn, None if asked is None else asked[new])
        keys, packed = np.concatenate([keys, wanted[new]]), np.concatenate([packed, drawn])
        order = np.argsort(keys)
        seeded = own.seeded or (known is not None and known.seeded)
        return Memory(self, packed[order], keys[order], np.searchsorted(keys[order], wanted), seeded, asked)

    def report(self, memory: Memory, *, source: Source | None = None, seed: int | None = None) -> Reports:
        """One more report of every device: post-processing of what it remembers."""
        if memory.encoding != self:
            raise ParameterError("the remembered answers are for another encoding", value=memory.encoding.to_json())
        own = Source.chosen(source, seed)
        packed = self._second(memory.packed[memory.held], memory.asked, own)
        return Reports(self, packed, seeded=own.seeded or memory.seeded)

    def to_json(self) -> dict[str, Any]:
        """Also the epsilon of one report, and the number of buckets."""
        buckets = {} if self.buckets is None else {"buckets": self.buckets}
        return {**super().to_json(), "first": str(self.first), **buckets}


@dataclass(frozen=True)
class Rappor:
    """What RAPPOR's published parameters come to: ``chances`` of a report's bit to be 1 where it truly is 1 and where
    it is 0; ``epsilon`` of any number of reports, and ``first`` of a single one."""

    chances: tuple[float, float]
    epsilon: float
    first: float


def rappor(f: Number, p: Number, q: Number) -> Rappor:
    """The numbers of full RAPPOR for a one-hot vector, in the letters of its paper.

    A remembered bit is 1 or 0 with chance f/2 each, else the true one; it is reported as 1 with chance q where it is
    set and p where it is not.

    >>> known = rappor(f=0.5, p=0.5, q=0.75)
    >>> known.chances, round(known.epsilon, 4), round(known.first, 4)
    ((0.6875, 0.5625), 2.1972, 0.5371)
    """
    shares = {name: exact(share, name) for name, share in (("f", f), ("p", p), ("q", q))}
    if not (0 < shares["f"] < 1 and 0 <= shares["p"] < shares["q"] <= 1):
        raise ParameterError(
            "these are not parameters of RAPPOR", value=(f, p, q), allowed="0 < f < 1 and 0 <= p < q <= 1"
        )
    even = shares["f"] / 2 * (shares["p"] + shares["q"])
    own, other = (even + (1 - shares["f"]) * shares[name] for name in ("q", "p"))
    lifetime = 2 * (log(1 - shares["f"] / 2) - log(shares["f"] / 2))
    return Rappor((float(own), float(other)), lifetime, log(own * (1 - other) / (other * (1 - own))))
