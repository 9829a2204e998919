"""A rehearsal as a page: true against released. Only for data that are not private, or for internal eyes."""

from __future__ import annotations

from pathlib import Path

from sudare.errors import OutputError, system_reason
from sudare.privacy import readable
from sudare.publish.kind import Rehearsal
from sudare.publish.table_rehearsal import TableRehearsal
from sudare.report import comparison_picture, comparison_sections, internal_page
from sudare.words import ENGLISH, Words


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
            words("compare.data"): rehearsal.basis.text(words),
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
