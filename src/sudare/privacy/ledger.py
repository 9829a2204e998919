"""The ledger: who spent how much on which data set, in one SQLite file, one row per release.

Spend first, write after: `Ledger.spend` returns when the row is on the disk, and only then may a release
appear. A crash at any moment can leave a row without a release, never a release without a row. A spend holds
the file's write lock from reading the balance to writing the row, so two processes cannot spend the same
budget. A spend verifies the rows since the last checkpoint (`checkpoint`), everything else the whole file.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sudare.errors import BudgetError, LedgerError, LedgerWarning, Message, ParameterError, did_you_mean
from sudare.privacy.account import Account, LedgerContents
from sudare.privacy.balance import Balance
from sudare.privacy.budget import Number, asked_delta
from sudare.privacy.cap import Amounts, Cap
from sudare.privacy.chain import NO_DATASET, Entry, canonical, next_entry
from sudare.privacy.composition import composes
from sudare.privacy.fingerprint import Fingerprint, key_path, load_or_create, names_of_same_data, refuse_same_data
from sudare.privacy.guarantee import Guarantee
from sudare.privacy.history import KnownHead, StatedRelease, refuse_unknown_heads
from sudare.privacy.names import declared, refuse_look_alike
from sudare.privacy.people import Member, People
from sudare.privacy.store import FORMAT, LedgerSession, exists, read, reading, writing


class Ledger:
    """The ledger in the file ``path``, made by the first write; waits ``timeout`` seconds for other writers.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     ledger = Ledger(f"{folder}/ledger.db")
    ...     cap = ledger.set_cap("census", epsilon=0.3)
    ...     entry = ledger.spend("census", Guarantee("epsilon-DP", epsilon=0.1), "release-1")
    ...     print(ledger.balance("census"))
    census: cap epsilon 0.3; spent epsilon 0.1; remaining epsilon 0.2; releases 1
    """

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

    @classmethod
    def open(cls, path: Path | str, timeout: float = 10.0) -> Ledger:
        """The ledger in a file that must exist; the whole of it is verified once."""
        ledger = cls(path, timeout)
        ledger.verify()
        return ledger

    def set_cap(
        self,
        dataset: str,
        *,
        epsilon: Number | None = None,
        delta: Number = 0,
        rho: Number | None = None,
        confirm: bool = False,
    ) -> Entry:
        """Set the cap of ``dataset``, or change it where ``confirm`` is given; the same one again adds no row.

        A cap below what is spent is allowed and leaves nothing. A new name that looks like another is confirmed too.
        """
        name = declared(dataset, Message("the name of a data set"))
        cap = Cap.asked(epsilon=epsilon, delta=delta, rho=rho)
        with writing(self.path, self.timeout) as session:
            books = LedgerContents(session.entries)
            before = books.account(name).cap
            if before == cap:
                return next(row for row in reversed(session.entries) if (row.dataset, row.kind) == (name, "cap"))
            if before is not None and confirm is not True:
                raise LedgerError(
                    "data set {name!r} has a cap already",
                    value=str(before),
                    hint="To change it, confirm it: --confirm, or confirm=True.",
                    name=name,
                )
            if confirm is not True:
                refuse_look_alike(name, books.datasets)
            return _append(session, name, "cap", cap.to_json())

    def set_account(
        self,
        account: str,
        *,
        unit: str = "person",
        epsilon: Number | None = None,
        delta: Number = 0,
        rho: Number | None = None,
        confirm: bool = False,
    ) -> Entry:
        """Set the cap of an account of people: of what each ``unit`` loses by all data sets that join it.

        Like that of a data set it is changed where ``confirm`` is given.
        """
        name, who = declared(account, Message("the name of an account")), declared(unit, Message("the name of a unit"))
        cap = Cap.asked(epsilon=epsilon, delta=delta, rho=rho)
        with writing(self.path, self.timeout) as session:
            books = LedgerContents(session.entries)
            if name in books.accounts:
                people = books.people(name)
                if people.unit != who:
                    raise LedgerError("an account keeps its unit", value=who, allowed=[people.unit])
                if people.cap != cap and confirm is not True:
                    raise LedgerError(
                        "account {name!r} has a cap already",
                        value=str(people.cap),
                        hint="To change it, confirm it: --confirm, or confirm=True.",
                        name=name,
                    )
            return _append(session, NO_DATASET, "account", {"account": name, "unit": who, "cap": cap.to_json()})

    def join(
        self, dataset: str, account: str, *, part: str | None = None, units: int | None = None, confirm: bool = False
    ) -> Entry:
        """Let ``dataset``, with all its releases so far and to come, count in an account of people.

        ``part`` declares that nobody of this data set is in a data set of another part, ever (prefectures; not where
        people move and are counted again). ``units`` declares how many units of the data set's releases one person can
        be at most: needed where they protect something else than the account does, as a person's day or a row. A data
        set stays where it is; later only its part may be given up and its units raised, which count for more. A new
        name that looks like another needs ``confirm``.
        """
        name, target = (
            declared(dataset, Message("the name of a data set")),
            declared(account, Message("the name of an account")),
        )
        piece = None if part is None else declared(part, Message("the name of a part"))
        if units is not None and (type(units) is not int or units < 1):
            raise ParameterError("units is not a whole number from 1 on", value=units)
        with writing(self.path, self.timeout) as session:
            books = LedgerContents(session.entries)
            people = self._people(books, target)
            if confirm is not True:
                refuse_look_alike(name, books.datasets)
            if (joined := books.membership(name)) is not None:
                before, terms = joined
                lower = (units or 1) < (terms.units or 1) or (terms.units is not None and units is None)
                if before != target or (piece is not None and piece != terms.part) or lower:
                    raise LedgerError(
                        "data set {name!r} is in the account {before!r} and stays there",
                        hint="Later only its part may be given up, and its units raised.",
                        name=name,
                        before=before,
                    )
            people.refuse_unit(Member(name, piece, units, books.account(name).guarantees))
            return _append(session, name, "join", {"account": target, "part": piece, "units": units})

    def account(self, account: str) -> Balance:
        """Where an account of people stands, with what each of its data sets costs one of them."""
        return Balance.of_people(
            self._people(LedgerContents(self.entries()), declared(account, Message("the name of an account")))
        )

    def accounts(self) -> tuple[Balance, ...]:
        """Where every account of people stands."""
        books = LedgerContents(self.entries())
        return tuple(books.standing(name) for name in books.accounts)

    def spend(
        self,
        dataset: str,
        guarantee: Guarantee,
        release_id: str,
        *,
        recipe_hash: str | None = None,
        note: str | None = None,
        accept_no_guarantee: bool = False,
        default_cap: Cap | None = None,
        sources: Sequence[Fingerprint] = (),
        heads: Sequence[KnownHead] = (),
        confirm_same_data: bool = False,
        confirm_similar_name: bool = False,
        confirm_other_history: bool = False,
    ) -> Entry:
        """Charge one release to ``dataset``: its row is on the disk when this returns, its hash is the head.

        `BudgetError` where its cap, or that of the account of people it joined, would be passed, or where there is
        none; ``default_cap`` is set first where the data set has none, and must be the cap where it has one. A release
        whose guarantee does not add up needs ``accept_no_guarantee=True`` and is counted as unbounded; a seeded one is
        refused. A ``release_id`` is good for one row. ``sources`` are fingerprints of the data; those that were
        released under another name need ``confirm_same_data=True``, and the row then names it; so do ``heads`` of the
        data set that are not in this ledger (`history`) and a new name that looks like another one.
        """
        name = declared(dataset, Message("the name of a data set"))
        release = declared(release_id, Message("a release id"))
        _refuse_large_delta(guarantee, default_cap)
        terms: dict[str, Any] = {"accept_no_guarantee": accept_no_guarantee, "default_cap": default_cap}
        if not exists(self.path):
            Account(name).admit(guarantee, **terms)  # so that a refusal makes no file
        with writing(self.path, self.timeout, resumed=True) as session:
            books = LedgerContents(session.entries, session.checkpoint)
            account = books.account(name)
            if _row_of(session, name, release) is not None:
                raise LedgerError("the release is already in the ledger", value=release, allowed="a new id")
            _refuse_other_cap(account, default_cap)
            if confirm_similar_name is not True:
                refuse_look_alike(name, books.datasets)
            missing = self._missing(session, name, heads, confirm_other_history)
            found = session.mentioning(*(source.hash for source in sources if source.hash is not None))
            if confirm_same_data is not True:
                refuse_same_data(found, name, sources, session.checkpoint.keys)
            cap = account.admit(guarantee, **terms).cap
            if account.cap is None and cap is not None:
                _append(session, name, "cap", cap.to_json())
            content = _booking(release, guarantee, recipe_hash, note, missing) | {
                "sources": [source.to_json() for source in sources],
                "same_data_as": list(names_of_same_data(found, name, sources)),
            }
            return _append(session, name, "spend", content)

    def reconcile(self, guarantee: Guarantee, made: StatedRelease) -> Entry | None:
        """Book a release that is out and that this ledger lacks, also above a cap; None where it has it.

        One that the ledger has with another guarantee, and a new name that looks like another one, are refused.
        """
        name, release = (
            declared(made.dataset, Message("the name of a data set")),
            declared(made.release_id, Message("a release id")),
        )
        with writing(self.path, self.timeout, resumed=True) as session:
            if (row := _row_of(session, name, release)) is not None:
                if Guarantee.from_json(row.content["guarantee"]) != guarantee.booked():
                    raise LedgerError(
                        "the ledger has this release with another guarantee",
                        value=release,
                        hint="One of the two is not what was published: compare the certificate with the row.",
                    )
                return None
            books = LedgerContents(session.entries, session.checkpoint)
            refuse_look_alike(name, books.datasets)
            people = books.account(name).people
            if people is not None:
                member = next(each for each in people.members if each.dataset == name)
                people.refuse_unit(replace(member, guarantees=(*member.guarantees, guarantee)))
            content = _booking(release, guarantee, made.recipe_hash, None, [made.head])
            return _append(session, name, "spend", content | {"booked_later": True, "created": made.created})

    def fingerprint_key(self) -> bytes:
        """The key of this ledger's fingerprints, in a file beside it; made when there is none yet."""
        exists(self.path)  # refuses what is no file
        path = self.path.resolve()  # a ledger has one key, by whatever link it is reached
        if not path.parent.is_dir():
            raise LedgerError(
                "the folder of the ledger {path} does not exist", hint="Make the folder first.", path=self.path
            )
        return load_or_create(key_path(path))

    def check(
        self,
        dataset: str,
        guarantee: Guarantee,
        *,
        accept_no_guarantee: bool = False,
        default_cap: Cap | None = None,
        heads: Sequence[KnownHead] = (),
        confirm_similar_name: bool = False,
        confirm_other_history: bool = False,
    ) -> Balance:
        """The balance after a release that is not made, or the error that `spend` would raise now."""
        _refuse_large_delta(guarantee, default_cap)
        name = declared(dataset, Message("the name of a data set"))
        with reading(self.path, self.timeout) as session:
            books = _books(session)
            self._missing(session, name, heads, confirm_other_history)
        if confirm_similar_name is not True:
            refuse_look_alike(name, books.datasets)
        account = books.account(name)
        _refuse_other_cap(account, default_cap)
        terms: dict[str, Any] = {"accept_no_guarantee": accept_no_guarantee, "default_cap": default_cap}
        return account.admit(guarantee, **terms).balance

    def balance(self, dataset: str) -> Balance:
        """Where ``dataset`` stands; one that the ledger does not know has no cap and no releases."""
        name = declared(dataset, Message("the name of a data set"))
        with reading(self.path, self.timeout) as session:
            return _books(session).balance(name)

    def beginnings(self, dataset: str) -> tuple[LedgerWarning, ...]:
        """What a first release of ``dataset`` begins, to be said to whoever expected earlier ones to count."""
        name = declared(dataset, Message("the name of a data set"))
        with reading(self.path, self.timeout) as session:
            known = _books(session).datasets
        if name in known:
            return ()
        begun = LedgerWarning(
            (
                "data set {name!r} is new in the ledger {path}"
                if session is not None and session.last is not None
                else "a new ledger begins at {path}"
            ),
            hint="Releases that are booked elsewhere, or under another name, do not count.",
            name=name,
            path=self.path,
        )
        return (begun,)

    def balances(self, dataset: str | None = None) -> tuple[Balance, ...]:
        """Where every data set stands, or the one named, which must be known."""
        books = LedgerContents(self.entries())
        return tuple(books.balance(name) for name in self._chosen(books, dataset))

    def spent(self, dataset: str) -> Amounts:
        """What the releases of ``dataset`` cost together: see `Balance`."""
        return self.balance(dataset).spent

    def remaining(self, dataset: str) -> Amounts | None:
        """The most that one more release of ``dataset`` could cost; None without a cap: see `Balance`."""
        return self.balance(dataset).remaining

    def entries(self, dataset: str | None = None) -> tuple[Entry, ...]:
        """The rows in their order, of one data set or of all; none where there is no file yet."""
        name = None if dataset is None else declared(dataset, Message("the name of a data set"))
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

    def _missing(
        self, session: LedgerSession | None, dataset: str, heads: Sequence[KnownHead], confirmed: bool
    ) -> list[str]:
        """The ``heads`` that the ledger does not hold, where that is confirmed; `LedgerError` where it is not."""
        missing = [known for known in heads if session is None or not session.holds(known.head)]
        if confirmed is not True:
            refuse_unknown_heads(dataset, self.path, missing)
        return list(dict.fromkeys(known.head for known in missing))

    def _chosen(self, books: LedgerContents, dataset: str | None) -> tuple[str, ...]:
        names = books.datasets
        if dataset is None:
            return names
        name = declared(dataset, Message("the name of a data set"))
        if name not in names:
            raise LedgerError(
                "the ledger {path} has no such data set",
                value=name,
                allowed=names or "none yet",
                hint=did_you_mean(name, names),
                path=self.path,
            )
        return (name,)


def _append(session: LedgerSession, dataset: str, kind: str, content: dict[str, Any]) -> Entry:
    time = datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    if session.last is not None and time < session.last.time:
        warnings.warn(
            LedgerWarning(
                "the clock went back: row {id} of the ledger is later than now",
                value=session.last.time,
                hint="Rows count in their order, whatever their times; set the clock right.",
                id=session.last.id,
            ),
            stacklevel=3,
        )
    entry = next_entry(session.last, time, dataset, kind, content)
    session.append(entry)
    return entry


def _books(session: LedgerSession | None) -> LedgerContents:
    return LedgerContents(()) if session is None else LedgerContents(session.entries, session.checkpoint)


def _row_of(session: LedgerSession, dataset: str, release: str) -> Entry | None:
    rows = (e for e in session.mentioning(canonical(release)) if (e.dataset, e.kind) == (dataset, "spend"))
    return next((row for row in rows if row.content.get("release_id") == release), None)


def _booking(
    release: str, guarantee: Guarantee, recipe_hash: str | None, note: str | None, heads: list[str]
) -> dict[str, Any]:
    """What every row of a release says; ``heads`` of other ledgers, or of a later state of this one, that it names."""
    return {
        "release_id": release,
        "recipe_hash": recipe_hash,
        "note": note,
        "unbounded": not composes(guarantee),
        "guarantee": guarantee.booked().to_json(),
        **({"heads": heads} if heads else {}),
    }


def _refuse_large_delta(guarantee: Guarantee, default_cap: Cap | None) -> None:
    """No release that is charged now, and no cap that comes with it, may ask for a delta that protects nobody."""
    if guarantee.delta is not None:
        asked_delta(guarantee.delta)
    if default_cap is not None:
        default_cap.refuse_large_delta()


def _refuse_other_cap(account: Account, default_cap: Cap | None) -> None:
    """A cap that is declared a second time is the one that is set, or somebody is mistaken."""
    if default_cap is not None and account.cap is not None and default_cap != account.cap:
        raise BudgetError(
            "data set {dataset!r} has another cap in the ledger than the one declared here",
            value=str(default_cap),
            allowed=[account.cap],
            hint="Leave the cap out or write the ledger's; to change that, use: sudare ledger set-cap --confirm.",
            dataset=account.dataset,
        )
