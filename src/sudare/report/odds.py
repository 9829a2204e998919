"""What a guarantee means for somebody who guesses, as bounds that are never too low.

Between two possibilities whose outcomes the guarantee calls close, Bayes' rule multiplies the odds of one against the
other by at most e**epsilon; that is exact for pure differential privacy. With a delta, or in rho, single outcomes
may say more, and what is bounded is how often a guess between two equally likely possibilities is right.
"""

from __future__ import annotations

from decimal import Context, Decimal
from fractions import Fraction

from sudare.errors import ParameterError
from sudare.privacy import Guarantee

_EXACT = Context(prec=60)
_LARGEST = Fraction(300)  # beyond, e**epsilon means nothing to anybody, and 60 digits do not hold it


def factor(epsilon: Fraction) -> Decimal:
    """e**epsilon, to sixty digits.

    >>> round(factor(Fraction(1, 2)), 4)
    Decimal('1.6487')
    """
    return _EXACT.exp(_decimal(min(epsilon, _LARGEST)))


def suspicion(prior: Fraction, epsilon: Fraction) -> tuple[Decimal, Decimal]:
    """Between what a suspicion of probability ``prior`` can become by a release that is ``epsilon`` close.

    >>> low, high = suspicion(Fraction(1, 2), Fraction(1, 2))
    >>> round(low, 4), round(high, 4)
    (Decimal('0.3775'), Decimal('0.6225'))
    """
    if not 0 < prior < 1:
        raise ParameterError("a suspicion is not between 0 and 1", value=prior, allowed="0 < prior < 1")
    odds, times = _decimal(prior / (1 - prior)), factor(epsilon)
    low, high = (_EXACT.divide(one, 1 + one) for one in (_EXACT.divide(odds, times), _EXACT.multiply(odds, times)))
    return low, high


def right_guesses(guarantee: Guarantee, steps: int = 1) -> Decimal:
    """How often, at most, a guess between two equally likely possibilities is right once the release is seen.

    ``steps`` is how many neighbours lie between the two: 1 for the neighbours of the guarantee, 2 to exchange a unit
    under adding and removing. Pure and approximate: (e**eps + delta)/(1 + e**eps), with steps * eps, and delta times
    1 + e**eps + ... . In rho: half of 1 + TV, TV at most sqrt(steps**2 rho / 2) (Pinsker) and at most
    sqrt(1 - e**(-steps**2 rho)) (Bretagnolle and Huber), since rho-zCDP bounds the divergence of order 1 by rho.

    >>> round(right_guesses(Guarantee("epsilon-DP", epsilon=Fraction(1, 2))), 4)
    Decimal('0.6225')
    >>> round(right_guesses(Guarantee("rho-zCDP", rho=Fraction(1, 50))), 4)
    Decimal('0.5500')
    """
    if guarantee.rho is not None and guarantee.epsilon is None:
        divergence = _decimal(min(steps**2 * guarantee.rho, _LARGEST))
        pinsker = _EXACT.sqrt(divergence / 2)
        huber = _EXACT.sqrt(1 - _EXACT.exp(-divergence))
        return (1 + min(pinsker, huber, Decimal(1))) / 2
    if guarantee.epsilon is None:
        return Decimal(1)
    one = factor(guarantee.epsilon)
    times = factor(steps * guarantee.epsilon)
    delta = _decimal(guarantee.delta or Fraction(0)) * sum((one**step for step in range(steps)), Decimal(0))
    return min(Decimal(1), _EXACT.divide(times + delta, 1 + times))


def _decimal(number: Fraction) -> Decimal:
    return _EXACT.divide(Decimal(number.numerator), Decimal(number.denominator))
