"""The ledger's page: balances, the history of a data set, and whether the chain of rows is whole."""

from __future__ import annotations

from sudare.errors import SudareError
from sudare.language.catalogue import Words
from sudare.privacy import Entry, Ledger
from sudare.privacy.notebook import balance_facts, entry_time, entry_words, spent_share
from sudare.privacy.settings import default_ledger
from sudare.studio import releases
from sudare.studio.models import DatasetBalance, Fact, LedgerPage, LedgerRow
from sudare.studio.reading import RecipeReading
from sudare.studio.refusals import error_parts
from sudare.studio.workspace import Workspace


def ledger_page(workspace: Workspace, reading: RecipeReading, words: Words) -> LedgerPage:
    """All data sets of the recipe's ledger; a ledger that cannot be trusted is a problem and not an error."""
    name = ledger_name(reading)
    page = LedgerPage(path=name, exists=True, releases=releases.listed(workspace))
    path = workspace.folder / name  # an absolute name is a path of its own
    try:
        ledger = Ledger(path)
        entries = ledger.entries()
        balances = (*ledger.balances(), *ledger.accounts())
    except (SudareError, OSError, ValueError) as problem:
        found = problem if isinstance(problem, SudareError) else SudareError("the ledger cannot be read")
        page.problem = error_parts(found, words)
        return page
    page.exists = bool(entries)
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
    return LedgerRow(
        row=entry.id,
        time=entry.time,
        when=entry_time(entry, words),
        dataset=entry.dataset or "–",
        kind=entry.kind,
        release_id=entry.content["release_id"] if entry.kind == "spend" else None,
        amount=entry_words(entry, words)[1],
        hash=entry.hash,
    )
