"""The recipe: a TOML file, or an object, that says what is published, from what, how protected, and where to.

Paths in a recipe are relative to the file's own folder; those of an object to a folder that is given with it. An
unknown key is an error that names the nearest known one: a misspelt ``epsilon`` must not fall back to a default.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Self

from pydantic import Field, ValidationError

from sudare.domain.text import steers_terminal
from sudare.errors import Message, MissingRecipeError, RecipeError, SudareError, did_you_mean, system_reason
from sudare.recipe.parts import HASHED, Data, LedgerChoice, Output, Part, Report
from sudare.recipe.toml_text import declared_contents, declared_text, first_problem, to_toml
from sudare.registry import KINDS

FORMAT = 1
_RECIPE = Message("the recipe")


class Recipe(Part):
    """What recipes of every kind share; ``Recipe(kind=..., ...)`` is a recipe of that kind.

    Values are those of a TOML file: ``data={"path": "people.parquet", "unit": "person_id"}``. Recipes are equal if
    they say the same, and none changes after it was made.
    """

    format: int = Field(default=FORMAT, ge=1, description="of the recipe itself; a newer one needs a newer Sudare")
    kind: str
    dataset: str = Field(min_length=1, description="the declared name that the ledger keeps its account under")
    title: str = ""
    data: Data
    ledger: LedgerChoice = Field(default_factory=LedgerChoice)
    output: Output
    report: Report = Field(default_factory=Report)
    accept_no_guarantee: bool = Field(
        default=False, description="publish also what has no guarantee that adds up, such as k-anonymity alone"
    )

    def __new__(cls, /, *_: Any, **contents: Any) -> Self:
        """A recipe of the kind that is named, where this class itself is called."""
        # First of all: a kind that is not known here may be one of a newer version.
        RecipeError.refuse_newer(_RECIPE, contents.get("format", FORMAT), FORMAT)
        made: Any = super().__new__(_shape_of(contents) if cls is Recipe else cls)
        return made  # type: ignore[no-any-return]  # of a subclass, where this class itself is called

    def __init__(self, /, **contents: Any) -> None:
        written = {name: _as_in_toml(value) for name, value in contents.items()}
        if steers_terminal(written):
            raise RecipeError("a text of the recipe holds control characters")
        try:
            super().__init__(**written)
        except ValidationError as problem:
            own = (error.get("ctx", {}).get("error") for error in problem.errors())
            refusal = next((one for one in own if isinstance(one, SudareError)), None)
            raise refusal or first_problem(problem, type(self), _RECIPE, RecipeError) from None

    @classmethod
    def of(cls, contents: Mapping[str, Any] | Recipe) -> Recipe:
        return contents if isinstance(contents, Recipe) else Recipe(**contents)

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Recipe:
        return cls.of(read_text(Path(path)))

    @property
    def hashed(self) -> str:
        """What the recipe says, as the JSON whose hash ledger and certificate keep: it stays when keys are added."""
        return self.model_dump_json(by_alias=True, context=HASHED)

    def to_toml(self) -> str:
        """What was declared, as the text of a recipe file; what is left to defaults is not in it."""
        declared = self.model_dump(by_alias=True, exclude_unset=True)
        return to_toml({"kind": self.kind, **declared})

    def write(self, path: str | PathLike[str]) -> Path:
        """Write `to_toml` into a new file, which `read` reads back as an equal recipe."""
        target = Path(path)
        try:
            with target.open("x", encoding="utf-8", newline="\n") as file:
                file.write(self.to_toml())
        except FileExistsError:
            raise RecipeError("a file is there already", value=str(target)) from None
        except OSError as problem:
            raise RecipeError(
                "the recipe cannot be written: {reason}", value=str(target), reason=system_reason(problem)
            ) from None
        return target


def _shape_of(contents: Mapping[str, Any]) -> type[Recipe]:
    """The model of the kind that a recipe names: a table where it names none."""
    kind = contents.get("kind", "table")
    if not isinstance(kind, str) or kind not in KINDS:
        hint = did_you_mean(kind, KINDS) if isinstance(kind, str) else None
        raise RecipeError("no such kind of recipe", value=kind, allowed=KINDS, hint=hint)
    shape: type[Recipe] = KINDS[kind].shape
    return shape


def _as_in_toml(value: Any) -> Any:
    """A value of Python as the recipe's file would give it: numbers as they are written, paths as text.

    >>> _as_in_toml({"epsilon": 0.1, "path": Path("people.csv")})
    {'epsilon': Decimal('0.1'), 'path': 'people.csv'}
    """
    if isinstance(value, float):
        return Decimal(repr(value))
    if isinstance(value, PathLike):
        return fspath(value)
    if isinstance(value, Mapping):
        return {name: _as_in_toml(each) for name, each in value.items()}
    return [_as_in_toml(each) for each in value] if isinstance(value, list | tuple) else value


def recipe_text(path: Path) -> str:
    """A recipe file as text: the one way in which it is read."""
    try:
        return declared_text(path, _RECIPE, RecipeError)
    except FileNotFoundError:
        raise MissingRecipeError("there is no such recipe", value=str(path)) from None


def read_text(path: Path) -> dict[str, Any]:
    """The contents of a recipe file, unchecked."""
    return contents_of_text(recipe_text(path))


def contents_of_text(text: str) -> dict[str, Any]:
    """What the text of a recipe says, unchecked."""
    return declared_contents(text, _RECIPE, RecipeError)
