"""What a steward should hear about a promise that can be kept but is worth little: said, and not refused."""

from __future__ import annotations

import warnings
from decimal import Decimal
from fractions import Fraction

from sudare.errors import PrivacyWarning
from sudare.privacy.guarantee import Guarantee
from sudare.privacy.zcdp import epsilon_for

LARGE_EPSILON = 20
"""Odds may change by the factor exp(20), five hundred million: hardly anybody stays hidden behind that."""
_LARGEST = Fraction(10**300)  # that a double holds
_READ_AT = Fraction(1, 10**6)
"""The delta at which rho is read as an epsilon."""


def cautions(guarantee: Guarantee, people: int | None = None) -> tuple[PrivacyWarning, ...]:
    """What is to be said; ``people`` is how many are in the data, where that is declared and public.

    A release with a delta of one in the number of people may be one that shows somebody's record as it is: it is
    (0, 1/people)-DP to publish the record of one person drawn at random.

    >>> print(*cautions(Guarantee("epsilon-DP", epsilon=Fraction(25))))
    this epsilon protects hardly anybody (got 25; allowed: advised: at most 20)
    """
    if not guarantee.holds:
        return ()
    found = []
    epsilon = guarantee.epsilon if guarantee.rho is None else epsilon_for(guarantee.rho, _READ_AT)
    if epsilon is not None and epsilon > LARGE_EPSILON:
        shown = Decimal(f"{float(min(epsilon, _LARGEST)):.4g}")
        found.append(PrivacyWarning("this epsilon protects hardly anybody", value=shown, allowed="advised: at most 20"))
    if people is not None and guarantee.delta is not None and guarantee.delta * people > 1:
        found.append(
            PrivacyWarning(
                "delta is above one in the number of people",
                value=guarantee.delta,
                allowed="advised: well below 1/{people}",
                hint="With such a delta the whole record of somebody may be shown.",
                people=people,
            )
        )
    return tuple(found)


def warn_of(guarantee: Guarantee, people: int | None = None) -> None:
    """Say it to whoever calls from Python."""
    for caution in cautions(guarantee, people):
        warnings.warn(caution, stacklevel=3)
