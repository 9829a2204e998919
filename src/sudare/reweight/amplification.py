"""Sampling amplifies: what is drawn from few of many records may be measured with more epsilon than it costs.

b of n records drawn without replacement and given out in random order, under replacement of a record: a measurement of
the sample with epsilon' costs epsilon = ln(1 + (e^epsilon' - 1) b / n) in all (Balle, Barthe and Gaboardi 2018).
In record order it would cost more.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from typing import Any

_BITS = 200


def affordable(epsilon: Fraction, sample: int, people: int) -> Fraction:
    """The largest epsilon' known to cost at most ``epsilon``, rounded down to 12 digits.

    >>> float(affordable(Fraction(1, 2), 50, 2000))
    3.293940655555
    """
    exact = math.log1p(math.expm1(float(epsilon)) * people / sample)
    digits = Fraction(1, 10**12)
    candidate = Fraction(math.floor(Fraction(exact) / digits)) * digits
    while not costs_at_most(candidate, sample, people, epsilon):
        candidate -= digits * 10
    return candidate


def costs_at_most(spent: Fraction, sample: int, people: int, epsilon: Fraction) -> bool:
    """Whether ``spent`` on the sample certainly costs no more than ``epsilon``: in interval arithmetic.

    >>> costs_at_most(Fraction(3), 50, 2000, Fraction(1, 2)), costs_at_most(Fraction(4), 50, 2000, Fraction(1, 2))
    (True, False)
    """
    context = _intervals()
    inner = context.exp(_number(context, spent)) - 1
    cost = 1 + inner * _number(context, Fraction(sample, people))
    return bool(cost.b <= context.exp(_number(context, epsilon)).a)


def _number(context: Any, value: Fraction) -> Any:
    return context.mpf(value.numerator) / context.mpf(value.denominator)


@cache
def _intervals() -> Any:
    from mpmath.ctx_iv import MPIntervalContext

    context = MPIntervalContext()  # our own: the precision of mpmath.iv belongs to everybody
    context.prec = _BITS
    return context
