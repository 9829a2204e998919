"""What a ledger says: balances, rows and its head, read from its file and verified."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sudare.errors import LedgerError, ParameterError, did_you_mean
from sudare.privacy.account import LedgerContents
from sudare.privacy.balance import Balance, People
from sudare.privacy.cap import Amounts
from sudare.privacy.chain import NO_DATASET, Entry
from sudare.privacy.names import account_name, dataset_name
from sudare.privacy.store import FORMAT, LedgerSession, exists, read, reading


class LedgerReader:
    """The reading half of `Ledger`: nothing here writes to the file."""

    def __init__(self, path: Path | str, timeout: float = 10.0) -> None:
        self.path = Path(path)
        self.timeout = timeout
        if not 0 <= timeout < float("inf"):
            raise ParameterError("timeout is not a number of seconds", value=timeout, allowed="0 or more")

    def __repr__(self) -> str:
        return f"Ledger({str(self.path)!r})"

    def _repr_html_(self) -> str:
        from sudare.language.catalogue import current_language
        from sudare.privacy.notebook import ledger_card

        return ledger_card(str(self.path), self.balances(), current_language())

    def balance(self, dataset: str) -> Balance:
        """Where ``dataset`` stands; one that the ledger does not know has no cap and no releases."""
        name = dataset_name(dataset)
        with reading(self.path, self.timeout) as session:
            return contents_of(session).balance(name)

    def balances(self, dataset: str | None = None) -> tuple[Balance, ...]:
        """Where every data set stands, or the one named, which must be known."""
        books = LedgerContents(self.entries())
        return tuple(books.balance(name) for name in self._chosen(books, dataset))

    def account(self, account: str) -> Balance:
        """Where an account of people stands, with what each of its data sets costs one of them."""
        return Balance.of_people(self._people(LedgerContents(self.entries()), account_name(account)))

    def accounts(self) -> tuple[Balance, ...]:
        """Where every account of people stands."""
        books = LedgerContents(self.entries())
        return tuple(books.standing(name) for name in books.accounts)

    def spent(self, dataset: str) -> Amounts:
        """What the releases of ``dataset`` cost together: see `Balance`."""
        return self.balance(dataset).spent

    def remaining(self, dataset: str) -> Amounts | None:
        """The most that one more release of ``dataset`` could cost; None without a cap: see `Balance`."""
        return self.balance(dataset).remaining

    def entries(self, dataset: str | None = None) -> tuple[Entry, ...]:
        """The rows in their order, of one data set or of all; none where there is no file yet."""
        name = None if dataset is None else dataset_name(dataset)
        return tuple(e for e in read(self.path, self.timeout) if name is None or e.dataset == name)

    def datasets(self) -> tuple[str, ...]:
        """The names of the data sets, in the order of their first row."""
        return LedgerContents(self.entries()).datasets

    def head(self) -> str | None:
        """The hash of the last row, which stands for the whole ledger; None while it is empty."""
        with reading(self.path, self.timeout) as session:
            return None if session is None or session.last is None else session.last.hash

    def holds(self, head: str) -> bool:
        """Whether a row has the hash ``head``, or names it as one that it stands for."""
        with reading(self.path, self.timeout) as session:
            return session is not None and session.holds(head)

    def verify(self, head: str | None = None) -> int:
        """The number of rows, after checking them all; `LedgerError` names the first broken one.

        ``head`` is the hash in a certificate and must be in the chain: that is what catches a ledger that
        was cut off at its end or written anew.
        """
        if not exists(self.path):
            raise LedgerError(
                "there is no ledger at {path}", hint="Give the path of the ledger's file.", path=self.path
            )
        entries = read(self.path, self.timeout)
        books = LedgerContents(entries)
        for name in books.datasets:
            books.account(name)
        if head is not None and head.strip().lower() not in {entry.hash for entry in entries}:
            raise LedgerError(
                "the head is not in the chain of the ledger {path}",
                value=head,
                hint="It belongs to another ledger, or this one was cut off or written anew.",
                path=self.path,
            )
        return len(entries)

    def to_json(self, dataset: str | None = None) -> dict[str, Any]:
        """Balances and rows of every data set, or of the one named, which must be known; and the head."""
        entries = self.entries()
        books = LedgerContents(entries)
        names = self._chosen(books, dataset)
        shown = names if dataset is not None else (*names, NO_DATASET)
        accounts = books.accounts if dataset is None else ()
        return {
            "format": FORMAT,
            "head": entries[-1].hash if entries else None,
            "balances": [books.balance(name).to_json() for name in names],
            "accounts": [books.standing(name).to_json() for name in accounts],
            "entries": [entry.to_json() for entry in entries if entry.dataset in shown],
        }

    def _people(self, books: LedgerContents, account: str) -> People:
        if account not in books.accounts:
            raise LedgerError(
                "the ledger {path} has no such account of people",
                value=account,
                allowed=books.accounts or "none yet",
                hint=did_you_mean(account, books.accounts) or "Set one first, with: sudare ledger account.",
                path=self.path,
            )
        return books.people(account)

    def _chosen(self, books: LedgerContents, dataset: str | None) -> tuple[str, ...]:
        names = books.datasets
        if dataset is None:
            return names
        name = dataset_name(dataset)
        if name not in names:
            raise LedgerError(
                "the ledger {path} has no such data set",
                value=name,
                allowed=names or "none yet",
                hint=did_you_mean(name, names),
                path=self.path,
            )
        return (name,)


def contents_of(session: LedgerSession | None) -> LedgerContents:
    """The contents of an open ledger; empty where there is no file yet."""
    return LedgerContents(()) if session is None else LedgerContents(session.entries, session.checkpoint)
