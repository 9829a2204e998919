import os
import threading
import time

import pytest

from sudare.collector.group_commit import GroupCommit, Receipt
from sudare.collector.storage import RequestError, StorageError


class Disk:
    """A commit that waits for a signal, as a slow disk does."""

    def __init__(self):
        self.groups = []
        self.go = threading.Event()

    def commit(self, rows):
        self.go.wait(10)
        self.groups.append(len(rows))
        return [identity != b"known" for identity, _ in rows]


def batch(count, identity=None):
    return [(identity or os.urandom(3), b"r") for _ in range(count)]


def test_batches_that_wait_share_one_transaction_and_each_gets_its_own_receipt():
    disk = Disk()
    group = GroupCommit(disk.commit)
    first = group.add(batch(1))
    while group._parts:
        time.sleep(0.001)  # until the first is at the disk, alone
    rest = [group.add(batch(2)), group.add(batch(3) + batch(1, b"known")), group.add(batch(1, b"known"))]
    assert not any(receipt.done() for receipt in [first, *rest])
    disk.go.set()
    assert first.result(10) == Receipt(1, 0)
    assert [receipt.result(10) for receipt in rest] == [Receipt(2, 0), Receipt(3, 1), Receipt(0, 1)]
    assert disk.groups == [1, 7]
    group.close()


def test_a_group_has_an_end(monkeypatch):
    monkeypatch.setattr("sudare.collector.group_commit.LARGEST_GROUP", 5)
    disk = Disk()
    group = GroupCommit(disk.commit)
    receipts = [group.add(batch(3)) for _ in range(6)]
    disk.go.set()
    assert [receipt.result(10) for receipt in receipts] == [Receipt(3, 0)] * 6
    assert max(disk.groups) <= 6
    group.close()


def test_what_fails_fails_for_all_who_waited_and_the_next_ones_are_served():
    failing = threading.Event()
    failing.set()

    def commit(rows):
        if failing.is_set():
            raise StorageError("the disk is full")
        return [True] * len(rows)

    group = GroupCommit(commit)
    for receipt in [group.add(batch(1)), group.add(batch(1))]:
        with pytest.raises(StorageError, match="the disk is full"):
            receipt.result(10)
    failing.clear()
    assert group.add(batch(4)).result(10) == Receipt(4, 0)
    group.close()


def test_a_sender_that_goes_away_does_not_take_its_batch_along():
    disk = Disk()
    group = GroupCommit(disk.commit)
    receipt = group.add(batch(2))
    assert receipt.cancel() is False
    disk.go.set()
    assert receipt.result(10) == Receipt(2, 0)
    group.close()


def test_too_much_waiting_is_refused_for_now(monkeypatch):
    monkeypatch.setattr("sudare.collector.group_commit.MOST_WAITING", 100)
    disk = Disk()
    group = GroupCommit(disk.commit)
    first = group.add(batch(50))  # more than allowed, but alone
    with pytest.raises(RequestError, match="too many reports to store just now") as caught:
        group.add(batch(1))
    assert (caught.value.status, caught.value.retry_after) == (503, 2)
    disk.go.set()
    first.result(10)
    while group._waiting:
        time.sleep(0.001)
    assert group.add(batch(1)).result(10) == Receipt(1, 0)
    group.close()


def test_the_end_waits_for_what_was_accepted():
    disk = Disk()
    group = GroupCommit(disk.commit)
    receipts = [group.add(batch(1)) for _ in range(5)]
    disk.go.set()
    group.close()
    assert all(receipt.done() for receipt in receipts)


def test_a_batch_waits_until_it_is_full_and_is_stored_in_the_order_of_ids():
    stored = []
    group = GroupCommit(lambda rows: stored.append(list(rows)) or [True] * len(rows), batch=5, seconds=3600)
    sent = [[(bytes([number]), b"r")] for number in (3, 1, 4, 0)]
    receipts = [group.add(rows) for rows in sent]
    again = group.add(sent[1])  # sent again, it does not make the batch fuller
    time.sleep(0.05)
    assert not stored
    assert not any(receipt.done() for receipt in receipts)
    receipts.append(group.add([(b"\2", b"r")]))
    assert [receipt.result(10) for receipt in receipts] == [Receipt(1, 0)] * 5
    assert again.result(10) == Receipt(0, 1)
    assert [identity for identity, _ in stored[0]] == [bytes([number]) for number in range(5)]
    group.close()


def test_a_batch_that_does_not_get_full_is_stored_after_its_time():
    group = GroupCommit(lambda rows: [True] * len(rows), batch=100, seconds=0.05)
    assert group.add(batch(1)).result(10) == Receipt(1, 0)
    waiting = GroupCommit(lambda rows: [True] * len(rows), batch=100, seconds=3600)
    receipt = waiting.add(batch(2))
    waiting.close()  # and at the end, so that nothing is lost
    assert receipt.result(0) == Receipt(2, 0)
    group.close()


def test_reports_that_are_stored_are_acknowledged_at_once_and_fill_no_batch():
    stored = set()

    def commit(rows):
        stored.update(identity for identity, _ in rows)
        return [True] * len(rows)

    group = GroupCommit(commit, 3, 3600, lambda identities: stored & set(identities))
    rows = batch(3)
    assert group.add(rows).result(10) == Receipt(3, 0)
    assert group.add(rows[:2]).result(10) == Receipt(0, 2)
    waiting = [group.add(batch(1)), group.add(batch(1))]
    assert group.add(rows[1:]).result(10) == Receipt(0, 2)
    assert not any(receipt.done() for receipt in waiting)
    group.close()
    assert [receipt.result(0) for receipt in waiting] == [Receipt(1, 0)] * 2
    assert group._waiting == 0
