"""The recipe of a table: its domain, its method, what may be spent on it."""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import Annotated, Literal, TypeAlias

from pydantic import AfterValidator, ConfigDict, Field, ValidationError, WithJsonSchema, model_validator
from pydantic_core import InitErrorDetails

from sudare.domain import Domain
from sudare.errors import Message, RecipeError
from sudare.privacy import Unit
from sudare.recipe.attributes import AnyAttribute, GridAttribute, MeshAttribute
from sudare.recipe.model import Amount, Data, Delimiter, Encoding, Output, Part, Recipe, registered_name
from sudare.registry import METHODS
from sudare.tables import Method

Format = Literal["parquet", "csv", "geoparquet", "geojson"]
GEOGRAPHIC = ("geoparquet", "geojson")
MOST_CELLS_HERE = 2**26
"""Populated cells that one process takes on: some 10 GB while they are released."""


class TableData(Data):
    """Where the private records (or counts) are, and whom a row belongs to."""

    outside: Literal["error", "drop", "clamp"] = "error"
    counts: str | None = Field(
        default=None,
        description="the column of counts, where rows are cells already; unit_name and max_rows then say what one count"
        " is and how often one may be counted, which nobody can check",
    )
    release: Literal["here", "cluster"] | None = Field(
        default=None,
        description="with spark: release in this process or in the cluster; if not given, by expected_cells",
    )
    expected_cells: int | None = Field(default=None, ge=1, description="with spark: populated cells, about")

    @model_validator(mode="after")
    def _spark_for_a_cluster(self) -> TableData:
        for name in ("release", "expected_cells"):
            if getattr(self, name) is not None and self.engine != "spark":
                raise ValueError(Message('{name} needs engine = "spark"', name=name))
        if self.counts is not None and "unit_name" not in self.model_fields_set:
            raise ValueError(Message('counts needs unit_name: what one count is, for instance "person" or "household"'))
        if self.counts is not None and self.unit is not None:
            raise ValueError(Message("rows are either cells with counts or records with a unit, not both"))
        if self.in_cluster and self.counts is not None:
            raise ValueError(
                Message("a release in a cluster counts records; rows that are counts already are released here")
            )
        return self

    @property
    def in_cluster(self) -> bool:
        """Whether cells stay in the cluster: because the recipe says so, or because they would not fit here."""
        return self.release == "cluster" or (self.release is None and (self.expected_cells or 0) > MOST_CELLS_HERE)

    @property
    def has_unit(self) -> bool:
        """Whether rows belong to somebody."""
        return self.unit is not None or self.counts is not None

    def protected_unit(self) -> Unit:
        """Who is protected; of counts, as declared."""
        return replace(super().protected_unit(), counted_elsewhere=self.counts is not None)


MethodName: TypeAlias = Annotated[
    str,
    AfterValidator(lambda name: registered_name(METHODS, name)),
    WithJsonSchema({"enum": list(METHODS), "type": "string"}),
]


class MethodChoice(Part):
    """The method and its parameters; each method takes its own only. Those of other packages have keys of their own."""

    model_config = ConfigDict(extra="allow")
    name: MethodName = "tree"
    cut: int | None = Field(default=None, description="laplace: the value from which on cells are kept")
    children: int | None = Field(default=None, description="tree: children per node, 16 if not given")
    shares: tuple[Amount, ...] | None = Field(default=None, description="tree: of the root and each level")
    margin: Amount | None = Field(default=None, description="tree: share for the totals of categories; default 0.02")
    strength: Amount | Literal["auto"] | None = Field(
        default=None, description="negative_l2, nonnegative_lasso: how strong, or auto; tree: in the splits"
    )
    fit: Literal["scale", "shift"] | None = Field(default=None, description="negative_l2, nonnegative_lasso")
    decomposition: Literal["morton", "standard"] | None = Field(default=None, description="privelet")

    def build(self) -> Method:
        """The method that is meant."""
        given = {name: value for name, value in self if name != "name" and value is not None}
        if unknown := given.keys() - set(_parameters(self.name)):
            raise RecipeError("method {name} has no parameter {unknown}", name=self.name, unknown=min(unknown))
        method: Method = METHODS[self.name](**given)
        return method

    @model_validator(mode="after")
    def _known_keys(self) -> MethodChoice:
        for key in sorted(set(self.model_extra or ()) - set(_parameters(self.name))):
            extra = InitErrorDetails(type="extra_forbidden", loc=(key,), input=None)
            raise ValidationError.from_exception_data("MethodChoice", [extra])
        return self


def _parameters(name: str) -> tuple[str, ...]:
    """The keys that a method has in recipes: those it lists itself, else all that it can be made with."""
    method = METHODS[name]
    listed = getattr(method, "recipe_parameters", None)
    return tuple(inspect.signature(method).parameters if listed is None else listed)


class Privacy(Part):
    """What may be spent, and whether the exact total is public."""

    epsilon: Amount | None = Field(default=None, description="finite, above 0; or rho")
    delta: Amount | None = Field(default=None, description="with epsilon: Gaussian noise")
    rho: Amount | None = Field(default=None, description="zCDP instead of epsilon: Gaussian noise")
    total: Literal["noisy", "public"] = "noisy"


class PublicTotal(Part):
    """The number of people of an area that is public already, and stays exactly so."""

    where: dict[str, tuple[str | int, ...]] = Field(min_length=1, description="attribute to its values in the area")
    number: int = Field(ge=0)


class TableOutput(Output):
    """Where the release goes, and in which formats; ``key`` is the publisher's Ed25519 key."""

    formats: tuple[Format, ...] = ("parquet", "csv")


class Rehearsal(Part):
    """What a rehearsal runs on: synthetic people, or a public table of counts over the same domain."""

    people: int = Field(default=1_000_000, ge=1)
    populated: float = Field(default=0.1, gt=0, le=1, description="share of cells with people")
    path: str | None = Field(default=None, description="a public file of counts, instead of synthetic people")
    counts: str | None = None
    encoding: Encoding = None
    delimiter: Delimiter = None
    confirm_overlap: bool = Field(default=False, description="rows that are private rows too are public all the same")
    repetitions: int = Field(default=5, ge=1)

    @model_validator(mode="after")
    def _both_or_none(self) -> Rehearsal:
        if (self.path is None) != (self.counts is None):
            raise ValueError(Message("a public table needs both path and counts"))
        return self


class TableRecipe(Recipe):
    """``kind = "table"``: counts over a declared domain."""

    kind: Literal["table"] = "table"
    data: TableData
    domain: dict[str, AnyAttribute] = Field(min_length=1)
    order: tuple[str | tuple[str, ...], ...] | None = None
    method: MethodChoice = MethodChoice()
    privacy: Privacy
    public_totals: tuple[PublicTotal, ...] = ()
    output: TableOutput
    rehearsal: Rehearsal = Rehearsal()

    @model_validator(mode="after")
    def _maps_need_a_mesh(self) -> TableRecipe:
        wanted = [name for name in self.output.formats if name in GEOGRAPHIC]
        if wanted and not any(isinstance(part, MeshAttribute) for part in self.domain.values()):
            raise ValueError(Message("output format {wanted} needs a mesh in the domain", wanted=wanted[0]))
        return self

    @model_validator(mode="after")
    def _columns_apart(self) -> TableRecipe:
        taken = {"index", "count"}
        for name, part in self.domain.items():
            own = {f"{name}_row", f"{name}_column"} if isinstance(part, GridAttribute) else {name}
            if both := own & taken:
                raise ValueError(
                    Message("domain.{name}: the release would have two columns named {both}", name=name, both=min(both))
                )
            taken |= own
        return self

    @model_validator(mode="after")
    def _parts_in_a_cluster(self) -> TableRecipe:
        if self.data.in_cluster:
            asked = self.output.formats if "formats" in self.output.model_fields_set else ("parquet",)
            if asked != ("parquet",):
                raise ValueError(Message('a release in a cluster is written as formats = ["parquet"]'))
            if self.public_totals:
                raise ValueError(Message("public totals of areas are not kept in a cluster"))
        return self

    def build_domain(self) -> Domain:
        """The declared domain."""
        return Domain(order=self.order, **{name: part.build() for name, part in self.domain.items()})

    def columns(self) -> dict[str, str | tuple[str, ...]]:
        """Attribute name to the column or columns it comes from."""
        return {name: part.source for name, part in self.domain.items() if part.source is not None}
