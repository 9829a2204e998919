"""Generalised randomised response: the report is a value itself, mostly the true one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sudare import noise
from sudare.local.encoding import Encoding, response_chances
from sudare.local.layout import Index, Packed
from sudare.noise import Source


@dataclass(frozen=True)
class RandomisedResponse(Encoding):
    """The true value with chance p = e**epsilon/(e**epsilon + size - 1), else one of the others, all alike.

    Privacy: each report has chance p under its own value and q = p/e**epsilon under any other, so the quotient for
    two values is at most e**epsilon, and reaches it. Best where there are fewer than 3 e**epsilon + 2 values.

    >>> RandomisedResponse(size=4, epsilon=1).randomize([0, 3, 3], seed=1).packed.shape
    (3, 1)
    """

    name: ClassVar[str] = "randomised_response"

    @property
    def layout(self) -> Index:
        """The value that is reported."""
        return Index(self.size)

    @property
    def chances(self) -> tuple[float, float]:
        """p and q."""
        return response_chances(self.size, self.epsilon)

    @property
    def pair_chances(self) -> tuple[float, float]:
        """A report supports one value."""
        return 0.0, 0.0

    @cached_property
    def channel(self) -> noise.RandomisedResponse:
        """The law itself."""
        return noise.RandomisedResponse(self.size, self.epsilon)

    def draw(self, values: NDArray[np.int64], source: Source) -> Packed:
        """One report for each value."""
        return self.layout.pack(self.channel.draw(values, source))
