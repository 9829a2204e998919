"""The recipe: a TOML file, or an object, that says what is published, from what, how protected, and where to.

Paths in a recipe are relative to the file's own folder; those of an object to a folder that is given with it. An
unknown key is an error that names the nearest known one: a misspelt ``epsilon`` must not fall back to a default.

Numbers of a budget as a recipe writes them: 1, 0.5, or a fraction as text, "1/3". Each is read exactly.
"""

from __future__ import annotations

import datetime
import json
import re
import tomllib
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from os import PathLike, fspath
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self, TypeAlias, get_args, get_origin

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PlainSerializer,
    PlainValidator,
    ValidationError,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import PydanticKnownError

from sudare.domain.ids import MissingUnit
from sudare.engines.files import scheme_of
from sudare.errors import Message, MissingRecipeError, RecipeError, SudareError, did_you_mean, system_reason
from sudare.language.translation import pydantic_reason, toml_reason
from sudare.privacy import Unit
from sudare.recipe.toml_text import to_toml
from sudare.registry import ENGINES, KINDS, Registry

TEXT = r"^[+-]?([0-9]+/[0-9]+|[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?)$"
_LONGEST = 400
"""Characters of a number as text: more would be a slip of the pen."""
_KINDS = {
    bool: Message("a bool"),
    list: Message("a list"),
    dict: Message("a dict"),
    tuple: Message("a tuple"),
    datetime.date: Message("a date"),
    datetime.datetime: Message("a datetime"),
    datetime.time: Message("a time"),
}


def _read(written: object) -> object:
    """What is written, with text as the number that it spells.

    >>> _read("1/3"), _read("0.25"), _read(2)
    (Fraction(1, 3), Decimal('0.25'), 2)
    """
    if isinstance(written, int | Decimal | Fraction) and not isinstance(written, bool):
        if isinstance(written, Decimal) and not written.is_finite():
            raise ValueError(Message("input should be a finite number"))
        return written
    if isinstance(written, str) and len(written) <= _LONGEST and re.fullmatch(TEXT, written, re.ASCII):
        if "/" not in written:
            return Decimal(written)
        if int(written.partition("/")[2]):
            return Fraction(written)
    if isinstance(written, str):
        shown: object = repr(written if len(written) < 60 else written[:57] + "...")
    else:
        shown = _KINDS.get(type(written), f"a {type(written).__name__}")
    raise ValueError(
        Message('not a number (got {shown}; allowed: a number, or a fraction as text such as "1/3")', shown=shown)
    )


def _plain(amount: Any) -> Any:
    """A fraction as text again: neither JSON nor a page has numbers for it."""
    return str(amount) if isinstance(amount, Fraction) else amount


Amount: TypeAlias = Annotated[
    int | Decimal | Fraction,
    PlainValidator(_read),  # older versions of Pydantic know no fractions
    PlainSerializer(_plain),
    WithJsonSchema({"anyOf": [{"type": "number"}, {"type": "string", "pattern": TEXT}]}),
]
"""A number that is spent, or a part of what is."""


FORMAT = 1


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


def registered_name(registry: Registry, name: str) -> str:
    """``name``, if the registry has it; refused as Pydantic refuses what a `Literal` does not list."""
    if name in registry:
        return name
    *others, last = (repr(each) for each in registry)
    listed = f"{', '.join(others)} or {last}" if others else last
    raise PydanticKnownError("literal_error", {"expected": listed})


Engine: TypeAlias = Annotated[
    str,
    AfterValidator(lambda name: registered_name(ENGINES, name)),
    WithJsonSchema({"enum": list(ENGINES), "type": "string"}),
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
    engine: Engine = Field(default="duckdb", description="what reads, bounds and groups the records")
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
    """What recipes of every kind share; ``Recipe(kind=..., ...)`` is a recipe of that kind.

    Values are those of a TOML file: ``data={"path": "people.parquet", "unit": "person_id"}``. Recipes are equal if
    they say the same, and none changes after it was made.
    """

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

    def __new__(cls, /, *_: Any, **contents: Any) -> Self:
        """A recipe of the kind that is named, where this class itself is called."""
        # First of all: a kind that is not known here may be one of a newer version.
        RecipeError.refuse_newer(Message("the recipe"), contents.get("format", FORMAT), FORMAT)
        made: Any = super().__new__(_shape_of(contents) if cls is Recipe else cls)
        return made  # type: ignore[no-any-return]  # of a subclass, where this class itself is called

    def __init__(self, /, **contents: Any) -> None:
        try:
            super().__init__(**{name: _as_in_toml(value) for name, value in contents.items()})
        except ValidationError as problem:
            own = (error.get("ctx", {}).get("error") for error in problem.errors())
            refusal = next((one for one in own if isinstance(one, SudareError)), None)
            raise refusal or _first_problem(problem, type(self)) from None

    @classmethod
    def of(cls, contents: Mapping[str, Any] | Recipe) -> Recipe:
        """The recipe that a dictionary spells out, or the first mistake in it; a recipe is given back as it is."""
        return contents if isinstance(contents, Recipe) else Recipe(**contents)

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Recipe:
        """The recipe in a TOML file, of whatever kind."""
        return cls.of(read_text(Path(path)))

    def to_toml(self) -> str:
        """What was declared, as the text of a recipe file; what is left to defaults is not in it."""
        declared = self.model_dump(by_alias=True, exclude_unset=True)
        return to_toml({"kind": self.kind, **declared})

    def write(self, path: str | PathLike[str]) -> Path:
        """Write `to_toml` into a new file, which `read` reads back as an equal recipe."""
        target = Path(path)
        try:
            with target.open("x", encoding="utf-8", newline="\n") as file:
                file.write(self.to_toml())
        except FileExistsError:
            raise RecipeError("a file is there already", value=str(target)) from None
        except OSError as problem:
            raise RecipeError(
                "the recipe cannot be written: {reason}", value=str(target), reason=system_reason(problem)
            ) from None
        return target


def _shape_of(contents: Mapping[str, Any]) -> type[Recipe]:
    """The model of the kind that a recipe names: a table where it names none."""
    kind = contents.get("kind", "table")
    if not isinstance(kind, str) or kind not in KINDS:
        hint = did_you_mean(kind, KINDS) if isinstance(kind, str) else None
        raise RecipeError("no such kind of recipe", value=kind, allowed=KINDS, hint=hint)
    shape: type[Recipe] = KINDS[kind].shape
    return shape


def _as_in_toml(value: Any) -> Any:
    """A value of Python as the recipe's file would give it: numbers as they are written, paths as text.

    >>> _as_in_toml({"epsilon": 0.1, "path": Path("people.csv")})
    {'epsilon': Decimal('0.1'), 'path': 'people.csv'}
    """
    if isinstance(value, float):
        return Decimal(repr(value))
    if isinstance(value, PathLike):
        return fspath(value)
    if isinstance(value, Mapping):
        return {name: _as_in_toml(each) for name, each in value.items()}
    return [_as_in_toml(each) for each in value] if isinstance(value, list | tuple) else value


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
    return contents


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
