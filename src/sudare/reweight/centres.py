"""Where the kernels stand: at public points (method B of the paper), at noisy records (A), or at raw records (C).

Sampling amplifies: what is drawn from few of many records may be measured with more epsilon than it costs.

b of n records drawn without replacement and given out in random order, under replacement of a record: a measurement of
the sample with epsilon' costs epsilon = ln(1 + (e^epsilon' - 1) b / n) in all (Balle, Barthe and Gaboardi 2018).
In record order it would cost more.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sudare.arrays import Floats
from sudare.errors import InputError, Message, ParameterError
from sudare.noise import Source, measure, secret
from sudare.privacy import Budget
from sudare.reweight.ratio import points
from sudare.reweight.space import STEPS, Codes, Numeric, Space

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


_SAMPLE = 1000
_PUBLIC_SEED = 20090801


def public_centres(space: Space, public: Codes, number: int) -> Codes:
    """Quantiles of the public rows where there is one number, else rows of them drawn with a public seed."""
    enough(number, len(public), Message("public"))
    if len(space.attributes) == 1 and space.numeric:
        return np.unique(np.rint(np.quantile(public[:, 0], (np.arange(number) + 0.5) / number)))[:, None]
    chosen = np.random.default_rng(_PUBLIC_SEED).permutation(len(public))[:number]
    return np.unique(public[chosen], axis=0)


def declared_centres(space: Space, grid: ArrayLike) -> Codes:
    """Points (centres, columns) given by the caller, within the bounds."""
    if not space.numeric:
        raise ParameterError("declared centres need columns that are all numbers", hint='Use centres="public".')
    declared = points(grid)
    if declared.shape[1] != len(space.attributes):
        raise InputError(
            "the centres have another number of columns than are declared",
            value=declared.shape[1],
            allowed=[len(space.attributes)],
        )
    if not len(declared):
        raise ParameterError("there are no centres", allowed="at least one")
    return space.encode(dict(zip(space.names, declared.T, strict=True)))


def public_width(space: Space, public: Codes) -> float:
    """The median distance between public rows over sqrt 2, in steps: from at most 1,000 evenly chosen rows."""
    rows = public[np.linspace(0, len(public) - 1, min(_SAMPLE, len(public))).astype(np.int64)]
    embedded: Floats = space.embed(rows)
    squares = (embedded**2).sum(axis=1)
    square = squares[:, None] + squares - 2 * embedded @ embedded.T
    above = square[np.triu_indices(len(rows), 1)]
    typical = float(np.median(above)) or float(above.mean())
    return float(np.sqrt(max(typical, 2.0) / 2))


def noisy_centres(
    space: Space, private: Codes, number: int, epsilon: Fraction, source: Source
) -> tuple[Codes, Fraction]:
    """Method A: records drawn without replacement, in random order, each with Laplace noise over the declared ranges;
    and the epsilon' that was spent on the sample.

    Sensitivity: given which places are drawn, replacing a record changes at most one centre, by at most STEPS in each
    column: columns x STEPS in L1 for all centres together. Drawing amplifies (see `sudare.reweight.centres`):
    noise for epsilon' costs ``epsilon``. The number of records is public.
    """
    if not all(isinstance(attribute, Numeric) for attribute in space.attributes):
        raise ParameterError("noisy centres need columns that are all numbers", hint='Use centres="public".')
    drawn = _drawn(private, number, source)
    spent = affordable(epsilon, number, len(private))
    exact = drawn.astype(np.int64)
    noisy = measure(exact.ravel(), len(space.attributes) * STEPS, Budget(epsilon=spent), source, "centres")
    return np.clip(noisy, 0, STEPS).astype(np.float64).reshape(exact.shape), spent


def raw_centres(private: Codes, number: int, source: Source) -> Codes:
    """Method C: records as they are. This protects nobody who is drawn."""
    return _drawn(private, number, source)


def _drawn(private: Codes, number: int, source: Source) -> Codes:
    enough(number, len(private), Message("private"))
    generator = np.random.default_rng(secret(source, "which records"))
    return private[generator.permutation(len(private))[:number]]


def enough(number: int, rows: int, who: Message) -> None:
    """Refuse more centres than there are rows."""
    if number > rows:
        raise ParameterError(
            "there are more centres than {who} rows", value=number, allowed="at most {rows}", who=who, rows=rows
        )
