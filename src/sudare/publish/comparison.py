"""A rehearsal as a page: true against released. Only for data that are not private, or for internal eyes."""

from __future__ import annotations

from pathlib import Path

from sudare.errors import OutputError
from sudare.publish.job import Rehearsal
from sudare.publish.table_rehearsal import TableRehearsal
from sudare.report.comparison import comparison_page, comparison_picture


def write_page(rehearsal: Rehearsal, path: Path, *, title: str = "Rehearsal") -> None:
    """Write the comparison of a rehearsal: HTML, or PNG where ``path`` ends so."""
    if not isinstance(rehearsal, TableRehearsal):
        raise OutputError("pages that compare are drawn of tables only", value=str(path))
    truth, released = rehearsal.truth, rehearsal.release.table
    method = rehearsal.release.method.name
    if path.suffix == ".png":
        content = comparison_picture(truth, released, method=method)
    else:
        facts = {
            "Data": rehearsal.basis,
            "Method": method,
            rehearsal.release.budget.currency.capitalize(): f"{float(rehearsal.release.budget.amount):g}",
            "L1 accuracy": f"{rehearsal.accuracy:.4f}",
        }
        content = comparison_page(truth, released, title=title, facts=facts, method=method).encode()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    except OSError as problem:
        raise OutputError(f"the page cannot be written: {problem.strerror}", value=str(path)) from None
