"""Batch commit: reports wait in memory until there are enough of them, and are stored together, sorted by their ids.

What a disk keeps of a batch does not show in which order its reports came. A report is acknowledged by the transaction
that holds it, never before; who does not wait for that sends the same report again. Batches that are due while the disk
is busy share the next transaction, and so its one sync.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from threading import Condition, Thread

from sudare.collector.storage import RequestError, Row

LARGEST_GROUP = 20_000  # reports in one transaction, so that nobody waits long for its end
MOST_WAITING = 64 << 20  # bytes of reports in the queue, beyond which senders are asked to come back


@dataclass(frozen=True)
class Receipt:
    """What became of reports: stored now, known before, or in the collector's memory until their batch is full."""

    stored: int
    known: int
    waiting: int = 0


@dataclass(frozen=True, eq=False)
class _Part:
    rows: Sequence[Row]
    size: int
    receipt: Future[Receipt]
    since: float


def _again(part: _Part) -> Future[Receipt]:
    """The receipt of reports that are sent again while they wait: known, once they are stored."""
    receipt: Future[Receipt] = Future()

    def finish(done: Future[Receipt]) -> None:
        if (problem := done.exception()) is not None:
            receipt.set_exception(problem)
        else:
            receipt.set_result(Receipt(0, len(part.rows)))

    part.receipt.add_done_callback(finish)
    return receipt


class GroupCommit:
    """One thread that hands reports to ``commit``: at least ``batch`` of them, or what came in ``seconds``.

    ``commit`` stores rows durably and says for each whether it was new; what it raises goes to all who waited. Reports
    that are sent again do not make a batch fuller: those that wait are known when they are stored, and those that
    are stored (``known`` says which) at once.

    >>> group = GroupCommit(lambda rows: [True] * len(rows))
    >>> group.add([(b"id", b"report")]).result()
    Receipt(stored=1, known=0, waiting=0)
    >>> group.close()
    """

    def __init__(
        self,
        commit: Callable[[Sequence[Row]], list[bool]],
        batch: int = 1,
        seconds: float = 0.0,
        known: Callable[[Sequence[bytes]], set[bytes]] | None = None,
    ) -> None:
        self._commit, self._batch, self._seconds = commit, batch, seconds
        self._known = known if batch > 1 else None
        self._arrived: list[_Part] = []
        self._parts: deque[_Part] = deque()
        self._part_of: dict[bytes, _Part] = {}
        self._waiting = 0
        self._ending = False
        self._changed = Condition()
        self._thread = Thread(target=self._run, name="sudare group commit", daemon=True)
        self._thread.start()

    def add(self, rows: Sequence[Row]) -> Future[Receipt]:
        """Queue reports; the future is done when they are on the disk."""
        size = sum(len(identity) + len(report) for identity, report in rows)
        part = _Part(rows, size, Future(), time.monotonic())
        part.receipt.set_running_or_notify_cancel()  # a sender who goes away does not take the reports along
        with self._changed:
            known = {id(self._part_of.get(identity)) for identity, _ in rows}
            if len(known) == 1 and (same := self._part_of.get(rows[0][0])) and len(same.rows) == len(rows):
                return _again(same)
            if self._waiting + size > MOST_WAITING and self._waiting:
                raise RequestError(503, "the collector has too many reports to store just now", retry_after=2)
            self._waiting += size
            first = not self._parts
            (self._parts if self._known is None else self._arrived).append(part)
            for identity, _ in rows:
                self._part_of.setdefault(identity, part)
            if first or self._arrived or len(self._part_of) >= self._batch:
                self._changed.notify()
        return part.receipt

    def close(self) -> None:
        """Store what waits, then end the thread."""
        with self._changed:
            self._ending = True
            self._changed.notify()
        self._thread.join()

    def _run(self) -> None:
        while group := self._due():
            self._store(group)

    def _due(self) -> list[_Part]:
        """The next parts to store, once there is a batch of them; none when the end has come."""
        with self._changed:
            while self._arrived or (not self._ending and len(self._part_of) < self._batch):
                if self._arrived:
                    self._acknowledge()
                    continue
                left = self._parts[0].since + self._seconds - time.monotonic() if self._parts else None
                if left is not None and left <= 0:
                    break
                self._changed.wait(left and min(left, 3600.0))
            group: list[_Part] = []
            reports = 0
            while self._parts and reports < max(LARGEST_GROUP, self._batch):
                group.append(self._parts.popleft())
                reports += len(group[-1].rows)
            self._forget(group)
            return group

    def _acknowledge(self) -> None:
        """Let what is new wait in ``_parts``, and answer those whose reports are all stored already."""
        arrived, self._arrived = self._arrived, []
        assert self._known is not None  # noqa: S101 - nothing arrives otherwise
        self._changed.release()
        try:
            known = self._known([identity for part in arrived for identity, _ in part.rows])
        except BaseException as problem:  # whatever it is, those who wait must hear of it
            for part in arrived:
                part.receipt.set_exception(problem)
            answered = arrived
        else:
            answered = [part for part in arrived if all(identity in known for identity, _ in part.rows)]
            for part in answered:
                part.receipt.set_result(Receipt(0, len(part.rows)))
        finally:
            self._changed.acquire()
        self._forget(answered)
        self._waiting -= sum(part.size for part in answered)
        done = set(map(id, answered))
        self._parts.extend(part for part in arrived if id(part) not in done)

    def _forget(self, parts: Sequence[_Part]) -> None:
        for part in parts:
            for identity, _ in part.rows:
                if self._part_of.get(identity) is part:
                    del self._part_of[identity]

    def _store(self, group: Sequence[_Part]) -> None:
        rows = [row for part in group for row in part.rows]
        # A stable sort: of two rows with one id the first to come is the one that counts.
        order = sorted(range(len(rows)), key=lambda place: rows[place][0])
        try:
            fresh = dict(zip(order, self._commit([rows[place] for place in order]), strict=True))
            receipts, place = [], 0
            for part in group:
                stored = sum(fresh[each] for each in range(place, place + len(part.rows)))
                place += len(part.rows)
                receipts.append(Receipt(stored, len(part.rows) - stored))
        except BaseException as problem:  # whatever it is, those who wait must hear of it
            for part in group:
                part.receipt.set_exception(problem)
        else:
            for part, receipt in zip(group, receipts, strict=True):
                part.receipt.set_result(receipt)
        finally:
            with self._changed:
                self._waiting -= sum(part.size for part in group)
