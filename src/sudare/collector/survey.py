"""A survey: what is asked, which answers there are, how they are protected, and how it is served.

What a report depends on (name, question, answers, encoding, and every text that a person reads, in all languages)
makes up the survey's identity. Its fingerprint is sent with every report and kept in the database, so that reports of
two surveys are never added up, and nobody answers a question that was exchanged.

A browser randomises an answer by coins: a coin shows heads when 16 random bytes, read as a whole number, are below a
threshold, so its probability is exactly threshold / 2**128. The true probabilities are irrational. Each threshold is
rounded in the direction that protects: down for what is more likely for the true answer, up for what is more likely
for the others. The ratio of the two is then at most that of the exact law, so that a browser's report is epsilon-LDP
with the printed epsilon, and its law differs from the exact one by less than 2**-128 per coin.

A survey may have a row in a ledger: what a person who reports has spent, booked before the first report is accepted.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from sudare.collector.answers import Answers, Asked, Questions
from sudare.domain import Bins
from sudare.errors import InputError, Message
from sudare.local import Encoding, PermanentUnary, Reports, Several, SquareWave, repeated, shuffled
from sudare.local.encoding import power
from sudare.noise.bernoulli import scaled_floor
from sudare.privacy import Cap, Fact, Guarantee, Ledger
from sudare.privacy.history import heads_here, remember_head
from sudare.privacy.names import declared
from sudare.recipe import parts

PLACES = 128


def device_law(encoding: Encoding) -> dict[str, Any] | None:
    """The law of one report as plain JSON; None for an encoding that only programs can send.

    ``unary``: bit v is set with chance ``own`` for the true answer and ``other`` for each of the others.
    ``permanent``: so are the bits that a device remembers; in each report each of them is flipped with chance ``flip``,
    or none where there is no such chance. With ``buckets`` of the encoding, for so many of the answers alone.
    ``response``: with chance ``change`` the report is one of the other answers, all equally likely.
    ``several``: each question by its own of the ``parts``, whose reports follow each other.

    >>> from sudare.local import OptimisedUnary
    >>> device_law(OptimisedUnary(size=3, epsilon=1))["own"]
    '80000000000000000000000000000000'
    """
    size, epsilon = encoding.size, encoding.epsilon
    if isinstance(encoding, Several):
        parts = [device_law(part) for part in encoding.questions.values()]
        return {"kind": "several", "parts": parts} if all(parts) else None
    if encoding.name in ("symmetric_unary", "permanent_unary"):
        other = _above(lambda real: 1 / (1 + power(real, epsilon / 2)))
        law = {"kind": "unary", "own": _hex((1 << PLACES) - other), "other": _hex(other)}
        if isinstance(encoding, PermanentUnary):
            law["kind"] = "permanent"
            if encoding.first < encoding.epsilon:
                law["flip"] = _hex(_above(encoding.flip))
        return law
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


class Part(BaseModel):
    """What all parts of a survey file share: no unknown keys, no changes after reading."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class SurveyLedger(Part):
    """Where the survey's cost is booked: what one person sends, in all rounds of a series together."""

    path: str = Field(description="the ledger's file, beside the survey")
    dataset: str = Field(min_length=1, description="the declared name that the ledger keeps its account under")
    cap: parts.Cap | None = Field(default=None, description="set where the data set has none yet")
    confirm_other_history: bool = Field(default=False, description="as in a recipe: the last ledger was another one")
    confirm_similar_name: bool = Field(default=False, description="as in a recipe: dataset looks like another name")

    def model_post_init(self, _: Any) -> None:
        """Refuse a cap that is none."""
        _ = self.declared_cap

    @property
    def declared_cap(self) -> Cap | None:
        """The cap to set where the account has none yet."""
        return None if self.cap is None else Cap.declared(**self.cap.model_dump(exclude_none=True))

    def enter(self, survey: Survey) -> None:
        """Charge the survey once, however often its collector is started; `BudgetError` where the cap is passed.

        The charge is what the survey lets one person send: one report, or all rounds of its series together.
        """
        ledger, name = Ledger(self.path), f"survey-{survey.account}"
        names = {name, f"survey-{survey.earlier_fingerprint}"}
        if all(entry.content.get("release_id") not in names for entry in ledger.entries(self.dataset)):
            for begun in ledger.beginnings(self.dataset):
                warnings.warn(begun, stacklevel=2)
            entry = ledger.spend(
                self.dataset,
                survey.cost,
                name,
                note=f"reports to the survey {survey.name}",
                default_cap=self.declared_cap,
                heads=heads_here(declared(self.dataset, Message("the name of a data set"))),
                confirm_other_history=self.confirm_other_history,
                confirm_similar_name=self.confirm_similar_name,
            )
            remember_head(entry.dataset, ledger.path, entry.hash)


LEAST_TOKEN = 16
SHUFFLED_DELTA = Fraction(1, 10**6)


class Rounds(Part):
    """The survey is one round of a series: devices remember their permanent answers from one to the next."""

    series: str = Field(min_length=1, max_length=200, description="the name that all rounds share")
    number: int = Field(ge=1, description="of this round, from 1 on")
    of: int = Field(ge=1, description="how many rounds there will be")
    changes: int = Field(default=0, ge=0, description="how often the answer of a person may change")

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        if self.number > self.of:
            raise ValueError(Message("number is not one of the {of} rounds", of=self.of, key="number"))
        return self


class Translation(Part):
    """The texts of a survey, or of one of its ``questions``, in another language; what is None stays as it is."""

    title: str | None = None
    question: str | None = None
    labels: tuple[str, ...] | None = None
    questions: dict[str, Translation] = {}

    def to_json(self) -> dict[str, Any]:
        """What is translated."""
        return self.model_dump(exclude_defaults=True)


@dataclass(frozen=True)
class Texts:
    """What a person reads in one language: of each question that is ``asked``, its text and the labels of answers."""

    title: str
    question: str
    asked: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True)
class Survey:
    """A survey ready to be served; its secrets (token, storage) appear in no text of it."""

    name: str
    question: str
    answers: Answers | Questions
    encoding: Encoding
    title: str = ""
    method: str = "auto"
    minimum: int = 100
    every: int | None = None
    token: str | None = field(default=None, repr=False)
    storage: str = field(default="reports.db", repr=False)
    origins: tuple[str, ...] = ()
    rate: int = 600
    batch: int | None = None
    batch_seconds: int = 600
    behind_proxy: bool = False
    key: str = field(default="collector.pem", repr=False)
    rounds: Rounds | None = None
    shuffler: str | None = None
    codes: bool = False
    ledger: SurveyLedger | None = field(default=None, repr=False)
    translations: dict[str, Translation] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if self.encoding.size != self.answers.size:
            raise InputError(
                "the encoding is for another number of answers",
                value=self.encoding.size,
                allowed=[self.answers.size],
            )
        names = self.encoding.names if isinstance(self.encoding, Several) else ("",)
        if names != tuple(each.name for each in self.asked):
            raise InputError("the encoding is for other questions", value=names)
        if isinstance(self.encoding, SquareWave) and not isinstance(self.asked[0].answers.attribute, Bins):
            raise InputError("square_wave is for numbers", value=self.asked[0].answers.attribute.kind, allowed="bins")
        if self.token is not None and (len(self.token) < LEAST_TOKEN or not self.token.isascii()):
            raise InputError(
                "estimate.token is too easy to guess",
                allowed="{least_token} or more ASCII characters",
                least_token=LEAST_TOKEN,
            )
        for language, translation in self.translations.items():
            if stranger := [*{*translation.questions} - {*names}]:
                raise InputError(
                    "translations.{language} has a question that is not asked",
                    value=stranger[0],
                    allowed=names,
                    language=language,
                )
            for (_, labels), each in zip(self.texts(language).asked, self.asked, strict=True):
                if len(labels) != each.answers.size:
                    raise InputError(
                        "translations.{language}.labels are not one for each answer",
                        value=len(labels),
                        allowed=[each.answers.size],
                        language=language,
                    )

    @property
    def asked(self) -> tuple[Asked, ...]:
        """The questions: one without a name, or several."""
        if isinstance(self.answers, Questions):
            return self.answers.asked
        return (Asked("", self.question, self.answers),)

    def texts(self, language: str) -> Texts:
        """The texts of the survey in a language, as far as they are translated."""
        shown = self.translations.get(language, Translation())
        asked = []
        for each in self.asked:
            own = shown.questions.get(each.name, Translation()) if each.name else shown
            asked.append((own.question or each.question, own.labels or tuple(each.answers.labels)))
        return Texts(shown.title or self.title or self.name, shown.question or self.question, tuple(asked))

    @property
    def identity(self) -> dict[str, Any]:
        """What a report depends on: reports of two identities must never be added up."""
        return {
            **self._question,
            "texts": {
                "title": self.title or self.name,
                "translations": {language: each.to_json() for language, each in self.translations.items()},
            },
            **({"rounds": self.rounds.model_dump()} if self.rounds else {}),
        }

    @property
    def _question(self) -> dict[str, Any]:
        kept = ("name", "question", "attribute", "tiles")
        listed = [
            {key: value for key, value in each.items() if key in kept}
            for each in self.answers.to_json().get("questions", [self.answers.to_json()])
        ]
        answers = {"questions": listed} if isinstance(self.answers, Questions) else listed[0]
        return {"name": self.name, "question": self.question, "answers": answers, "privacy": self.encoding.to_json()}

    @cached_property
    def identity_text(self) -> str:
        """The text whose hash is the fingerprint."""
        return json.dumps(self.identity, sort_keys=True, separators=(",", ":"), ensure_ascii=True)

    @cached_property
    def fingerprint(self) -> str:
        """32 hexadecimal digits of the identity's hash."""
        return hashlib.sha256(self.identity_text.encode()).hexdigest()[:32]

    @property
    def earlier_fingerprint(self) -> str:
        """The fingerprint in files and ledgers that were written before it covered all texts."""
        canonical = json.dumps(self._question, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        return hashlib.blake2b(canonical.encode(), digest_size=16, person=b"sudare survey").hexdigest()

    @property
    def account(self) -> str:
        """What a ledger charges once: all rounds of a series together, else the survey."""
        if self.rounds is None:
            return self.fingerprint
        terms = [self.rounds.series, self.rounds.of, self.rounds.changes, self.encoding.to_json()]
        return hashlib.sha256(json.dumps(terms, sort_keys=True).encode()).hexdigest()[:32]

    @property
    def smallest_batch(self) -> int:
        """How many reports are stored together."""
        return self.batch or self.minimum

    @property
    def shown_every(self) -> int:
        """After how many more reports a new estimate is shown."""
        return self.every or self.minimum

    @cached_property
    def law(self) -> dict[str, Any] | None:
        """The law that a browser randomises by; None where only programs can answer."""
        return None if self.shuffler else device_law(self.encoding)

    @property
    def reports(self) -> int:
        """How many reports it asks of each person: one, or one in each round of its series."""
        return self.rounds.of if self.rounds else 1

    @property
    def cost(self) -> Guarantee:
        """What taking part costs one person who sends what the survey asks for: one report, or one in each round."""
        promised = repeated(self.encoding, self.reports, changes=self.rounds.changes if self.rounds else 0)
        bounded = () if self.codes else (Fact("asked_for"),)
        return replace(promised, assumptions=(*promised.assumptions, *bounded))

    @property
    def shuffled(self) -> Guarantee | None:
        """What a batch promises to who sees it after the relay has shuffled it; None without a relay.

        Privacy: `sudare.local.shuffled` for the reports of one batch, of which the relay never forwards fewer.
        """
        return None if self.shuffler is None else shuffled(self.encoding, self.smallest_batch, SHUFFLED_DELTA)

    @property
    def guarantee(self) -> Guarantee:
        """What taking part promises, and whether a ledger counts it."""
        return self.cost.unbooked() if self.ledger is None else self.cost

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
            "cost": float(self.cost.epsilon or 0),
            "account": self.account,
            "identity": self.identity_text,
            **({"rounds": self.rounds.model_dump()} if self.rounds else {}),
            **({"shuffler": self.shuffler, "codes": self.codes, "batch": self.smallest_batch} if self.shuffler else {}),
            **({"shuffled": str(self.shuffled)} if self.shuffled else {}),
            "minimum": self.minimum,
            "translations": {language: translation.to_json() for language, translation in self.translations.items()},
        }
