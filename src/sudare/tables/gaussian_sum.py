"""The law of a sum of independent discrete Gaussian variables: how far a sum of raw noisy cells is off.

The sum of discrete Gaussians is one of the summed variance, up to what no double can tell from 0 where a term has a
sigma of 1 or more; for narrower ones the law is summed up by its Fourier transform. Wide sums are normal.
"""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from sudare.noise import AddedGaussian

_WIDE = 1 << 12
"""A standard deviation from which on steps of one person are finer than anyone can see."""


@lru_cache(maxsize=256)
def reach(terms: int, law: AddedGaussian, level: float) -> float:
    """The smallest whole number x with P(|Z_1 + ... + Z_terms| <= x) >= level.

    >>> from fractions import Fraction
    >>> reach(1, AddedGaussian(Fraction(100)), 0.9), reach(4, AddedGaussian(Fraction(100)), 0.9)
    (16.0, 33.0)
    """
    spread = math.sqrt(terms * law.spread)
    chance = _chances(terms, law)
    if chance is None:
        return float(math.ceil(spread * NormalDist().inv_cdf((1 + level) / 2) - 0.5))
    return float(np.searchsorted(2 * np.cumsum(chance) - chance[0], level))


@lru_cache(maxsize=256)
def expected_size(terms: int, law: AddedGaussian) -> float:
    """E |Z_1 + ... + Z_terms|.

    >>> from fractions import Fraction
    >>> round(expected_size(1, AddedGaussian(Fraction(100))), 2)
    7.97
    """
    chance = _chances(terms, law)
    if chance is None:
        return math.sqrt(terms * law.spread * 2 / math.pi)
    return float(2 * (np.arange(len(chance)) @ chance))


def _chances(terms: int, law: AddedGaussian) -> NDArray[np.float64] | None:
    """P(sum = 0, 1, 2, ...), or None where the normal law is as good."""
    one = float(law.variance)
    if terms * max(one, law.spread) >= _WIDE**2:
        return None
    if one >= 1 or terms == 1:
        return _one(terms * one)
    points = 1 << math.ceil(math.log2(24 * math.sqrt(terms * law.spread) + 64))
    single, angle = _one(one), 2 * np.pi * np.arange(points // 2 + 1) / points
    wave = single[0] + 2 * np.cos(np.outer(angle, np.arange(1, len(single)))) @ single[1:]
    return np.maximum(np.fft.irfft(wave**terms, points)[: points // 2], 0.0)


def _one(variance: float) -> NDArray[np.float64]:
    size = np.arange(math.ceil(12 * math.sqrt(variance)) + 4, dtype=np.float64)
    weight = np.exp(-(size**2) / (2 * variance))
    return np.asarray(weight / (2 * weight.sum() - weight[0]))
