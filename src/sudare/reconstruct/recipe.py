"""The recipe of perturbed records: declared columns, what a row may spend, and which noise."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Literal

from pydantic import Field, model_validator

from sudare.errors import Message
from sudare.recipe.model import Recipe
from sudare.recipe.parts import Amount, Data, Part, RecordsRehearsal, RowsOutput


class PerturbedColumn(Part):
    """A column: ``bounds`` of a number, or ``categories``; ``share`` of the row's epsilon, alike if not given."""

    bounds: tuple[int | Decimal, int | Decimal] | None = None
    categories: tuple[str, ...] | tuple[int, ...] | None = None
    share: Amount | None = None

    @model_validator(mode="after")
    def _one_way(self) -> PerturbedColumn:
        if (self.bounds is None) == (self.categories is None):
            raise ValueError(Message("a column has either bounds or categories"))
        if self.categories == ():
            raise ValueError(Message("categories is empty"))
        if self.share is not None and self.share <= 0:
            raise ValueError(Message("share is not above 0"))
        return self


class PerturbationChoice(Part):
    """How much noise: ``k`` of Pk-anonymity, or the local ``epsilon`` of a person, among a declared number of rows."""

    records: int | None = Field(default=None, ge=3, description="with k: the number of rows, which is public")
    k: int | Decimal | None = Field(default=None, description="no row is linked with a probability above 1/k")
    epsilon: Amount | None = Field(default=None, description="of all rows of a person, instead of k")
    noise: Literal["laplace", "square_wave"] = Field(default="laplace", description="of numbers")
    outside: Literal["error", "clamp"] = "error"

    @model_validator(mode="after")
    def _one_of_both(self) -> PerturbationChoice:
        if (self.k is None) == (self.epsilon is None):
            raise ValueError(Message("give k or epsilon, one of them"))
        if self.k is not None and self.records is None:
            raise ValueError(Message("k needs records, the public number of rows"))
        return self


class PerturbationRehearsal(RecordsRehearsal):
    """What a rehearsal runs on: synthetic records, or a public file with the same columns."""

    people: int = Field(default=10_000, ge=3, description="synthetic records, where records is not declared")


class PerturbationRecipe(Recipe):
    """``kind = "perturbation"``: every record randomised on its own, rows shuffled, ids left out."""

    kind: Literal["perturbation"]
    data: Data
    columns: dict[str, PerturbedColumn] = Field(min_length=1)
    perturbation: PerturbationChoice
    output: RowsOutput
    rehearsal: PerturbationRehearsal = PerturbationRehearsal()

    @model_validator(mode="after")
    def _all_shares_or_none(self) -> PerturbationRecipe:
        given = [column.share is not None for column in self.columns.values()]
        if any(given) and not all(given):
            raise ValueError(Message("share is given for every column or for none"))
        return self

    @property
    def bounds(self) -> dict[str, tuple[float, float]]:
        """The declared bounds, of the columns that are numbers."""
        pairs = {name: column.bounds for name, column in self.columns.items()}
        return {name: (float(pair[0]), float(pair[1])) for name, pair in pairs.items() if pair is not None}

    @property
    def categories(self) -> dict[str, tuple[Any, ...]]:
        """The declared categories, of the columns that are not numbers."""
        listed = {name: column.categories for name, column in self.columns.items()}
        return {name: values for name, values in listed.items() if values is not None}

    @property
    def shares(self) -> dict[str, Any] | None:
        """Which share of a row's epsilon each column gets; None where no shares are declared."""
        shares = {name: column.share for name, column in self.columns.items()}
        return None if None in shares.values() else shares
