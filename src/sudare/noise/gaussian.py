"""The discrete Gaussian law, exact: P(Z = z) proportional to exp(-z**2 / (2 variance)).

Rejection from the discrete Laplace (Canonne, Kamath and Steinke 2020): with t = floor(sigma) + 1 draw Y of
scale t and keep it with probability exp(-gamma), gamma = (|Y| - variance/t)**2 / (2 variance). A draw is
settled in floating point where 64 random bits are clear of the rounding error, else in exact arithmetic.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from sudare.errors import ParameterError
from sudare.noise.bernoulli import scaled_floor
from sudare.noise.laplace import LARGEST_SCALE, SMALLEST_SCALE, discrete_laplace
from sudare.noise.source import Source

_UNCLEAR = 2.0**-40  # thousands of times the rounding error of gamma and exp(-gamma) in doubles


def _keep_exactly(words: tuple[int, int], gamma: Fraction, source: Source) -> bool:
    """Whether U < exp(-gamma), where ``words`` are the first 64 bits of U and more are drawn as needed."""
    if gamma == 0:
        return True
    bits, precision = words[0] << 32 | words[1], 64
    while True:
        threshold = scaled_floor(lambda real: real.exp(-real.mpf(gamma.numerator) / gamma.denominator), precision)
        if bits != threshold:
            return bits < threshold
        bits, precision = bits << 64 | source.integer(64), precision + 64


def keep_with(size: NDArray[np.int64], centre: Fraction, variance: Fraction, source: Source) -> NDArray[np.bool_]:
    """Which proposals of these sizes >= 0 survive: each with its chance exp(-(size - centre)**2/(2 variance))."""
    distance = size.astype(np.float64) - float(centre)
    chance = np.exp(-(distance**2) / (2 * float(variance)))
    words = source.words(2 * len(size)).reshape(-1, 2)
    uniform = np.ldexp(words[:, 0].astype(np.float64), -32) + np.ldexp(words[:, 1].astype(np.float64), -64)
    keep = uniform < chance
    for i in np.flatnonzero(np.abs(uniform - chance) < _UNCLEAR):
        gamma = (int(size[i]) - centre) ** 2 / (2 * variance)
        keep[i] = _keep_exactly((int(words[i, 0]), int(words[i, 1])), gamma, source)
    return keep


def discrete_gaussian(variance: Fraction, source: Source, size: int) -> NDArray[np.int64]:
    """``size`` exact draws, int64; ``variance`` is sigma squared (of the continuous law of the same shape).

    >>> discrete_gaussian(Fraction(100), Source.from_seed(7), 4).shape
    (4,)
    """
    if not SMALLEST_SCALE**2 <= variance <= LARGEST_SCALE**2:
        raise ParameterError(
            "the scale of the noise is out of range",
            value=f"{(Decimal(variance.numerator) / variance.denominator).sqrt():.4g}",  # no double holds some of them
            allowed="sigma from {smallest_scale:.0e} to {largest_scale:.0e}",
            smallest_scale=float(SMALLEST_SCALE),
            largest_scale=float(LARGEST_SCALE),
        )
    step = isqrt(variance.numerator // variance.denominator) + 1
    kept = [np.empty(0, dtype=np.int64)]
    missing = size
    while missing:
        proposal = discrete_laplace(Fraction(step), source, missing + missing // 2 + 16)
        survivors = proposal[keep_with(np.abs(proposal), variance / step, variance, source)][:missing]
        kept.append(survivors)
        missing -= len(survivors)
    return np.concatenate(kept)
