"""Where a data set, or an account of people, stands: its cap, what its releases cost together, and what is left.

An account of people puts several data sets about the same people under one cap. It adds up what all its data sets cost
one of them, called the account's unit. What must be true for that sum to be a bound:

- *Units.* A guarantee for another unit (a person's day, a row) says nothing of a person until somebody declares how
  many of those units one person can be: ``units``. Then the person is a group, and costs what `cost_of` says of a
  group. Without the declaration a release for another unit is refused.
- *Neighbours.* All data sets are added up under one kind of neighbours (`common_adjacency`).
- *Parts.* Data sets that are declared to be disjoint ``part``s share no person (prefectures). Whoever is added to or
  removed from the whole is in one part at most: data sets without a part cost them in any case, and of the parts the
  largest. For replacing, a person may leave one part and enter another, which costs one step in each: that is never
  more than the larger of the two whole replacements (`Total.largest`). Where a release of a part is itself about
  replacing (a public total of the part), leaving the part is not hidden by anything: which part a person is in counts
  as public then, and the bound is for whoever stays.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from sudare.errors import BudgetError, Message
from sudare.privacy.budget import readable
from sudare.privacy.cap import Amounts, Cap
from sudare.privacy.composition import (
    ADDED,
    REPLACED,
    ComposedEpsilon,
    Total,
    adjacency_of,
    common_adjacency,
    composes,
    cost_of,
)
from sudare.privacy.guarantee import Guarantee, Unit
from sudare.privacy.names import skeleton

_MOST_PARTS = 100
"""Up to this many different sums are checked one by one; beyond, one bound that no part exceeds."""


@dataclass(frozen=True)
class Member:
    """A data set of an account: its part, how many of its units one person can be, and its releases."""

    dataset: str
    part: str | None = None
    units: int | None = None
    guarantees: tuple[Guarantee, ...] = ()

    @property
    def counted(self) -> Iterator[Guarantee]:
        """The releases that add up."""
        return (guarantee for guarantee in self.guarantees if composes(guarantee))

    def total(self, adjacency: str) -> Total:
        """What its releases cost one person."""
        return Total.of(self.counted, adjacency, self.units or 1)


@dataclass(frozen=True)
class People:
    """The account ``name``: its cap, whom it protects, and the data sets that joined.

    >>> from sudare.privacy.guarantee import Unit
    >>> half = Guarantee("epsilon-DP", Unit("person"), epsilon=0.5)
    >>> parts = [Member(name, part=name, guarantees=(half,)) for name in ("Tokyo", "Osaka")]
    >>> People("residents", Cap.of(epsilon=1), members=(*parts, Member("survey", guarantees=(half,)))).total().added
    Fraction(1, 1)
    """

    name: str
    cap: Cap
    unit: str = "person"
    members: tuple[Member, ...] = ()

    @property
    def adjacency(self) -> str:
        """The neighbours under which all data sets are added up."""
        return common_adjacency(guarantee for member in self.members for guarantee in member.counted)

    def part_totals(self, adjacency: str) -> tuple[Total, dict[str, Total]]:
        """What costs everybody, and what each part costs those in it; parts whose names look alike are one."""
        everybody, parts, names = Total(), dict[str, Total](), dict[str, str]()
        for member in self.members:
            total = member.total(adjacency)
            if member.part is None:
                everybody += total
            else:
                part = names.setdefault(skeleton(member.part), member.part)
                parts[part] = parts.get(part, Total()) + total
        return everybody, parts

    def total(self) -> Total:
        """A bound of what any one person has lost by all data sets."""
        everybody, parts = self.part_totals(self.adjacency)
        return everybody + Total.largest(parts.values())

    def totals(self) -> tuple[Total, ...]:
        """The same part by part, of which each person has lost one; or the one bound that holds for whoever moves."""
        adjacency = self.adjacency
        everybody, parts = self.part_totals(adjacency)
        different = tuple(dict.fromkeys(parts.values()))
        if adjacency == REPLACED or not 1 < len(different) <= _MOST_PARTS:
            return (self.total(),)
        return tuple(everybody + part for part in different)

    def admit(self, dataset: str, guarantee: Guarantee) -> People:
        """The account with one more release of ``dataset``, or `BudgetError` where its cap would be passed."""
        members = tuple(
            replace(member, guarantees=(*member.guarantees, guarantee)) if member.dataset == dataset else member
            for member in self.members
        )
        after = replace(self, members=members)
        if not composes(guarantee):
            return after
        member = next(each for each in members if each.dataset == dataset)
        self.refuse_unit(member)
        if not all(self.cap.admits(total) for total in after.totals()):
            everybody, parts = self.part_totals(after.adjacency)
            alike = {skeleton(name): total for name, total in parts.items()}
            own = everybody if member.part is None else everybody + alike[skeleton(member.part)]
            cost = cost_of(guarantee, after.adjacency, member.units or 1)
            alone = own + Total.summed([cost])
            spent = everybody + Total.largest(parts.values()) if self.cap.admits(alone) else own
            raise self.cap.refusal(self.name, spent, cost, account=True)
        return after

    def refuse_unit(self, member: Member) -> None:
        """Refuse releases for another unit than the account's where nobody said how many of those one person can be."""
        others = {guarantee.unit.kind for guarantee in member.counted} - {self.unit}
        if member.units is None and others:
            raise BudgetError(
                "the account {name!r} adds up what each {unit} has lost, and the release is for another one",
                value=", ".join(sorted(others)),
                allowed=[self.unit],
                hint="Say how many of those one can be at most, with: sudare ledger join --units.",
                name=self.name,
                unit=self.unit,
            )


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
    number here bounds what they gave away. Where ``units`` has several entries (in old ledgers; a release for
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
    def over_cap(self) -> bool:
        """True where more is spent than the cap allows: releases that were booked later, or a cap that was lowered."""
        if self.cap is None:
            return False
        spent = self.spent.epsilon if self.cap.rho is None else self.spent.rho
        return spent is None or spent > self.cap.amount or (self.cap.rho is None and self.spent.delta > self.cap.delta)

    @property
    def spent_text(self) -> str:
        """``spent`` in the cap's currency, in English."""
        if self.cap and self.cap.rho is not None:
            return str(_amount("rho", self.spent.rho))
        epsilon = _amount("epsilon", self.spent.epsilon)
        return str(_beside_delta(epsilon, self.spent.delta) if self.spent.delta else epsilon)

    @property
    def remaining_message(self) -> Message:
        """``remaining``, the cap's currency first."""
        if self.cap is None or self.remaining is None:
            return Message("nothing: no cap")
        epsilon, rho = _amount("epsilon", self.remaining.epsilon), _amount("rho", self.remaining.rho)
        if self.cap.rho is not None:
            return Message("{first} or {second}", first=rho, second=epsilon)
        if not self.cap.delta:
            return epsilon
        either = Message("{first} or {second}", first=epsilon, second=rho)
        return _beside_delta(either, self.remaining.delta)

    @property
    def remaining_text(self) -> str:
        """``remaining_message`` in English."""
        return str(self.remaining_message)

    @property
    def remarks(self) -> tuple[Message, ...]:
        """Facts that qualify the numbers: releases that cannot be added up, mixed neighbours or units, the account."""
        found = []
        if self.unbounded:
            found.append(Message("{number} without a guarantee that adds up", number=self.unbounded))
        if len(self.adjacencies) > 1:
            found.append(Message("mixed neighbours: all counted for replacing one record"))
        if len(self.units) > 1:
            found.append(
                Message("different units, whose costs cannot be added up: {units}", units=" / ".join(self.units))
            )
        if self.account is not None:
            name, left = self.account.dataset, self.account.remaining_message
            found.append(Message("in account {account} remaining {remaining}", account=name, remaining=left))
        return tuple(found)

    @property
    def text(self) -> str:
        """All of it in one line, without the name of the data set."""
        parts = [
            f"cap {self.cap}" if self.cap else "no cap",
            f"spent {self.spent_text}",
            f"remaining {self.remaining_text}",
            f"releases {self.releases}",
        ]
        return "; ".join([*parts, *map(str, self.remarks)])

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


def _amount(currency: str, amount: Fraction | None) -> Message:
    if amount is None:
        return Message("without a number in {currency}", currency=currency)
    return Message("{currency} {amount}", currency=currency, amount=readable(amount))


def _beside_delta(amount: Message, delta: Fraction) -> Message:
    return Message("{amount}, delta {delta}", amount=amount, delta=readable(delta))


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
