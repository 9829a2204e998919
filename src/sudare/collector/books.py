"""The survey's line in a ledger: what a person who reports has spent, booked before the first report is taken."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sudare.errors import Message
from sudare.privacy import Cap, Ledger
from sudare.privacy.history import heads_here, remember_head
from sudare.privacy.names import declared

if TYPE_CHECKING:
    from sudare.collector.survey import Survey


@dataclass(frozen=True)
class SurveyLedger:
    """The ledger at ``path`` and the account in it; ``cap`` is set where the account has none yet."""

    path: str
    dataset: str
    cap: Cap | None = None
    confirm_other_history: bool = False
    confirm_similar_name: bool = False

    def enter(self, survey: Survey) -> None:
        """Charge the survey once, however often its collector is started; `BudgetError` where the cap is passed.

        A person sends one report, so all reports together cost each person the epsilon of one.
        """
        ledger, name = Ledger(self.path), f"survey-{survey.fingerprint}"
        if all(entry.content.get("release_id") != name for entry in ledger.entries(self.dataset)):
            for begun in ledger.beginnings(self.dataset):
                warnings.warn(begun, stacklevel=2)
            entry = ledger.spend(
                self.dataset,
                survey.encoding.guarantee,
                name,
                note=f"reports to the survey {survey.name}",
                default_cap=self.cap,
                heads=heads_here(declared(self.dataset, Message("the name of a data set"))),
                confirm_other_history=self.confirm_other_history,
                confirm_similar_name=self.confirm_similar_name,
            )
            remember_head(entry.dataset, ledger.path, entry.hash)
