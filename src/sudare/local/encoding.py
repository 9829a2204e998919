"""What every encoding of reports has in common: the device's half and what the collector must know of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from math import exp
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sudare.errors import DomainError, InputError, ParameterError
from sudare.local.layout import Layout, Packed
from sudare.local.reports import Reports
from sudare.noise import Source, metered, respond
from sudare.noise.response import Channel
from sudare.privacy import Adjacency, Budget, Fact, Guarantee, Unit, positive

LARGEST_SIZE = 1 << 20
SMALLEST_EPSILON, LARGEST_EPSILON = Fraction(1, 10**6), Fraction(64)


@dataclass(frozen=True)
class Encoding(ABC):
    """How a device turns one of ``size`` values into a report that is epsilon-LDP, and how reports are counted.

    A report *supports* some of the values, its own likelier than any other (`chances`). How often each value is
    supported is all that an unbiased estimate needs. Given a report, a value is e**report_epsilon times as likely
    where it is supported as where it is not; that is all that EM needs.
    """

    size: int
    epsilon: Fraction

    name: ClassVar[str]

    def __post_init__(self) -> None:
        if type(self.size) is not int or not 2 <= self.size <= LARGEST_SIZE:
            raise ParameterError(
                "size is not a number of values",
                value=self.size,
                allowed="2 to {largest_size}",
                largest_size=LARGEST_SIZE,
            )
        epsilon = positive(self.epsilon, "epsilon")
        if not SMALLEST_EPSILON <= epsilon <= LARGEST_EPSILON:
            raise ParameterError(
                "epsilon is out of range for a report",
                value=self.epsilon,
                allowed="{smallest_epsilon:g} to {largest_epsilon:g}",
                smallest_epsilon=float(SMALLEST_EPSILON),
                largest_epsilon=float(LARGEST_EPSILON),
            )
        object.__setattr__(self, "epsilon", epsilon)

    @property
    @abstractmethod
    def layout(self) -> Layout:
        """How a report lies in bytes."""

    @abstractmethod
    def draw(self, values: NDArray[np.int64], source: Source) -> Packed:
        """One report for each value, which `randomize` has checked; called by `sudare.noise.respond` only."""

    @property
    @abstractmethod
    def chances(self) -> tuple[float, float] | None:
        """P(a report supports its own value) and P(it supports a given other one); None where others differ."""

    @property
    def report_bytes(self) -> int:
        return self.layout.report_bytes

    @property
    def report_epsilon(self) -> Fraction:
        """The epsilon of one report; less than `epsilon` only where the latter covers all reports of a device."""
        return self.epsilon

    @property
    def remembered(self) -> int:
        """How many permanent answers a device may come to remember, each of which costs `epsilon`; 0 if it has none."""
        return 0

    @property
    def likely_where_supported(self) -> bool:
        """Whether EM may rest on which values a report supports: a value that is not asked about is neither."""
        return True

    @property
    def channel(self) -> Channel | None:
        """The channel from values to reports where its outputs are few enough to be counted one by one."""
        return None

    @property
    def guarantee(self) -> Guarantee:
        """What one person's one report promises, whatever the collector does."""
        public = (Fact("reporters"),)
        return Guarantee("epsilon-LDP", Unit("person"), Adjacency.REPLACED, epsilon=self.epsilon, public=public)

    def positions(self, values: ArrayLike) -> NDArray[np.int64]:
        """``values`` as int64 (n,), each in [0, size); refuses others without showing them."""
        array = np.asarray(values)
        if array.ndim != 1 or (array.dtype.kind not in "iu" and array.size):
            raise DomainError(
                "values are not a list of whole numbers", allowed="0 to {size}, one per person", size=self.size - 1
            )
        positions = array.astype(np.int64)
        if len(positions) and not 0 <= int(positions.min()) <= int(positions.max()) < self.size:
            raise DomainError("a value lies outside the declared domain", allowed="0 to {size}", size=self.size - 1)
        return positions

    def randomize(self, values: ArrayLike, *, source: Source | None = None, seed: int | None = None) -> Reports:
        """Reports (n,) for ``values`` (n,), one per person: the device's half, done for many devices at once.

        ``seed`` is for experiments: such reports promise nothing and say so.
        """
        own = Source.chosen(source, seed)
        positions = self.positions(values)
        with metered() as meter:
            packed = respond(positions, self, own, "reports")
        meter.check(Budget(epsilon=self.epsilon))
        return Reports(self, packed, seeded=own.seeded)

    def check(self, packed: ArrayLike) -> None:
        """`InputError` unless ``packed`` is (n, report_bytes) uint8 and each row a report that a device could make."""
        array = np.asarray(packed)
        if array.dtype != np.uint8 or array.ndim != 2:
            raise InputError("packed reports are rows of bytes", value=str(array.dtype), allowed="uint8, two axes")
        if array.shape[1] != self.report_bytes:
            raise InputError(
                "a report has the wrong length",
                value=array.shape[1],
                allowed="{report_bytes} bytes",
                report_bytes=self.report_bytes,
            )
        self.layout.check(array)

    def support(self, sums: NDArray[np.int64], reports: int) -> NDArray[np.float64]:  # noqa: ARG002 - some need it
        """How many of ``reports`` support each value (size,), from the sums of a tally."""
        return sums.astype(np.float64)

    def bitmaps(self, packed: Packed) -> Packed:
        """Which values each report supports, packed like a `Bitmap`."""
        return packed

    @property
    def pair_chances(self) -> tuple[float, float] | None:
        """P(two given values are both supported): where one is the true one, and where neither is; None if unknown."""
        return None

    def support_covariance(self, people: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """Covariances (size, size) of the supports of different values; the diagonal is not used."""
        if self.chances is None or self.pair_chances is None:
            return None
        (own, other), (with_true, without) = self.chances, self.pair_chances
        either = people[:, None] + people
        return np.asarray(either * (with_true - own * other) + (people.sum() - either) * (without - other**2))

    def to_json(self) -> dict[str, Any]:
        """All that a device and a collector need to know; the inverse is `encoding_from_json`."""
        return {"encoding": self.name, "size": self.size, "epsilon": str(self.epsilon)}


def power(real: Any, epsilon: Fraction) -> Any:
    """e**epsilon in an mpmath context."""
    return real.exp(real.mpf(epsilon.numerator) / epsilon.denominator)


def second_flip(real: Any, kept: Fraction, seen: Fraction) -> Any:
    """The chance with which a bit that was kept at logistic(``kept``) is flipped, to be kept at logistic(``seen``)."""
    first, both = (1 / (1 + power(real, -exponent)) for exponent in (kept, seen))
    return (first - both) / (2 * first - 1)


def logistic(exponent: Fraction) -> float:
    """e**exponent / (1 + e**exponent) as a double."""
    return 1 / (1 + exp(-float(exponent)))


def response_chances(size: int, epsilon: Fraction) -> tuple[float, float]:
    """Randomised response over ``size`` values: the chances of the true one and of each other one.

    >>> response_chances(4, Fraction(1))
    (0.4753668864186717, 0.17487770452710943)
    """
    small = exp(-float(epsilon))
    own = 1 / (1 + (size - 1) * small)
    return own, own * small
