"""The releases of a workspace, found by their certificates, and the ledger's page: balances and history."""

from __future__ import annotations

import json
import mimetypes
from pathlib import Path
from typing import Any

from sudare.errors import SudareError, VerificationError
from sudare.language.catalogue import Words
from sudare.privacy import Entry, Ledger
from sudare.privacy.notebook import balance_facts, entry_time, entry_words, spent_share
from sudare.privacy.settings import default_ledger
from sudare.studio.models import DatasetBalance, Fact, Findings, LedgerPage, LedgerRow, ReleaseFacts
from sudare.studio.reading import RecipeReading
from sudare.studio.refusals import RequestError, error_parts
from sudare.studio.workspace import Workspace
from sudare.workflow.certificate import verify
from sudare.workflow.folder import CERTIFICATE
from sudare.workflow.pages import public_path
from sudare.workflow.reports import LIST

_DEPTH = 3
_MOST = 200
REPORT_POLICY = (
    "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; "
    "img-src data:; font-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)
"""A report carries its scripts inside and opens anywhere; here it opens without the studio's rights."""


def listed(workspace: Workspace) -> list[ReleaseFacts]:
    """The releases in the workspace, newest first."""
    found = []
    patterns = ["/".join(["*"] * depth) + f"/{CERTIFICATE}" for depth in range(1, _DEPTH + 1)]
    for pattern in patterns:
        for path in list(workspace.folder.glob(pattern))[:_MOST]:
            name = path.parent.relative_to(workspace.folder).as_posix()
            try:
                certificate = _certificate(workspace.inside(name))
            except RequestError:
                continue
            found.append(_summary(name, certificate, public_path(path.parent).is_file()))
    return sorted(found, key=lambda one: one.created, reverse=True)


def file_of(workspace: Workspace, name: str) -> tuple[Path, str]:
    """A file of a release and its media type: only what its certificate lists, the certificate and the report."""
    path = workspace.inside(name)
    certificate = _certificate(path.parent)
    allowed = {*certificate["files"], CERTIFICATE, LIST, public_path(path.parent).name}
    if path.name not in allowed or not path.is_file():
        raise RequestError(404, "the release has no such file", allowed=sorted(allowed))
    kind, _ = mimetypes.guess_type(path.name)
    return path, "application/json" if path.suffix == ".geojson" else kind or "application/octet-stream"


def findings(workspace: Workspace, name: str, words: Words) -> Findings:
    """What `verify` says of a release of the workspace."""
    path = workspace.inside(name)
    try:
        found = verify(path)
    except VerificationError as problem:
        return Findings(release=name, ok=False, problem=error_parts(problem, words))
    checks = [*found.said(words), *(remark.text(words) for remark in found.reports.remarks)]
    return Findings(release=name, ok=True, release_id=found.to_json()["release_id"], checks=checks)


def _certificate(folder: Path) -> dict[str, Any]:
    try:
        content = json.loads((folder / CERTIFICATE).read_text(encoding="utf-8-sig"))
        if isinstance(content["files"], dict) and isinstance(content["release_id"], str):
            return dict(content)
    except (OSError, ValueError, KeyError, TypeError):
        pass
    raise RequestError(404, "there is no such release in the workspace")


def _summary(name: str, certificate: dict[str, Any], reported: bool) -> ReleaseFacts:
    text = {key: str(certificate.get(key) or "") for key in ("release_id", "dataset", "title", "created", "kind")}
    report = public_path(Path(name)).as_posix() if reported else None
    files = sorted(map(str, [*certificate["files"], CERTIFICATE]))
    return ReleaseFacts(folder=name, files=files, report=report, **text)


def ledger_page(workspace: Workspace, reading: RecipeReading, words: Words) -> LedgerPage:
    """All data sets of the recipe's ledger; a ledger that cannot be trusted is a problem and not an error."""
    name = ledger_name(reading)
    page = LedgerPage(path=name, releases=listed(workspace))
    path = workspace.folder / name  # an absolute name is a path of its own
    try:
        ledger = Ledger(path)
        entries = ledger.entries()
        balances = (*ledger.balances(), *ledger.accounts())
    except (SudareError, OSError, ValueError) as problem:
        found = problem if isinstance(problem, SudareError) else SudareError("the ledger cannot be read")
        page.problem = error_parts(found, words)
        return page
    page.head = entries[-1].hash if entries else None
    page.balances = [
        DatasetBalance(
            dataset=balance.dataset,
            spent_share=spent_share(balance),
            releases=balance.releases,
            facts=Fact.listed(balance_facts(balance, words)),
        )
        for balance in balances
    ]
    page.entries = [_entry(entry, words) for entry in reversed(entries)]
    return page


def ledger_name(reading: RecipeReading) -> str:
    """The ledger that a recipe names, also one that is not valid yet."""
    if reading.job is not None:
        return str(reading.job.recipe.ledger.path or default_ledger())
    part = (reading.contents or {}).get("ledger")
    name = part.get("path") if isinstance(part, dict) else None
    usable = isinstance(name, str) and name and "\0" not in name
    return str(name) if usable else str(default_ledger())


def _entry(entry: Entry, words: Words) -> LedgerRow:
    what, amount = entry_words(entry, words)
    return LedgerRow(
        row=entry.id,
        time=entry.time,
        when=entry_time(entry, words),
        dataset=entry.dataset or "–",
        kind=entry.kind,
        what=what,
        release_id=entry.content["release_id"] if entry.kind == "spend" else None,
        amount=amount,
        hash=entry.hash,
    )
