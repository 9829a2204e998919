"""The survey's file: TOML, checked when it is read.

An unknown key is an error that names the nearest known one: a misspelt ``epsilon`` must not fall back to a default.
A token or a storage address written as ``env:NAME`` is taken from the environment, so that no secret lies in the file.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from sudare.collector.answers import Answers
from sudare.collector.survey import Survey, SurveyLedger, Translation
from sudare.domain import Bins, Categories, Mesh
from sudare.errors import InputError, Message, MissingFileError, SudareError, did_you_mean
from sudare.language.translation import pydantic_reason, toml_reason
from sudare.local import ENCODINGS, Encoding, encoding_from_json
from sudare.privacy import Cap, exact

FORMAT = 1
LANGUAGES = ("en", "ja")
ENCODED = tuple(name for name in ENCODINGS if name != "permanent_unary")
"""A survey asks once; the permanent encoding is for devices that report again and again, and remember."""
_ORIGIN = re.compile(r"https?://[^\s/?#@]+|\*")


class FilePart(BaseModel):
    """What all parts of a survey file share: no unknown keys, no changes after reading."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Labels(FilePart):
    """A list of words."""

    type: Literal["labels"]
    labels: tuple[str, ...]

    def build(self) -> Answers:
        """The answers that are meant."""
        return Answers(Categories(self.labels))


class TileLabels(FilePart):
    """Words with a place on a tile map: ``[row, column]``, row 0 in the north."""

    type: Literal["tiles"]
    tiles: dict[str, tuple[int, int]]

    def build(self) -> Answers:
        """The answers that are meant."""
        return Answers(Categories(self.tiles), tuple(self.tiles.values()))


class Meshes(FilePart):
    """Meshes of JIS X 0410: a window of rows and columns (half-open), or what lies under codes."""

    type: Literal["mesh"]
    size: str
    rows: tuple[int, int] | None = None
    columns: tuple[int, int] | None = None
    codes: tuple[str | int, ...] | None = None

    def build(self) -> Answers:
        """The answers that are meant."""
        codes = None if self.codes is None else [str(code) for code in self.codes]
        return Answers(Mesh(self.size, self.rows, self.columns, codes))


class Numbers(FilePart):
    """Ranges of a number: from ``start`` to ``stop`` by ``step``."""

    type: Literal["bins"]
    start: int | Decimal
    stop: int | Decimal
    step: int | Decimal

    def build(self) -> Answers:
        """The answers that are meant."""
        return Answers(Bins(self.start, self.stop, self.step))


class PrivacyPart(FilePart):
    """How an answer is randomised before it is sent."""

    encoding: str = Field(default="optimised_unary", description="one of the encodings of sudare.local")
    epsilon: int | Decimal = Field(description="of one report; finite, above 0")


class EstimatePart(FilePart):
    """What is shown, from how many reports on, and to whom."""

    method: Literal["auto", "simplex", "mle"] = "auto"
    minimum: int = Field(default=100, ge=1, description="fewer reports are not shown")
    token: str | None = Field(default=None, description="asked for by /estimate; env:NAME reads a variable")


class ServicePart(FilePart):
    """Who may send, how much, and where the reports are kept."""

    storage: str = Field(default="reports.db", description="a SQLite file, or postgresql://...; env:NAME")
    origins: tuple[str, ...] = Field(default=(), description="web sites that may send; none: only its own pages")
    rate: int = Field(default=600, ge=0, description="reports a minute from one address; 0: no limit")
    behind_proxy: bool = Field(default=False, description="take the address from X-Forwarded-For")

    @field_validator("origins")
    @classmethod
    def _whole_origins(cls, origins: tuple[str, ...]) -> tuple[str, ...]:
        for origin in origins:
            if not _ORIGIN.fullmatch(origin):
                raise ValueError(Message("{origin!r} is no origin such as https://example.jp", origin=origin))
        return origins


class CapPart(FilePart):
    """The most that all surveys and releases of a data set may spend together."""

    epsilon: int | Decimal
    delta: int | Decimal | None = None


class LedgerPart(FilePart):
    """Where the survey's cost is booked, once for all its reports: a person reports once."""

    path: str = Field(description="the ledger's file, beside the survey")
    dataset: str = Field(min_length=1, description="the declared name that the ledger keeps its account under")
    cap: CapPart | None = Field(default=None, description="set where the data set has none yet")
    confirm_other_history: bool = Field(default=False, description="as in a recipe: the last ledger was another one")
    confirm_similar_name: bool = Field(default=False, description="as in a recipe: dataset looks like another name")


class TranslationPart(FilePart):
    """The texts of a survey in another language."""

    title: str | None = None
    question: str | None = None
    labels: tuple[str, ...] | None = None


class SurveyFile(FilePart):
    """All of it, as written."""

    format: int = Field(default=FORMAT, ge=1, description="of the file itself; a newer one needs a newer Sudare")
    name: str = Field(min_length=1, max_length=200, description="the declared name; a new round has a new one")
    title: str = ""
    question: str = Field(min_length=1, max_length=2000)
    answers: Annotated[
        Union[Labels, TileLabels, Meshes, Numbers],  # noqa: UP007 - Pydantic reads it at run time
        Field(discriminator="type"),
    ]
    privacy: PrivacyPart
    estimate: EstimatePart = EstimatePart()
    service: ServicePart = ServicePart()
    ledger: LedgerPart | None = None
    translations: dict[Literal["en", "ja"], TranslationPart] = {}


def load(path: str | Path) -> Survey:
    """Read and check a survey file; a relative storage path is relative to the file's folder."""
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise MissingFileError("there is no such survey", value=str(path)) from None
    except UnicodeDecodeError:
        raise InputError("the survey is not text in UTF-8", value=str(path), hint="Save it in UTF-8.") from None
    except OSError:
        raise InputError("the survey cannot be opened", value=str(path), hint="Give the path of a file.") from None
    survey = parse(text)
    if survey.books is not None:
        survey = replace(survey, books=replace(survey.books, path=str(path.parent / survey.books.path)))
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
    try:
        contents = tomllib.loads(text, parse_float=Decimal)
        shown = json.dumps(contents, default=str)  # a number of 5,000 hexadecimal digits is read, but never shown
        InputError.refuse_newer(Message("the survey"), contents.get("format", FORMAT), FORMAT)
        written = SurveyFile.model_validate(contents)
    except tomllib.TOMLDecodeError as problem:
        raise InputError("the survey is not TOML: {reason}", reason=toml_reason(problem)) from None
    except ValidationError as problem:
        raise _first_problem(problem) from None
    except SudareError:
        raise
    except (ValueError, ArithmeticError, RecursionError):
        raise InputError("the survey is not TOML: a number is too long, or brackets are too deep") from None
    if "\\u0000" in shown.replace("\\\\", ""):
        raise InputError("the survey holds a character of code 0, which no path and no text may have")
    answers = written.answers.build()
    return Survey(
        name=written.name,
        question=written.question,
        answers=answers,
        encoding=_encoding(written.privacy, answers),
        title=written.title,
        method=written.estimate.method,
        minimum=written.estimate.minimum,
        token=None if written.estimate.token is None else _secret(written.estimate.token, "estimate.token"),
        storage=_secret(written.service.storage, "service.storage").removeprefix("sqlite:///"),
        origins=written.service.origins,
        rate=written.service.rate,
        behind_proxy=written.service.behind_proxy,
        books=_books(written.ledger),
        translations={
            language: Translation(part.title, part.question, part.labels)
            for language, part in written.translations.items()
        },
    )


def _encoding(privacy: PrivacyPart, answers: Answers) -> Encoding:
    if privacy.encoding not in ENCODED:
        raise InputError(
            "privacy.encoding is not one for surveys",
            value=privacy.encoding,
            allowed=ENCODED,
            hint=did_you_mean(privacy.encoding, ENCODED),
        )
    written = {
        "encoding": privacy.encoding,
        "size": answers.size,
        "epsilon": str(exact(privacy.epsilon, "privacy.epsilon")),
    }
    if privacy.encoding == "square_wave" and isinstance(answers.attribute, Bins):
        written |= {"low": answers.attribute.edges[0], "high": answers.attribute.edges[-1]}
    return encoding_from_json(written)


def _books(ledger: LedgerPart | None) -> SurveyLedger | None:
    if ledger is None:
        return None
    cap = None if ledger.cap is None else Cap.asked(**ledger.cap.model_dump(exclude_none=True))
    return SurveyLedger(ledger.path, ledger.dataset, cap, ledger.confirm_other_history, ledger.confirm_similar_name)


def _secret(written: str, where: str) -> str:
    """The text itself, or that of the environment's variable after ``env:``."""
    if not written.startswith("env:"):
        return written
    name = written.removeprefix("env:")
    if not os.environ.get(name):
        raise InputError("{where} names a variable of the environment that is not set", value=name, where=where)
    return os.environ[name]


def _first_problem(problem: ValidationError) -> SudareError:
    """The first mistake as one sentence, with the nearest known key where one is misspelt."""
    # A misspelt key is the cause of the one that then seems to be missing.
    first = min(problem.errors(), key=lambda error: error["type"] != "extra_forbidden")
    # Pydantic's place of an answer is answers, the type it chose, and the key.
    place = [str(step) for i, step in enumerate(first["loc"]) if (i, first["loc"][0]) != (1, "answers")]
    place = [step for step in place if step not in ("int", "decimal", "str") and "[" not in step]
    where = ".".join(place)
    if first["type"] == "extra_forbidden":
        known, key = _known_keys(first["loc"][:-1]), str(first["loc"][-1])
        return InputError(
            "unknown key {where} in the survey",
            allowed=sorted(known),
            hint=did_you_mean(key, known),
            where=where or repr(key),
        )
    if first["type"] == "missing":
        return InputError("the survey lacks {where}", where=where)
    return InputError("{where}: {reason}", where=where or Message("the survey"), reason=pydantic_reason(first))


def _known_keys(place: tuple[int | str, ...]) -> set[str]:
    """The keys that the part of a survey at ``place`` may have."""
    kind: Any = SurveyFile
    if place and place[0] == "answers":
        tags = {
            get_args(part.model_fields["type"].annotation)[0]: part for part in (Labels, TileLabels, Meshes, Numbers)
        }
        kind = tags[str(place[-1])]
    elif place and place[0] == "translations":
        kind = TranslationPart if len(place) > 1 else None
    elif place and place[0] == "ledger":
        kind = CapPart if len(place) > 1 else LedgerPart
    elif place:
        kind = SurveyFile.model_fields[str(place[0])].annotation
    return set(LANGUAGES) if kind is None else set(kind.model_fields)
