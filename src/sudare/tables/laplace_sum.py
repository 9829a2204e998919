"""The law of a sum of independent discrete Laplace variables: how far a sum of raw noisy cells is off."""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

EXACT_TERMS = 64
"""Up to this many terms the law is computed exactly; beyond, the normal law corrected for kurtosis is as good."""
_FINEST = 1 << 20
_SILENT = 1 / 700
"""A scale up to which noise is certainly 0: exp(-700) is less than any chance that a number here can tell from 0."""


@lru_cache(maxsize=256)
def reach(terms: int, scale: float, level: float) -> float:
    """The smallest whole number x with P(|Z_1 + ... + Z_terms| <= x) >= level.

    P(Z = z) is in proportion to exp(-|z|/scale). For one term P(|Z| > x) = 2 a**(x+1)/(1+a), a = exp(-1/scale).

    >>> reach(1, 10.0, 0.9), reach(2, 10.0, 0.9)
    (23.0, 33.0)
    """
    if scale <= _SILENT:
        return 0.0
    if terms == 1:
        ratio = math.exp(-1 / scale)
        return max(0.0, math.ceil(math.log((1 - level) * (1 + ratio) / 2) * -scale - 1e-9) - 1.0)
    if terms <= EXACT_TERMS:
        step, chance = _chances(terms, scale)
        within = 2 * np.cumsum(chance) - chance[0]
        return float(np.searchsorted(within, level)) * step
    z = NormalDist().inv_cdf((1 + level) / 2)
    return float(math.ceil(deviation(terms, scale) * (z + (z**3 - 3 * z) * _kurtosis(terms, scale) / 24)))


@lru_cache(maxsize=256)
def expected_size(terms: int, scale: float) -> float:
    """E |Z_1 + ... + Z_terms|; for one term 2a/(1 - a**2).

    >>> round(expected_size(1, 10.0), 3)
    9.983
    """
    if scale <= _SILENT:
        return 0.0
    if terms == 1:
        return 1 / math.sinh(1 / scale)
    if terms <= EXACT_TERMS:
        step, chance = _chances(terms, scale)
        return float(2 * step * (np.arange(len(chance)) @ chance))
    return deviation(terms, scale) * math.sqrt(2 / math.pi) * (1 - _kurtosis(terms, scale) / 24)


def deviation(terms: int, scale: float) -> float:
    """The standard deviation of the sum: sqrt(terms 2a/(1-a)**2)."""
    return math.sqrt(terms * 2 * math.exp(-1 / scale)) / -math.expm1(-1 / scale)


def _kurtosis(terms: int, scale: float) -> float:
    """Excess kurtosis of the sum: (3 + 1/variance of a term) / terms."""
    return (3 + 1 / deviation(1, scale) ** 2) / terms


def _chances(terms: int, scale: float) -> tuple[float, NDArray[np.float64]]:
    """P(sum = 0, step, 2 step, ...): the inverse Fourier transform of ((1-a)**2/(1 - 2a cos t + a**2))**terms.

    The step is 1 unless the law is so wide that steps of a millionth of it are finer than anyone can see.
    """
    wide = 16 * deviation(terms, scale) + 40 * scale + 16
    step = max(1.0, wide / _FINEST)
    points = 1 << math.ceil(math.log2(2 * wide / step))
    ratio = math.exp(-step / scale)
    angle = 2 * np.pi * np.arange(points // 2 + 1) / points
    # 1 - 2a cos t + a**2 = (1-a)**2 + 4a sin(t/2)**2, which does not cancel for a near 1.
    wave = (1 + 4 * ratio * (np.sin(angle / 2) / (1 - ratio)) ** 2) ** -terms
    chance = np.fft.irfft(wave, points)[: points // 2]
    return step, np.maximum(chance, 0.0)
