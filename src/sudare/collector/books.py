"""The survey's line in a ledger: what a person who reports has spent, booked before the first report is taken."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sudare.privacy import Cap, Ledger

if TYPE_CHECKING:
    from sudare.collector.survey import Survey


@dataclass(frozen=True)
class Books:
    """The ledger at ``path`` and the account in it; ``cap`` is set where the account has none yet."""

    path: str
    dataset: str
    cap: Cap | None = None

    def enter(self, survey: Survey) -> None:
        """Charge the survey once, however often its collector is started; `BudgetError` where the cap is passed.

        A person sends one report, so all reports together cost each person the epsilon of one.
        """
        ledger, name = Ledger(self.path), f"survey-{survey.fingerprint}"
        if all(entry.content.get("release_id") != name for entry in ledger.entries(self.dataset)):
            note = f"reports to the survey {survey.name}"
            ledger.spend(self.dataset, survey.encoding.guarantee, name, note=note, default_cap=self.cap)
