"""What reports promise together: when they arrive shuffled, and when a person sends several.

Amplification by shuffling, after Feldman, McMillan and Talwar ("hiding among the clones"). Let R be e0-LDP, x and x'
two possible values of one person, and T, T' the positive parts of R(x) - R(x') and of R(x') - R(x), normalised. Since
R(x) <= e**e0 R(x') and the reverse, R(x) is a mixture with at least e**e0 times as much of T as R(x') has, and both
have the same rest; and the report of every other person contains both T and T' with a probability that is at least
1/e**e0 of theirs. In the worst case (all of R(x) and R(x') is T and T') these probabilities are e**e0/(e**e0 + 1) and
1/(e**e0 + 1) for the person, and 1/(e**e0 + 1) each for the others; every other case is this one with reports deleted
at random. An observer of the shuffled reports therefore learns at most the numbers of T and T':

    A + D and C + 1 - A - D,  C ~ Bin(others, 2/(e**e0 + 1)), A ~ Bin(C, 1/2), D ~ Bernoulli(e**e0/(e**e0 + 1)),

against the same with the two exchanged.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from sudare.errors import ParameterError
from sudare.local.encoding import Encoding
from sudare.measure.science import scipy_of
from sudare.privacy import Adjacency, Fact, Guarantee, Number, Unit, asked_delta

_BLOCKS = 512  # values of C are grouped, each block counted as its smallest: an upper bound
_STEPS = 40
_SLACK = 1e-10  # relative error that is granted to the binomial tails


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
    binom = scipy_of("stats").binom

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
    """Small values of C: improbable, but with the largest loss."""
    binom = scipy_of("stats").binom

    return np.asarray(np.maximum(binom.ppf(10.0 ** -np.arange(3, 17), others, clone), 0))


_DECIMALS = 10**12
_MARGIN = 1 + 1e-9  # far above the rounding errors of the formula in doubles


def shuffled(encoding: Encoding, reports: int, delta: Number) -> Guarantee:
    """The central guarantee of ``reports`` reports after a trusted party has shuffled them.

    Privacy: hiding among clones (Feldman, McMillan and Talwar 2021 and 2023), see above: the numbers of clones tell the
    two values apart, and their distribution is summed. Never more than e0, rounded up; where the reports are too few,
    the guarantee is the local one.

    >>> from sudare.local import SymmetricUnary
    >>> round(float(shuffled(SymmetricUnary(size=23, epsilon=1), 100_000, delta=1e-6).epsilon), 4)
    0.0124
    """
    if type(reports) is not int or reports < 1:
        raise ParameterError("reports is not a number of reports", value=reports, allowed="a whole number from 1 on")
    share = asked_delta(delta)
    amplified = smallest_epsilon(float(encoding.report_epsilon), reports - 1, float(share))
    rounded = Fraction(max(math.ceil(amplified * _MARGIN * _DECIMALS), 1), _DECIMALS)
    epsilon = min(encoding.report_epsilon, rounded)
    unit, public = Unit("person"), (Fact("reporters"),)
    if epsilon == encoding.report_epsilon:
        return Guarantee("epsilon-DP", unit, Adjacency.REPLACED, epsilon=epsilon, public=public)
    return Guarantee(
        "(epsilon, delta)-DP",
        unit,
        Adjacency.REPLACED,
        epsilon=epsilon,
        delta=share,
        public=public,
        assumptions=(Fact("shuffled"),),
    )


def repeated(encoding: Encoding, times: int, *, changes: int = 0) -> Guarantee:
    """What ``times`` reports of one person promise together, about all of that person's values.

    Privacy: reports compose, so epsilons add up: a month of daily reports at 1 is 30. With a permanent randomisation
    (`PermanentUnary`), the epsilon is spent once for each value that the person holds, however often a device reports
    it: a value that changes at most ``changes`` times is one of ``changes + 1`` remembered ones, and of no more than
    the encoding remembers at all (one more than its buckets, where it has some). Which values these
    were is what the epsilon is about; the moments of the changes may become known, and the guarantee says so.

    >>> from sudare.local import PermanentUnary, SymmetricUnary
    >>> repeated(SymmetricUnary(size=23, epsilon=1), 30).epsilon
    Fraction(30, 1)
    >>> daily = PermanentUnary(size=23, epsilon=2, first=0.5)
    >>> [int(repeated(daily, 30, changes=changes).epsilon) for changes in (0, 1, 3)]
    [2, 4, 8]
    """
    if type(times) is not int or times < 1:
        raise ParameterError("times is not a number of reports", value=times, allowed="a whole number from 1 on")
    if type(changes) is not int or changes < 0:
        raise ParameterError("changes is not a number of changes", value=changes, allowed="a whole number from 0 on")
    epsilon = times * encoding.report_epsilon
    assumptions: tuple[Fact, ...] = ()
    if times > 1 and encoding.remembered:
        epsilon = min(epsilon, min(changes + 1, encoding.remembered) * encoding.epsilon)
        assumptions = (Fact("changes", changes=changes) if changes else Fact("changeless"),)
    unit, public = Unit("person", max_rows=times), (Fact("reporters"),)
    return Guarantee("epsilon-LDP", unit, Adjacency.REPLACED, epsilon=epsilon, public=public, assumptions=assumptions)
