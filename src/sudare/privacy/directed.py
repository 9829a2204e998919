"""Directed rounding: logarithms and exponentials enclosed between rationals, and rounding to the safe side.

Everything else in the books is exact rational arithmetic. mpmath's intervals round their ends outwards; a slack far
above the last bit of their own logarithm is added, so that a bound does not rest on that bit either.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from typing import Any

_BITS = 256
_SLACK = Fraction(1, 2**200)
# Beyond, e**x is no number that a budget could hold.
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
    """mpmath's intervals in a context of our own: the precision of ``mpmath.iv`` belongs to everybody."""
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
