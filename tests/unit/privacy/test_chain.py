import hashlib
from dataclasses import astuple, replace

import pytest

from sudare.errors import LedgerError
from sudare.privacy.chain import BEGINNING, canonical, next_entry, verified

TIME = "2025-01-01T00:00:00.000000Z"


def chain(length=5):
    entries = []
    for number in range(length):
        last = entries[-1] if entries else None
        entries.append(next_entry(last, TIME, "census", "cap", {"epsilon": str(number + 1)}))
    return entries


def rows(entries):
    return [astuple(entry) for entry in entries]


def test_hash_is_sha256_over_every_other_column():
    entry = chain(1)[0]
    text = f'[1,"{TIME}","census","cap","{{\\"epsilon\\":\\"1\\"}}","{BEGINNING}"]'
    assert entry.hash == hashlib.sha256(text.encode()).hexdigest()


def test_each_row_holds_the_hash_before():
    entries = chain(3)
    assert [entry.previous for entry in entries] == [BEGINNING, entries[0].hash, entries[1].hash]
    assert [entry.id for entry in entries] == [1, 2, 3]
    assert verified(rows(entries), "ledger") == tuple(entries)
    assert verified([], "ledger") == ()


def test_canonical_json_has_one_spelling():
    assert canonical({"b": [1], "a": "簾"}) == canonical({"a": "簾", "b": [1]}) == '{"a":"\\u7c3e","b":[1]}'


@pytest.mark.parametrize(
    "change",
    [
        {"payload": '{"epsilon":"99"}'},
        {"time": "2024-01-01T00:00:00.000000Z"},
        {"dataset": "other"},
        {"kind": "spend"},
        {"hash": "f" * 64},
        {"payload": "\udcff"},
    ],
    ids=str,
)
def test_a_changed_row_does_not_fit_its_hash(change):
    entries = chain()
    entries[2] = replace(entries[2], **change)
    with pytest.raises(LedgerError, match=r"row 3 of the ledger books\.db does not fit its hash\. The ledger was"):
        verified(rows(entries), "books.db")


def test_a_row_with_its_hash_made_anew_breaks_the_next():
    entries = chain()
    entries[2] = next_entry(entries[1], TIME, "census", "cap", {"epsilon": "99"})
    with pytest.raises(LedgerError, match=r"row 4 of the ledger books.db does not follow row 3"):
        verified(rows(entries), "books.db")


@pytest.mark.parametrize(("gone", "named"), [(0, 1), (1, 2), (3, 4)])
def test_a_row_taken_out_is_missed(gone, named):
    entries = chain()
    del entries[gone]
    with pytest.raises(LedgerError, match=f"row {named} of the ledger books.db is missing"):
        verified(rows(entries), "books.db")


def test_a_gap_that_was_closed_is_seen():
    entries = chain()
    del entries[2]
    entries[2:] = [replace(entry, id=entry.id - 1) for entry in entries[2:]]
    with pytest.raises(LedgerError, match=r"row 3 of the ledger books.db does not follow row 2"):
        verified(rows(entries), "books.db")


def test_rows_in_another_order_are_seen():
    entries = chain()
    entries[1], entries[2] = replace(entries[2], id=2), replace(entries[1], id=3)
    with pytest.raises(LedgerError, match=r"row 2 of the ledger books.db does not follow row 1"):
        verified(rows(entries), "books.db")


def test_a_chain_begins_at_the_beginning():
    first = replace(chain()[1], id=1)
    with pytest.raises(LedgerError, match=r"row 1 of the ledger books.db is not the first of a ledger"):
        verified(rows([first]), "books.db")


@pytest.mark.parametrize("change", [{"payload": None}, {"payload": b"{}"}, {"time": 3}, {"kind": "gift"}], ids=str)
def test_a_row_of_another_shape_is_no_entry(change):
    entries = chain()
    entries[0] = replace(entries[0], **change)
    with pytest.raises(LedgerError, match=r"row 1 of the ledger books.db is not an entry"):
        verified(rows(entries), "books.db")


def test_text_and_json_open_the_payload():
    cap = next_entry(None, TIME, "census", "cap", {"epsilon": "3/10", "delta": "0", "rho": None})
    assert cap.text == "epsilon 0.3, delta 0"
    spend = next_entry(cap, TIME, "census", "spend", {"release_id": "a", "guarantee": {"text": "epsilon-DP"}})
    assert spend.text == "a: epsilon-DP"
    assert cap.to_json() == {
        "id": 1,
        "time": TIME,
        "dataset": "census",
        "kind": "cap",
        "previous": BEGINNING,
        "hash": cap.hash,
        "content": {"epsilon": "3/10", "delta": "0", "rho": None},
    }
