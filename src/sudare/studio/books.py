"""The ledger's page: balances, the history of a data set, and whether the chain of rows is whole."""

from __future__ import annotations

import datetime
from typing import Any

from sudare.errors import SudareError
from sudare.privacy import Cap, Entry, Guarantee, Ledger
from sudare.privacy.settings import default_ledger
from sudare.privacy.shown import amounts_text, balance_facts, headline, spent_share
from sudare.studio.reading import Reading
from sudare.studio.refusals import as_json
from sudare.studio.workspace import Workspace
from sudare.words import Words


def ledger_json(workspace: Workspace, reading: Reading, words: Words) -> dict[str, Any]:
    """All data sets of the recipe's ledger; a ledger that cannot be trusted is a problem and not an error."""
    name = ledger_name(reading)
    empty: dict[str, Any] = {"head": None, "balances": [], "entries": []}
    said = {"path": name, "exists": False, **empty, "problem": None}
    path = workspace.folder / name  # an absolute name is a path of its own
    try:
        ledger = Ledger(path)
        entries = ledger.entries()
        balances = ledger.balances()
    except (SudareError, OSError, ValueError) as problem:
        found = problem if isinstance(problem, SudareError) else SudareError("the ledger cannot be read")
        return {**said, "exists": True, "problem": as_json(found, words)}
    return {
        **said,
        "exists": bool(entries),
        "head": entries[-1].hash if entries else None,
        "balances": [
            {
                "dataset": balance.dataset,
                "spent_share": spent_share(balance),
                "releases": balance.releases,
                "facts": [{"name": key, "value": value} for key, value in balance_facts(balance, words).items()],
            }
            for balance in balances
        ],
        "entries": [_entry(entry, words) for entry in reversed(entries)],
    }


def ledger_name(reading: Reading) -> str:
    """The ledger that a recipe names, also one that is not valid yet."""
    if reading.job is not None:
        return str(reading.job.recipe.ledger.path or default_ledger())
    part = (reading.contents or {}).get("ledger")
    name = part.get("path") if isinstance(part, dict) else None
    usable = isinstance(name, str) and name and "\0" not in name
    return str(name) if usable else str(default_ledger())


def _entry(entry: Entry, words: Words) -> dict[str, Any]:
    cap = entry.kind == "cap"
    return {
        "row": entry.id,
        "time": entry.time,
        "when": words.moment(datetime.datetime.fromisoformat(entry.time)),
        "dataset": entry.dataset,
        "kind": entry.kind,
        "release_id": None if cap else entry.content["release_id"],
        "amount": amounts_text(Cap.from_json(entry.content))
        if cap
        else headline(Guarantee.from_json(entry.content["guarantee"]), words),
        "hash": entry.hash,
    }
