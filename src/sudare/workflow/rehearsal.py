"""`rehearse`: the whole release on synthetic or public data, where truth and release may be compared; and its page."""

from __future__ import annotations

from pathlib import Path

from sudare.errors import OutputError
from sudare.language.catalogue import ENGLISH, Words
from sudare.language.messages import OnProgress, unheard
from sudare.recipe.kind import Rehearsal
from sudare.workflow.job import Job, RecipeSource
from sudare.workflow.needs import memory_refused


@memory_refused()
def rehearse(
    recipe: RecipeSource,
    *,
    folder: str | Path | None = None,
    seed: int = 0,
    period: str | None = None,
    progress: OnProgress = unheard,
) -> Rehearsal:
    """Do what a recipe says on its public data, or on synthetic people, with seeded noise; spends nothing.

    ``recipe`` is the path of a file, a dictionary or a `sudare.Recipe`; the paths of the latter two are relative to
    ``folder``, by default the current one. ``period`` is as in `plan`.
    """
    return Job.ready(recipe, folder, period).kind.rehearse(seed, progress)


def write_page(rehearsal: Rehearsal, path: Path, *, title: str = "", words: Words = ENGLISH) -> None:
    """Write the comparison of a rehearsal: HTML, or PNG where ``path`` ends so."""
    content = rehearsal.comparison(words, title=title, picture=path.suffix == ".png")
    if content is None:
        raise OutputError("comparison pages are drawn for tables only", value=str(path))
    with OutputError.from_system("the page cannot be written: {reason}", value=str(path)):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
