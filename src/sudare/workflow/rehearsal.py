"""A rehearsal as a page: true against released. Only for data that are not private, or for internal eyes.

`rehearse`: the whole release on synthetic or public data, where truth and release may be compared.
"""

from __future__ import annotations

from pathlib import Path

from sudare.errors import OutputError, system_reason
from sudare.language.catalogue import ENGLISH, Words
from sudare.language.messages import OnProgress, said, unheard
from sudare.privacy import readable
from sudare.recipe.kind import Rehearsal
from sudare.render.reports import internal_page
from sudare.tables.comparison import comparison_picture, comparison_sections
from sudare.tables.rehearsal import TableRehearsal
from sudare.workflow.job import Job, RecipeSource
from sudare.workflow.needs import memory_refused


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


def write_page(rehearsal: Rehearsal, path: Path, *, title: str = "", words: Words = ENGLISH) -> None:
    """Write the comparison of a rehearsal: HTML, or PNG where ``path`` ends so."""
    if not isinstance(rehearsal, TableRehearsal):
        raise OutputError("pages that compare are drawn of tables only", value=str(path))
    truth, released = rehearsal.truth, rehearsal.release.table
    method = rehearsal.release.method.name
    if path.suffix == ".png":
        content = comparison_picture(truth, released, method=method, words=words)
    else:
        budget = rehearsal.release.budget
        facts = {
            words("compare.data"): said(rehearsal.basis, words),
            words("method.name"): words.label("method_name", method),
            words("method.budget"): words(f"method.{budget.currency}", amount=readable(budget.amount)),
            words("compare.accuracy"): words.percent(rehearsal.accuracy),
        }
        sections = comparison_sections(truth, released, words, method=method)
        content = internal_page(sections, words, title=title or words("page.rehearsal"), facts=facts).encode()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    except OSError as problem:
        raise OutputError(
            "the page cannot be written: {reason}", value=str(path), reason=system_reason(problem)
        ) from None
