"""Group commit: batches that arrive while the disk is busy share the next transaction, and so its one sync.

A batch is acknowledged by the transaction that holds it, never before. With one sender the cost is one sync per
batch; with many it is one sync for all who wait, so that the load decides how large transactions get.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Lock, Thread

from sudare.collector.storage import RequestError, Row

LARGEST_GROUP = 20_000  # reports in one transaction, so that nobody waits long for its end
MOST_WAITING = 64 << 20  # bytes of reports in the queue, beyond which senders are asked to come back


@dataclass(frozen=True)
class Receipt:
    """What became of a batch: reports that are stored now, and those that were known before."""

    stored: int
    known: int


@dataclass(frozen=True)
class _Batch:
    rows: Sequence[Row]
    size: int
    receipt: Future[Receipt]


class GroupCommit:
    """One thread that hands waiting batches to ``commit``, many in one call.

    ``commit`` stores rows durably and says for each whether it was new; what it raises goes to all who waited.

    >>> group = GroupCommit(lambda rows: [True] * len(rows))
    >>> group.add([(b"id", b"report")]).result()
    Receipt(stored=1, known=0)
    >>> group.close()
    """

    def __init__(self, commit: Callable[[Sequence[Row]], list[bool]]) -> None:
        self._commit = commit
        self._queue: SimpleQueue[_Batch | None] = SimpleQueue()
        self._waiting = 0
        self._lock = Lock()
        self._thread = Thread(target=self._run, name="sudare group commit", daemon=True)
        self._thread.start()

    def add(self, rows: Sequence[Row]) -> Future[Receipt]:
        """Queue a batch; the future is done when its reports are on the disk."""
        size = sum(len(identity) + len(report) for identity, report in rows)
        with self._lock:
            if self._waiting + size > MOST_WAITING and self._waiting:
                raise RequestError(503, "the collector has more to store than it can just now", retry_after=2)
            self._waiting += size
        batch = _Batch(rows, size, Future())
        batch.receipt.set_running_or_notify_cancel()  # a sender who goes away does not take the batch along
        self._queue.put(batch)
        return batch.receipt

    def close(self) -> None:
        """Store what waits, then end the thread."""
        self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        ending = False
        while not ending:
            group: list[_Batch] = []
            reports = 0
            while not group or (reports < LARGEST_GROUP and not self._queue.empty()):
                batch = self._queue.get()
                if batch is None:
                    ending = True
                    break
                group.append(batch)
                reports += len(batch.rows)
            self._store(group)

    def _store(self, group: Sequence[_Batch]) -> None:
        if not group:
            return
        try:
            fresh = iter(self._commit([row for batch in group for row in batch.rows]))
            receipts = []
            for batch in group:
                stored = sum(next(fresh) for _ in batch.rows)
                receipts.append(Receipt(stored, len(batch.rows) - stored))
        except BaseException as problem:  # whatever it is, those who wait must hear of it
            for batch in group:
                batch.receipt.set_exception(problem)
        else:
            for batch, receipt in zip(group, receipts, strict=True):
                batch.receipt.set_result(receipt)
        finally:
            with self._lock:
                self._waiting -= sum(batch.size for batch in group)
