"""Permanent plus instantaneous randomised response: a device may report every day, and the loss stays bounded.

The device randomises each value that it holds once and remembers the result; each report is a fresh randomisation of
what it remembers of its present value (full RAPPOR, Erlingsson, Pihur and Korolova 2014). A value that returns gets its
old answer: a new one would tell more each time that a person comes home.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import log
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sudare.errors import ParameterError
from sudare.local.encoding import logistic, power
from sudare.local.layout import Packed
from sudare.local.reports import Reports
from sudare.local.unary import SymmetricUnary, UnaryEncoding, coins
from sudare.noise import Bernoulli, Source, metered, respond
from sudare.privacy import Budget, Number, exact, positive


@dataclass(frozen=True, eq=False)
class Memory:
    """The permanent randomisations of devices: they stay there, and each is epsilon-LDP itself.

    Row i of ``packed`` is that of device ``keys[i] // size`` for the value ``keys[i] % size``; keys ascend. ``held``
    are the rows of the values that the devices hold now, one each.
    """

    encoding: PermanentUnary
    packed: Packed
    keys: NDArray[np.int64]
    held: NDArray[np.int64]
    seeded: bool = False

    @property
    def values(self) -> NDArray[np.int64]:
        """How many values each device remembers: what its reports cost is epsilon for each of them."""
        return np.bincount(self.keys // self.encoding.size, minlength=len(self.held))

    def __repr__(self) -> str:
        return f"Memory({len(self.held)} devices, {self.encoding!r})"


@dataclass(frozen=True)
class PermanentUnary(UnaryEncoding):
    """Symmetric unary at ``epsilon`` for a lifetime, seen through a second symmetric flip: ``first`` for one report.

    Privacy: all reports about one value are made from the remembered bits alone, so together they are epsilon-LDP,
    however many. One report has bits kept with p = e**(first/2)/(1 + e**(first/2)): the two flips in a row are one
    flip with that chance, so by itself it is first-LDP. Remembered bits of two values are independent, so a person who
    held m values in all has spent m epsilon on which they were, whatever the number of reports and returns. When a
    value changed, and when an old one returned, is not hidden by this: reports from one memory are alike.

    >>> daily = PermanentUnary(size=23, epsilon=2, first=0.5)
    >>> memory = daily.remember([4, 4, 11], seed=1)
    >>> monday, tuesday = daily.report(memory, seed=2), daily.report(memory, seed=3)
    >>> moved = daily.remember([4, 7, 11], known=memory, seed=4)
    >>> moved.values.tolist()
    [1, 2, 1]
    """

    first: Fraction = Fraction(0)

    name: ClassVar[str] = "permanent_unary"

    def __post_init__(self) -> None:
        super().__post_init__()
        first = positive(self.first, "first")
        if first >= self.epsilon:
            raise ParameterError(
                "one report must cost less than all reports together", value=self.first, allowed="first < epsilon"
            )
        object.__setattr__(self, "first", first)

    @property
    def report_epsilon(self) -> Fraction:
        return self.first

    @property
    def chances(self) -> tuple[float, float]:
        """Of one report, both flips together."""
        return logistic(self.first / 2), logistic(-self.first / 2)

    @property
    def permanent(self) -> SymmetricUnary:
        """The permanent randomisation: drawn once for a value, and remembered by the device."""
        return SymmetricUnary(self.size, self.epsilon)

    def flip(self, real: Any) -> Any:
        """The chance of the second flip, in an mpmath context."""
        kept, seen = (1 / (1 + power(real, -amount / 2)) for amount in (self.epsilon, self.first))
        return (kept - seen) / (2 * kept - 1)

    @cached_property
    def _second_flip(self) -> Bernoulli:
        return Bernoulli(self.flip)

    def draw(self, values: NDArray[np.int64], source: Source) -> Packed:
        """Remember and report, for devices that report once."""
        return self._second(self.permanent.draw(values, source), source)

    def _second(self, remembered: Packed, source: Source) -> Packed:
        return remembered ^ coins(self._second_flip, source, len(remembered), self.size)

    def remember(
        self, values: ArrayLike, known: Memory | None = None, *, source: Source | None = None, seed: int | None = None
    ) -> Memory:
        """What each device stores for its value: what ``known`` has of it, else a randomisation that is drawn now."""
        own = Source.chosen(source, seed)
        positions = self.positions(values)
        wanted = np.arange(len(positions)) * self.size + positions
        if known is None:
            keys, packed = wanted[:0], np.empty((0, self.report_bytes), dtype=np.uint8)
        elif known.encoding == self and len(known.held) == len(positions):
            keys, packed = known.keys, known.packed
        else:
            raise ParameterError(
                "the remembered answers are of other devices or for another encoding", value=len(known.held)
            )
        new = ~np.isin(wanted, keys)
        with metered() as meter:
            drawn = respond(positions[new], self.permanent, own, "memory")
        meter.check(Budget(epsilon=self.epsilon))
        keys, packed = np.concatenate([keys, wanted[new]]), np.concatenate([packed, drawn])
        order = np.argsort(keys)
        seeded = own.seeded or (known is not None and known.seeded)
        return Memory(self, packed[order], keys[order], np.searchsorted(keys[order], wanted), seeded)

    def report(self, memory: Memory, *, source: Source | None = None, seed: int | None = None) -> Reports:
        """One more report of every device: post-processing of what it remembers."""
        if memory.encoding != self:
            raise ParameterError("the remembered answers are for another encoding", value=memory.encoding.to_json())
        own = Source.chosen(source, seed)
        return Reports(self, self._second(memory.packed[memory.held], own), seeded=own.seeded or memory.seeded)

    def to_json(self) -> dict[str, Any]:
        """Also the epsilon of one report."""
        return {**super().to_json(), "first": str(self.first)}


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
