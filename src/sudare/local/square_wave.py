"""The square wave, for numbers: the report is a number near the true one, or less often any other."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sudare import noise
from sudare.arrays import Floats
from sudare.errors import DomainError, ParameterError
from sudare.local.encoding import Encoding
from sudare.local.layout import Index, Packed
from sudare.noise import Source

MOST_CELLS = 2048
"""The unbiased estimate inverts a matrix with this many rows."""


def bounds(low: Any, high: Any) -> tuple[float, float]:
    """Declared bounds of numbers as floats."""
    try:
        least, most = float(low), float(high)
    except (TypeError, ValueError):
        least, most = np.nan, np.nan
    if not (isfinite(least) and isfinite(most) and least < most and isfinite(most - least)):
        raise ParameterError("low and high are not bounds", value=(low, high), allowed="low < high, finite")
    return least, most


def shares_between(values: ArrayLike, low: float, high: float) -> Floats:
    """Numbers as shares (n,) of the way from ``low`` to ``high``; refuses others without showing them."""
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        numbers = np.full((1, 1), np.nan)
    if numbers.ndim != 1 or not bool(np.isfinite(numbers).all()):
        raise DomainError("values are not a list of finite numbers", allowed="one per person")
    if len(numbers) and not low <= float(numbers.min()) <= float(numbers.max()) <= high:
        raise DomainError("a value lies outside the declared bounds", allowed="{low:g} to {high:g}", low=low, high=high)
    return np.asarray((numbers - low) / (high - low))


@dataclass(frozen=True)
class SquareWave(Encoding):
    """Numbers from ``low`` to ``high`` in ``size`` cells of equal width; the report is a cell within reach, or beyond.

    The reports within reach of the true cell are e**epsilon times as likely as the others (Li et al. 2020, made
    discrete). Privacy: every cell has equally many reports within reach, so one normalisation holds for all, and the
    quotient for two cells is at most e**epsilon, and reaches it.

    >>> ages = SquareWave(size=100, epsilon=1, low=0, high=100)
    >>> ages.positions([0, 17.5, 100]).tolist()
    [0, 17, 99]
    """

    low: float = 0.0
    high: float = 1.0

    name: ClassVar[str] = "square_wave"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.size > MOST_CELLS:
            raise ParameterError(
                "too many cells for numbers", value=self.size, allowed="at most {most_cells}", most_cells=MOST_CELLS
            )
        low, high = bounds(self.low, self.high)
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    @property
    def layout(self) -> Index:
        """The cell that is reported."""
        return Index(self.channel.outputs)

    @property
    def chances(self) -> None:
        """None: how likely another value is supported depends on how near it is."""
        return

    @cached_property
    def channel(self) -> noise.SquareWave:
        """The law itself."""
        return noise.SquareWave(self.size, self.epsilon)

    @property
    def edges(self) -> NDArray[np.float64]:
        """The bounds of the cells (size + 1,)."""
        return np.linspace(self.low, self.high, self.size + 1)

    def positions(self, values: ArrayLike) -> NDArray[np.int64]:
        """The cells of numbers (n,) from ``low`` to ``high``; refuses others without showing them."""
        cells = np.floor(shares_between(values, self.low, self.high) * self.size).astype(np.int64)
        return np.minimum(cells, self.size - 1)

    def draw(self, values: NDArray[np.int64], source: Source) -> Packed:
        return self.layout.pack(self.channel.draw(values, source))

    def to_json(self) -> dict[str, Any]:
        """Also the bounds."""
        return {**super().to_json(), "low": self.low, "high": self.high}
