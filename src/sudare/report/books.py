"""The state of the ledger as a section of the internal report."""

from __future__ import annotations

from collections.abc import Sequence

from sudare.privacy import Balance, Entry
from sudare.privacy.shown import balance_facts, entry_time, entry_words
from sudare.report.parts import Facts, Section, Table
from sudare.words import Words


def ledger_section(balance: Balance, entries: Sequence[Entry], words: Words) -> Section:
    """Cap, spending, what is left, and the rows of one data set."""
    rows = tuple((entry_time(entry, words), *entry_words(entry, words)) for entry in entries)
    header = (words("ledger.time"), words("ledger.entry"), words("ledger.amount"))
    parts = (Facts(balance_facts(balance, words)), Table(words("ledger.rows_caption"), header, rows, numbers=False))
    return Section(words("ledger.title"), parts, internal=True)
