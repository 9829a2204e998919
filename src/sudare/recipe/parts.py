"""The parts that recipes of every kind have: the data, the ledger, the output, the report, and amounts of a budget."""

from __future__ import annotations

import datetime
import re
from collections.abc import Collection
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Literal, Self, TypeAlias

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PlainSerializer,
    PlainValidator,
    SerializationInfo,
    SerializerFunctionWrapHandler,
    WithJsonSchema,
    model_serializer,
    model_validator,
)
from pydantic_core import PydanticKnownError

from sudare.domain.ids import MissingUnit
from sudare.engines.files import scheme_of
from sudare.errors import Message
from sudare.language.catalogue import LANGUAGES
from sudare.privacy import Unit
from sudare.registry import ENGINES

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


HASHED: dict[str, Any] = {"hashed": True}
"""The context of what `Recipe.hashed` writes."""


class Part(BaseModel):
    """What all parts of a recipe share: no unknown keys, no changes after reading."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True, defer_build=True)
    paths: ClassVar[tuple[str, ...]] = ("path", "file", "folder", "key", "learn_on")
    """Keys that name a place of this machine, where a part has them."""
    later: ClassVar[tuple[str, ...]] = ()
    """Keys that the first recipes did not have: one that has its default is not part of the recipe's hash."""
    formerly: ClassVar[dict[str, Any]] = {}
    """Keys whose default was another one, to that one: what is hashed where the key is not declared."""

    @model_serializer(mode="wrap")
    def _as_first_written(self, written: SerializerFunctionWrapHandler, info: SerializationInfo) -> dict[str, Any]:
        found: dict[str, Any] = written(self)
        unset = {name for name in self.later if getattr(self, name) == type(self).model_fields[name].default}
        former = self.formerly if info.context is HASHED else {}
        kept = {name: value for name, value in found.items() if name not in unset}
        return {name: former[name] if value is None and name in former else value for name, value in kept.items()}

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


def registered_name(registry: Collection[str], name: str) -> str:
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


Language: TypeAlias = Annotated[
    str,
    AfterValidator(lambda name: registered_name(LANGUAGES, name)),
    WithJsonSchema({"enum": list(LANGUAGES), "type": "string"}),
]
"""A language that has a catalogue."""


class Data(Part):
    """Where the private records are, and whom a row belongs to."""

    paths: ClassVar[tuple[str, ...]] = ()  # an address is for the engine to read
    later: ClassVar[tuple[str, ...]] = ("decimal", "column_names", "header_row")
    path: str
    table: str | None = Field(
        default=None,
        description="the table of a database (DuckDB, SQLite, or the address postgresql://...), or the sheet of an"
        " Excel file",
    )
    encoding: Encoding = None
    delimiter: Delimiter = None
    decimal: Literal[",", "."] | None = Field(default=None, description="of a CSV file: a decimal comma, as declared")
    column_names: tuple[str, ...] | None = Field(
        default=None, min_length=1, description="of a CSV file whose first line is a row already: its columns, in order"
    )
    header_row: int | None = Field(default=None, ge=1, description="of an Excel file: the row that names the columns")
    unit: str | None = Field(default=None, description="the column that tells persons apart; without it, a row")
    unit_name: str = Field(
        default="person",
        min_length=1,
        description="what is protected, such as household or accident; without unit, what a row of a table is",
    )
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
            raise ValueError(Message("Spark does not read tables of a DuckDB database"))
        return self

    @property
    def has_unit(self) -> bool:
        return self.unit is not None

    def rows_without_unit(self) -> MissingUnit:
        return MissingUnit.of(self.missing_unit, self.missing_unit_values)

    def protected_unit(self) -> Unit:
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


class RowsOutput(Output):
    """Where released rows go, and in which formats; ``key`` is the publisher's Ed25519 key."""

    formats: tuple[Literal["parquet", "csv"], ...] = Field(default=("parquet", "csv"), min_length=1)


class RecordsRehearsal(Part):
    """What a rehearsal runs on: synthetic records, or a public file with the same columns."""

    people: int = Field(default=20_000, ge=1)
    path: str | None = Field(default=None, description="a public file of records, instead of synthetic ones")
    encoding: Encoding = None
    delimiter: Delimiter = None
    confirm_overlap: bool = Field(default=False, description="rows that are private rows too are public all the same")
    repetitions: int = Field(default=3, ge=1)


class Report(Part):
    """The pages that are written, and their language."""

    language: Language = "en"
    public: bool = Field(default=True, description="report.html in the release's folder")
    internal: bool = Field(
        default=False, description="true beside released values, next to the folder: only for the publisher"
    )
    paths: ClassVar[tuple[str, ...]] = ("outline",)
    later: ClassVar[tuple[str, ...]] = ("outline",)
    outline: str | None = Field(
        default=None,
        description="a public file of polygons or lines that maps show (coasts); it becomes part of the release",
    )


_PERIOD = re.compile(r"\w[\w.+-]*")
PERIOD_GAP = "{period}"
"""What stands for the name of the period in paths and titles of a recipe."""


class Series(Part):
    """One release for each of several periods: the budget under ``privacy`` is that of all of them together."""

    periods: tuple[str, ...] = Field(min_length=2, description="their names in order, such as 2026-01")
    shares: tuple[Amount, ...] | None = Field(
        default=None, description="what part of the budget each period may spend, 1 in all; even if not given"
    )

    @model_validator(mode="after")
    def _a_plan(self) -> Self:
        for name in self.periods:
            if not _PERIOD.fullmatch(name):
                raise ValueError(
                    Message("the name of a period has letters, digits, and . + - _ after the first: {name}", name=name)
                )
        if len(set(self.periods)) < len(self.periods):
            raise ValueError(Message("a period is named twice"))
        if self.shares is not None:
            exact = [Fraction(share) for share in self.shares]
            if len(exact) != len(self.periods) or min(exact) <= 0 or sum(exact) != 1:
                raise ValueError(Message("shares are one number above 0 for each period, and add up to 1"))
        return self

    def share(self, period: str) -> Fraction:
        """What part of the budget ``period`` may spend."""
        if self.shares is None:
            return Fraction(1, len(self.periods))
        return Fraction(self.shares[self.periods.index(period)])
