"""What reports promise together: when they arrive shuffled, and when a person sends several."""

from __future__ import annotations

import math
from fractions import Fraction

from sudare.errors import ParameterError, either
from sudare.local.clones import closed_form, smallest_epsilon
from sudare.local.encoding import Encoding
from sudare.privacy import Adjacency, Fact, Guarantee, Number, Unit, asked_delta

BOUNDS = ("numerical", "closed")
_DECIMALS = 10**12
_MARGIN = 1 + 1e-9  # far above the rounding errors of the formula in doubles


def shuffled(encoding: Encoding, reports: int, delta: Number, *, bound: str = "numerical") -> Guarantee:
    """The central guarantee of ``reports`` reports that somebody trusted has shuffled, to whoever sees them then.

    Privacy: to hide among clones (Feldman, McMillan and Talwar 2021 and 2023). With e0 the epsilon of a report, each of
    the others sends with chance 2/(e**e0 + 1) what one of the two suspected values would have sent, so that only the
    numbers of such reports tell the two apart. ``"numerical"`` adds up that law; ``"closed"`` is the closed form of
    2023. Never more than e0, rounded up; where the reports are too few, the guarantee is the local one.

    >>> from sudare.local import SymmetricUnary
    >>> encoding = SymmetricUnary(size=23, epsilon=1)
    >>> for bound in BOUNDS:
    ...     print(bound, round(float(shuffled(encoding, 100_000, delta=1e-6, bound=bound).epsilon), 4))
    numerical 0.0124
    closed 0.0604
    """
    if type(reports) is not int or reports < 1:
        raise ParameterError("reports is no number of reports", value=reports, allowed="a whole number from 1 on")
    if bound not in BOUNDS:
        raise ParameterError("unknown bound", value=bound, allowed=either(BOUNDS))
    share = asked_delta(delta)
    amplified = (smallest_epsilon if bound == "numerical" else closed_form)(
        float(encoding.report_epsilon), reports - 1, float(share)
    )
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


def repeated(encoding: Encoding, times: int) -> Guarantee:
    """What ``times`` reports of one person promise together, about all of that person's values.

    Privacy: reports compose, so epsilons add up: a month of daily reports at 1 is 30. What a device has remembered
    (`PermanentUnary`) costs its epsilon once for as long as the value is the same, however often it reports.

    >>> from sudare.local import PermanentUnary, SymmetricUnary
    >>> repeated(SymmetricUnary(size=23, epsilon=1), 30).epsilon
    Fraction(30, 1)
    >>> repeated(PermanentUnary(size=23, epsilon=2, first=0.5), 30).epsilon
    Fraction(2, 1)
    """
    if type(times) is not int or times < 1:
        raise ParameterError("times is no number of reports", value=times, allowed="a whole number from 1 on")
    lasting = encoding.report_epsilon < encoding.epsilon
    epsilon = times * encoding.report_epsilon
    assumptions: tuple[Fact, ...] = ()
    if lasting:
        epsilon = min(epsilon, encoding.epsilon)
        assumptions = (Fact("changeless"),)
    unit, public = Unit("person", max_rows=times), (Fact("reporters"),)
    return Guarantee("epsilon-LDP", unit, Adjacency.REPLACED, epsilon=epsilon, public=public, assumptions=assumptions)
