"""Composition of many small costs by Renyi orders: the tight sum of pure epsilons and a rho, never below the truth.

Of all epsilon-DP releases none reveals more than randomized response with that epsilon, nor does any adaptive
composition of them (Kairouz, Oh and Viswanath 2015, theorem 3.1 and section 3). Its Renyi divergence of order alpha is

    D(epsilon) = epsilon + (ln(1 + e^(-(2 alpha - 1) epsilon)) - ln(1 + e^-epsilon)) / (alpha - 1)

which is the mean of epsilon tanh(epsilon t) over 1/2 <= t <= alpha - 1/2; hence D is at most epsilon (that is basic
composition, its limit for large orders), at most alpha epsilon^2 / 2 (that is zCDP), and D(epsilon) / epsilon never
falls. Divergences of one order add, rho adds rho alpha, and the sum is read as (epsilon, delta) by the conversion of
`zcdp`. So one formula holds basic composition, zCDP and every mixture of both, and lies below the closed forms of
advanced composition (theorem 3.5 of the same paper; Dwork, Rothblum and Vadhan 2010).

Every order gives a true statement: the best one is searched in floating point, and the statement is then computed
with directed rounding. Below, ``x`` is alpha - 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from sudare.privacy.zcdp import interval, intervals, offset_above, round_up, upper

if TYPE_CHECKING:
    import numpy as np

    Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]

Counted: TypeAlias = tuple[tuple[Fraction, int], ...]
"""Epsilons, each once, with how many releases have it."""
MOST_VALUES = 256
_STEPS, _SLACK = 16, 1e-9
_LARGEST = Fraction(10**100)  # its square, times the largest order, is still a float
_LOW, _HIGH = -20.0, 45.0  # of ln x: from a rho of 1e15 to an epsilon of 1e-15


def composed_epsilon(epsilons: Counted, rho: Fraction, delta: Fraction) -> tuple[Fraction, Fraction]:
    """The smallest epsilon found at ``delta``, certainly true, and the order alpha it was found at.

    >>> bound, order = composed_epsilon(((Fraction(1, 100), 1000),), Fraction(0), Fraction(1, 10**6))
    >>> float(bound), round(float(order))
    (1.468462752409, 16)
    """
    epsilons = few(epsilons)
    sizes, counts = _floats(epsilons)
    steepness = float(min(rho, _LARGEST))
    x, _ = _best(lambda x: -(_losses(sizes, counts, x) + steepness * (1 + x) + _offsets(x, delta)))
    lost = sum((count * divergence_above(epsilon, x) for epsilon, count in epsilons), Fraction(0))
    return max(Fraction(0), round_up(rho * (1 + x) + lost + offset_above(x, delta))), 1 + x


def room(epsilons: Counted, rho: Fraction, epsilon: Fraction, delta: Fraction) -> tuple[float, float]:
    """About how large one more pure release, or one more rho, may be: what is spent stays within (epsilon, delta).

    In floating point: a proposal, which the caller has to check. Zero where there is no room.
    """
    import numpy as np

    sizes, counts = _floats(epsilons)
    whole, steepness = float(min(epsilon, _LARGEST)), float(min(rho, _LARGEST))

    def slack(x: Floats) -> Floats:
        return np.maximum(whole - _losses(sizes, counts, x) - steepness * (1 + x) - _offsets(x, delta), 0.0)

    def largest_pure(x: Floats) -> Floats:
        left = slack(x)
        low, high = left, 2 * left + 2 * np.sqrt(left)  # D is at most its epsilon, and at least epsilon tanh(epsilon/2)
        for _ in range(50):
            middle = (low + high) / 2
            fits = _divergence(middle, x) <= left
            low, high = np.where(fits, middle, low), np.where(fits, high, middle)
        return low

    _, most_pure = _best(largest_pure)
    _, most_rho = _best(lambda x: slack(x) / (1 + x))
    return most_pure, most_rho


def divergence_above(epsilon: Fraction, x: Fraction) -> Fraction:
    """An upper bound of D(epsilon), see the module.

    >>> float(divergence_above(Fraction(1), Fraction(1))) <= 1 * math.tanh(0.5) * 2
    True
    """
    context = intervals()
    size, order = interval(epsilon), interval(x)
    far = context.log(1 + context.exp(-(1 + 2 * order) * size))
    near = context.log(1 + context.exp(-size))
    return min(epsilon, (1 + x) * epsilon**2 / 2, upper(size + (far - near) / order))


def few(epsilons: Counted) -> Counted:
    """At most `MOST_VALUES` different values: where there are more, all are rounded up to powers of 2^(1/16).

    A longer list takes more time and hardly lowers the sum.
    """
    if len(epsilons) <= MOST_VALUES:
        return epsilons
    found: dict[Fraction, int] = {}
    for epsilon, count in epsilons:
        above = max(epsilon, _power(math.ceil(_STEPS * _log2(epsilon) - _SLACK)))
        found[above] = found.get(above, 0) + count
    return tuple(sorted(found.items()))


def power_below(epsilon: Fraction) -> Fraction:
    """The largest power of 2^(1/16) that is not above ``epsilon``: `few` does not change it."""
    return min(epsilon, _power(math.floor(_STEPS * _log2(epsilon) + _SLACK)))


def _log2(value: Fraction) -> float:
    return math.log2(value.numerator) - math.log2(value.denominator)  # also where a float has no such number


@cache
def _power(step: int) -> Fraction:
    whole, rest = divmod(step, _STEPS)
    return Fraction(2) ** whole * Fraction(2.0 ** (rest / _STEPS))


def _floats(epsilons: Counted) -> tuple[Floats, Floats]:
    import numpy as np

    sizes = np.array([float(min(epsilon, _LARGEST)) for epsilon, _ in epsilons])
    return sizes, np.array([float(count) for _, count in epsilons])


def _losses(sizes: Floats, counts: Floats, x: Floats) -> Floats:
    summed: Floats = counts @ _divergence(sizes[:, None], x[None, :]) if len(sizes) else 0 * x
    return summed


def _divergence(size: Floats, x: Floats) -> Floats:
    """D of each size at each order, near enough for a search."""
    import numpy as np

    exact = size + (np.log1p(np.exp(-(1 + 2 * x) * size)) - np.log1p(np.exp(-size))) / x
    with np.errstate(over="ignore"):  # what leaves the doubles is not the smaller of the two
        square = (1 + x) * size * size / 2
    near: Floats = np.where(size * (1 + 2 * x) < 1e-3, square, np.minimum(exact, square))
    return near


def _offsets(x: Floats, delta: Fraction) -> Floats:
    import numpy as np

    log_inverse = math.log(delta.denominator) - math.log(delta.numerator)
    offsets: Floats = (log_inverse - np.log1p(x)) / x - np.log1p(1 / x)
    return offsets


def _best(function: Callable[[Floats], Floats]) -> tuple[Fraction, float]:
    """Where a function of x is largest, by a grid in ln x that is drawn finer and finer, and its value there."""
    import numpy as np

    low, high, points = _LOW, _HIGH, 261
    for _ in range(6):
        places = np.linspace(low, high, points)
        values = function(np.exp(places))
        best = int(np.argmax(values))
        step = (high - low) / (points - 1)
        low, high, points = max(places[best] - step, _LOW), min(places[best] + step, _HIGH), 41
    return Fraction(float(np.exp(places[best]))), float(values[best])
