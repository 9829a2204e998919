"""A series: one recipe, one budget, and a release for each of its periods, which names the one before it.

Every period is a release like any other: it verifies alone. Its certificate says which period it is, the hash of the
plan (periods, shares, domain, budget) that all of them share, and the hash of its predecessor's certificate, so that
nobody can exchange or drop a period unseen. What is refused is refused before anything is spent: a period that the
plan does not have, one that the ledger has paid for, a plan that the cap does not hold, or another plan than the one
that the series began with.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sudare.errors import LedgerError, OutputError, RecipeError, did_you_mean
from sudare.privacy import Guarantee, Ledger, SpendTerms
from sudare.privacy.fingerprint import file_digest
from sudare.workflow.certificate import checked_release
from sudare.workflow.folder import CERTIFICATE
from sudare.workflow.reports import canonical, public_text

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

_OF_THE_PLAN = ("kind", "dataset", "domain", "order", "method", "privacy", "series")


@dataclass(frozen=True)
class SeriesPeriod:
    """One period of a series: ``name``, the ``periods`` of the plan with the folder of each, and the plan's hash.

    ``chosen`` is False where a recipe is only looked at, and stands for its first period.
    """

    name: str
    dataset: str
    folders: dict[str, Path]
    plan: str
    whole: Guarantee
    chosen: bool = True

    @classmethod
    def of(cls, recipe: Any, period: str | None, folder: Path, whole: Guarantee) -> SeriesPeriod:
        """The period of a recipe with ``series``; ``whole`` is what all of its periods promise together."""
        periods = recipe.series.periods
        if period is not None and period not in periods:
            raise RecipeError(
                "the series has no such period", value=period, allowed=list(periods), hint=did_you_mean(period, periods)
            )
        contents = recipe.model_dump(mode="json", by_alias=True)
        plan = {name: contents.get(name) for name in _OF_THE_PLAN}
        folders = {each: folder / recipe.for_period(each).output.folder for each in periods}
        digest = hashlib.sha256(canonical(plan)).hexdigest()
        return cls(period or periods[0], recipe.dataset, folders, digest, whole, period is not None)

    @property
    def number(self) -> int:
        """From 1 on."""
        return list(self.folders).index(self.name) + 1

    def release_id(self, period: str | None = None, *, attempt: int = 1) -> str:
        """One for each period, whatever the plan: a ledger takes it once. A release that is given up has had one."""
        own = hashlib.sha256(self.dataset.encode()).hexdigest()[:12]
        return f"{period or self.name}-{own}" + (f"-{attempt}" if attempt > 1 else "")

    def require_choice(self) -> None:
        """Refuse to publish a period that nobody has named."""
        if not self.chosen:
            raise RecipeError(
                "the recipe is a series: say which period",
                allowed=list(self.folders),
                hint="For instance: sudare publish RECIPE --period {name}",
                name=self.name,
            )

    def new_id(self, ledger: Ledger, terms: SpendTerms, *, given_up: bool) -> str:
        """The id for a first release of the period; refuses one that is paid for, and a plan beyond the cap."""
        booked = {each for each in self.folders if ledger.has_release(self.dataset, self.release_id(each))}
        if self.name in booked and not given_up:
            raise LedgerError(
                "this period of the series is published already",
                value=self.name,
                hint="Nothing was spent. Each period is published once.",
            )
        if not booked:
            ledger.check(self.dataset, self.whole, parameters=terms)
        attempt = 1
        while ledger.has_release(self.dataset, self.release_id(attempt=attempt)):
            attempt += 1
        return self.release_id(attempt=attempt)

    def certified(self, ledger: Ledger, key: Ed25519PrivateKey) -> dict[str, Any]:
        """What the certificate says of the series: the period, the plan, and the last period before it that is out."""
        periods = list(self.folders)
        facts = {"period": self.name, "number": self.number, "periods": periods, "plan": self.plan}
        for later in periods[self.number :]:
            if (self.folders[later] / CERTIFICATE).is_file():
                self._named(later, self.folders[later], key)  # of the same plan, or refused
        for earlier in reversed(periods[: self.number - 1]):
            folder = self.folders[earlier]
            if (folder / CERTIFICATE).is_file():
                return facts | {"predecessor": self._named(earlier, folder, key)}
            if ledger.has_release(self.dataset, self.release_id(earlier)):
                raise OutputError(
                    "an earlier period of the series is not in its folder",
                    value=str(folder),
                    hint="Nothing was spent. Put the release back there: this one names it.",
                )
        return facts | {"predecessor": None}

    def _named(self, period: str, folder: Path, key: Ed25519PrivateKey) -> dict[str, Any]:
        path, certificate, _, _ = checked_release(folder, public_text(key))
        stated = certificate.get("series")
        found = (certificate["dataset"], stated.get("period"), stated.get("plan")) if isinstance(stated, dict) else ()
        if found != (self.dataset, period, self.plan):
            raise RecipeError(
                "the series began with another plan",
                value=period,
                allowed="the same periods, shares, domain, method and budget in every period",
                hint="Nothing was spent. For another plan, publish under another name of the data set.",
            )
        return {"period": period, "release_id": certificate["release_id"], "sha256": file_digest(path)}
