"""From a recipe, wherever it stands, to its kind; and the schema of all recipes that there are."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from sudare.publish.recipe import Recipe
from sudare.registry import KINDS

if TYPE_CHECKING:
    from sudare.publish.kind import Kind

RecipeSource: TypeAlias = str | PathLike[str] | Mapping[str, Any] | Recipe
"""A recipe: the path of a TOML file, a dictionary of what such a file says, or an object."""


def kind_of(recipe: RecipeSource, folder: str | Path | None = None) -> Kind[Any, Any]:
    """The kind of a recipe. Its paths are relative to ``folder``: by default that of the file, else the current one."""
    if isinstance(recipe, Recipe | Mapping):
        found, place = Recipe.of(recipe), Path.cwd()
    else:
        found, place = Recipe.read(recipe), Path(recipe).resolve().parent
    kind: type[Kind[Any, Any]] = KINDS[found.kind]
    return kind.of(found, place if folder is None else Path(folder).resolve())


def json_schema() -> dict[str, Any]:
    """The JSON Schema of recipes of every registered kind, for editors."""
    from pydantic.json_schema import models_json_schema

    shapes = [KINDS[name].shape for name in KINDS]
    _, schema = models_json_schema([(shape, "validation") for shape in shapes], title="A recipe of Sudare")
    return {**schema, "oneOf": [{"$ref": f"#/$defs/{shape.__name__}"} for shape in shapes]}
