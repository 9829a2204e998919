"""The survey's file: TOML, checked when it is read.

An unknown key is an error that names the nearest known one: a misspelt ``epsilon`` must not fall back to a default.
A token or a storage address written as ``env:NAME`` is taken from the environment, so that no secret lies in the file.
"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Literal, Union

from pydantic import AfterValidator, Field, ValidationError, field_validator

from sudare.collector.answers import Answers, Asked, Questions
from sudare.collector.survey import Part, Rounds, Survey, SurveyLedger, Translation
from sudare.domain import Bins, Categories, Mesh
from sudare.errors import InputError, Message, MissingFileError
from sudare.local import ENCODINGS, Encoding, Several, encoding_from_json
from sudare.privacy import exact
from sudare.recipe import parts
from sudare.recipe.toml_text import declared_contents, declared_text, first_problem

FORMAT = 1
_SURVEY = Message("the survey")
DIVIDED = ("optimised_unary", "randomised_response", "subset_selection", "symmetric_unary")
_ORIGIN = re.compile(r"https?://[^\s/?#@]+|\*")


class Labels(Part):
    """A list of words."""

    type: Literal["labels"]
    labels: tuple[str, ...]

    def build(self) -> Answers:
        return Answers(Categories(self.labels))


class TileLabels(Part):
    """Words with a place on a tile map: ``[row, column]``, row 0 in the north."""

    type: Literal["tiles"]
    tiles: dict[str, tuple[int, int]]

    def build(self) -> Answers:
        return Answers(Categories(self.tiles), tuple(self.tiles.values()))


class Meshes(Part):
    """Meshes of JIS X 0410: a window of rows and columns (half-open), or what lies under codes."""

    type: Literal["mesh"]
    size: str
    rows: tuple[int, int] | None = None
    columns: tuple[int, int] | None = None
    codes: tuple[str | int, ...] | None = None

    def build(self) -> Answers:
        codes = None if self.codes is None else [str(code) for code in self.codes]
        return Answers(Mesh(self.size, self.rows, self.columns, codes))


class Numbers(Part):
    """Ranges of a number: from ``start`` to ``stop`` by ``step``."""

    type: Literal["bins"]
    start: int | Decimal
    stop: int | Decimal
    step: int | Decimal

    def build(self) -> Answers:
        return Answers(Bins(self.start, self.stop, self.step))


class PrivacyPart(Part):
    """How an answer is randomised before it is sent."""

    encoding: Annotated[str, AfterValidator(lambda name: parts.registered_name(ENCODINGS, name))] = "optimised_unary"
    epsilon: int | Decimal = Field(
        description="of one report (to all questions), or of all about one value if remembered; above 0"
    )
    first: int | Decimal | None = Field(default=None, description="permanent_unary: the epsilon of a single report")
    buckets: int | None = Field(default=None, description="permanent_unary: a device answers for so many values")


class EstimatePart(Part):
    """What is shown, from how many reports on, and to whom."""

    method: Literal["auto", "simplex", "mle"] = "auto"
    minimum: int = Field(default=100, ge=1, description="fewer reports are not shown")
    every: int | None = Field(default=None, ge=1, description="shown anew after so many more reports; as minimum")
    token: str | None = Field(default=None, description="asked for by /estimate; env:NAME reads a variable")


class ServicePart(Part):
    """Who may send, how much, and where the reports are kept."""

    storage: str = Field(default="reports.db", description="a SQLite file, or postgresql://...; env:NAME")
    origins: tuple[str, ...] = Field(default=(), description="web sites that may send; none: only its own pages")
    rate: int = Field(default=600, ge=0, description="reports a minute from one address; 0: no limit")
    batch: int | None = Field(default=None, ge=1, description="reports that are stored together; as minimum")
    batch_seconds: int = Field(default=600, ge=1, description="after so long a batch is stored though not full")
    behind_proxy: bool = Field(default=False, description="take the address from X-Forwarded-For")
    key: str = Field(default="collector.pem", description="signs the survey; made beside the survey if missing")

    @field_validator("origins")
    @classmethod
    def _whole_origins(cls, origins: tuple[str, ...]) -> tuple[str, ...]:
        for origin in origins:
            if not _ORIGIN.fullmatch(origin):
                raise ValueError(Message("{origin!r} is not an origin such as https://example.jp", origin=origin))
        return origins


class ShufflerPart(Part):
    """The relay of another party, to which devices send sealed reports (``sudare collect shuffle``)."""

    url: str = Field(pattern="^https?://", description="its address, as devices reach it")
    codes: bool = Field(default=False, description="it asks for single-use codes")


AnswersPart = Annotated[
    Union[Labels, TileLabels, Meshes, Numbers],  # noqa: UP007 - Pydantic reads it at run time
    Field(discriminator="type"),
]


class QuestionPart(Part):
    """One of several questions."""

    question: str = Field(min_length=1, max_length=2000)
    answers: AnswersPart
    share: int | Decimal = Field(default=1, gt=0, description="of epsilon, in proportion to those of other questions")


class SurveyFile(Part):
    """All of it, as written."""

    format: int = Field(default=FORMAT, ge=1, description="of the file itself; a newer one needs a newer Sudare")
    name: str = Field(min_length=1, max_length=200, description="the declared name; a new round has a new one")
    title: str = ""
    question: str = Field(min_length=1, max_length=2000)
    answers: AnswersPart | None = None
    questions: dict[str, QuestionPart] = Field(default={}, description="several questions instead of answers to one")
    privacy: PrivacyPart
    estimate: EstimatePart = EstimatePart()
    service: ServicePart = ServicePart()
    rounds: Rounds | None = None
    shuffler: ShufflerPart | None = None
    ledger: SurveyLedger | None = None
    translations: dict[parts.Language, Translation] = Field(default={})


def load(path: str | Path) -> Survey:
    """Read and check a survey file; a relative storage path is relative to the file's folder."""
    path = Path(path)
    try:
        text = declared_text(path, _SURVEY, InputError)
    except FileNotFoundError:
        raise MissingFileError("there is no such survey", value=str(path)) from None
    survey = parse(text)
    survey = replace(survey, key=str(path.parent / survey.key))
    if survey.ledger is not None:
        beside = survey.ledger.model_copy(update={"path": str(path.parent / survey.ledger.path)})
        survey = replace(survey, ledger=beside)
    return survey if "://" in survey.storage else replace(survey, storage=str(path.parent / survey.storage))


def parse(text: str) -> Survey:
    """Check the text of a survey file.

    >>> parse('''
    ... name = "lunch"
    ... question = "Did you have lunch?"
    ... answers = {type = "labels", labels = ["yes", "no"]}
    ... privacy = {epsilon = 0.5}
    ... ''').encoding
    OptimisedUnary(size=2, epsilon=Fraction(1, 2))
    """
    contents = declared_contents(text, _SURVEY, InputError)
    InputError.refuse_newer(_SURVEY, contents.get("format", FORMAT), FORMAT)
    try:
        written = SurveyFile.model_validate(contents)
    except ValidationError as problem:
        raise first_problem(problem, SurveyFile, _SURVEY, InputError) from None
    if (written.answers is None) == (not written.questions):
        raise InputError("a survey has either answers to its question, or several questions")
    answers: Answers | Questions
    if written.answers is not None:
        answers = written.answers.build()
        encoding = _encoding(written.privacy, answers)
    else:
        asked = {name: Asked(name, part.question, part.answers.build()) for name, part in written.questions.items()}
        answers = Questions(tuple(asked.values()))
        encoding = _divided(written, asked)
    fields = written.estimate.model_dump() | written.service.model_dump()
    if fields["token"] is not None:
        fields["token"] = _secret(fields["token"], "estimate.token")
    fields["storage"] = _secret(fields["storage"], "service.storage").removeprefix("sqlite:///")
    return Survey(
        name=written.name,
        question=written.question,
        answers=answers,
        encoding=encoding,
        title=written.title,
        rounds=written.rounds,
        shuffler=None if written.shuffler is None else written.shuffler.url.rstrip("/"),
        codes=written.shuffler is not None and written.shuffler.codes,
        ledger=written.ledger,
        translations=written.translations,
        **fields,
    )


def _divided(written: SurveyFile, asked: dict[str, Asked]) -> Encoding:
    privacy = written.privacy
    if privacy.encoding not in DIVIDED or privacy.first is not None or privacy.buckets is not None:
        raise InputError("privacy.encoding is not one for several questions", value=privacy.encoding, allowed=DIVIDED)
    sizes = {name: each.answers.size for name, each in asked.items()}
    shares = {name: exact(part.share, "share") for name, part in written.questions.items()}
    return Several.divided(sizes, exact(privacy.epsilon, "privacy.epsilon"), shares, ENCODINGS[privacy.encoding])


def _encoding(privacy: PrivacyPart, answers: Answers) -> Encoding:
    written: dict[str, object] = {
        "encoding": privacy.encoding,
        "size": answers.size,
        "epsilon": str(exact(privacy.epsilon, "privacy.epsilon")),
    }
    if privacy.first is not None:
        written["first"] = str(exact(privacy.first, "privacy.first"))
    if privacy.buckets is not None:
        written["buckets"] = privacy.buckets
    if privacy.encoding == "square_wave" and isinstance(answers.attribute, Bins):
        written |= {"low": answers.attribute.edges[0], "high": answers.attribute.edges[-1]}
    return encoding_from_json(written)


def _secret(written: str, where: str) -> str:
    """The text itself, or that of the environment's variable after ``env:``."""
    if not written.startswith("env:"):
        return written
    name = written.removeprefix("env:")
    if not os.environ.get(name):
        raise InputError("{where} names a variable of the environment that is not set", value=name, where=where)
    return os.environ[name]
