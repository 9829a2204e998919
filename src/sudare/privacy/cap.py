"""Caps: the most that may be spent on a data set, what fits under one, and the sentence when it does not.

A cap is (epsilon, delta), or rho with the delta at which it is read as an epsilon. Under an epsilon cap
zCDP stays rho until the check: the total is the sum of epsilons plus the conversion of all rho, at the part
of the cap's delta that no release has taken; or, if that is less, the conversion of everything with pure
releases counted as epsilon^2 / 2. Under a rho cap pure releases count epsilon^2 / 2, and (epsilon, delta)-DP,
which has no rho, is refused.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sudare.errors import BudgetError, ParameterError
from sudare.privacy.budget import Number, exact, positive, readable
from sudare.privacy.composition import Total
from sudare.privacy.guarantee import Guarantee
from sudare.privacy.zcdp import epsilon_for, rho_for

_ZERO = Fraction(0)


@dataclass(frozen=True)
class Amounts:
    """Epsilon, delta and rho side by side; None where there is no such number."""

    epsilon: Fraction | None
    delta: Fraction
    rho: Fraction | None

    def to_json(self) -> dict[str, str | None]:
        """Plain JSON, numbers as exact fractions."""
        return {
            name: None if (value := getattr(self, name)) is None else str(value) for name in ("epsilon", "delta", "rho")
        }


@dataclass(frozen=True)
class Cap:
    """The most that may be spent: (epsilon, delta), with delta 0 if absent; or rho with a delta.

    >>> str(Cap(epsilon=Fraction(1, 2))), str(Cap(rho=Fraction(1, 10), delta=Fraction(1, 10**6)))
    ('epsilon 0.5', 'rho 0.1 at delta 0.000001')
    """

    epsilon: Fraction | None = None
    delta: Fraction = _ZERO
    rho: Fraction | None = None

    def __post_init__(self) -> None:
        if (self.epsilon is None) == (self.rho is None):
            raise ParameterError("a cap has either epsilon or rho", allowed="(epsilon, delta), or rho with a delta")
        name = "rho" if self.epsilon is None else "epsilon"
        object.__setattr__(self, name, positive(self.amount, name))
        if not 0 <= self.delta < 1:
            raise ParameterError("delta is not a probability below one", value=self.delta, allowed="0 <= delta < 1")
        if self.rho is not None and self.delta == 0:
            raise ParameterError("a cap in rho needs a delta above 0", hint="It says how rho is read as an epsilon.")

    @classmethod
    def of(cls, *, epsilon: Number | None = None, delta: Number = 0, rho: Number | None = None) -> Cap:
        """A cap from numbers as they were written: ``Cap.of(epsilon=0.3)`` is three tenths."""
        return cls(
            None if epsilon is None else exact(epsilon, "epsilon"),
            exact(delta, "delta"),
            None if rho is None else exact(rho, "rho"),
        )

    @property
    def amount(self) -> Fraction:
        """Epsilon or rho, whichever it is."""
        amount = self.rho if self.epsilon is None else self.epsilon
        assert amount is not None  # noqa: S101 - one of the two is there: __post_init__
        return amount

    def __str__(self) -> str:
        if self.rho is not None:
            return f"rho {readable(self.rho)} at delta {readable(self.delta)}"
        return f"epsilon {readable(self.amount)}" + (f", delta {readable(self.delta)}" if self.delta else "")

    def to_json(self) -> dict[str, str | None]:
        """Plain JSON, numbers as exact fractions."""
        return Amounts(self.epsilon, self.delta, self.rho).to_json()

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Cap:
        """The inverse of `to_json`."""
        return cls.of(epsilon=data["epsilon"], delta=data["delta"], rho=data["rho"])

    def admits(self, total: Total) -> bool:
        """True where releases that cost ``total`` together stay within the cap."""
        if self.rho is not None:
            return total.all_rho is not None and total.all_rho <= self.rho
        plain = not total.rho and total.delta <= self.delta
        if plain and total.pure + total.approximate <= self.amount:
            return True  # the sum fits: no need to ask whether a conversion gives less
        epsilon = total.epsilon_at(self.delta)
        return epsilon is not None and epsilon <= self.amount

    def remaining(self, spent: Total) -> Amounts:
        """The largest pure epsilon, delta and rho that one more release could have after ``spent``.

        >>> print(Cap(epsilon=Fraction(1)).remaining(Total(pure=Fraction(3, 4))).epsilon)
        1/4
        """
        if self.rho is not None:
            rho = _ZERO if spent.all_rho is None else max(_ZERO, self.rho - spent.all_rho)
            return Amounts(_largest_pure(rho), _ZERO, rho)
        delta = self.delta - spent.delta
        room = self.amount - spent.approximate
        if delta < 0 or room <= 0 or (delta == 0 and spent.rho):
            return Amounts(_ZERO, max(_ZERO, delta), _ZERO)
        beside = room - spent.pure
        if delta == 0:
            return Amounts(max(_ZERO, beside), _ZERO, _ZERO)
        # The two ways of counting pure releases, as in Total.epsilon_at: what fits either is admitted.
        rho_beside = (rho_for(beside, delta) if beside > 0 else _ZERO) - spent.rho
        rho_in_all = rho_for(room, delta) - spent.rho - spent.pure_as_rho
        if spent.rho:
            beside -= epsilon_for(spent.rho, delta)
        return Amounts(max(_ZERO, beside, _largest_pure(rho_in_all)), delta, max(_ZERO, rho_beside, rho_in_all))

    def refusal(self, dataset: str, spent: Total, requested: Guarantee) -> BudgetError:
        """The error for a request that the cap does not admit after ``spent``, with the numbers."""
        reason, name, asked, left = self._shortage(spent, requested)
        return BudgetError(
            f"data set {dataset!r} has not enough budget left{reason}: requested {name} {readable(asked)}, "
            f"remaining {readable(left)}, difference {readable(asked - left)}",
            hint="Ask for less, or raise the cap with: sudare ledger set-cap.",
        )

    def _shortage(self, spent: Total, requested: Guarantee) -> tuple[str, str, Fraction, Fraction]:
        """Why, in which currency, how much was asked, and how much of that there is."""
        left = self.remaining(spent)
        if requested.rho is not None:
            without = self.rho is None and left.delta == 0
            reason = " (rho is read as epsilon by means of delta, and none is left)" if without else ""
            return reason, "rho", requested.rho, left.rho or _ZERO
        asked = requested.epsilon or _ZERO
        if requested.delta is None:
            return "", "epsilon", asked, left.epsilon or _ZERO
        if self.rho is not None:
            return " (a cap in rho cannot count (epsilon, delta)-DP)", "epsilon", asked, _ZERO
        if requested.delta > left.delta:
            return "", "delta", requested.delta, left.delta
        before = spent.epsilon_at(self.delta - requested.delta)
        if before is None:
            return " (the rho spent before needs some delta)", "epsilon", asked, _ZERO
        return "", "epsilon", asked, max(_ZERO, self.amount - before)


def _largest_pure(rho: Fraction) -> Fraction:
    """The largest epsilon, to 12 places, with epsilon^2 / 2 <= rho."""
    return Fraction(math.isqrt(math.floor(2 * rho * 10**24)), 10**12) if rho > 0 else _ZERO
