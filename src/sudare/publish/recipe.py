"""The recipe: a TOML file that says what is published, from what, how protected, and where to.

Paths in a recipe are relative to the recipe's own folder. An unknown key is an error that names the nearest
known one: a misspelt ``epsilon`` must not fall back to a default.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from sudare.domain import Bins, Categories, Domain, Grid, Line, Mesh
from sudare.errors import RecipeError, did_you_mean
from sudare.privacy import Unit
from sudare.tables import Laplace, Method, NegativeL2, NonnegativeLasso, Privelet, Simplex, TopDown, Tree

Format = Literal["parquet", "csv", "geoparquet", "geojson"]
GEOGRAPHIC = ("geoparquet", "geojson")


class Part(BaseModel):
    """What all parts of a recipe share: no unknown keys, no changes after reading."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class Attribute(Part):
    """An attribute of the domain; ``from`` names the column or columns it is read from (default: its name)."""

    source: str | tuple[str, ...] | None = Field(default=None, alias="from")


class LineAttribute(Attribute):
    """Positions 0 to length - 1."""

    type: Literal["line"]
    length: int

    def build(self) -> Line:
        """The attribute that is meant."""
        return Line(self.length)


class GridAttribute(Attribute):
    """A grid of rows and columns, from two columns of positions."""

    type: Literal["grid"]
    shape: tuple[int, int]

    def build(self) -> Grid:
        """The attribute that is meant."""
        return Grid(*self.shape)


class MeshAttribute(Attribute):
    """A JIS mesh: a window of rows and columns (half-open), or the cells under a list of codes."""

    type: Literal["mesh"]
    size: str
    rows: tuple[int, int] | None = None
    columns: tuple[int, int] | None = None
    codes: tuple[str | int, ...] | None = None

    def build(self) -> Mesh:
        """The attribute that is meant."""
        given = {name: getattr(self, name) for name in ("rows", "columns", "codes")}
        return Mesh(self.size, **{name: value for name, value in given.items() if value is not None})


class CategoriesAttribute(Attribute):
    """A closed list of values."""

    type: Literal["categories"]
    values: tuple[str | int, ...]

    def build(self) -> Categories:
        """The attribute that is meant."""
        return Categories(self.values)  # type: ignore[arg-type]  # all of one type: Categories checks it


class BinsAttribute(Attribute):
    """Ranges of a number: edges (``"open"`` for an end without bound), or start, stop and step."""

    type: Literal["bins"]
    edges: tuple[int | Decimal | Literal["open"], ...] | None = None
    start: int | Decimal | None = None
    stop: int | Decimal | None = None
    step: int | Decimal | None = None

    def build(self) -> Bins:
        """The attribute that is meant."""
        if self.edges is not None:
            return Bins(edges=[None if edge == "open" else _plain(edge) for edge in self.edges])
        if self.start is None or self.stop is None or self.step is None:
            raise RecipeError("bins need edges, or start, stop and step")
        return Bins(_plain(self.start), _plain(self.stop), step=_plain(self.step))


AnyAttribute = Annotated[
    Union[LineAttribute, GridAttribute, MeshAttribute, CategoriesAttribute, BinsAttribute],  # noqa: UP007 - Pydantic reads it at run time
    Field(discriminator="type"),
]


class Data(Part):
    """Where the private records (or counts) are, and whom a row belongs to."""

    path: str
    table: str | None = Field(default=None, description="the table, where path is a DuckDB database")
    encoding: str | None = None
    unit: str | None = Field(default=None, description="the column that tells persons apart; without it, a row")
    unit_name: str = "person"
    max_rows: int = Field(default=1, ge=1)
    period: str | None = Field(default=None, description="protects a person per period, for instance day")
    outside: Literal["error", "drop", "clamp"] = "error"
    counts: str | None = Field(default=None, description="the column of counts, where rows are cells already")

    def protected_unit(self) -> Unit:
        """Who is protected."""
        if self.unit is None and self.counts is None:
            return Unit("row", 1, self.period)
        return Unit(self.unit_name, self.max_rows, self.period)


class MethodChoice(Part):
    """The method and its parameters; each method takes its own only."""

    name: Literal["tree", "laplace", "simplex", "negative_l2", "nonnegative_lasso", "privelet", "top_down"] = "tree"
    cut: int | None = Field(default=None, description="laplace: the value from which on cells are kept")
    children: int | None = Field(default=None, description="tree: children per node, 16 if not given")
    shares: tuple[int | Decimal, ...] | None = Field(default=None, description="tree: of the root and each level")
    strength: int | Decimal | Literal["auto"] | None = Field(
        default=None, description="negative_l2, nonnegative_lasso: how strong, or auto; tree: in the splits"
    )
    fit: Literal["scale", "shift"] | None = Field(default=None, description="negative_l2, nonnegative_lasso")
    decomposition: Literal["morton", "standard"] | None = Field(default=None, description="privelet")

    def build(self) -> Method:
        """The method that is meant."""
        kinds: dict[str, tuple[Callable[..., Method], tuple[str, ...]]] = {
            "tree": (Tree, ("children", "shares", "strength")),
            "laplace": (Laplace, ("cut",)),
            "simplex": (Simplex, ()),
            "negative_l2": (NegativeL2, ("strength", "fit")),
            "nonnegative_lasso": (NonnegativeLasso, ("strength", "fit")),
            "privelet": (Privelet, ("decomposition",)),
            "top_down": (TopDown, ()),
        }
        kind, known = kinds[self.name]
        given = {name: value for name, value in self if name != "name" and value is not None}
        if unknown := given.keys() - set(known):
            raise RecipeError(f"method {self.name} has no parameter {min(unknown)}")
        return kind(**given)


class Privacy(Part):
    """What may be spent, and whether the exact total is public."""

    epsilon: int | Decimal | None = Field(default=None, description="finite, above 0; or rho")
    delta: int | Decimal | None = Field(default=None, description="with epsilon: Gaussian noise")
    rho: int | Decimal | None = Field(default=None, description="zCDP instead of epsilon: Gaussian noise")
    total: Literal["noisy", "public"] = "noisy"


class Cap(Part):
    """The most that all releases of a data set may spend together."""

    epsilon: int | Decimal | None = None
    delta: int | Decimal | None = None
    rho: int | Decimal | None = None


class LedgerChoice(Part):
    """The ledger file; ``cap`` is set when the data set has none yet."""

    path: str = "sudare-ledger.db"
    cap: Cap | None = None


class Output(Part):
    """Where the release goes, and in which formats; ``key`` is the publisher's Ed25519 key."""

    folder: str
    formats: tuple[Format, ...] = ("parquet", "csv")
    key: str = "sudare-publisher.pem"


class Rehearsal(Part):
    """What a rehearsal runs on: synthetic people, or a public table of counts over the same domain."""

    people: int = Field(default=1_000_000, ge=1)
    populated: float = Field(default=0.1, gt=0, le=1, description="share of cells with people")
    path: str | None = Field(default=None, description="a public file of counts, instead of synthetic people")
    counts: str | None = None
    encoding: str | None = None
    repetitions: int = Field(default=5, ge=1)

    @model_validator(mode="after")
    def _both_or_none(self) -> Rehearsal:
        if (self.path is None) != (self.counts is None):
            raise ValueError("a public table needs both path and counts")
        return self


class Recipe(Part):
    """All of it."""

    kind: Literal["table"] = "table"
    dataset: str = Field(min_length=1, description="the declared name that the ledger keeps its account under")
    title: str = ""
    data: Data
    domain: dict[str, AnyAttribute] = Field(min_length=1)
    order: tuple[str | tuple[str, ...], ...] | None = None
    method: MethodChoice = MethodChoice()
    privacy: Privacy
    ledger: LedgerChoice = LedgerChoice()
    output: Output
    rehearsal: Rehearsal = Rehearsal()

    @model_validator(mode="after")
    def _maps_need_a_mesh(self) -> Recipe:
        wanted = [name for name in self.output.formats if name in GEOGRAPHIC]
        if wanted and not any(isinstance(part, MeshAttribute) for part in self.domain.values()):
            raise ValueError(f"output format {wanted[0]} needs a mesh in the domain")
        return self

    def build_domain(self) -> Domain:
        """The declared domain."""
        return Domain(order=self.order, **{name: part.build() for name, part in self.domain.items()})

    def columns(self) -> dict[str, str | tuple[str, ...]]:
        """Attribute name to the column or columns it comes from."""
        return {name: part.source for name, part in self.domain.items() if part.source is not None}


def _plain(number: int | Decimal | str) -> int | float:
    return number if isinstance(number, int) else float(number)


def load(path: str | Path) -> Recipe:
    """Read and check a recipe file."""
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise RecipeError("there is no such recipe", value=str(path)) from None
    except (OSError, UnicodeDecodeError) as problem:
        raise RecipeError(f"the recipe cannot be read: {type(problem).__name__}", value=str(path)) from None
    return parse(text)


def parse(text: str) -> Recipe:
    """Check the text of a recipe; decimals are kept as they are written."""
    try:
        return Recipe.model_validate(tomllib.loads(text, parse_float=Decimal))
    except tomllib.TOMLDecodeError as problem:
        raise RecipeError(f"the recipe is not TOML: {problem}") from None
    except ValidationError as problem:
        raise _first_problem(problem) from None


def _first_problem(problem: ValidationError) -> RecipeError:
    """The first mistake as one sentence, with the nearest known key where one is misspelt."""
    # A misspelt key is the cause of the one that then seems to be missing.
    first = min(problem.errors(), key=lambda error: error["type"] != "extra_forbidden")
    # Pydantic's place of an attribute is domain, its name, the type it chose, and the key.
    place = [str(step) for i, step in enumerate(first["loc"]) if (i, first["loc"][0]) != (2, "domain")]
    place = [step for step in place if step not in ("int", "decimal", "str") and "[" not in step]
    where = ".".join(place)
    if first["type"] == "extra_forbidden":
        known = _known_keys(first["loc"][:-1])
        return RecipeError(
            f"unknown key {where} in the recipe",
            allowed=", ".join(sorted(known)),
            hint=did_you_mean(place[-1], known),
        )
    if first["type"] == "missing":
        return RecipeError(f"the recipe lacks {where}")
    message = first["msg"].removeprefix("Value error, ")
    return RecipeError(f"{where or 'the recipe'}: {message[0].lower()}{message[1:]}")


def _attribute_kinds() -> tuple[type[Attribute], ...]:
    return (LineAttribute, GridAttribute, MeshAttribute, CategoriesAttribute, BinsAttribute)


def _known_keys(place: tuple[int | str, ...]) -> set[str]:
    """The keys that the part of a recipe at ``place`` may have."""
    kind: Any = Recipe
    if place and place[0] == "domain":
        tag = place[-1]
        kind = next(k for k in _attribute_kinds() if get_args(k.model_fields["type"].annotation)[0] == tag)
    else:
        for step in place:
            annotation = kind.model_fields[str(step)].annotation
            kind = next(option for option in (annotation, *get_args(annotation)) if hasattr(option, "model_fields"))
    return {field.alias or name for name, field in kind.model_fields.items()}


def json_schema() -> dict[str, Any]:
    """The JSON Schema of a recipe, for editors."""
    return Recipe.model_json_schema()
