"""Accounts of people: several data sets about the same people under one cap.

A data set keeps an account by its name; the people in it are often in others too. An account of people adds up what
all its data sets cost one of them, called the account's unit. What must be true for that sum to be a bound:

- *Units.* A guarantee for another unit (a person's day, a row) says nothing of a person until somebody declares how
  many of those units one person can be: ``units``. Then the person is a group, and costs what `adjacency.cost_of` says
  of a group. Without the declaration a release for another unit is refused.
- *Neighbours.* All data sets are added up under one kind of neighbours (`common_adjacency`).
- *Parts.* Data sets that are declared to be disjoint ``part``s share no person (prefectures). Whoever is added to or
  removed from the whole is in one part at most: data sets without a part cost them in any case, and of the parts the
  largest. For replacing, a person may leave one part and enter another, which costs one step in each: that is never
  more than the larger of the two whole replacements (`Total.largest`). Where a release of a part is itself about
  replacing (a public total of the part), leaving the part is not hidden by anything: which part a person is in counts
  as public then, and the bound is for whoever stays.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from sudare.errors import BudgetError
from sudare.privacy.adjacency import REPLACED, common_adjacency, cost_of
from sudare.privacy.cap import Cap
from sudare.privacy.composition import Total, composes
from sudare.privacy.guarantee import Guarantee
from sudare.privacy.names import skeleton

_MOST_PARTS = 100
"""So many different sums are looked at one by one; of more, one that no part exceeds stands for all."""


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
