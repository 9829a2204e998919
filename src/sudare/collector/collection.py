"""A running collection: reports are stored in groups and counted once they are on the disk.

The tally in memory is counted from the table of reports at the start, and again after any fault that leaves the
database's content in doubt. What is shown is a second tally, which follows the first in steps of at least
``shown_every`` reports and is kept in the database: who asks for the estimate before and after somebody reports, or a
restart, sees either no difference or that of so many reports together.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import suppress
from itertools import combinations
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from sudare.collector.answers import Asked
from sudare.collector.group_commit import GroupCommit, Receipt
from sudare.collector.sqlite_store import SqliteStore
from sudare.collector.storage import ReportStore, RequestError, Row, StorageError
from sudare.collector.survey import Survey
from sudare.errors import InputError
from sudare.language.catalogue import Words
from sudare.local import Reports, Tally, estimate, joint
from sudare.local.flood import FORGED, honest_chance

_CHUNK_BYTES = 1 << 22


class Collection:
    """The reports of ``survey``; one process at a time has it open."""

    def __init__(self, survey: Survey) -> None:
        self.survey = survey
        store = open_store(survey.storage, survey.identity)
        try:
            self._tally = self._counted(store)
            self._shown = _tally_of(store.published(), survey)
        except StorageError:
            store.close()
            raise
        self._store: ReportStore | None = store
        self._lock = Lock()
        self._show(store)
        self._group = GroupCommit(self._commit, survey.smallest_batch, survey.batch_seconds, self._known)

    def add(self, rows: Sequence[Row]) -> Future[Receipt]:
        """Store checked reports; the future is done when they are on the disk and counted."""
        return self._group.add(rows)

    @property
    def storing(self) -> bool:
        """Whether the database is open; after a fault it is opened again with the next batch."""
        return self._store is not None

    @property
    def reports(self) -> int:
        """How many reports are counted."""
        return self._tally.reports

    def tally(self) -> Tally:
        """The count of all stored reports, as it is now."""
        with self._lock:
            return self._tally + Tally(self.survey.encoding)

    def shown(self) -> Tally:
        """The count that may be shown: that of a moment when there were ``shown_every`` reports more than before."""
        with self._lock:
            return self._shown + Tally(self.survey.encoding)

    def stored(self) -> Iterator[Reports]:
        """All stored reports in chunks, for files and for EM; not while reports are being taken."""
        if self._store is None:
            raise StorageError("the database of the survey is not open")
        for chunk in self._store.chunks(self._chunk_rows):
            yield Reports(self.survey.encoding, self._packed(chunk), booked=self.survey.ledger is not None)

    def close(self) -> None:
        """Store what waits and give the database back."""
        self._group.close()
        if self._store is not None:
            self._store.close()

    def _known(self, identities: Sequence[bytes]) -> set[bytes]:
        return set() if self._store is None else self._store.known(identities)

    def _commit(self, rows: Sequence[Row]) -> list[bool]:
        in_doubt = self._store is None
        if self._store is None:
            # Never made anew here: an empty database in the place of a lost one would hide the loss.
            self._store = open_store(self.survey.storage, self.survey.identity, create=False)
        try:
            fresh = self._store.add(rows)
            counted = self._counted(self._store) if in_doubt else None
        except StorageError:
            self._store.close()
            self._store = None
            raise
        new = [report for (_, report), is_new in zip(rows, fresh, strict=True) if is_new]
        with self._lock:
            if counted is not None:
                self._tally = counted
            elif new:
                self._tally.add(self._packed(b"".join(new)))
        self._show(self._store)
        return fresh

    def _show(self, store: ReportStore) -> None:
        """Let the tally that is shown follow, if it may; where it cannot be kept, the next batch tries again."""
        due = max(self.survey.minimum, self._shown.reports + self.survey.shown_every)
        if self._tally.reports < due:
            return
        tally = self.tally()
        with suppress(StorageError):
            store.publish(json.dumps(tally.to_json()))
            with self._lock:
                self._shown = tally

    def _counted(self, store: ReportStore) -> Tally:
        tally = Tally(self.survey.encoding)
        try:
            for chunk in store.chunks(self._chunk_rows):
                tally.add(self._packed(chunk))
        except (InputError, ValueError):
            raise StorageError(
                "the database holds rows that are not reports of its survey", hint="Restore it from a backup."
            ) from None
        return tally

    @property
    def _chunk_rows(self) -> int:
        return max(1, _CHUNK_BYTES // self.survey.encoding.report_bytes)

    def _packed(self, reports: bytes) -> np.ndarray[tuple[int, int], np.dtype[np.uint8]]:
        return np.frombuffer(reports, dtype=np.uint8).reshape(-1, self.survey.encoding.report_bytes)


def _tally_of(kept: str | None, survey: Survey) -> Tally:
    if kept is None:
        return Tally(survey.encoding)
    try:
        return Tally.from_json(json.loads(kept))
    except (InputError, ValueError, RecursionError):
        raise StorageError("the tally in the database is damaged", hint="Restore it from a backup.") from None


def export(survey: Survey, path: Path, *, report: Path | None = None, language: str = "en") -> int:
    """Write all stored reports of ``survey`` into a Parquet file, for `sudare.local.estimate`; how many there are.

    ``report`` is where the public page of the collection goes, in ``language``; it is refused while there are fewer
    reports than the survey's minimum. The collector must not be running: it has the database open.
    """
    words = Words(language)
    collection = Collection(survey)
    try:
        parts = list(collection.stored())
        reports = Reports.concatenate(parts) if parts else Reports(survey.encoding, collection._packed(b""))
    finally:
        collection.close()
    reports.to_parquet(path)
    if report is not None:
        from sudare.collector.report import write_report

        write_report(survey, reports, path, report, words)
    return len(reports)


def open_store(url: str, identity: dict[str, Any], *, create: bool = True) -> ReportStore:
    """The store at ``url``, made where there is none if ``create``; refuses one of another survey, or in use.

    ``url`` is the path of a SQLite file, or ``postgresql://user@host/database``.
    """
    scheme, separator, _ = url.partition("://")
    if not separator:
        return SqliteStore(url, identity, create=create)
    if scheme in ("postgresql", "postgres"):
        try:
            from sudare.collector.postgres_store import PostgresStore
        except ImportError:
            raise InputError(
                "storage in PostgreSQL needs a driver", hint="Install it: pip install 'sudare[postgres]'."
            ) from None
        return PostgresStore(url, identity, create=create)
    raise InputError("service.storage has an unknown scheme", value=scheme, allowed="a SQLite file, postgresql://...")


class EstimateService:
    """What ``GET /estimate`` answers for ``collection``: made anew when the tally that is shown has grown."""

    def __init__(self, collection: Collection) -> None:
        self._collection = collection
        self._lock = Lock()
        self._content: dict[str, Any] | None = None

    def current(self) -> dict[str, Any]:
        """The estimate as plain JSON; refuses while there are too few reports, without saying how many there are."""
        survey = self._collection.survey
        with self._lock:
            tally = self._collection.shown()
            if not tally.reports:
                raise RequestError(
                    403,
                    "there are too few reports to show an estimate",
                    allowed="from {minimum:,} reports on",
                    hint="Come back later.",
                    minimum=survey.minimum,
                )
            if self._content is None or self._content["reports"] != tally.reports:
                self._content = {
                    "survey": survey.fingerprint,
                    "reports": tally.reports,
                    "every": survey.shown_every,
                    **(_of_each(survey, tally) if survey.asked[0].name else _of_one(survey, tally, survey.asked[0])),
                    "guarantee": str(survey.guarantee),
                    # Told to the organiser: honest devices do not make such reports.
                    "forged": honest_chance(tally) < FORGED,
                }
            return self._content


def _of_one(survey: Survey, tally: Tally, asked: Asked) -> dict[str, Any]:
    """The estimate of the answers to one question."""
    made = estimate(tally, method=survey.method, question=asked.name or None)
    numbers = np.column_stack([made.counts, made.low, made.high]).round(3).tolist()
    rows = zip(asked.answers.labels, numbers, strict=True)
    answers = [{"label": label, "count": count, "low": low, "high": high} for label, (count, low, high) in rows]
    return {"method": made.method, "level": made.level, "answers": answers}


def _of_each(survey: Survey, tally: Tally) -> dict[str, Any]:
    """The estimates of several questions, and how the answers to each two of them go together."""
    pairs = []
    for one, other in combinations([asked.name for asked in survey.asked], 2):
        made = joint(tally, one, other)
        numbers = {name: getattr(made, name).round(3).tolist() for name in ("counts", "low", "high")}
        pairs.append({"questions": [one, other], "level": made.level, **numbers})
    each = [{"name": asked.name, "question": asked.question, **_of_one(survey, tally, asked)} for asked in survey.asked]
    return {"questions": each, "joint": pairs}
