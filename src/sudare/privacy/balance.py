"""Where a data set stands: its cap, what its releases cost together, and what is left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sudare.privacy.adjacency import ADDED, adjacency_of, common_adjacency
from sudare.privacy.budget import readable
from sudare.privacy.cap import Amounts, Cap
from sudare.privacy.composition import ComposedEpsilon, Total, composes
from sudare.privacy.guarantee import Guarantee, Unit
from sudare.privacy.people import People

PERIODS = {"hour": (24, 8760), "day": (30, 365), "week": (52,), "month": (12,), "quarter": (4,)}
"""Over how many periods a sum per period is shown besides; the last is a year."""
_ZERO = Fraction(0)


@dataclass(frozen=True)
class AccountPart:
    """A data set of an account: its part, how many units one person can be, and what it costs that person."""

    dataset: str
    part: str | None
    units: int | None
    spent: Amounts

    def to_json(self) -> dict[str, Any]:
        """Plain JSON."""
        return {"dataset": self.dataset, "part": self.part, "units": self.units, "spent": self.spent.to_json()}


@dataclass(frozen=True)
class Balance:
    """The account of one data set, or of people (``parts`` then lists its data sets, ``dataset`` is its name).

    ``spent``: epsilon at the cap's delta, the deltas of releases that are not counted by rho, and the same spending in
    rho: views of one thing, not parts of it. It bounds what one ``unit`` has lost, under ``adjacency``; ``summed``
    says how it was found. ``remaining``: the largest pure epsilon, delta and rho that one more release under
    ``adjacency`` could have; None without a cap. Under a delta it may be less than the cap minus ``spent``: many small
    pure releases count as rho where that is less, a single large one does not. ``over``: the same for a person of so
    many periods, where the unit is a period. ``unbounded`` of the ``releases`` promise nothing that adds up, so no
    number here bounds what they gave away. Where ``units`` has several entries (in ledgers of old; a release for
    another unit is refused) no number bounds what one of them has lost, and none is given. ``account``: where the
    people of the data set stand, if it joined an account.
    """

    dataset: str
    cap: Cap | None
    spent: Amounts
    remaining: Amounts | None
    releases: int
    unbounded: int
    units: tuple[str, ...]
    adjacencies: tuple[str, ...]
    adjacency: str = ADDED
    unit: Unit | None = None
    summed: ComposedEpsilon | None = None
    over: tuple[tuple[int, Amounts], ...] = ()
    account: Balance | None = None
    parts: tuple[AccountPart, ...] = ()

    @classmethod
    def of(
        cls, dataset: str, cap: Cap | None, guarantees: Sequence[Guarantee], account: Balance | None = None
    ) -> Balance:
        """The account after releases with ``guarantees``; ``account`` is the balance of the people it is about.

        >>> tenth = Guarantee("epsilon-DP", epsilon=Fraction(1, 10))
        >>> print(Balance.of("census", Cap(epsilon=Fraction(3, 10)), [tenth, tenth]))
        census: cap epsilon 0.3; spent epsilon 0.2; remaining epsilon 0.1; releases 2
        """
        counted = [guarantee for guarantee in guarantees if composes(guarantee)]
        adjacency = common_adjacency(counted)
        kinds = tuple(dict.fromkeys(guarantee.unit.kind for guarantee in counted))
        facts = (len(guarantees), len(guarantees) - len(counted), kinds, _adjacencies(counted), adjacency)
        unit = Unit(counted[0].unit.name, period=counted[0].unit.period) if len(kinds) == 1 else None
        if len(kinds) > 1:
            spent = Amounts(None, sum((guarantee.delta or _ZERO for guarantee in counted), _ZERO), None)
            nothing = None if cap is None else Amounts(_ZERO, _ZERO, _ZERO)
            return cls(dataset, cap, spent, nothing, *facts, account=account)
        total = Total.of(counted, adjacency)
        delta = cap.delta if cap else total.stated_delta
        periods = PERIODS.get(unit.period or "", ()) if unit else ()
        over = tuple((number, _amounts(Total.of(counted, adjacency, number), delta)) for number in periods)
        remaining = cap.remaining(total) if cap else None
        found = total.sum_at(delta)
        return cls(dataset, cap, _amounts(total, delta, found), remaining, *facts, unit, found, over, account)

    @classmethod
    def of_people(cls, people: People) -> Balance:
        """Where an account of people stands: all its data sets, the largest of the parts."""
        counted = [guarantee for member in people.members for guarantee in member.counted]
        releases = sum(len(member.guarantees) for member in people.members)
        cap, delta, totals = people.cap, people.cap.delta, people.totals()
        total = max(totals, key=lambda each: _size(each, cap))
        found = total.sum_at(delta)
        parts = (
            AccountPart(each.dataset, each.part, each.units, _amounts(each.total(people.adjacency), delta))
            for each in people.members
        )
        return cls(
            people.name,
            people.cap,
            _amounts(total, delta, found),
            _remaining_everywhere(cap, total, totals),
            releases,
            releases - len(counted),
            (people.unit,),
            _adjacencies(counted),
            people.adjacency,
            Unit(people.unit),
            found,
            parts=tuple(parts),
        )

    @property
    def mixed(self) -> bool:
        """True where releases protect different units, or count neighbours differently."""
        return len(self.units) > 1 or len(self.adjacencies) > 1

    @property
    def over_cap(self) -> bool:
        """True where more is spent than the cap allows: releases that were booked later, or a cap that was lowered."""
        if self.cap is None:
            return False
        spent = self.spent.epsilon if self.cap.rho is None else self.spent.rho
        return spent is None or spent > self.cap.amount or (self.cap.rho is None and self.spent.delta > self.cap.delta)

    @property
    def spent_text(self) -> str:
        """``spent`` in the cap's currency."""
        if self.cap and self.cap.rho is not None:
            return _named("rho", self.spent.rho)
        own_delta = f", delta {readable(self.spent.delta)}" if self.spent.delta else ""
        return _named("epsilon", self.spent.epsilon) + own_delta

    @property
    def remaining_text(self) -> str:
        """``remaining``, the cap's currency first."""
        if self.cap is None or self.remaining is None:
            return "nothing: no cap"
        epsilon, rho = _named("epsilon", self.remaining.epsilon), _named("rho", self.remaining.rho)
        if self.cap.rho is not None:
            return f"{rho} or {epsilon}"
        return f"{epsilon} or {rho}, delta {readable(self.remaining.delta)}" if self.cap.delta else epsilon

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a reader of the numbers must know besides."""
        remarks = []
        if self.unbounded:
            remarks.append(f"{self.unbounded} without a guarantee that adds up")
        if len(self.adjacencies) > 1:
            remarks.append("mixed neighbours: all counted for replacing one record")
        if len(self.units) > 1:
            remarks.append("mixed units, which no sum bounds: " + " / ".join(self.units))
        if self.account is not None:
            remarks.append(f"in account {self.account.dataset} remaining {self.account.remaining_text}")
        return tuple(remarks)

    @property
    def text(self) -> str:
        """All of it in one line, without the name of the data set."""
        parts = [
            f"cap {self.cap}" if self.cap else "no cap",
            f"spent {self.spent_text}",
            f"remaining {self.remaining_text}",
            f"releases {self.releases}",
        ]
        return "; ".join([*parts, *self.remarks])

    def __str__(self) -> str:
        return f"{self.dataset}: {self.text}"

    def _repr_html_(self) -> str:
        from sudare.language.catalogue import current_language
        from sudare.privacy.notebook import balance_card

        return balance_card(self, current_language())

    def to_json(self) -> dict[str, Any]:
        """Plain JSON, numbers as exact fractions."""
        return {
            "dataset": self.dataset,
            "cap": self.cap.to_json() if self.cap else None,
            "spent": self.spent.to_json(),
            "remaining": self.remaining.to_json() if self.remaining else None,
            "releases": self.releases,
            "unbounded": self.unbounded,
            "units": list(self.units),
            "adjacencies": list(self.adjacencies),
            "adjacency": self.adjacency,
            "summed": _sum_json(self.summed),
            "over": [{"periods": number, "spent": amounts.to_json()} for number, amounts in self.over],
            "account": self.account.to_json() if self.account else None,
            "parts": [part.to_json() for part in self.parts],
            "text": str(self),
        }


def _named(name: str, amount: Fraction | None) -> str:
    return f"{name} {readable(amount)}" if amount is not None else f"without a number in {name}"


def _amounts(total: Total, delta: Fraction, found: ComposedEpsilon | None = None) -> Amounts:
    found = found or total.sum_at(delta)
    return Amounts(None if found is None else found.epsilon, total.delta, total.all_rho)


def _remaining_everywhere(cap: Cap, largest: Total, totals: Sequence[Total]) -> Amounts:
    """What one more release could cost if everybody is in it: parts may run out of different things."""
    left = cap.remaining(largest)
    more = (Total(((left.epsilon or _ZERO, 1),)), Total(rho=left.rho or _ZERO))
    short = [cap.remaining(each) for each in totals if not all(cap.admits(each + one) for one in more)]
    return Amounts(
        min(each.epsilon or _ZERO for each in (left, *short)),
        min(each.delta for each in (left, *short)),
        min(each.rho or _ZERO for each in (left, *short)),
    )


def _size(total: Total, cap: Cap) -> tuple[bool, Fraction]:
    """Larger for what a cap finds larger; what has no number in its currency is the largest."""
    size = total.epsilon_at(cap.delta) if cap.rho is None else total.all_rho
    return size is None, size or _ZERO


def _adjacencies(counted: Sequence[Guarantee]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(adjacency_of(guarantee) for guarantee in counted))


def _sum_json(found: ComposedEpsilon | None) -> dict[str, str | None] | None:
    if found is None:
        return None
    order = None if found.order is None else f"{float(found.order):.6g}"
    return {"epsilon": str(found.epsilon), "way": found.way, "order": order, "delta": str(found.delta)}
