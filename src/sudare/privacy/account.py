"""One data set's part of the ledger: its cap, its releases, and whether one more is admitted."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import dataclass, replace

from sudare.errors import BudgetError, LedgerError, ParameterError, did_you_mean
from sudare.privacy.balance import Balance
from sudare.privacy.cap import Cap
from sudare.privacy.chain import Entry
from sudare.privacy.composition import Total, composes
from sudare.privacy.guarantee import Guarantee


@dataclass(frozen=True)
class Account:
    """What the rows of ``dataset`` say: the cap set last, if any, and its releases with their guarantees.

    >>> account = Account("census", Cap.of(epsilon=1))
    >>> account.admit(Guarantee("epsilon-DP", epsilon=0.25)).balance.remaining_text
    'epsilon 0.75'
    """

    dataset: str
    cap: Cap | None = None
    guarantees: tuple[Guarantee, ...] = ()
    release_ids: frozenset[str] = frozenset()
    other_datasets: tuple[str, ...] = ()

    @classmethod
    def read(cls, dataset: str, entries: Iterable[Entry]) -> Account:
        """The account of ``dataset`` in a verified chain."""
        cap, guarantees, release_ids, others = None, [], set(), []
        for entry in entries:
            if entry.dataset != dataset:
                others.append(entry.dataset)
                continue
            try:
                content = entry.content
                if entry.kind == "cap":
                    cap = Cap.from_json(content)
                else:
                    guarantees.append(Guarantee.from_json(content["guarantee"]))
                    release_ids.add(str(content["release_id"]))
                _ = entry.text  # what is admitted can also be shown
            except (KeyError, TypeError, ValueError, RecursionError, ParameterError):
                raise LedgerError(
                    f"row {entry.id} of the ledger holds no {entry.kind} that can be read",
                    hint="It was not written by Sudare; restore the ledger from a backup before publishing.",
                ) from None
        return cls(dataset, cap, tuple(guarantees), frozenset(release_ids), tuple(dict.fromkeys(others)))

    @property
    def balance(self) -> Balance:
        """Where the data set stands."""
        return Balance.of(self.dataset, self.cap, self.guarantees)

    def admit(
        self, guarantee: Guarantee, *, accept_no_guarantee: bool = False, default_cap: Cap | None = None
    ) -> Account:
        """The account with one more release, or `BudgetError` where it is not admitted.

        ``default_cap`` counts where no cap is set. What does not add up (k-anonymity alone, no noise) is
        admitted on ``accept_no_guarantee=True`` only, and without regard to the cap, which cannot count it.
        """
        if guarantee.notion == "none: seeded":
            raise BudgetError("a seeded release cannot be published", hint="Leave the seed out: it is for experiments.")
        cap = self.cap or default_cap
        if composes(guarantee):
            self._refuse_over(cap, guarantee)
        elif accept_no_guarantee is not True:
            raise BudgetError(
                "the release has no guarantee that a cap can count",
                value=guarantee.notion,
                hint="To publish it all the same, set accept_no_guarantee = true.",
            )
        return replace(self, cap=cap, guarantees=(*self.guarantees, guarantee))

    def _refuse_over(self, cap: Cap | None, guarantee: Guarantee) -> None:
        if cap is None:
            near = did_you_mean(self.dataset, self.other_datasets)
            command = f"sudare ledger set-cap {shlex.quote(self.dataset)} --epsilon 1"
            raise BudgetError(
                f"data set {self.dataset!r} has no cap in the ledger",
                hint=(f"{near} " if near else "") + f"Set one, for instance with: {command}",
            )
        spent = Total.of(release for release in self.guarantees if composes(release))
        if not cap.admits(spent + Total.of([guarantee])):
            raise cap.refusal(self.dataset, spent, guarantee)
