"""Zero-concentrated DP in epsilon and delta, and back, always rounded to the safe side.

A rho-zCDP release is (epsilon, delta)-DP with, for every order alpha > 1,

    epsilon = rho alpha + ln(1 / (alpha delta)) / (alpha - 1) + ln(1 - 1/alpha)

(Canonne, Kamath and Steinke 2020, "The discrete Gaussian for differential privacy"). Since every order gives a true
statement, the best one may be searched in floating point; only the logarithms of the final formula are irrational, and
those are enclosed between rationals. mpmath's intervals round their ends outwards; a slack far above the last bit of
their own logarithm is added, so that a bound does not rest on that bit either. Below, ``x`` is alpha - 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

from sudare.errors import ParameterError
from sudare.privacy.budget import Number, positive

_BITS = 256
_SLACK = Fraction(1, 2**200)
# Beyond, e**x is larger than any budget.
_LARGEST_EXPONENT = 10**4


def log_bounds(value: Fraction) -> tuple[Fraction, Fraction]:
    """Rationals certainly below and above ln(value), about 2^-200 apart."""
    low, high = _ends(intervals().log(interval(value)))
    return low - _SLACK, high + _SLACK


def exp_above(value: Fraction) -> Fraction:
    """A rational certainly above e**value, by a part in 2^200.

    >>> 0 < exp_above(Fraction(1)) - Fraction(math.e) < Fraction(1, 10**15)
    True
    """
    if value > _LARGEST_EXPONENT:
        raise OverflowError("e to so large a power is no number of a budget")
    _, high = _ends(intervals().exp(interval(value)))
    return high * (1 + _SLACK)


def interval(value: Fraction) -> Any:
    """An interval of mpmath that holds ``value``."""
    context = intervals()
    return context.mpf(value.numerator) / context.mpf(value.denominator)


def upper(enclosure: Any) -> Fraction:
    """The upper end of an interval, as a rational, with the slack."""
    return _ends(enclosure)[1] + _SLACK


@cache
def intervals() -> Any:
    """mpmath's intervals in a context of our own: the precision of ``mpmath.iv`` is global."""
    from mpmath.ctx_iv import MPIntervalContext

    context = MPIntervalContext()
    context.prec = _BITS
    return context


def round_up(value: Fraction) -> Fraction:
    """To 12 decimal places, or to 12 digits where it is below one; never below ``value``."""
    step = _step(value)
    return math.ceil(value / step) * step


def round_down(value: Fraction) -> Fraction:
    """As `round_up`, never above ``value``."""
    step = _step(value)
    return math.floor(value / step) * step


def _step(value: Fraction) -> Fraction:
    zeros = len(str(value.denominator // value.numerator)) - 1 if 0 < value < 1 else 0
    return Fraction(1, 10 ** (12 + zeros))


def _ends(enclosure: Any) -> tuple[Fraction, Fraction]:
    from mpmath.libmp import to_rational

    low, high = (Fraction(*map(int, to_rational(end))) for end in enclosure._mpi_)
    return low, high


def rho_of_pure(epsilon: Number) -> Fraction:
    """The rho of an epsilon-DP release, epsilon^2 / 2 (Bun and Steinke 2016, proposition 1.4).

    >>> rho_of_pure(1)
    Fraction(1, 2)
    """
    return positive(epsilon, "epsilon") ** 2 / 2


def epsilon_for(rho: Number, delta: Number) -> Fraction:
    """The smallest epsilon for which rho-zCDP is known to be (epsilon, delta)-DP, never below the truth.

    Rounded up to 12 decimal places, or to 12 digits where it is below one. It is 0 where delta alone covers
    the release.

    >>> float(epsilon_for(0.5, 1e-6))
    5.221534444531
    """
    rho, delta = positive(rho, "rho"), _probability(delta)
    log_inverse_delta = _log_inverse(delta)
    steepness = float(min(rho, Fraction(10**300)))
    # The derivative of epsilon in alpha is rho - ln(1/(alpha delta)) / (alpha - 1)^2: one change of sign.
    x = _crossing(lambda x: steepness * x * x + math.log1p(x) - log_inverse_delta)
    return max(Fraction(0), round_up(rho * (1 + x) + offset_above(x, delta)))


def rho_for(epsilon: Number, delta: Number) -> Fraction:
    """The largest rho that is certainly (epsilon, delta)-DP: ``epsilon_for(rho, delta) <= epsilon``.

    Rounded down to 12 decimal places, or to 12 digits where it is below one.

    >>> float(rho_for(1, 1e-6))
    0.0243559703595
    """
    epsilon, delta = positive(epsilon, "epsilon"), _probability(delta)
    log_inverse_delta = _log_inverse(delta)
    target = float(min(epsilon, Fraction(10**300)))
    # For a fixed alpha the formula is linear in rho; this is the sign of -d rho / d alpha, which changes
    # once because epsilon falls and then rises in alpha for every rho.
    x = _crossing(lambda x: x * x * (target + math.log1p(1 / x)) - (1 + 2 * x) * (log_inverse_delta - math.log1p(x)))
    rho = round_down((round_down(epsilon) - offset_above(x, delta)) / (1 + x))
    while epsilon_for(rho, delta) > epsilon:
        rho = round_down(rho * (1 - Fraction(1, 10**11)))
    return rho


def _probability(delta: Number) -> Fraction:
    value = positive(delta, "delta")
    if value >= 1:
        raise ParameterError("delta is not a probability below one", value=delta, allowed="0 < delta < 1")
    return value


def _log_inverse(delta: Fraction) -> float:
    # math.log takes integers of any size, where the quotient could leave the range of a float.
    return math.log(delta.denominator) - math.log(delta.numerator)


def _crossing(function: Callable[[float], float]) -> Fraction:
    """Where a function of x > 0 turns from negative to positive, by bisection of ln x."""
    low, high = -340.0, 340.0  # x and its square stay within the range of a float
    for _ in range(64):
        middle = (low + high) / 2
        if function(math.exp(middle)) < 0:
            low = middle
        else:
            high = middle
    return Fraction(math.exp(high))


def offset_above(x: Fraction, delta: Fraction) -> Fraction:
    """An upper bound of what the formula adds to rho alpha."""
    log_alpha_below, _ = log_bounds(1 + x)
    _, log_x_above = log_bounds(x)
    log_delta_below, _ = log_bounds(delta)
    return (-log_delta_below - log_alpha_below) / x + log_x_above - log_alpha_below
