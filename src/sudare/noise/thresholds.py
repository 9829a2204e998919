"""Real numbers to any precision: the thresholds that exact sampling compares random bits with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from threading import Lock
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Real: TypeAlias = Any
"""An mpmath real number (mpmath ships no types)."""

_MARGIN = 2.0**-12
_LOCK = Lock()


@cache
def _context() -> Any:
    """An mpmath context of our own, so that nobody's precision changes ours (imported late: it is slow)."""
    import mpmath

    return mpmath.mp.clone()


def scaled_floor(number: Callable[[Any], Real], precision: int) -> int:
    """floor(2**precision * number(context)), certain: the precision is raised until rounding cannot matter.

    ``number`` computes an irrational number in (0, 1) with the functions of the given mpmath context.

    >>> scaled_floor(lambda real: real.exp(-1), 32) == int(2**32 * 0.36787944117144233)
    True
    """
    guard = 64
    with _LOCK:
        real = _context()
        while True:
            real.prec = precision + guard
            scaled = real.ldexp(number(real), precision)
            slack = real.ldexp(1, -guard // 2)
            # The number lies strictly between 0 and 1, however near: its floor needs no more precision there.
            low = max(int(real.floor(scaled - slack)), 0)
            high = min(int(real.floor(scaled + slack)), (1 << precision) - 1)
            if low >= high:
                return low
            guard *= 2


@dataclass(frozen=True)
class Rate:
    """A positive real x that stands for the ratio exp(-x) of a geometric law; ``number`` computes it."""

    number: Callable[[Any], Real]
    approximate: float

    @classmethod
    def rational(cls, value: Fraction) -> Rate:
        """The rate that is a rational number."""
        return cls(lambda real: real.mpf(value.numerator) / value.denominator, float(value))

    @classmethod
    def of_chance(cls, chance: Callable[[Any], Real]) -> Rate:
        """The rate whose ratio is 1 - chance: gaps between events of that chance are geometric with it."""
        return cls(lambda real: -real.log1p(-chance(real)), cls._value(lambda real: -real.log1p(-chance(real))))

    @staticmethod
    def _value(number: Callable[[Any], Real]) -> float:
        with _LOCK:
            real = _context()
            real.prec = 128
            return float(number(real))


def first_words(approximate: NDArray[np.float64], bits: Callable[[int, int], int]) -> NDArray[np.uint32]:
    """floor(2**32 * threshold) for many thresholds: from doubles where these are certain, else from ``bits``.

    ``approximate`` is within 2**-46 of the thresholds, hundreds of times the error of NumPy's exp.
    """
    scaled = np.ldexp(approximate, 32)
    words = np.floor(scaled)
    uncertain = np.flatnonzero((scaled - words < _MARGIN) | (words + 1 - scaled < _MARGIN) | (scaled >= 2.0**32 - 1))
    result = np.clip(words, 0, 2.0**32 - 1).astype(np.uint32)
    for j in uncertain:
        result[j] = bits(int(j), 32)
    return result
