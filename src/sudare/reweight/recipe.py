"""The recipe of weights: a public file, the declared columns, and how the ratio is measured."""

from __future__ import annotations

from decimal import Decimal
from typing import ClassVar, Literal

from pydantic import Field, model_validator

from sudare.errors import Message
from sudare.recipe.model import Recipe
from sudare.recipe.parts import Amount, Data, Delimiter, Encoding, Part, RecordsRehearsal, RowsOutput
from sudare.reweight.space import Space


class PublicFile(Part):
    """The public records that get a weight each."""

    path: str
    table: str | None = Field(default=None, description="the table, where path is a DuckDB database")
    encoding: Encoding = None
    delimiter: Delimiter = None
    confirm_overlap: bool = Field(default=False, description="rows that are private rows too are public all the same")


class WeightedColumn(Part):
    """A column of both files: ``bounds`` of a number, or ``categories``."""

    bounds: tuple[int | Decimal, int | Decimal] | None = None
    categories: tuple[str, ...] | tuple[int, ...] | None = None

    @model_validator(mode="after")
    def _one_way(self) -> WeightedColumn:
        if (self.bounds is None) == (self.categories is None):
            raise ValueError(Message("a column has either bounds or categories"))
        return self


class WeightsChoice(Part):
    """What the ratio costs and how it is measured."""

    epsilon: Amount
    delta: Amount | None = None
    adjacency: Literal["replace", "add_remove"] = "replace"
    size: int | None = Field(default=None, description="add_remove: a declared number of records")
    rows: Literal["bounded", "averaged"] = Field(
        default="bounded", description="of a person: at most data.max_rows, or all of them averaged"
    )
    basis: Literal["hats", "kernel", "polynomial", "fourier"] = "hats"
    centres: Literal["public", "noisy", "raw"] = "public"
    number: int | None = Field(default=None, ge=1, description="knots, centres of kernels, or waves")
    width: int | Decimal | None = Field(default=None, description="of kernels and waves, in declared ranges")
    later: ClassVar[tuple[str, ...]] = ("degree",)
    degree: int = Field(default=2, ge=1, description="of polynomials, and of importance weighting")
    pairs: Literal["auto", "all", "none"] | tuple[tuple[str, str], ...] = "auto"
    estimator: Literal["tilt", "ulsif", "importance"] = "tilt"
    regularisation: int | Decimal | None = None
    split: Amount = Field(default=Decimal("0.5"), description="of epsilon, what noisy centres take")


class WeightsRehearsal(RecordsRehearsal):
    """What a rehearsal takes for private: a public file with the same columns, or ``people`` drawn from the public one
    with a tilt that is known."""

    people: int = Field(default=5_000, ge=2)
    path: str | None = Field(default=None, description="a public file of records, instead of drawn ones")


class WeightsRecipe(Recipe):
    """``kind = "weights"``: a public file with a weight column that makes it answer for private records."""

    kind: Literal["weights"]
    data: Data
    public: PublicFile
    columns: dict[str, WeightedColumn] = Field(min_length=1)
    weights: WeightsChoice
    output: RowsOutput
    rehearsal: WeightsRehearsal = WeightsRehearsal()

    @model_validator(mode="after")
    def _averages_need_people(self) -> WeightsRecipe:
        if self.weights.rows == "averaged" and self.data.unit is None:
            raise ValueError(Message("averaged rows need data.unit, the column that tells persons apart"))
        return self

    def space(self) -> Space:
        """The declared columns."""
        bounds = {
            name: (float(column.bounds[0]), float(column.bounds[1]))
            for name, column in self.columns.items()
            if column.bounds is not None
        }
        categories = {name: column.categories for name, column in self.columns.items() if column.categories is not None}
        return Space.declare(bounds, categories)
