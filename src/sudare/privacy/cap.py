"""Caps: the most that may be spent on a data set, what fits under one, and the error where it does not.

A cap is (epsilon, delta), or rho with the delta at which it is read as an epsilon. Under an epsilon cap rho, also that
of Gaussian noise which was asked for by (epsilon, delta), stays rho until the check, and is converted once, at the
part of the cap's delta that no release has taken: see `Total.sum_at`. Under a rho cap pure releases count
epsilon^2 / 2, and (epsilon, delta)-DP without a rho is refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sudare.errors import BudgetError, Message, ParameterError
from sudare.privacy.budget import Number, asked_delta, exact, positive, readable
from sudare.privacy.composition import WORTH_IT, Cost, Total
from sudare.privacy.zcdp import epsilon_for, rho_for, round_down

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

    @classmethod
    def declared(cls, *, epsilon: Number | None = None, delta: Number = 0, rho: Number | None = None) -> Cap:
        """As `of`, for a cap that is to be set: its delta must be one that protects people."""
        cap = cls.of(epsilon=epsilon, delta=delta, rho=rho)
        cap.refuse_large_delta()
        return cap

    def refuse_large_delta(self) -> None:
        """Refuse a delta above 1/1000; ledgers written before that limit keep the caps they have."""
        if self.delta:
            asked_delta(self.delta)

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
        return cls.of(epsilon=data["epsilon"], delta=data["delta"], rho=data["rho"])

    def admits(self, total: Total) -> bool:
        """True where releases that cost ``total`` together stay within the cap."""
        if self.rho is not None:
            return total.all_rho is not None and total.all_rho <= self.rho
        plain = not total.rho and total.delta <= self.delta
        if plain and total.added <= self.amount:
            return True  # the sum fits: no need to ask whether a conversion gives less
        epsilon = total.epsilon_at(self.delta)
        return epsilon is not None and epsilon <= self.amount

    def remaining(self, spent: Total) -> Amounts:
        """The largest pure epsilon, delta and rho that one more release could have after ``spent``.

        >>> quarter = Total(((Fraction(1, 4), 1),))
        >>> print(Cap(epsilon=Fraction(1)).remaining(quarter).epsilon)
        3/4
        """
        if self.rho is not None:
            rho = _ZERO if spent.all_rho is None else max(_ZERO, self.rho - spent.all_rho)
            return Amounts(_largest_pure(rho), _ZERO, rho)
        delta = self.delta - spent.delta
        if delta <= 0:
            return Amounts(self._largest_epsilon(spent), max(_ZERO, delta), _ZERO)
        epsilon, rho = self._by_orders(spent, delta)
        if spent.added < self.amount:
            rho = max(rho, rho_for(self.amount - spent.added, delta) - spent.rho)
        return Amounts(max(epsilon, self._beside(spent, delta)), delta, max(_ZERO, rho))

    def _largest_epsilon(self, spent: Total, own_delta: Fraction = _ZERO) -> Fraction:
        """The largest epsilon that one more release may have if it may fail by ``own_delta``."""
        delta = self.delta - spent.delta - own_delta
        if delta < 0 or (delta == 0 and spent.rho):
            return _ZERO
        return max(self._beside(spent, delta), self._by_orders(spent, delta)[0] if delta else _ZERO)

    def _beside(self, spent: Total, delta: Fraction) -> Fraction:
        """What the added epsilons leave, with all rho converted at ``delta``."""
        return max(_ZERO, self.amount - spent.added - (epsilon_for(spent.rho, delta) if spent.rho else 0))

    def _by_orders(self, spent: Total, delta: Fraction) -> tuple[Fraction, Fraction]:
        """The largest epsilon and rho that the sum by orders admits: more, where many small ones were spent."""
        if not spent.epsilons:
            return _ZERO, _ZERO
        from sudare.privacy.renyi import MOST_VALUES, composed_epsilon, few, power_below, room

        few_epsilons = few(spent.epsilons)
        pure, rho = (exact(most, "room") for most in room(few_epsilons, spent.rho, self.amount / WORTH_IT, delta))
        many = len(spent.epsilons) >= MOST_VALUES
        return (
            self._admitted(
                power_below(pure) if many and pure else pure,
                lambda size: composed_epsilon((*few_epsilons, (size, 1)), spent.rho, delta),
            ),
            self._admitted(rho, lambda size: composed_epsilon(few_epsilons, spent.rho + size, delta)),
        )

    def _admitted(self, proposed: Fraction, composed: Callable[[Fraction], tuple[Fraction, Fraction]]) -> Fraction:
        """The largest number not above ``proposed`` that certainly fits, found by going down in growing steps."""
        shrink = Fraction(1, 10**11)
        while proposed > 0 and shrink < 1:
            number = round_down(proposed)
            if number > 0 and composed(number)[0] * WORTH_IT <= self.amount:
                return number
            proposed *= 1 - shrink
            shrink *= 4
        return _ZERO

    def refusal(self, holder: str, spent: Total, requested: Cost, *, account: bool = False) -> BudgetError:
        """The error for a request that the cap of ``holder`` does not admit after ``spent``, with the numbers.

        ``requested`` is the cost as it is added up, so twice the epsilon where everything counts for replacing.
        """
        reason, name, asked, left = self._shortage(spent, requested)
        wanted, rest, difference = readable(asked), readable(left), readable(asked - left)
        return BudgetError(
            (
                "account {holder!r} has not enough budget left{reason}: requested {name} {wanted}, remaining "
                "{rest}, difference {difference}"
                if account
                else "data set {holder!r} has not enough budget left{reason}: requested {name} {wanted}, remaining "
                "{rest}, difference {difference}"
            ),
            hint=(
                "Ask for less, or raise the cap with: sudare ledger account."
                if account
                else "Ask for less, or raise the cap with: sudare ledger set-cap."
            ),
            holder=holder,
            reason=reason,
            name=name,
            wanted=wanted,
            rest=rest,
            difference=difference,
        )

    def _shortage(self, spent: Total, requested: Cost) -> tuple[Message | str, str, Fraction, Fraction]:
        """Why, in which currency, how much was asked, and how much of that there is."""
        if requested.epsilon is None:
            left = self.remaining(spent)
            without = self.rho is None and left.delta == 0
            reason = Message(" (rho is read as epsilon by means of delta, and none is left)") if without else ""
            return reason, "rho", requested.rho, left.rho or _ZERO
        asked = requested.epsilon
        if not requested.delta:
            return "", "epsilon", asked, self.remaining(spent).epsilon or _ZERO
        if self.rho is not None:
            return Message(" (a cap in rho cannot count (epsilon, delta)-DP)"), "epsilon", asked, _ZERO
        delta = max(_ZERO, self.delta - spent.delta)
        if requested.delta > delta:
            return "", "delta", requested.delta, delta
        reason = Message(" (the rho spent before needs some delta)") if spent.rho and requested.delta == delta else ""
        return reason, "epsilon", asked, self._largest_epsilon(spent, requested.delta)


def _largest_pure(rho: Fraction) -> Fraction:
    """The largest epsilon, to 12 places, with epsilon^2 / 2 <= rho."""
    return Fraction(math.isqrt(math.floor(2 * rho * 10**24)), 10**12) if rho > 0 else _ZERO
