"""Releases that were interrupted and completed: the one that was paid for, and never a second draw.

A kill leaves what is on the disk at that moment. So while a publication runs to its end, its folder is copied right
after it has paid: that copy is what a kill would have left there. Put in the folder's place, it is completed, and must
give the bytes of the run that was not interrupted; on the data of a neighbour it must be refused.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from sudare.audit.finding import Finding
from sudare.audit.neighbours import frame, row_by_row
from sudare.audit.publications import QUICK_KINDS, PublicationCase, other_kinds, table
from sudare.audit.statements import Rules, rule_finding
from sudare.errors import PaidError
from sudare.privacy import Ledger
from sudare.publish.pending import PendingReleases
from sudare.publish.run import publish
from sudare.words import Progress, Stage


def completed_findings(folder: Path) -> Iterator[Finding]:
    """A finding for each kind of recipe."""
    import pyarrow.parquet as pq

    folder.mkdir()
    kinds = {name: next(case for case in other_kinds() if case.name.startswith(name)) for name in QUICK_KINDS}
    for case in (table("table, tree, ages", '"tree"', "epsilon = 3", page=True), *kinds.values()):
        kind = case.name.partition(",")[0]
        place = folder / kind
        place.mkdir()
        pq.write_table(frame(row_by_row(120, 77, 0)["data"]).drop_columns(["person"]), place / "public.parquet")
        yield rule_finding(f"publish, completed, {kind}", completed_rules(case, place, folder / f"{kind}, killed"))


def completed_rules(case: PublicationCase, folder: Path, killed: Path) -> Rules:
    """One recipe, published and completed in ``folder``; ``killed`` is the copy."""
    recipe, (data, neighbour) = folder / "recipe.toml", list(case.world(1).values())[:2]
    recipe.write_text(case.recipe, encoding="utf-8", newline="\n")
    case.write(data, folder / case.private)

    def keep(progress: Progress) -> None:
        if progress.stage is Stage.PROTECTING:
            shutil.copytree(folder, killed)

    whole = _bytes_of(publish(recipe, progress=keep).folder)
    left = bool(list(PendingReleases(Ledger(folder / "ledger.db")).folder.glob("*")))
    shutil.rmtree(folder)
    shutil.copytree(killed, folder)
    records = PendingReleases(Ledger(folder / "ledger.db"))
    named = len(records.waiting()) == 1
    silent = _refused(recipe, resume=False)
    case.write(neighbour, folder / case.private)
    other = _refused(recipe, resume=True)
    shutil.copy(killed / case.private, folder / case.private)
    completed = _bytes_of(publish(recipe, resume=True).folder)
    return {
        "a release that was paid for and is not out is named": named,
        "it is not paid for a second time unawares": silent,
        "it is not completed on the data of others": other,
        "completed, it is the one that was paid for": completed == whole,
        "completing costs nothing": Ledger(folder / "ledger.db").balance("audit").releases == 1,
        "no key of noise is kept of a release that is out": not left and not records.folder.exists(),
    }


def _refused(recipe: Path, *, resume: bool) -> bool:
    try:
        publish(recipe, resume=resume)
    except PaidError:
        return not (recipe.parent / "release").exists()
    return False


def _bytes_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
