"""The recipe: a TOML file that says what is published, from what, how protected, and where to.

Paths in a recipe are relative to the recipe's own folder. An unknown key is an error that names the nearest
known one: a misspelt ``epsilon`` must not fall back to a default.
"""

from __future__ import annotations

import json
import tomllib
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self, TypeAlias, TypeVar, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from sudare.domain.ids import MissingUnit
from sudare.engines.addresses import scheme_of
from sudare.errors import Message, MissingRecipeError, RecipeError, SudareError, did_you_mean
from sudare.privacy import Unit
from sudare.publish.amounts import Amount
from sudare.words.foreign import pydantic_reason, toml_reason

FORMAT = 1
Shape = TypeVar("Shape", bound="Recipe")


class Part(BaseModel):
    """What all parts of a recipe share: no unknown keys, no changes after reading."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)
    paths: ClassVar[tuple[str, ...]] = ("path", "file", "folder", "key", "learn_on")
    """Keys that name a place of this machine, where a part has them."""

    @model_validator(mode="after")
    def _paths_are_no_addresses(self) -> Self:
        for name in self.paths:
            if scheme_of(getattr(self, name, None)):
                raise ValueError(
                    Message("{name} is an address: give the path of a file or folder of this machine", name=name)
                )
        return self


Encoding: TypeAlias = Annotated[str | None, Field(description="of a CSV file: UTF-8 unless declared, such as cp932")]
Delimiter: TypeAlias = Annotated[
    str | None, Field(description="of a CSV file: a tab in .tsv, else what cuts its first line best, unless declared")
]


class Data(Part):
    """Where the private records are, and whom a row belongs to."""

    paths: ClassVar[tuple[str, ...]] = ()  # an address is for the engine to read
    path: str
    table: str | None = Field(default=None, description="the table, where path is a DuckDB database")
    encoding: Encoding = None
    delimiter: Delimiter = None
    unit: str | None = Field(default=None, description="the column that tells persons apart; without it, a row")
    unit_name: str = "person"
    missing_unit: Literal["error", "drop"] = Field(
        default="error", description="rows without an id: refuse them, or leave them out"
    )
    missing_unit_values: tuple[str, ...] | None = Field(
        default=None,
        description='ids that mean "no id", beside blank ones; by default nan, NULL, NA and the like',
    )
    max_rows: int = Field(default=1, ge=1)
    period: str | None = Field(default=None, description="protects a person per period, for instance day")
    engine: Literal["duckdb", "spark"] = Field(
        default="duckdb", description="what reads, bounds and groups the records"
    )
    scratch: str | None = Field(
        default=None,
        description="a private folder for what is on disks while the release is made; in a cluster, one that every"
        " worker reaches under the same path; if not given: SUDARE_SCRATCH, or the system's temporary folder",
    )

    @model_validator(mode="after")
    def _tables_are_for_duckdb(self) -> Self:
        if self.engine == "spark" and self.table is not None:
            raise ValueError(Message("a table in a DuckDB database is not read by Spark"))
        return self

    @property
    def has_unit(self) -> bool:
        """Whether rows belong to somebody."""
        return self.unit is not None

    def rows_without_unit(self) -> MissingUnit:
        """What happens to rows without an id."""
        return MissingUnit.of(self.missing_unit, self.missing_unit_values)

    def protected_unit(self) -> Unit:
        """Who is protected."""
        if not self.has_unit:
            return Unit("row", 1, self.period)
        return Unit(self.unit_name, self.max_rows, self.period)


class Cap(Part):
    """The most that all releases of a data set may spend together."""

    epsilon: Amount | None = None
    delta: Amount | None = None
    rho: Amount | None = None


class LedgerChoice(Part):
    """The ledger file; ``cap`` is set when the data set has none yet, and must be its cap when it has one."""

    path: str | None = Field(
        default=None, description="if not given: the configured ledger, or sudare-ledger.db beside the recipe"
    )
    cap: Cap | None = None
    confirm_other_ledger: bool = Field(default=False, description="path is another ledger than the configured one")
    confirm_same_data: bool = Field(
        default=False, description="the same data have a budget under another name too, or the ledger's key is new"
    )
    confirm_similar_name: bool = Field(
        default=False, description="dataset is new, and its name looks like that of another data set of the ledger"
    )
    confirm_other_history: bool = Field(
        default=False, description="releases of dataset are known that this ledger does not hold; said once is enough"
    )


class Output(Part):
    """Where the release goes; ``key`` is the publisher's Ed25519 key."""

    folder: str
    key: str = "sudare-publisher.pem"
    confirm_resources: bool = Field(
        default=False, description="publish although this machine seems to have too little memory or disk for it"
    )


class Report(Part):
    """The pages that are written, and their language."""

    language: Literal["en", "ja"] = "en"
    public: bool = Field(default=True, description="report.html in the release's folder")
    internal: bool = Field(
        default=False, description="true beside released values, next to the folder: only for the publisher"
    )


class Recipe(Part):
    """What recipes of every kind share."""

    format: int = Field(default=FORMAT, ge=1, description="of the recipe itself; a newer one needs a newer Sudare")
    kind: str
    dataset: str = Field(min_length=1, description="the declared name that the ledger keeps its account under")
    title: str = ""
    data: Data
    ledger: LedgerChoice = LedgerChoice()
    output: Output
    report: Report = Report()
    accept_no_guarantee: bool = Field(
        default=False, description="publish also what has no guarantee that adds up, such as k-anonymity alone"
    )


def recipe_text(path: Path) -> str:
    """A recipe file as text, without the mark that some editors begin UTF-8 with: the one way in which it is read.

    Bytes that are no UTF-8 are refused and never guessed: a name of the data set read wrongly is another budget.
    """
    try:
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise MissingRecipeError("there is no such recipe", value=str(path)) from None
    except UnicodeDecodeError:
        raise RecipeError("the recipe is not text in UTF-8", value=path.name, hint="Save it in UTF-8.") from None
    except OSError:
        raise RecipeError("the recipe cannot be opened", value=str(path), hint="Give the path of a file.") from None


def read_text(path: Path) -> dict[str, Any]:
    """The contents of a recipe file, unchecked; decimals are kept as they are written."""
    text = recipe_text(path).replace("\r\n", "\n").replace("\r", "\n")
    try:
        contents = tomllib.loads(text, parse_float=Decimal)
        shown = json.dumps(contents, default=str)  # a number of 5,000 hexadecimal digits is read, but never shown
    except tomllib.TOMLDecodeError as problem:
        raise RecipeError("the recipe is not TOML: {reason}", reason=toml_reason(problem)) from None
    except (ValueError, ArithmeticError, RecursionError):
        raise RecipeError("the recipe is not TOML: a number is too long, or brackets are too deep") from None
    if "\\u0000" in shown.replace("\\\\", ""):
        raise RecipeError("the recipe holds a character of code 0, which no path and no text may have")
    RecipeError.refuse_newer(Message("the recipe"), contents.get("format", FORMAT), FORMAT)
    return contents


def checked(contents: dict[str, Any], model: type[Shape]) -> Shape:
    """The recipe that ``contents`` spell out, or the first mistake in it."""
    try:
        return model.model_validate(contents)
    except ValidationError as problem:
        own = (error.get("ctx", {}).get("error") for error in problem.errors())
        raise next((one for one in own if isinstance(one, SudareError)), None) or _first_problem(
            problem, model
        ) from None


def _first_problem(problem: ValidationError, model: type[BaseModel]) -> RecipeError:
    """The first mistake as one sentence, with the nearest known key where one is misspelt."""
    # A misspelt key is the cause of the one that then seems to be missing.
    first = min(problem.errors(), key=lambda error: error["type"] != "extra_forbidden")
    unknown = first["type"] == "extra_forbidden"
    words, models = _walk(model, first["loc"][:-1] if unknown else first["loc"])
    if unknown:
        key = str(first["loc"][-1])
        known = {field.alias or name for each in models for name, field in each.model_fields.items()}
        return RecipeError(
            "unknown key {words} in the recipe",
            allowed=sorted(known),
            hint=did_you_mean(key, known),
            words=".".join([*words, key]),
        )
    where = ".".join(words)
    if first["type"] == "missing":
        return RecipeError("the recipe lacks {where}", where=where)
    return RecipeError("{where}: {reason}", where=where or Message("the recipe"), reason=pydantic_reason(first))


def _walk(model: type[BaseModel], steps: tuple[int | str, ...]) -> tuple[list[str], list[type[BaseModel]]]:
    """Follow Pydantic's place of a mistake: the words a person would name it by, and the models it lies in.

    Between names of fields and keys stand places of lists and the names of the alternatives that were tried.
    """
    words: list[str] = []
    models, keyed = [model], False
    for step in steps:
        if keyed:
            words, keyed = [*words, str(step)], False
            continue
        fields = [f for m in models for name, f in m.model_fields.items() if step in (f.alias or name, name)]
        if fields:
            words.append(str(step))
            models = [found for field in fields for found in _models(field.annotation)]
            keyed = any(get_origin(field.annotation) is dict for field in fields)
        elif tagged := [m for m in models if "type" in m.model_fields and step in get_args(_type_of(m))]:
            models = tagged
        elif isinstance(step, int):
            words.append(str(step))
    return words, models


def _type_of(model: type[BaseModel]) -> Any:
    return model.model_fields["type"].annotation


def _models(annotation: Any) -> list[type[BaseModel]]:
    """The models within an annotation."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [found for part in get_args(annotation) for found in _models(part)]
