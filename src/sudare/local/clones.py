"""Amplification by shuffling: how well a person hides among clones.

Let R be e0-LDP, x and x' the two values suspected of one person, and T, T' the positive parts of R(x) - R(x') and of
R(x') - R(x), normalised. Since R(x) <= e**e0 R(x') and the reverse, R(x) is a mixture with at least e**e0 times as much
of T as R(x') has, and both have the same rest; and the report of every other person contains both T and T' with a
chance that is at least 1/e**e0 of theirs. In the worst case (all of R(x) and R(x') is T and T') these chances are
e**e0/(e**e0 + 1) and 1/(e**e0 + 1) for the person, and 1/(e**e0 + 1) each for the others; every other case is this one
with reports struck out at random. Whoever sees the shuffled reports therefore learns at most the numbers of T and T':

    A + D and C + 1 - A - D,  C ~ Bin(others, 2/(e**e0 + 1)), A ~ Bin(C, 1/2), D ~ Bernoulli(e**e0/(e**e0 + 1)),

against the same with the two exchanged.
"""

from __future__ import annotations

import math

import numpy as np

_BLOCKS = 512  # numbers of clones are taken together, each block at its smallest: never less than the truth
_STEPS = 40
_SLACK = 1e-10  # relative error that is granted to the binomial tails


def closed_form(local: float, others: int, delta: float) -> float:
    """ln(1 + (e**e0 - 1)(4 sqrt(2 ln(4/delta)/((e**e0 + 1) others)) + 4/others)), or e0 where that does not hold.

    It holds for e0 <= ln(others/(8 ln(2/delta)) - 1) (Feldman, McMillan and Talwar 2023).

    >>> round(closed_form(1.0, 99_999, 1e-6), 6)
    0.060361
    """
    if others <= 8 * math.log(2 / delta) * (math.exp(local) + 1):
        return local
    spread = 4 * math.sqrt(2 * math.log(4 / delta) / ((math.exp(local) + 1) * others)) + 4 / others
    return min(local, math.log1p(math.expm1(local) * spread))


def smallest_epsilon(local: float, others: int, delta: float) -> float:
    """The smallest epsilon for which `delta_of` stays within ``delta``, to a few digits, from above."""
    if delta_of(0.0, local, others) <= delta:
        return 0.0
    low, high = 0.0, local
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if delta_of(middle, local, others) <= delta else (middle, high)
        if high - low < 1e-5 * high:
            break
    return high


def delta_of(epsilon: float, local: float, others: int) -> float:
    """An upper bound of the delta at ``epsilon``: the hockey-stick divergence of the two laws above.

    Given C the quotient of the two grows with the count, so the sum runs from where it passes e**epsilon.
    """
    from scipy.stats import binom

    own, clone = 1 / (1 + math.exp(-local)), 2 / (1 + math.exp(local))
    if epsilon >= local:
        return 0.0
    ends = np.unique(
        np.concatenate([[0], binom.ppf(np.linspace(0, 1, _BLOCKS)[1:-1], others, clone), _tails(others, clone)])
    )
    weight = np.diff(binom.cdf(np.append(ends, others + 1) - 1, others, clone))
    turn = (math.exp(epsilon) * own - (1 - own)) / (own - math.exp(epsilon) * (1 - own))
    first = np.floor(turn / (1 + turn) * (ends + 1)) + 1
    above, from_first = binom.sf(first - 2, ends, 0.5), binom.sf(first - 1, ends, 0.5)
    true = own * above + (1 - own) * from_first
    false = (1 - own) * above + own * from_first
    excess = np.maximum(true - math.exp(epsilon) * false, 0) + _SLACK * (true + math.exp(epsilon) * false)
    return float(weight @ excess)


def _tails(others: int, clone: float) -> np.ndarray:
    """Numbers of clones far below the usual, which weigh little but hide badly."""
    from scipy.stats import binom

    return np.asarray(np.maximum(binom.ppf(10.0 ** -np.arange(3, 17), others, clone), 0))
