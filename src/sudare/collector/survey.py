"""A survey: what is asked, which answers there are, how they are protected, and how it is served.

What a report depends on (name, question, answers, encoding) makes up the survey's identity. Its fingerprint is sent
with every report and kept in the database, so that reports of two surveys are never added up.

What a browser needs to randomise an answer: chances as 128 bits that it compares with random bits.

A coin shows heads when 16 random bytes, read as a whole number, are below the threshold; so its chance is
exactly threshold / 2**128. The true chances are irrational, and each threshold is rounded to the side that
protects: what is more likely for the true answer down, what is more likely for the others up. The quotient of
the two is then at most that of the exact law, so a browser's report is epsilon-LDP with the printed epsilon, and its
law differs from the exact one by less than 2**-128 per coin, which no estimate can notice.

The survey's line in a ledger: what a person who reports has spent, booked before the first report is taken.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from sudare.collector.answers import Answers
from sudare.domain import Bins
from sudare.errors import InputError, Message
from sudare.local import Encoding, Reports, SquareWave
from sudare.local.encoding import power
from sudare.noise.bernoulli import scaled_floor
from sudare.privacy import Cap, Guarantee, Ledger
from sudare.privacy.history import heads_here, remember_head
from sudare.privacy.names import declared

PLACES = 128


def device_law(encoding: Encoding) -> dict[str, Any] | None:
    """The law of one report as plain JSON; None for an encoding that only programs can send.

    ``unary``: bit v is set with chance ``own`` for the true answer and ``other`` for each of the others.
    ``response``: with chance ``change`` the report is one of the other answers, all equally likely.

    >>> from sudare.local import OptimisedUnary
    >>> device_law(OptimisedUnary(size=3, epsilon=1))["own"]
    '80000000000000000000000000000000'
    """
    size, epsilon = encoding.size, encoding.epsilon
    if encoding.name == "symmetric_unary":
        other = _above(lambda real: 1 / (1 + power(real, epsilon / 2)))
        return {"kind": "unary", "own": _hex((1 << PLACES) - other), "other": _hex(other)}
    if encoding.name == "optimised_unary":
        other = _above(lambda real: 1 / (1 + power(real, epsilon)))
        return {"kind": "unary", "own": _hex(1 << (PLACES - 1)), "other": _hex(other)}
    if encoding.name == "randomised_response":
        change = _above(lambda real: (size - 1) / (power(real, epsilon) + size - 1))
        return {"kind": "response", "change": _hex(change)}
    return None


def _above(chance: Callable[[Any], Any]) -> int:
    """The least whole number above 2**128 times an irrational chance."""
    return scaled_floor(chance, PLACES) + 1


def _hex(threshold: int) -> str:
    return f"{threshold:0{PLACES // 4}x}"


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


LEAST_TOKEN = 16


@dataclass(frozen=True)
class Translation:
    """The texts of a survey in another language; what is None stays as it is."""

    title: str | None = None
    question: str | None = None
    labels: tuple[str, ...] | None = None

    def to_json(self) -> dict[str, Any]:
        """What is translated."""
        return {name: value for name, value in vars(self).items() if value is not None}


@dataclass(frozen=True)
class Survey:
    """A survey ready to be served; its secrets (token, storage) appear in no text of it."""

    name: str
    question: str
    answers: Answers
    encoding: Encoding
    title: str = ""
    method: str = "auto"
    minimum: int = 100
    token: str | None = field(default=None, repr=False)
    storage: str = field(default="reports.db", repr=False)
    origins: tuple[str, ...] = ()
    rate: int = 600
    behind_proxy: bool = False
    books: SurveyLedger | None = field(default=None, repr=False)
    translations: dict[str, Translation] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if self.encoding.size != self.answers.size:
            raise InputError(
                "the encoding is for another number of answers",
                value=self.encoding.size,
                allowed=[self.answers.size],
            )
        if isinstance(self.encoding, SquareWave) and not isinstance(self.answers.attribute, Bins):
            raise InputError("square_wave is for numbers", value=self.answers.attribute.kind, allowed="bins")
        if self.token is not None and (len(self.token) < LEAST_TOKEN or not self.token.isascii()):
            raise InputError(
                "estimate.token is too easy to guess",
                allowed="{least_token} or more ASCII characters",
                least_token=LEAST_TOKEN,
            )
        for language, translation in self.translations.items():
            if translation.labels is not None and len(translation.labels) != self.answers.size:
                raise InputError(
                    "translations.{language}.labels are not one for each answer",
                    value=len(translation.labels),
                    allowed=[self.answers.size],
                    language=language,
                )

    @property
    def identity(self) -> dict[str, Any]:
        """What a report depends on: reports of two identities must never be added up."""
        answers = {key: value for key, value in self.answers.to_json().items() if key in ("attribute", "tiles")}
        return {"name": self.name, "question": self.question, "answers": answers, "privacy": self.encoding.to_json()}

    @cached_property
    def fingerprint(self) -> str:
        """32 hexadecimal digits of the identity's hash."""
        canonical = json.dumps(self.identity, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        return hashlib.blake2b(canonical.encode(), digest_size=16, person=b"sudare survey").hexdigest()

    @cached_property
    def law(self) -> dict[str, Any] | None:
        """The law that a browser randomises by; None where only programs can answer."""
        return device_law(self.encoding)

    @property
    def guarantee(self) -> Guarantee:
        """What one report promises, and whether a ledger counts it."""
        promised = self.encoding.guarantee
        return promised.unbooked() if self.books is None else promised

    def randomize(self, *columns: Any) -> Reports:
        """Reports for true answers, one each: words, numbers, mesh codes, or latitudes and longitudes."""
        ranks = self.answers.ranks(*columns)
        if isinstance(self.encoding, SquareWave):  # it takes numbers: any of the bin's own stands for the bin
            middles = (self.encoding.edges[:-1] + self.encoding.edges[1:]) / 2
            return self.encoding.randomize(middles[ranks])
        return self.encoding.randomize(ranks)

    def to_json(self) -> dict[str, Any]:
        """All that a device needs, and nothing that is secret: the answer of ``GET /survey``."""
        return {
            "survey": self.fingerprint,
            "name": self.name,
            "title": self.title or self.name,
            "question": self.question,
            "answers": self.answers.to_json(),
            "encoding": self.encoding.to_json(),
            "report_bytes": self.encoding.report_bytes,
            "law": self.law,
            "guarantee": str(self.guarantee),
            "epsilon": float(self.encoding.epsilon),
            "minimum": self.minimum,
            "translations": {language: translation.to_json() for language, translation in self.translations.items()},
        }
