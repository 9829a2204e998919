"""The recipe of a table: its domain, its method, what may be spent on it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeAlias

from pydantic import AfterValidator, ConfigDict, Field, ValidationError, WithJsonSchema, model_validator
from pydantic_core import InitErrorDetails

from sudare.domain import CountTable, Domain
from sudare.errors import Message, RecipeError
from sudare.privacy import Unit, rho_for
from sudare.recipe.attributes import AnyAttribute, PlaceAttribute
from sudare.recipe.model import Recipe
from sudare.recipe.parts import PERIOD_GAP, Amount, Data, Delimiter, Encoding, Output, Part, Series, registered_name
from sudare.registry import ATTRIBUTES, METHODS
from sudare.tables.method import Method

if TYPE_CHECKING:
    from sudare.engines.foreign_sources import Long

Format = Literal["parquet", "csv", "geoparquet", "geojson", "records"]
GEOGRAPHIC = ("geoparquet", "geojson")
Concentration = Literal["low", "medium", "high"]
MOST_CELLS_HERE = 2**26
"""Populated cells that one process takes on: some 10 GB while they are released."""


class LongTable(Part):
    """Columns of a wide table that become attributes: sex and age are then columns, and ``counts`` is the number."""

    attributes: tuple[str, ...] = Field(min_length=1, description="the attributes that the columns stand for")
    columns: dict[str, tuple[str, ...]] = Field(
        min_length=1, description="each column to its value of each attribute; other columns stay as they are"
    )

    def build(self, count: str) -> Long:
        """What `sudare.read` takes."""
        from sudare.engines.foreign_sources import Long

        return Long(self.attributes, self.columns, count)


class TableData(Data):
    """Where the private records (or counts) are, and whom a row belongs to."""

    outside: Literal["error", "drop", "clamp"] = "error"
    later: ClassVar[tuple[str, ...]] = (*Data.later, "refuse_if_dropped", "long")
    long: LongTable | None = Field(default=None, description="a wide table of counts made long, such as e-Stat's")
    refuse_if_dropped: Amount | None = Field(
        default=None,
        description="refuse to publish if more than this share of rows lies outside or has no id: a test of the private"
        " data without noise, which the guarantee then names",
    )
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
        if self.refuse_if_dropped is not None and not 0 <= self.refuse_if_dropped < 1:
            raise ValueError(Message("refuse_if_dropped is a share: at least 0 and below 1", key="refuse_if_dropped"))
        for name in ("release", "expected_cells"):
            if getattr(self, name) is not None and self.engine != "spark":
                raise ValueError(Message('{name} needs engine = "spark"', name=name))
        if self.counts is not None and "unit_name" not in self.model_fields_set:
            raise ValueError(
                Message(
                    'counts needs unit_name: what one count is, for instance "person" or "household"', key="unit_name"
                )
            )
        if self.long is not None and self.counts is None:
            raise ValueError(Message("long needs counts: the name of the column that the numbers go to", key="counts"))
        if self.counts is not None and self.unit is not None:
            raise ValueError(Message("rows are either cells with counts or records with a unit, not both", key="unit"))
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
        """Whether rows belong to units."""
        return self.unit is not None or self.counts is not None

    def protected_unit(self) -> Unit:
        """Who is protected; of counts, and of rows that are said to be one of something each, as declared."""
        if not self.has_unit and "unit_name" in self.model_fields_set:
            return Unit(self.unit_name, 1, self.period, counted_elsewhere=True)
        return replace(super().protected_unit(), counted_elsewhere=self.counts is not None)


MethodName: TypeAlias = Annotated[
    str,
    AfterValidator(lambda name: registered_name(METHODS, name)),
    WithJsonSchema({"enum": list(METHODS), "type": "string"}),
]


class StrengthReference(Part):
    """A public table like the private one, such as the last census: a file of counts over the same domain."""

    path: str
    counts: str = Field(default="count", description="the column of counts")
    encoding: Encoding = None
    delimiter: Delimiter = None
    repetitions: int = Field(default=5, ge=1, description="trials with seeded noise, on which the strength is tuned")
    confirm_overlap: bool = Field(default=False, description="cells that are private cells too are public all the same")


STRENGTHS = ("strength", "sparsity", "reference")
"""Three ways to say how strongly cells are thinned out; a method that takes a strength takes one of them."""


class MethodChoice(Part):
    """The method and its parameters; each method takes its own only. Those of other packages have keys of their own."""

    model_config = ConfigDict(extra="allow")
    later: ClassVar[tuple[str, ...]] = ("emphasis", "sparsity", "reference", "scale", "serial", "matters")
    name: MethodName = "auto"
    cut: int | None = Field(default=None, description="laplace: the value from which on cells are kept")
    children: int | None = Field(default=None, description="tree: children per node, 16 if not given")
    shares: tuple[Amount, ...] | None = Field(default=None, description="tree: of the root and each level")
    margin: Amount | None = Field(default=None, description="tree: share for the totals of categories; default 0.02")
    strength: Amount | Literal["auto"] | None = Field(
        default=None, description="negative_l2, nonnegative_lasso: how strong, or auto; tree: in the splits"
    )
    emphasis: Literal["cells", "areas"] | None = Field(default=None, description="auto, tree: what matters most")
    sparsity: Amount | None = Field(
        default=None, description="negative_l2, nonnegative_lasso: the share of all cells to stay above 0"
    )
    reference: StrengthReference | None = Field(
        default=None, description="negative_l2, nonnegative_lasso: a public table that the strength is tuned on"
    )
    fit: Literal["scale", "shift"] | None = Field(default=None, description="negative_l2, nonnegative_lasso")
    decomposition: Literal["morton", "standard"] | None = Field(default=None, description="privelet")
    scale: Literal["tight", "original"] | None = Field(
        default=None, description="privelet: original doubles the noise, as first published"
    )
    serial: bool | None = Field(default=None, description="top_down: the dense form T1 of the same law, for checking")
    matters: tuple[str, ...] | None = Field(
        default=None, description='marginals, auto: what is to be most exact, for instance ["age x sex", "income"]'
    )

    def build(self, read_reference: Callable[[StrengthReference], CountTable] | None = None) -> Method:
        """The declared method; ``read_reference`` reads the public table of a strength, where there is one."""
        given = {name: value for name, value in self if name != "name" and value is not None}
        chosen = [name for name in STRENGTHS if name in given]
        if len(chosen) > 1:
            raise RecipeError("the strength is given twice: {first} and {second}", first=chosen[0], second=chosen[1])
        for name in set(chosen) - {"strength"} if "fit" in _parameters(self.name) else ():
            from sudare.tables.strength import from_reference, target_sparsity

            given.pop(name)
            if name == "sparsity":
                given["strength"] = target_sparsity(self.sparsity or 0)
            elif self.reference is not None and read_reference is not None:
                table = read_reference(self.reference)
                confirmed = self.reference.confirm_overlap
                given["strength"] = from_reference(table, self.reference.repetitions, confirm_overlap=confirmed)
        if unknown := given.keys() - set(_parameters(self.name)):
            raise RecipeError("method {name} has no parameter {unknown}", name=self.name, unknown=min(unknown))
        method: Method = METHODS[self.name](**given)
        return method

    @model_validator(mode="after")
    def _known_keys(self) -> MethodChoice:
        extra = set(self.model_extra or ())
        for key in sorted(extra - set(_parameters(self.name))) if extra else ():  # asking loads the method
            unknown = InitErrorDetails(type="extra_forbidden", loc=(key,), input=None)
            raise ValidationError.from_exception_data("MethodChoice", [unknown])
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


class TotalsColumns(Part):
    """Names of columns in a file of public totals, and in a list of codes."""

    area: str = "area"
    number: str = "number"
    standard_error: str | None = Field(default=None, description="of the number; without it the totals are exact")
    code: str = "code"


class Estimate(Part):
    """Totals of areas that are published already, and that the release has to agree with."""

    paths: ClassVar[tuple[str, ...]] = ("agree_with", "areas")
    agree_with: str | None = Field(
        default=None,
        description="the folder of an earlier release of the same people, or a file of public totals by area that"
        " come from elsewhere, never from the private records",
    )
    areas: str | None = Field(
        default=None,
        description="a file of codes and the area of each; without it areas are codes themselves, or the values of the"
        " attribute in the earlier release",
    )
    attribute: str | None = Field(default=None, description="which codes they are; the place of the domain")
    exactly: bool = Field(default=False, description="whatever the errors of these totals are")
    columns: TotalsColumns = Field(default_factory=TotalsColumns)
    encoding: Encoding = None
    delimiter: Delimiter = None

    @model_validator(mode="after")
    def _something_to_agree_with(self) -> Estimate:
        fields = type(self).model_fields.items()
        said = any(getattr(self, name) != field.get_default(call_default_factory=True) for name, field in fields)
        if self.agree_with is None and said:
            raise ValueError(Message("agree_with is missing: areas and columns say how to read what it names"))
        return self


class TableOutput(Output):
    """Where the release goes, and in which formats; ``key`` is the publisher's Ed25519 key."""

    later: ClassVar[tuple[str, ...]] = ("bars", "byte_order_mark")

    formats: tuple[Format, ...] = Field(
        default=("parquet", "csv"),
        description="with a place in the domain, geoparquet and geojson too by default; records are synthetic people",
    )
    bars: bool = Field(default=True, description="columns low, high (90 %) and expected_error beside the counts")
    byte_order_mark: bool = Field(default=False, description="begin the CSV file with one: Excel reads it as UTF-8")


class Rehearsal(Part):
    """What forecasts and rehearsals rest on: a public table, or rough facts about the people; else a wide range.

    What is declared here is taken for public.
    """

    later: ClassVar[tuple[str, ...]] = ("long", "concentration", "domain")
    formerly: ClassVar[dict[str, Any]] = {"people": 1_000_000, "populated": 0.1}

    people: int | None = Field(default=None, ge=1, description="people, about; a public table is scaled to as many")
    populated: float | None = Field(
        default=None, gt=0, le=1, description="share of places with people, about; of cells, where there are no places"
    )
    concentration: Concentration | None = Field(
        default=None,
        description="how uneven: the fullest tenth of the populated places has about a third of the people (low), a"
        " half (medium) or most of them (high)",
    )
    path: str | None = Field(
        default=None, description="a public table: a file of counts, or the folder of an earlier release"
    )
    counts: str | None = Field(default=None, description="the column of counts of such a file")
    domain: dict[str, AnyAttribute] | None = Field(
        default=None,
        description="attributes of the public file that are others than those of the domain, such as the mesh of a"
        " neighbouring city",
    )
    long: LongTable | None = Field(default=None, description="as under data")
    encoding: Encoding = None
    delimiter: Delimiter = None
    confirm_overlap: bool = Field(default=False, description="rows that are private rows too are public all the same")
    repetitions: int = Field(default=5, ge=1)

    @model_validator(mode="after")
    def _of_a_public_table(self) -> Rehearsal:
        for name in ("counts", "domain", "long"):
            if self.path is None and getattr(self, name):
                raise ValueError(Message("{name} belongs to a public table: give its path too", name=name))
        return self


class TableRecipe(Recipe):
    """``kind = "table"``: counts over a declared domain."""

    later: ClassVar[tuple[str, ...]] = ("series", "estimate")
    kind: Literal["table"] = "table"
    data: TableData
    domain: dict[str, AnyAttribute] = Field(min_length=1)
    order: tuple[str | tuple[str, ...], ...] | None = None
    method: MethodChoice = Field(default_factory=MethodChoice)
    privacy: Privacy
    public_totals: tuple[PublicTotal, ...] = ()
    estimate: Estimate | None = Field(default=None, description="totals that are out, and the release agrees with")
    output: TableOutput
    rehearsal: Rehearsal = Field(default_factory=Rehearsal)
    series: Series | None = Field(default=None, description="one release per period, under one budget")

    @model_validator(mode="after")
    def _places_of_periods(self) -> TableRecipe:
        if self.series is not None:
            if PERIOD_GAP not in self.output.folder:
                raise ValueError(Message("a series needs a folder for each period: {{period}} in output.folder"))
            if PERIOD_GAP not in self.data.path + (self.data.table or ""):
                raise ValueError(Message("a series needs data for each period: {{period}} in data.path"))
        return self

    @model_validator(mode="after")
    def _maps_need_a_place(self) -> TableRecipe:
        wanted = [name for name in self.output.formats if name in GEOGRAPHIC]
        if wanted and not any(isinstance(part, PlaceAttribute) for part in self.domain.values()):
            raise ValueError(Message("output format {wanted} needs a place in the domain", wanted=wanted[0]))
        return self

    @model_validator(mode="after")
    def _columns_apart(self) -> TableRecipe:
        taken = {"index", "count"}
        for name, part in self.domain.items():
            own = set(ATTRIBUTES[part.type].label_columns(name))
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
            if self.public_totals or self.agrees:
                raise ValueError(Message("public totals of areas are not kept in a cluster"))
        if self.agrees and (self.public_totals or self.privacy.total == "public"):
            raise ValueError(Message("agree_with goes neither with public_totals nor with a public total"))
        return self

    @property
    def agrees(self) -> bool:
        """Whether the recipe names published totals that the release has to agree with."""
        return self.estimate is not None and self.estimate.agree_with is not None

    @property
    def formats(self) -> tuple[Format, ...]:
        """The formats that are written: those declared; by default polygons too, where the domain has places."""
        if "formats" in self.output.model_fields_set or self.data.in_cluster:
            return self.output.formats
        places = any(isinstance(part, PlaceAttribute) for part in self.domain.values())
        return (*self.output.formats, "geoparquet", "geojson") if places else self.output.formats

    def build_domain(self, folder: Path) -> Domain:
        """The declared domain; public files that it names are relative to ``folder``."""
        return Domain(order=self.order, **{name: part.beside(folder).build() for name, part in self.domain.items()})

    def columns(self) -> dict[str, str | tuple[str, ...]]:
        """Attribute name to the column or columns it comes from."""
        return {name: part.source for name, part in self.domain.items() if part.source is not None}

    def for_period(self, period: str) -> TableRecipe:
        """The recipe of one period of a series: its name in paths and the title, and its part of the budget."""
        assert self.series is not None  # noqa: S101 - asked only of a series
        contents: dict[str, Any] = self.model_dump(by_alias=True, exclude_unset=True, exclude={"series"})
        contents |= {
            part: _filled(contents[part], period) for part in ("data", "output", "estimate") if contents.get(part)
        }
        contents |= _filled({"title": self.title}, period)
        contents["privacy"] |= self._part_of_budget(self.series.share(period))
        return type(self)(**contents)

    def _part_of_budget(self, share: Fraction) -> dict[str, Any]:
        """Epsilons and rhos of releases add up, so that a part of them is a part; with a delta it is one of the rho."""
        whole = self.privacy
        if whole.epsilon is not None and whole.delta is not None and whole.rho is None:
            rho = rho_for(Fraction(whole.epsilon), Fraction(whole.delta))
            return {"epsilon": None, "delta": None, "rho": rho * share}
        amounts = {"epsilon": whole.epsilon, "rho": whole.rho}
        return {name: Fraction(amount) * share for name, amount in amounts.items() if amount is not None}


def _filled(part: Mapping[str, Any], period: str) -> dict[str, Any]:
    """A part of a recipe with the name of the period in its texts."""
    return {
        name: value.replace(PERIOD_GAP, period) if isinstance(value, str) else value for name, value in part.items()
    }
