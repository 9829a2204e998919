"""One data set's part of the ledger: its cap, its releases, the account it joined, and whether one more is admitted."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable
from dataclasses import dataclass, replace

from sudare.errors import BudgetError, NoCapError, ParameterError, did_you_mean
from sudare.privacy.balance import Balance, Member, People
from sudare.privacy.cap import Cap
from sudare.privacy.chain import NO_DATASET, Checkpoint, Entry, canonical, text_of
from sudare.privacy.composition import Total, common_adjacency, composes, cost_of
from sudare.privacy.guarantee import Guarantee


@dataclass(frozen=True)
class Account:
    """What the rows of ``dataset`` say: the cap set last, if any, its releases, and the people it is about.

    >>> account = Account("census", Cap.of(epsilon=1))
    >>> account.admit(Guarantee("epsilon-DP", epsilon=0.25)).balance.remaining_text
    'epsilon 0.75'
    """

    dataset: str
    cap: Cap | None = None
    guarantees: tuple[Guarantee, ...] = ()
    other_datasets: tuple[str, ...] = ()
    people: People | None = None

    @property
    def balance(self) -> Balance:
        """Where the data set stands."""
        account = None if self.people is None else Balance.of_people(self.people)
        return Balance.of(self.dataset, self.cap, self.guarantees, account)

    def admit(
        self, guarantee: Guarantee, *, accept_no_guarantee: bool = False, default_cap: Cap | None = None
    ) -> Account:
        """The account with one more release, or `BudgetError` where it is not admitted.

        It must fit under the cap of the data set and under that of its account of people. ``default_cap`` counts
        where no cap is set. What does not add up (k-anonymity alone, no noise) is admitted on
        ``accept_no_guarantee=True`` only, and without regard to the caps, which cannot count it.
        """
        if guarantee.notion == "none: seeded":
            raise BudgetError("a seeded release cannot be published", hint="Leave the seed out: it is for experiments.")
        cap = self.cap or default_cap
        if composes(guarantee):
            self._refuse_over(cap, guarantee)
        elif accept_no_guarantee is not True:
            raise BudgetError(
                "the guarantee of the release cannot be counted against a cap",
                value=guarantee.notion,
                hint="To publish it all the same, set accept_no_guarantee = true.",
            )
        people = self.people and self.people.admit(self.dataset, guarantee)
        return replace(self, cap=cap, guarantees=(*self.guarantees, guarantee), people=people)

    def _refuse_over(self, cap: Cap | None, guarantee: Guarantee) -> None:
        counted = [release for release in self.guarantees if composes(release)]
        others = {release.unit.kind for release in counted} - {guarantee.unit.kind}
        if others:
            raise BudgetError(
                "data set {dataset!r} has releases for another unit, and costs of different units cannot be added up",
                value=guarantee.unit.kind,
                allowed=sorted(others),
                hint="Publish it under a data set's name of its own, and join both to an account of people, "
                "with: sudare ledger join.",
                dataset=self.dataset,
            )
        if cap is None:
            if self.people is None:
                raise self._no_cap()
            return
        adjacency = common_adjacency([*counted, guarantee])
        spent, cost = Total.of(counted, adjacency), cost_of(guarantee, adjacency)
        if not cap.admits(spent + Total.summed([cost])):
            raise cap.refusal(self.dataset, spent, cost)

    def _no_cap(self) -> NoCapError:
        near = did_you_mean(self.dataset, self.other_datasets)
        command = f"sudare ledger set-cap {shlex.quote(self.dataset)} --epsilon 1"
        return NoCapError(
            "data set {dataset!r} has no cap in the ledger",
            hint="{near} Set one, for instance with: {command}" if near else "Set one, for instance with: {command}",
            dataset=self.dataset,
            near=near,
            command=command,
        )


class LedgerContents:
    """A verified chain, read: accounts of people at once, the rows of each data set when they are asked for."""

    def __init__(self, entries: Iterable[Entry], checkpoint: Checkpoint | None = None) -> None:
        before = checkpoint or Checkpoint()
        self._booked = before.booked
        self._rows: dict[str, list[Entry]] = {}
        self._caps: dict[str, tuple[Cap, str]] = {}
        self._members: dict[str, tuple[str, Member]] = {}
        self._read: dict[str, Account] = {}
        self._standing: dict[str, Balance] = {}
        self._guarantees: dict[str, Guarantee] = {}
        declared = (Entry(0, "", *row, "", "") for row in before.declared)
        for entry in (*declared, *entries):
            if entry.dataset != NO_DATASET:
                self._rows.setdefault(entry.dataset, []).append(entry)
            if entry.kind in ("account", "join"):
                self._note(entry)
        self.datasets = tuple(dict.fromkeys((*self._rows, *self._booked)))
        self.accounts = tuple(self._caps)

    def account(self, dataset: str) -> Account:
        """What the rows of ``dataset`` say, with the account of people that it joined."""
        others = tuple(name for name in self.datasets if name != dataset)
        joined = self._members.get(dataset)
        people = None if joined is None else self.people(joined[0])
        return replace(self._alone(dataset), other_datasets=others, people=people)

    def people(self, name: str) -> People:
        """The account of people ``name`` with all its data sets."""
        cap, unit = self._caps[name]
        members = [member for account, member in self._members.values() if account == name]
        filled = (replace(each, guarantees=self._alone(each.dataset).guarantees) for each in members)
        return People(name, cap, unit, tuple(filled))

    def balance(self, dataset: str) -> Balance:
        """Where ``dataset`` stands; an account of people is added up once for all its data sets."""
        account = self._alone(dataset)
        joined = self._members.get(dataset)
        standing = None if joined is None else self.standing(joined[0])
        return Balance.of(dataset, account.cap, account.guarantees, standing)

    def standing(self, name: str) -> Balance:
        """Where the account of people ``name`` stands."""
        if name not in self._standing:
            self._standing[name] = Balance.of_people(self.people(name))
        return self._standing[name]

    def membership(self, dataset: str) -> tuple[str, Member] | None:
        """The account that ``dataset`` joined, and on which terms."""
        return self._members.get(dataset)

    def _note(self, entry: Entry) -> None:
        try:
            content = entry.content
            name = str(content["account"])
            if entry.kind == "account":
                self._caps[name] = Cap.from_json(content["cap"]), str(content["unit"])
            else:
                _ = self._caps[name]  # a data set joins what is there
                self._members[entry.dataset] = name, Member(entry.dataset, content["part"], content["units"])
        except _UNREADABLE:
            raise entry.unreadable() from None

    def _guarantee(self, text: str) -> Guarantee:
        """Parsed once for all rows with the same guarantee: a year of releases has few different ones."""
        if text not in self._guarantees:
            self._guarantees[text] = Guarantee.from_json(json.loads(text))
        return self._guarantees[text]

    def _alone(self, dataset: str) -> Account:
        if dataset not in self._read:
            cap, guarantees = None, list[Guarantee]()
            for text, count in self._booked.get(dataset, {}).items():
                guarantees += [self._guarantee(text)] * count
            for entry in self._rows.get(dataset, ()):
                try:
                    content = entry.content
                    if entry.kind == "cap":
                        cap = Cap.from_json(content)
                    elif entry.kind == "spend":
                        guarantees.append(self._guarantee(canonical(content["guarantee"])))
                    text_of(entry.kind, content)  # what is admitted can also be shown
                except _UNREADABLE:
                    raise entry.unreadable() from None
            self._read[dataset] = Account(dataset, cap, tuple(guarantees))
        return self._read[dataset]


_UNREADABLE = (KeyError, TypeError, ValueError, RecursionError, ParameterError)
