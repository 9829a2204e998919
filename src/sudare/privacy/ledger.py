"""The ledger: who spent how much on which data set, in one SQLite file, one row per release.

Spend first, write after: `Ledger.spend` returns when the row is on the disk, and only then may a release
appear. A crash at any moment can leave a row without a release, never a release without a row. A spend holds
the file's write lock from reading the balance to writing the row, so two processes cannot spend the same
budget. A spend verifies the rows since the last `Checkpoint`, everything else the whole file.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sudare.errors import BudgetError, LedgerError, LedgerWarning, Message
from sudare.parameters import keywords_of
from sudare.privacy.account import Account, LedgerContents
from sudare.privacy.balance import Balance, Member
from sudare.privacy.budget import Number, asked_delta, whole
from sudare.privacy.cap import Cap
from sudare.privacy.chain import NO_DATASET, Entry, canonical, next_entry
from sudare.privacy.composition import composes
from sudare.privacy.fingerprint import Fingerprint, key_path, load_or_create, names_of_same_data, refuse_same_data
from sudare.privacy.guarantee import Guarantee
from sudare.privacy.history import KnownHead, StatedRelease, refuse_unknown_heads
from sudare.privacy.ledger_reader import LedgerReader, contents_of
from sudare.privacy.names import account_name, dataset_name, declared, refuse_look_alike
from sudare.privacy.store import LedgerSession, exists, reading, writing


@dataclass(frozen=True, kw_only=True)
class SpendTerms:
    """What is declared and confirmed for a spend: the keywords of `Ledger.spend` and `Ledger.check`.

    ``default_cap`` is set first where the data set has none, and must be the cap where it has one. A release whose
    guarantee does not add up needs ``accept_no_guarantee=True`` and is counted as unbounded. ``sources`` are
    fingerprints of the data; those that were released under another name need ``confirm_same_data=True``, and the row
    then names it. ``heads`` of the data set that are not in this ledger (`history`) need
    ``confirm_other_history=True``, and a new name that looks like another one ``confirm_similar_name=True``.
    """

    accept_no_guarantee: bool = False
    default_cap: Cap | None = None
    sources: Sequence[Fingerprint] = ()
    heads: Sequence[KnownHead] = ()
    confirm_same_data: bool = False
    confirm_similar_name: bool = False
    confirm_other_history: bool = False

    def admitted(self, account: Account, guarantee: Guarantee) -> Account:
        """``account`` with one more release, or the error where these terms do not admit it."""
        return account.admit(guarantee, accept_no_guarantee=self.accept_no_guarantee, default_cap=self.default_cap)


class Ledger(LedgerReader):
    """The ledger in the file ``path``, made by the first write; waits ``timeout`` seconds for other writers.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     ledger = Ledger(f"{folder}/ledger.db")
    ...     cap = ledger.set_cap("census", epsilon=0.3)
    ...     entry = ledger.spend("census", Guarantee("epsilon-DP", epsilon=0.1), "release-1")
    ...     print(ledger.balance("census"))
    census: cap epsilon 0.3; spent epsilon 0.1; remaining epsilon 0.2; releases 1
    """

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
        name = dataset_name(dataset)
        cap = Cap.declared(epsilon=epsilon, delta=delta, rho=rho)
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
        name, who = account_name(account), declared(unit, Message("the name of a unit"))
        cap = Cap.declared(epsilon=epsilon, delta=delta, rho=rho)
        with writing(self.path, self.timeout) as session:
            books = LedgerContents(session.entries)
            if name in books.accounts:
                people = books.people(name)
                if people.unit != who:
                    raise LedgerError("the unit of an account cannot change", value=who, allowed=[people.unit])
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
        name, target = dataset_name(dataset), account_name(account)
        piece = None if part is None else declared(part, Message("the name of a part"))
        units = None if units is None else whole(units, "units")
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
                        hint="Later only its part can be removed, and its units raised.",
                        name=name,
                        before=before,
                    )
            people.refuse_unit(Member(name, piece, units, books.account(name).guarantees))
            return _append(session, name, "join", {"account": target, "part": piece, "units": units})

    @keywords_of(SpendTerms)
    def spend(
        self,
        dataset: str,
        guarantee: Guarantee,
        release_id: str,
        *,
        parameters: SpendTerms,
        recipe_hash: str | None = None,
        note: str | None = None,
    ) -> Entry:
        """Charge one release to ``dataset``: its row is on the disk when this returns, its hash is the head.

        `BudgetError` where its cap, or that of the account of people it joined, would be passed, or where there is
        none. A seeded release is refused. A ``release_id`` is good for one row. The other keywords are `SpendTerms`.
        """
        terms, sources = parameters, parameters.sources
        name = dataset_name(dataset)
        release = declared(release_id, Message("a release id"))
        _refuse_large_delta(guarantee, terms.default_cap)
        if not exists(self.path):
            terms.admitted(Account(name), guarantee)  # so that a refusal makes no file
        with writing(self.path, self.timeout, resumed=True) as session:
            books = LedgerContents(session.entries, session.checkpoint)
            account = books.account(name)
            if _row_of(session, name, release) is not None:
                raise LedgerError("the release is already in the ledger", value=release, allowed="a new id")
            _refuse_other_cap(account, terms.default_cap)
            if terms.confirm_similar_name is not True:
                refuse_look_alike(name, books.datasets)
            missing = self._missing(session, name, terms)
            found = session.mentioning(*(source.hash for source in sources if source.hash is not None))
            if terms.confirm_same_data is not True:
                refuse_same_data(found, name, sources, session.checkpoint.keys)
            cap = terms.admitted(account, guarantee).cap
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
        name, release = dataset_name(made.dataset), declared(made.release_id, Message("a release id"))
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

    @keywords_of(SpendTerms)
    def check(self, dataset: str, guarantee: Guarantee, *, parameters: SpendTerms) -> Balance:
        """The balance after a release that is not made, or the error that `spend` would raise now."""
        _refuse_large_delta(guarantee, parameters.default_cap)
        name = dataset_name(dataset)
        with reading(self.path, self.timeout) as session:
            books = contents_of(session)
            self._missing(session, name, parameters)
        if parameters.confirm_similar_name is not True:
            refuse_look_alike(name, books.datasets)
        account = books.account(name)
        _refuse_other_cap(account, parameters.default_cap)
        return parameters.admitted(account, guarantee).balance

    def beginnings(self, dataset: str) -> tuple[LedgerWarning, ...]:
        """Warnings before a first release of ``dataset``, in case earlier ones were expected to count."""
        name = dataset_name(dataset)
        with reading(self.path, self.timeout) as session:
            known = contents_of(session).datasets
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

    def fingerprint_key(self) -> bytes:
        """The key of this ledger's fingerprints, in a file beside it; made when there is none yet."""
        exists(self.path)  # refuses what is no file
        path = self.path.resolve()  # a ledger has one key, by whatever link it is reached
        if not path.parent.is_dir():
            raise LedgerError(
                "the folder of the ledger {path} does not exist", hint="Make the folder first.", path=self.path
            )
        return load_or_create(key_path(path))

    def has_release(self, dataset: str, release_id: str) -> bool:
        """Whether a row of ``dataset`` has paid for ``release_id``."""
        with reading(self.path, self.timeout) as session:
            return session is not None and _row_of(session, dataset, release_id) is not None

    def _missing(self, session: LedgerSession | None, dataset: str, terms: SpendTerms) -> list[str]:
        """The heads that the ledger does not hold, where that is confirmed; `LedgerError` where it is not."""
        missing = [known for known in terms.heads if session is None or not session.holds(known.head)]
        if terms.confirm_other_history is not True:
            refuse_unknown_heads(dataset, self.path, missing)
        return list(dict.fromkeys(known.head for known in missing))


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
    """Refuse a declared cap that differs from the one that is set."""
    if default_cap is not None and account.cap is not None and default_cap != account.cap:
        raise BudgetError(
            "data set {dataset!r} has another cap in the ledger than the one declared here",
            value=str(default_cap),
            allowed=[account.cap],
            hint="Leave the cap out or write the ledger's; to change that, use: sudare ledger set-cap --confirm.",
            dataset=account.dataset,
        )
