"""Rehearsals that were made: their numbers as JSON, and a map of the true and the released table."""

from __future__ import annotations

import json
import math
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

from sudare.domain import CountTable
from sudare.language.catalogue import ENGLISH, LANGUAGES, Words
from sudare.language.messages import said
from sudare.measure import error_by_value
from sudare.measure.comparison import support
from sudare.recipe.kind import Rehearsal
from sudare.render.drawing import View
from sudare.render.outlines import countries
from sudare.studio.models import RehearsalSummary
from sudare.studio.protection import cost_text, listed_facts, said_rows
from sudare.studio.refusals import RequestError, in_every_language, in_language
from sudare.studio.workspace import Workspace
from sudare.tables.rehearsal import TableRehearsal
from sudare.workflow.job import Job

MOST_PLACES = 1 << 12
"""Of an attribute that is no place and is drawn as a band."""


def map_of(truth: CountTable, released: CountTable) -> dict[str, Any] | None:
    """The content of a map of both tables, and what it says in each language; None where nothing can be drawn."""
    view = View.of(truth.domain)
    view = replace(view, shift=0) if not view.is_map else view
    if not view.is_map and view.domain.attributes[view.name].lengths[0] > MOST_PLACES:
        return None
    content = view.map(dict(zip(SIDES, (truth, released), strict=True)), outline=countries())
    for panel, table in zip(content["panels"], (truth, released), strict=True):
        panel["total"] = float(table.total)
    spoken = {language: replace(view, words=Words(language)) for language in LANGUAGES}
    said = {language: {"what": own.what, "note": own.note} for language, own in spoken.items()}
    return {key: value for key, value in content.items() if key not in ("words", "what")} | {"said": said}


KEPT = 20
SIDES = ("true", "released")
_NAME = re.compile(r"[0-9a-f]{16}-[0-9]{1,18}")


def keep(workspace: Workspace, name: str, version: int, job: Job, made: Rehearsal) -> dict[str, Any]:
    """Write a rehearsal into the hidden folder, whole or not at all; its summary."""
    folder = _folder(workspace) / name
    partial = folder.with_name(f".{name}")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    content = {
        "id": name,
        "version": version,
        "kind": job.recipe.kind,
        "dataset": job.recipe.dataset,
        "method": _method(job),
        "cost": cost_text(job.guarantee),
        "guarantee": str(job.guarantee),
        "repetitions": made.repetitions,
        "said": in_every_language(
            lambda words: {
                "basis": said(made.basis, words),
                "facts": listed_facts(made.facts, words),
                "errors": said_rows(made.errors, words),
            }
        ),
        "accuracy": None,
        "by_value": [],
        "support": None,
        "map": False,
    }
    if isinstance(made, TableRehearsal):
        truth, released = made.truth, made.release.table
        drawn = map_of(truth, released)
        if drawn is not None:
            (partial / "map.json").write_text(json.dumps(drawn), encoding="utf-8", newline="\n")
        found = support(truth, released)
        content |= {
            "accuracy": made.accuracy,
            "by_value": error_by_value(truth, released).rows(),
            "support": {
                "kept": found.true_positives,
                "vanish": found.false_negatives,
                "appear": found.false_positives,
                "empty": found.true_negatives,
            },
            "map": drawn is not None,
        }
    text = json.dumps(_finite(content), ensure_ascii=False)
    (partial / "rehearsal.json").write_text(text, encoding="utf-8", newline="\n")
    partial.rename(folder)
    _forget(workspace)
    return get(workspace, name)


def get(workspace: Workspace, name: str, words: Words = ENGLISH) -> dict[str, Any]:
    """What a rehearsal found."""
    try:
        content: dict[str, Any] = json.loads((_found(workspace, name) / "rehearsal.json").read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise RequestError(404, "there is no such rehearsal") from None
    return {**content, **in_language(content["said"], words)}


def map_text(workspace: Workspace, name: str) -> str:
    """Its map, as JSON for map.js."""
    try:
        return (_found(workspace, name) / "map.json").read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        raise RequestError(404, "the rehearsal has no map") from None


def listed(workspace: Workspace, words: Words = ENGLISH) -> list[RehearsalSummary]:
    """What is kept, newest first."""
    found = sorted(_folder(workspace).glob("[0-9a-f]*-*"), key=lambda path: path.stat().st_mtime_ns, reverse=True)
    return [RehearsalSummary.model_validate(get(workspace, path.name, words)) for path in found]


def _folder(workspace: Workspace) -> Path:
    return workspace.hidden / "rehearsals"


def _found(workspace: Workspace, name: str) -> Path:
    if not _NAME.fullmatch(name):
        raise RequestError(404, "there is no such rehearsal")
    return _folder(workspace) / name


def _forget(workspace: Workspace) -> None:
    """Keep the newest."""
    for old in listed(workspace)[KEPT:]:
        shutil.rmtree(_folder(workspace) / old.id, ignore_errors=True)


def _finite(value: Any) -> Any:
    """JSON has no infinity and no missing number: both become null."""
    if isinstance(value, dict):
        return {name: _finite(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _method(job: Job) -> str | None:
    method = getattr(job.kind, "method", None)
    name = getattr(method, "name", None)
    return name if isinstance(name, str) else None
