"""The attributes of a domain as a recipe declares them; the class of each is imported when it is built."""

from __future__ import annotations

from decimal import Decimal
from functools import reduce
from operator import or_
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self, TypeAlias

from pydantic import ConfigDict, Field, create_model

from sudare.errors import RecipeError
from sudare.recipe.parts import Part
from sudare.registry import ATTRIBUTES


class Attribute(Part):
    """An attribute of the domain; ``from`` names the column or columns it is read from (default: its name)."""

    paths: ClassVar[tuple[str, ...]] = ()
    if TYPE_CHECKING:
        type: str
    source: str | tuple[str, ...] | None = Field(default=None, alias="from")

    def build(self) -> Any:
        """The attribute of the domain: its parameters are the keys of the recipe."""
        declared = self.model_dump(exclude={"source"}, exclude_none=True)
        attribute = ATTRIBUTES[declared.pop("type")]
        return attribute(**{name: _plain(value) for name, value in declared.items()})

    def beside(self, folder: Path) -> Self:
        """The same attribute with the public files it names looked for in ``folder``."""
        named = {name: getattr(self, name, None) for name in self.paths}
        return self.model_copy(
            update={name: str(folder / path) for name, path in named.items() if isinstance(path, str)}
        )


class LineAttribute(Attribute):
    """Positions 0 to length - 1."""

    type: Literal["line"]
    length: int


class GridAttribute(Attribute):
    """A grid of rows and columns, from two columns of positions."""

    type: Literal["grid"]
    shape: tuple[int, int]

    def build(self) -> Any:
        """The attribute, made from its two sides."""
        return ATTRIBUTES[self.type](*self.shape)


Degrees: TypeAlias = int | Decimal


class PlaceAttribute(Attribute):
    """A place: ``mask`` is a public file of polygons or codes outside of which nobody can be."""

    later: ClassVar[tuple[str, ...]] = ("mask", "crs")
    paths: ClassVar[tuple[str, ...]] = ("file", "mask", "within", "code_list")
    mask: str | tuple[int, ...] | None = Field(
        default=None, description="a public file of polygons or codes (or run lengths): nobody is outside of it"
    )
    crs: str | int | None = Field(
        default=None,
        description='of the columns, latitude or northing first, unless it is WGS 84: "EPSG:4301" is Tokyo 1918',
    )


Window: TypeAlias = tuple[Degrees, Degrees, Degrees, Degrees]
_WINDOW = "west, south, east, north in degrees; an east below the west crosses the antimeridian"


class MeshAttribute(PlaceAttribute):
    """A JIS mesh: a window of rows and columns (half-open), or the cells under a list of codes."""

    later: ClassVar[tuple[str, ...]] = (*PlaceAttribute.later, "code_list", "areas")
    type: Literal["mesh"]
    size: str
    rows: tuple[int, int] | None = None
    columns: tuple[int, int] | None = None
    codes: tuple[str | int, ...] | None = None
    code_list: str | None = Field(default=None, description="a public file of mesh codes, beside areas or alone")
    areas: tuple[str | int, ...] | None = Field(
        default=None, description="prefectures and municipalities of the code_list, by name or by code"
    )


class LatLonAttribute(PlaceAttribute):
    """A grid in degrees, from latitude and longitude or from codes."""

    type: Literal["latlon"]
    step: Degrees | tuple[Degrees, Degrees] | None = Field(default=None, description="degrees, or latitude, longitude")
    metres: Degrees | None = Field(default=None, description="instead of step: so long in the middle of the window")
    window: Window = Field(description=_WINDOW)


class TilesAttribute(PlaceAttribute):
    """Web Mercator tiles, from latitude and longitude or from quadkeys."""

    type: Literal["tiles"]
    zoom: int
    window: Window | None = Field(default=None, description=_WINDOW)
    rows: tuple[int, int] | None = None
    columns: tuple[int, int] | None = None


class EuropeGridAttribute(PlaceAttribute):
    """The grid of INSPIRE and GEOSTAT (EPSG 3035), from latitude and longitude or from codes."""

    type: Literal["europe_grid"]
    size: str
    window: Window | None = Field(default=None, description=_WINDOW)
    rows: tuple[int, int] | None = None
    columns: tuple[int, int] | None = None


class H3Attribute(PlaceAttribute):
    """H3 hexagons, from latitude and longitude or from H3 indices."""

    type: Literal["h3"]
    resolution: int
    window: Window | None = Field(default=None, description=_WINDOW)
    cells: tuple[str | int, ...] | None = Field(default=None, description="of the resolution, or coarser")
    within: str | None = Field(default=None, description="a public file of polygons")


class RegionsAttribute(PlaceAttribute):
    """Polygons of a public file, from latitude and longitude or from their codes."""

    type: Literal["regions"]
    file: str = Field(description="GeoJSON, GeoParquet, or a Shapefile (zipped or not)")
    key: str = Field(description="the property that is the code")
    parent: str | None = Field(default=None, description="the property that says which larger area it belongs to")


class CategoriesAttribute(Attribute):
    """A closed list of values."""

    type: Literal["categories"]
    values: tuple[str | int, ...]


class BinsAttribute(Attribute):
    """Ranges of a number: edges (``"open"`` for an end without bound), or start, stop and step."""

    type: Literal["bins"]
    edges: tuple[int | Decimal | Literal["open"], ...] | None = None
    start: int | Decimal | None = None
    stop: int | Decimal | None = None
    step: int | Decimal | None = None

    def build(self) -> Any:
        """The attribute; an open end is None there, which TOML has no word for."""
        if self.edges is not None:
            return ATTRIBUTES[self.type](edges=[None if edge == "open" else _plain(edge) for edge in self.edges])
        if self.start is None or self.stop is None or self.step is None:
            raise RecipeError("bins need edges, or start, stop and step")
        return super().build()


_DECLARED: dict[str, type[Attribute]] = {
    "line": LineAttribute,
    "grid": GridAttribute,
    "mesh": MeshAttribute,
    "categories": CategoriesAttribute,
    "bins": BinsAttribute,
    "europe_grid": EuropeGridAttribute,
    "h3": H3Attribute,
    "latlon": LatLonAttribute,
    "regions": RegionsAttribute,
    "tiles": TilesAttribute,
}


class _OtherAttribute(Attribute):
    """An attribute of another package: its keys are what the attribute's ``to_json`` says."""

    model_config = ConfigDict(extra="allow")

    def build(self) -> Any:
        """The attribute, from what its own `to_json` would say."""
        from sudare.domain import attribute_from_json

        return attribute_from_json(self.model_dump(exclude={"source"}))


def _model(name: str) -> type[Attribute]:
    fields: Any = {"type": Literal[name]}
    return _DECLARED.get(name) or create_model(f"{name.title()}Attribute", __base__=_OtherAttribute, **fields)


if TYPE_CHECKING:
    AnyAttribute: TypeAlias = Attribute
else:
    AnyAttribute = Annotated[reduce(or_, map(_model, ATTRIBUTES)), Field(discriminator="type")]


def _plain(value: Any) -> Any:
    """Decimals, alone or in tuples, as the floats that are written like them."""
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    return float(value) if isinstance(value, Decimal) else value
