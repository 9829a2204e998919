"""Hadamard response: the report is one column number of a Hadamard matrix, where the row of the value mostly has +1."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import tanh
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sudare.local.encoding import Encoding, logistic, power
from sudare.local.layout import Index, Packed
from sudare.noise import Bernoulli, Source, uniform


def walsh_hadamard(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """H values along the last axis, whose length is a power of two; H[i, j] = (-1)**(ones of i AND j).

    >>> walsh_hadamard(np.array([1.0, 2.0, 3.0, 4.0])).tolist()
    [10.0, -2.0, -4.0, 0.0]
    """
    length = values.shape[-1]
    result, half = values, 1
    while half < length:
        pairs = result.reshape(*values.shape[:-1], length // (2 * half), 2, half)
        first, second = pairs[..., 0, :], pairs[..., 1, :]
        result = np.stack([first + second, first - second], axis=-2).reshape(values.shape)
        half *= 2
    return result


@dataclass(frozen=True)
class HadamardChannel:
    """P(y | x) = (1 + bias H[x + 1, y]) / order, applied by fast Walsh-Hadamard transforms."""

    size: int
    order: int
    bias: float

    @property
    def inputs(self) -> int:
        return self.size

    @property
    def outputs(self) -> int:
        return self.order

    def forward(self, law: NDArray[np.float64]) -> NDArray[np.float64]:
        """The law of reports when values follow ``law``."""
        placed = np.zeros((*law.shape[:-1], self.order))
        placed[..., 1 : self.size + 1] = law
        total = law.sum(axis=-1, keepdims=True)
        return np.asarray((total + self.bias * walsh_hadamard(placed)) / self.order)

    def back(self, score: NDArray[np.float64]) -> NDArray[np.float64]:
        """For each value, the mean ``score`` of its report."""
        total = score.sum(axis=-1, keepdims=True)
        return np.asarray((total + self.bias * walsh_hadamard(score)[..., 1 : self.size + 1]) / self.order)


@dataclass(frozen=True)
class HadamardResponse(Encoding):
    """A column y of the Hadamard matrix of order K = 2**ceil(log2(size + 1)), where value x owns row x + 1.

    With chance p = e**epsilon/(1 + e**epsilon), y is uniform among the columns where that row has +1, else among
    those with -1 (Acharya, Sun and Zhang 2019). Privacy: rows but the first are half +1 and half -1, so a column has
    chance 2p/K or 2(1 - p)/K, and the quotient for two values is at most p/(1 - p) = e**epsilon, and reaches it.

    >>> encoding = HadamardResponse(size=1024, epsilon=1)
    >>> encoding.order, encoding.report_bytes
    (2048, 2)
    """

    name: ClassVar[str] = "hadamard_response"

    @property
    def order(self) -> int:
        return 1 << self.size.bit_length()

    @property
    def layout(self) -> Index:
        """The number of the column."""
        return Index(self.order)

    @property
    def chances(self) -> tuple[float, float]:
        """p, and one half: two rows agree in half of the columns."""
        return logistic(self.epsilon), 0.5

    @cached_property
    def channel(self) -> HadamardChannel:
        """From values to columns."""
        return HadamardChannel(self.size, self.order, tanh(float(self.epsilon) / 2))

    def support_covariance(self, people: NDArray[np.float64]) -> NDArray[np.float64]:
        """The product of two rows is the row of their XOR, which is biased for the people who own that row."""
        owners = np.zeros(self.order)
        owners[1 : self.size + 1] = people
        rows = np.arange(1, self.size + 1)
        return np.asarray(self.channel.bias / 4 * owners[rows[:, None] ^ rows])

    @cached_property
    def _minus_coin(self) -> Bernoulli:
        return Bernoulli(lambda real: 1 / (1 + power(real, self.epsilon)))

    def draw(self, values: NDArray[np.int64], source: Source) -> Packed:
        """A uniform column; where its sign is not the one tossed, one bit is turned, which turns the sign."""
        row, column = values + 1, uniform(self.order, source, len(values))
        minus = (np.bitwise_count(row & column) & 1).astype(np.bool_)
        wrong = minus != self._minus_coin.draw(source, len(values))
        return self.layout.pack(column ^ np.where(wrong, row & -row, 0))

    def support(self, sums: NDArray[np.int64], reports: int) -> NDArray[np.float64]:
        """How many columns have +1 in the row of each value: one transform for all."""
        signs = walsh_hadamard(sums.astype(np.float64))[1 : self.size + 1]
        return np.asarray((reports + signs) / 2)
