"""The attributes of a domain as a recipe declares them."""

from __future__ import annotations

from decimal import Decimal
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from pydantic import ConfigDict, Field, create_model

from sudare.domain import Bins, Categories, Grid, Line, Mesh
from sudare.domain.attributes import attribute_from_json
from sudare.errors import RecipeError
from sudare.recipe.model import Part
from sudare.registry import ATTRIBUTES


class Attribute(Part):
    """An attribute of the domain; ``from`` names the column or columns it is read from (default: its name)."""

    source: str | tuple[str, ...] | None = Field(default=None, alias="from")

    def build(self) -> Any:
        """The attribute that is meant."""
        raise NotImplementedError


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


_DECLARED: dict[str, type[Attribute]] = {
    "line": LineAttribute,
    "grid": GridAttribute,
    "mesh": MeshAttribute,
    "categories": CategoriesAttribute,
    "bins": BinsAttribute,
}


class _OtherAttribute(Attribute):
    """An attribute of another package: its keys are what the attribute's ``to_json`` says."""

    model_config = ConfigDict(extra="allow")

    def build(self) -> Any:
        """The attribute that is meant."""
        return attribute_from_json(self.model_dump(exclude={"source"}))


def _model(name: str) -> type[Attribute]:
    fields: Any = {"type": Literal[name]}
    return _DECLARED.get(name) or create_model(f"{name.title()}Attribute", __base__=_OtherAttribute, **fields)


if TYPE_CHECKING:
    AnyAttribute: TypeAlias = Attribute
else:
    AnyAttribute = Annotated[reduce(or_, map(_model, ATTRIBUTES)), Field(discriminator="type")]


def _plain(number: int | Decimal | str) -> int | float:
    return number if isinstance(number, int) else float(number)
