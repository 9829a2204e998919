"""The kinds of recipes, each a `Job` in a module of its own that is loaded when a recipe names it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import Context
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sudare.engines.addresses import require_reader, scheme_of
from sudare.engines.scratch import remove_leftovers
from sudare.errors import CapacityError, Message, RecipeError, did_you_mean
from sudare.publish.public_sources import refuse_private_files
from sudare.publish.recipe import checked, read_text

if TYPE_CHECKING:
    from sudare.publish.job import Job

KINDS = {
    "table": ("table_job", "TableJob"),
    "sample": ("sample_job", "SampleJob"),
    "perturbation": ("perturbation_job", "PerturbationJob"),
    "weights": ("weights_job", "WeightsJob"),
}


def job_of(kind: str) -> type[Job[Any, Any]]:
    """The job of a kind."""
    module, name = KINDS[kind]
    job: type[Job[Any, Any]] = getattr(import_module(f"sudare.publish.{module}"), name)
    return job


def open_job(path: str | Path) -> Job[Any, Any]:
    """Read a recipe and build every part once, so that mistakes show before anything is touched."""
    contents = read_text(Path(path))
    kind = contents.get("kind", "table")
    if not isinstance(kind, str) or kind not in KINDS:
        raise RecipeError("no such kind of recipe", value=kind, allowed=KINDS, hint=_nearest(kind))
    job = job_of(kind)
    recipe = checked(contents, job.shape)
    made = job.variant(recipe)(recipe, Path(path).resolve().parent)
    refuse_private_files(made)
    if scheme_of(recipe.data.path):
        require_reader(recipe.data.path, recipe.data.engine)
    with _within_reach():
        made.prepare()
    return made


def ready_job(path: str | Path) -> Job[Any, Any]:
    """`open_job`, and what its release would refuse whatever the data: said before these are read or paid for."""
    made = open_job(path)
    remove_leftovers(made.scratch)
    with _within_reach():
        # A context of its own: a tape that watches a publication must not see this trial, which is no part of it.
        Context().run(made.foresee)
    return made


@contextmanager
def _within_reach() -> Iterator[None]:
    """Numbers that no double holds (TOML knows whole numbers of any length), as a sentence."""
    try:
        yield
    except ArithmeticError:
        raise RecipeError("a number of the recipe is too large or too small to be computed with") from None
    except CapacityError:
        raise
    except MemoryError:
        raise RecipeError("the recipe asks for more than fits into the memory of this machine") from None


def _nearest(kind: object) -> Message | None:
    return did_you_mean(kind, KINDS) if isinstance(kind, str) else None


def json_schema() -> dict[str, Any]:
    """The JSON Schema of recipes of every kind, for editors."""
    from pydantic.json_schema import models_json_schema

    shapes = [job_of(kind).shape for kind in KINDS]
    _, schema = models_json_schema([(shape, "validation") for shape in shapes], title="A recipe of Sudare")
    return {**schema, "oneOf": [{"$ref": f"#/$defs/{shape.__name__}"} for shape in shapes]}
