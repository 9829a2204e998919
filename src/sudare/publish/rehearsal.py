"""`rehearse`: the whole release on synthetic or public data, where truth and release may be compared."""

from __future__ import annotations

from pathlib import Path

from sudare.publish.job import Job
from sudare.publish.kind import Rehearsal
from sudare.publish.kinds import RecipeSource
from sudare.publish.needs import memory_refused
from sudare.words import OnProgress, unheard


@memory_refused()
def rehearse(
    recipe: RecipeSource,
    *,
    folder: str | Path | None = None,
    seed: int = 0,
    progress: OnProgress = unheard,
) -> Rehearsal:
    """Do what a recipe says on its public data, or on synthetic people, with seeded noise; spends nothing.

    ``recipe`` is the path of a file, a dictionary or a `sudare.Recipe`; the paths of the latter two are relative to
    ``folder``, by default the current one.
    """
    return Job.ready(recipe, folder).kind.rehearse(seed, progress)
