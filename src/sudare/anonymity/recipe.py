"""The recipe of a k-anonymous sample: hierarchies, k, the sampling rate, and where the generalisation comes from."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, model_validator

from sudare.anonymity import Hierarchy
from sudare.anonymity.requirements import Requirement, requirement_from_json
from sudare.errors import Message
from sudare.recipe.model import Recipe
from sudare.recipe.parts import Amount, Data, Part, RecordsRehearsal, RowsOutput

_WAYS = ("file", "values", "tree", "edges", "widths")


class HierarchyChoice(Part):
    """The hierarchy of a column: a CSV ``file`` with the leaf first, plain ``values``, a nested ``tree``, the
    ``edges`` of each level of intervals, or ``widths`` of intervals from ``low`` to ``high``.
    """

    file: str | None = None
    delimiter: str = ";"
    values: tuple[str | int, ...] | None = None
    tree: dict[str, Any] | None = Field(default=None, description="tables that end in lists of leaves")
    edges: tuple[tuple[int | Decimal, ...], ...] | None = Field(default=None, description="finest level first")
    widths: tuple[int | Decimal, ...] | None = Field(default=None, description="finest first; with low and high")
    low: int | Decimal | None = None
    high: int | Decimal | None = None
    origin: int | Decimal = 0

    @model_validator(mode="after")
    def _one_way(self) -> HierarchyChoice:
        given = [name for name in _WAYS if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(Message("declare a hierarchy in exactly one way: {ways}", ways=", ".join(_WAYS)))
        if (self.widths is None) != (self.low is None) or (self.widths is None) != (self.high is None):
            raise ValueError(Message("widths, low and high must be given together"))
        return self

    def build(self, folder: Path) -> Hierarchy:
        """The declared hierarchy; its file lies in ``folder``."""
        if self.file is not None:
            return Hierarchy.from_csv(folder / self.file, self.delimiter)
        if self.edges is not None:
            return Hierarchy.from_intervals(*([float(edge) for edge in level] for level in self.edges))
        if self.widths is not None and self.low is not None and self.high is not None:
            low, high, origin = float(self.low), float(self.high), float(self.origin)
            return Hierarchy.from_widths(low, high, *map(float, self.widths), origin=origin)
        return Hierarchy.from_nested(self.tree if self.values is None else list(self.values))  # type: ignore[arg-type]  # one of the two is there: _one_way


class SampleChoice(Part):
    """What is drawn and how it is generalised: one of levels, learn_on, choose_epsilon and method."""

    k: int
    rate: Amount | None = Field(default=None, description="of sampling, between 0 and 1")
    levels: dict[str, int] | None = Field(default=None, description="a level for each column, fixed beforehand")
    learn_on: str | None = Field(default=None, description="a file of public records with the same columns")
    confirm_overlap: bool = Field(default=False, description="rows that are private rows too are public all the same")
    choose_epsilon: Amount | None = Field(default=None, description="what a private choice of levels may cost")
    method: Literal["greedy", "optimal", "mondrian", "passes"] | None = Field(
        default=None, description="on the private records: k-anonymity alone; with learn_on, how to learn"
    )
    relaxed: bool = False
    max_suppressed: float | None = Field(default=None, ge=0, le=1)
    epsilon: Amount | None = Field(default=None, description="at which the guarantee is stated")
    delta: Amount | None = Field(default=None, description="at which the guarantee is stated, 10**-6")
    missing: Literal["error", "value"] = "error"


class RequirementChoice(Part):
    """l-diversity or t-closeness of a sensitive column, which is then published as it is."""

    type: Literal["distinct", "entropy", "closeness"]
    column: str
    l: int | Decimal | None = None  # noqa: E741 - the letter of the definition
    t: Decimal | None = None
    ordered: bool | None = None

    def build(self) -> Requirement:
        given = self.model_dump(exclude_none=True)
        if isinstance(self.l, Decimal):
            given["l"] = float(self.l)
        if self.t is not None:
            given["t"] = float(self.t)
        return requirement_from_json(given)


class SampleRecipe(Recipe):
    """``kind = "sample"``: generalised records, each row of which occurs at least k times."""

    kind: Literal["sample"]
    data: Data
    hierarchies: dict[str, HierarchyChoice] = Field(min_length=1)
    sample: SampleChoice
    require: tuple[RequirementChoice, ...] = ()
    output: RowsOutput
    rehearsal: RecordsRehearsal = RecordsRehearsal()

    @model_validator(mode="after")
    def _one_row_each(self) -> SampleRecipe:
        if self.data.max_rows != 1:
            raise ValueError(Message("a sample takes one row of each person: max_rows is 1"))
        return self
