"""What a device remembers about the surveys it took part in: a SQLite file that never leaves it.

Only the device can know what all surveys together have cost its owner. Each survey (or series of rounds) is charged
once, before its first report is made, with what taking part costs in full, and refused where that passes a limit. What
was charged for a series is for so many rounds as it announced: the device takes part in no more, whatever they are
called and whatever they ask. The file also has the keys that sign the surveys of each address, and the permanent
answers of series that ask for them.
"""

from __future__ import annotations

import datetime
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np

from sudare.collector.outbox import Outbox
from sudare.collector.survey import Survey
from sudare.errors import InputError
from sudare.local import PermanentUnary, Reports
from sudare.local.permanent import Memory
from sudare.privacy import Number, positive
from sudare.privacy.history import state_folder
from sudare.privacy.sqlite_faults import connect, faults_as, format_of, mark

MOST_EPSILON, MOST_A_YEAR = Fraction(2), Fraction(8)
FORMAT = 1
_LEFT = -1
"""Remembered in the place of values by a device that has left a series."""
_ASKED = -2
"""The place of the buckets that a device answers for."""
_APPLICATION = 0x53554456  # "SUDV" in the header of the file
_TAKEN = "CREATE TABLE IF NOT EXISTS taken (account TEXT, survey TEXT, PRIMARY KEY (account, survey))"
"""Added later: files without it are given it when they are opened."""
_TABLES = (
    "CREATE TABLE spent (account TEXT PRIMARY KEY, name TEXT NOT NULL, epsilon TEXT NOT NULL, day TEXT NOT NULL)",
    "CREATE TABLE made (survey TEXT, outbox TEXT, unsent BLOB, PRIMARY KEY (survey, outbox))",
    "CREATE TABLE keys (url TEXT PRIMARY KEY, key TEXT NOT NULL)",
    _TAKEN,
    "CREATE TABLE memory (account TEXT, value INTEGER, bits BLOB NOT NULL, PRIMARY KEY (account, value))",
)


@dataclass(frozen=True)
class Limits:
    """The most epsilon that one survey may cost, and all surveys of the last 365 days together."""

    survey: Fraction = MOST_EPSILON
    year: Fraction = MOST_A_YEAR

    @classmethod
    def of(cls, survey: Number | None, year: Number | None) -> Limits:
        """The given limits, the usual ones in the place of None."""
        return cls(
            MOST_EPSILON if survey is None else positive(survey, "most_epsilon"),
            MOST_A_YEAR if year is None else positive(year, "most_a_year"),
        )


class Device:
    """The ledger of this device in the file ``path`` (``device.db`` in the user's state folder if not given)."""

    def __init__(
        self, path: str | Path | None = None, today: Callable[[], datetime.date] = datetime.date.today
    ) -> None:
        if path is None:
            folder = state_folder()
            if folder is None:
                raise InputError(
                    "there is no folder in which this device could keep its own ledger",
                    hint="Name a folder in SUDARE_STATE, or give the path of a file.",
                )
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            path = folder / "device.db"
        self.path, self._today = Path(path), today

    @property
    def spent(self) -> Fraction:
        """What all surveys of the last 365 days have cost together."""
        with self._opened() as connection:
            return self._year(connection)

    def has_charged(self, survey: Survey) -> bool:
        """Whether the survey, or another round of its series, is booked here."""
        with self._opened() as connection:
            return self._charged(connection, survey)

    def refuse_beyond(self, survey: Survey, limits: Limits) -> None:
        """`InputError` where the survey is not booked yet and would pass a limit."""
        with self._opened() as connection:
            if not self._charged(connection, survey):
                refuse_costly(survey.cost.epsilon or Fraction(0), self._year(connection), limits)

    def _charged(self, connection: sqlite3.Connection, survey: Survey) -> bool:
        found = connection.execute("SELECT 1 FROM spent WHERE account = ?", [survey.account]).fetchone()
        return found is not None

    def charge(
        self, survey: Survey, outbox: Outbox, limits: Limits, *, other_people: bool = False, keep: bool = False
    ) -> None:
        """Book the survey before its reports are sent; the same ``outbox`` of reports may be sent again.

        Refused where a limit is passed, or where this device has made other reports for the survey, unless these speak
        for ``other_people``. ``keep`` the reports here until they are `sent`.
        """
        cost = survey.cost.epsilon or Fraction(0)
        with self._opened() as connection:
            if connection.execute(
                "SELECT 1 FROM made WHERE survey = ? AND outbox = ?", [survey.fingerprint, outbox.digest]
            ).fetchone():
                return
            left = [survey.account, _LEFT]
            if connection.execute("SELECT 1 FROM memory WHERE account = ? AND value = ?", left).fetchone():
                raise InputError("this device has left the series of surveys")
            before = connection.execute("SELECT 1 FROM made WHERE survey = ?", [survey.fingerprint]).fetchone()
            if before and not other_people:
                raise InputError(
                    "this device has answered the survey before",
                    hint="Send the reports that were made then. A second report would reveal more about the same "
                    "person; say other_people if it is about others.",
                )
            if not self._charged(connection, survey):
                refuse_costly(cost, self._year(connection), limits)
                row = [survey.account, survey.name, str(cost), self._today().isoformat()]
                connection.execute("INSERT INTO spent VALUES (?, ?, ?, ?)", row)
            taken = {
                row for (row,) in connection.execute("SELECT survey FROM taken WHERE account = ?", [survey.account])
            }
            if survey.fingerprint not in taken and len(taken) >= survey.reports:
                raise InputError(
                    "this device has taken part in all rounds of the series",
                    value=len(taken),
                    hint="Another report would reveal more than was agreed to.",
                )
            connection.execute("INSERT OR IGNORE INTO taken VALUES (?, ?)", [survey.account, survey.fingerprint])
            unsent = outbox.body(outbox.rows) if keep else None
            connection.execute("INSERT INTO made VALUES (?, ?, ?)", [survey.fingerprint, outbox.digest, unsent])

    def unsent(self, survey: Survey) -> Outbox | None:
        """Reports for the survey that were made here and that the collector has not acknowledged."""
        with self._opened() as connection:
            asked = "SELECT unsent FROM made WHERE survey = ? AND unsent IS NOT NULL"
            found = connection.execute(asked, [survey.fingerprint]).fetchone()
        return None if found is None else Outbox.from_body(found[0], survey)

    def sent(self, outbox: Outbox) -> None:
        """The collector has stored these reports: they are no longer kept."""
        with self._opened() as connection:
            connection.execute("UPDATE made SET unsent = NULL WHERE outbox = ?", [outbox.digest])

    def check_key(self, url: str, key: str) -> None:
        """Remember the key that signs the surveys of ``url``; refuse another one from then on."""
        with self._opened() as connection:
            connection.execute("INSERT OR IGNORE INTO keys VALUES (?, ?)", [url, key])
            if connection.execute("SELECT key FROM keys WHERE url = ?", [url]).fetchone() != (key,):
                raise InputError("the survey is signed with another key than before", value=url)

    def permanent(self, survey: Survey, value: int) -> Reports:
        """One report from the remembered bits of ``value``, drawn now where this device never held it."""
        encoding = survey.encoding
        assert isinstance(encoding, PermanentUnary)  # noqa: S101 - the caller's condition
        with self._opened() as connection:
            asked_for = "SELECT value, bits FROM memory WHERE account = ? ORDER BY value"
            rows = {
                value: np.frombuffer(bits, np.uint8) for value, bits in connection.execute(asked_for, [survey.account])
            }
            if _LEFT in rows:
                raise InputError("this device has left the series of surveys")
            asked = rows.pop(_ASKED, None)
            known = None
            if rows:
                keys, buckets = np.array(list(rows)), None if asked is None else asked[None]
                known = Memory(encoding, np.stack(list(rows.values())), keys, np.zeros(1, np.int64), asked=buckets)
            memory = encoding.remember([value], known)
            if len(memory.keys) > 1 + (survey.rounds.changes if survey.rounds else 0):
                raise InputError(
                    "the answer would change more often than the survey allows for",
                    hint="Leave out this round: another value would cost more than was agreed to.",
                )
            kept = dict(zip(memory.keys.tolist(), memory.packed, strict=True))
            if memory.asked is not None:
                kept[_ASKED] = memory.asked[0]
            connection.executemany(
                "INSERT OR IGNORE INTO memory VALUES (?, ?, ?)",
                [[survey.account, state, bits.tobytes()] for state, bits in kept.items()],
            )
        return encoding.report(memory)

    def forget(self, survey: Survey) -> None:
        """Remove the remembered bits and unsent reports of a survey and its series, and make no more reports to it.

        What was spent stays, for it cannot be taken back; bits that were drawn anew would cost again.
        """
        with self._opened() as connection:
            connection.execute("DELETE FROM memory WHERE account = ?", [survey.account])
            connection.execute("INSERT INTO memory VALUES (?, ?, ?)", [survey.account, _LEFT, b""])
            connection.execute(
                "UPDATE made SET unsent = NULL"
                " WHERE survey = ? OR survey IN (SELECT survey FROM taken WHERE account = ?)",
                [survey.fingerprint, survey.account],
            )

    def _year(self, connection: sqlite3.Connection) -> Fraction:
        first = (self._today() - datetime.timedelta(days=365)).isoformat()
        rows = connection.execute("SELECT epsilon FROM spent WHERE day > ?", [first]).fetchall()
        return sum((Fraction(epsilon) for (epsilon,) in rows), Fraction(0))

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        """A transaction: whole, or undone by an error."""
        refusal = InputError("the ledger of this device cannot be used", value=self.path)
        with faults_as(lambda _: refusal), closing(connect(self.path, "rwc", 10.0)) as connection:
            if format_of(connection, _APPLICATION, refusal) is None:
                self.path.chmod(0o600)
                connection.execute("BEGIN EXCLUSIVE")
                for table in _TABLES if format_of(connection, _APPLICATION, refusal) is None else ():
                    connection.execute(table)
                mark(connection, _APPLICATION, FORMAT)
                connection.execute("COMMIT")
            connection.execute("PRAGMA secure_delete = ON")
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(_TAKEN)
            yield connection
            connection.execute("COMMIT")


def refuse_costly(cost: Fraction, year: Fraction, limits: Limits) -> None:
    """`InputError` where a survey of this ``cost`` passes a limit, ``year`` being spent already."""
    if cost > limits.survey:
        raise InputError(
            "the survey protects less than you allow",
            value=cost,
            allowed="an epsilon of at most {most_epsilon}",
            hint="A larger most_epsilon allows it.",
            most_epsilon=limits.survey,
        )
    if year + cost > limits.year:
        raise InputError(
            "with this survey the device would pass its limit for a year",
            value=year + cost,
            allowed="an epsilon of at most {most_a_year} in 365 days",
            most_a_year=limits.year,
        )
