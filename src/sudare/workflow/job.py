"""A recipe made ready: its kind built and checked, its ledger opened, the private file not yet touched.

From a recipe, wherever it stands, to its kind; and the schema of all recipes that there are.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import Context
from dataclasses import dataclass
from functools import cached_property
from glob import has_magic
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from sudare.engines.files import POSTGRES, require_reader, scheme_of
from sudare.engines.scratch import remove_leftovers
from sudare.errors import CapacityError, Message, PrivacyWarning, RecipeError
from sudare.privacy import Cap, Guarantee, Ledger, SpendTerms
from sudare.privacy.guarantee import cautions
from sudare.privacy.history import heads_here
from sudare.privacy.names import declared
from sudare.privacy.settings import chosen_ledger
from sudare.recipe.kind import Kind
from sudare.recipe.model import Recipe
from sudare.registry import KINDS
from sudare.workflow.folder import is_there

if TYPE_CHECKING:
    from sudare.recipe.kind import Kind
    from sudare.workflow.series import SeriesPeriod


RecipeSource: TypeAlias = str | PathLike[str] | Mapping[str, Any] | Recipe
"""A recipe: the path of a TOML file, a dictionary of what such a file says, or an object."""


def kind_of(
    recipe: RecipeSource, folder: str | Path | None = None, period: str | None = None
) -> tuple[Kind[Any, Any], SeriesPeriod | None]:
    """The kind of a recipe, and of a series the period. Paths are relative to ``folder``: by default that of the file,
    else the current one."""
    if isinstance(recipe, Recipe | Mapping):
        found, place = Recipe.of(recipe), Path.cwd()
    else:
        found, place = Recipe.read(recipe), Path(recipe).resolve().parent
    kind: type[Kind[Any, Any]] = KINDS[found.kind]
    place = place if folder is None else Path(folder).resolve()
    if getattr(found, "series", None) is None:
        if period is not None:
            raise RecipeError("the recipe has no series, of which this would be a period", value=period)
        return kind.of(found, place), None
    from sudare.workflow.series import SeriesPeriod

    with _within_reach():
        series = SeriesPeriod.of(found, period, place, kind.of(found, place).guarantee)
        return kind.of(found.for_period(series.name), place), series  # type: ignore[attr-defined]  # it has a series


def json_schema() -> dict[str, Any]:
    """The JSON Schema of recipes of every registered kind, for editors."""
    from pydantic.json_schema import models_json_schema

    shapes = [KINDS[name].shape for name in KINDS]
    _, schema = models_json_schema([(shape, "validation") for shape in shapes], title="A recipe of Sudare")
    return {**schema, "oneOf": [{"$ref": f"#/$defs/{shape.__name__}"} for shape in shapes]}


@dataclass(frozen=True)
class Job:
    """A kind's recipe with what the workflow adds to it: ledger, cap, terms, and the hash of the recipe."""

    kind: Kind[Any, Any]
    series: SeriesPeriod | None = None

    @classmethod
    def open(cls, recipe: RecipeSource, folder: str | Path | None = None, period: str | None = None) -> Job:
        """A recipe of any kind, every part built once, so that mistakes show before anything is touched."""
        job = cls(*kind_of(recipe, folder, period))
        if job.kind.public_files():
            from sudare.workflow.public_sources import refuse_private_files

            refuse_private_files(job.kind)
        data = job.recipe.data
        if scheme_of(data.path) in POSTGRES:
            if data.table is None:
                raise RecipeError("a database needs the name of a table: data.table")
        elif scheme_of(data.path):
            require_reader(data.path, data.engine)
        with _within_reach():
            job.kind.prepare()
            _ = job.cap, job.ledger
        return job

    @classmethod
    def ready(cls, recipe: RecipeSource, folder: str | Path | None = None, period: str | None = None) -> Job:
        """`open` and a dry run, which refuses what could never be published: plan, rehearse and publish begin here."""
        job = cls.open(recipe, folder, period)
        remove_leftovers(job.kind.scratch)
        with _within_reach():
            # A context of its own: a tape that watches a publication must not see this trial, which is no part of it.
            Context().run(job.kind.dry_run)
        return job

    @property
    def recipe(self) -> Any:
        """The recipe, of the kind's model."""
        return self.kind.recipe

    @property
    def guarantee(self) -> Guarantee:
        """What the release will promise."""
        return self.kind.guarantee

    def path(self, name: str) -> Path:
        """A path of the recipe."""
        return self.kind.path(name)

    @property
    def target(self) -> Path:
        """The output folder."""
        return self.path(self.recipe.output.folder)

    @property
    def lacks_data(self) -> bool:
        """Whether there is no file at the private path; of an address and of a pattern that is not known."""
        path = self.recipe.data.path
        return not scheme_of(path) and not has_magic(path) and not is_there(self.path(path))

    @cached_property
    def cap(self) -> Cap | None:
        """The cap to set where the data set has none yet."""
        cap = self.recipe.ledger.cap
        return None if cap is None else Cap.declared(**cap.model_dump(exclude_none=True))

    @cached_property
    def ledger(self) -> Ledger:
        """The ledger of the recipe."""
        asked = self.recipe.ledger
        return Ledger(chosen_ledger(asked.path, self.kind.folder, asked.confirm_other_ledger))

    @property
    def terms(self) -> SpendTerms:
        """On which terms the ledger admits the release."""
        from sudare.workflow.reconcile import heads_beside

        dataset, asked = declared(self.recipe.dataset, Message("the name of a data set")), self.recipe.ledger
        return SpendTerms(
            default_cap=self.cap,
            accept_no_guarantee=self.recipe.accept_no_guarantee,
            heads=(*heads_beside(self.target, dataset), *heads_here(dataset)),
            confirm_same_data=asked.confirm_same_data,
            confirm_similar_name=asked.confirm_similar_name,
            confirm_other_history=asked.confirm_other_history,
        )

    @property
    def recipe_sha256(self) -> str:
        """A hash of what the recipe says, whatever its spacing and comments."""
        return hashlib.sha256(self.recipe.hashed.encode()).hexdigest()

    @property
    def cautions(self) -> tuple[PrivacyWarning, ...]:
        """What the steward should hear about the promise before it is made."""
        return cautions(self.guarantee, self.kind.people)


@contextmanager
def _within_reach() -> Iterator[None]:
    """Refuse in one sentence numbers that no double holds (TOML knows whole numbers of any length)."""
    try:
        yield
    except ArithmeticError:
        raise RecipeError("a number of the recipe is too large or too small to be computed with") from None
    except CapacityError:
        raise
    except MemoryError:
        raise RecipeError("the recipe asks for more than fits into the memory of this machine") from None
