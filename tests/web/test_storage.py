"""What both databases promise: stored once, owned by one survey and one collector, faults as sentences."""

import os
import sqlite3
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

from sudare.collector import parse
from sudare.collector.collection import Collection, open_store
from sudare.collector.storage import StorageError
from sudare.errors import InputError

IDENTITY = {"name": "a", "question": "b"}
LUNCH = """
name = "lunch"
question = "Lunch?"
answers = {type = "labels", labels = ["yes", "no"]}
privacy = {encoding = "symmetric_unary", epsilon = 1}
service = {batch = 1}
"""


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request, tmp_path):
    return str(tmp_path / "reports.db") if request.param == "sqlite" else request.getfixturevalue("postgres")


def rows(count):
    return [(os.urandom(16), number.to_bytes(2, "big")) for number in range(count)]


def test_a_report_is_stored_once(url):
    sent = rows(50)
    with closing(open_store(url, IDENTITY)) as store:
        assert store.add(sent[:30]) == [True] * 30
        assert store.add(sent[20:]) == [False] * 10 + [True] * 20
        # The first of two reports with one id counts, whatever the second says.
        again = [(sent[0][0], b"zz"), *rows(1) * 2]
        assert store.add(again) == [False, True, False]
        kept = b"".join(store.chunks(7))
    assert len(kept) == 2 * 51
    assert b"zz" not in kept
    pairs = sorted(kept[i : i + 2] for i in range(0, len(kept), 2))
    assert pairs == sorted([report for _, report in sent] + [again[1][1]])


def test_what_was_stored_is_there_when_the_store_is_opened_again(url):
    with closing(open_store(url, IDENTITY)) as store:
        store.add(rows(10))
    with closing(open_store(url, IDENTITY, create=False)) as store:
        assert len(b"".join(store.chunks(100))) == 20


def test_a_database_of_another_survey_is_refused_with_what_differs(url):
    open_store(url, IDENTITY).close()
    with pytest.raises(StorageError, match=r"belongs to another survey: question differs. Give this survey a storage"):
        open_store(url, IDENTITY | {"question": "c"})
    with pytest.raises(StorageError, match="belongs to another survey: name and question differ"):
        open_store(url, {"name": "x", "question": "c"})
    open_store(url, IDENTITY).close()  # and a refusal leaves nothing locked


def test_one_collector_at_a_time(url, monkeypatch):
    monkeypatch.setattr("sudare.collector.postgres_store._WAIT_FOR_LOCK", "100ms", raising=False)
    with closing(open_store(url, IDENTITY)), pytest.raises(StorageError, match="is used by another collector"):
        open_store(url, IDENTITY)
    open_store(url, IDENTITY).close()


def test_a_database_that_must_be_there_is_not_made(url):
    with pytest.raises(StorageError):
        open_store(url, IDENTITY, create=False)


def test_the_rows_of_sqlite_do_not_show_when_they_came(tmp_path):
    path = tmp_path / "reports.db"
    sent = rows(500)
    with closing(open_store(str(path), IDENTITY)) as store:
        for row in sent:
            store.add([row])
    with closing(sqlite3.connect(path)) as connection:
        kept = [identity for (identity,) in connection.execute("SELECT id FROM reports")]
        with pytest.raises(sqlite3.OperationalError, match="no such column"):
            connection.execute("SELECT rowid FROM reports")
    assert kept == sorted(identity for identity, _ in sent)


def test_a_commit_is_synced_to_the_disk(tmp_path, postgres):
    with closing(open_store(str(tmp_path / "reports.db"), IDENTITY)) as store:
        assert store.connection.execute("PRAGMA synchronous").fetchone() == (2,)  # FULL
        assert store.connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    with closing(open_store(postgres, IDENTITY)) as store:
        store.connection.execute("ALTER ROLE sudare SET synchronous_commit = off")
    with closing(open_store(postgres, IDENTITY)) as store:
        assert store.connection.execute("SHOW synchronous_commit").fetchone() == ("on",)
        store.connection.execute("ALTER ROLE sudare RESET synchronous_commit")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"not a database, but long enough to be taken for one " * 30, "is not a SQLite database"),
        ("CREATE TABLE other (x)", "is a database, but not one of a survey"),
        ("PRAGMA application_id = 1398096963; PRAGMA user_version = 9", "was made by a newer Sudare"),
    ],
)
def test_other_files_are_left_alone(tmp_path, content, sentence):
    path = tmp_path / "reports.db"
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        with closing(sqlite3.connect(path)) as connection:
            connection.executescript(content)
    before = path.read_bytes()
    with pytest.raises(StorageError, match=sentence):
        open_store(str(path), IDENTITY)
    assert path.read_bytes() == before


def test_addresses_that_lead_nowhere_are_sentences_without_secrets(tmp_path):
    pytest.importorskip("psycopg")
    with pytest.raises(StorageError, match=r"the folder of the database .* does not exist"):
        open_store(str(tmp_path / "none" / "reports.db"), IDENTITY)
    with pytest.raises(InputError, match=r"has an unknown scheme \(got 'mysql'"):
        open_store("mysql://me:secret@host/data", IDENTITY)
    with pytest.raises(StorageError) as caught:
        open_store(f"postgresql://me:secret@/data?host={tmp_path}", IDENTITY)
    assert "cannot be used: no connection" in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_server_that_does_not_sync_is_refused(postgres, monkeypatch):
    import psycopg

    execute = psycopg.Connection.execute
    monkeypatch.setattr(
        psycopg.Connection,
        "execute",
        lambda self, query, *rest, **more: execute(
            self, "SELECT 'off'" if query == "SHOW fsync" else query, *rest, **more
        ),
    )
    with pytest.raises(StorageError, match="runs with fsync off, so that acknowledged reports may be lost"):
        open_store(postgres, IDENTITY)


@pytest.fixture
def collection(url):
    opened = Collection(replace(parse(LUNCH), storage=url))
    yield opened
    opened.close()


def made(collection, count):
    packed = collection.survey.encoding.randomize(np.zeros(count, dtype=np.int64)).packed
    return [(os.urandom(16), row.tobytes()) for row in packed]


def test_a_lost_connection_is_an_error_once_and_the_count_is_right_afterwards(collection, url):
    first = made(collection, 20)
    assert collection.add(first).result().stored == 20
    store = collection._store
    real_add = store.add

    def stored_but_not_answered(batch):
        real_add(batch)
        raise StorageError("the answer of the database was lost")

    store.add = stored_but_not_answered
    second = made(collection, 30)
    with pytest.raises(StorageError, match="was lost"):
        collection.add(second).result()
    assert collection.reports == 20  # not acknowledged, not counted, in doubt
    receipt = collection.add(second + first[:1]).result()
    assert (receipt.stored, receipt.known) == (0, 31)
    assert collection.reports == collection.tally().reports == 50


def test_a_postgresql_session_that_is_cut_is_opened_again(postgres):
    import psycopg

    collection = Collection(replace(parse(LUNCH), storage=postgres))
    try:
        batch = made(collection, 5)
        with psycopg.connect(postgres, autocommit=True) as other:
            other.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
        with pytest.raises(StorageError, match="cannot be used"):
            collection.add(batch).result()
        assert collection.add(batch).result().stored == 5
        assert collection.reports == 5
    finally:
        collection.close()


def test_a_database_moved_away_stops_the_acknowledgements_until_it_is_back(tmp_path):
    path = tmp_path / "reports.db"
    collection = Collection(replace(parse(LUNCH), storage=str(path)))
    try:
        batch = made(collection, 5)
        path.rename(tmp_path / "elsewhere.db")
        with pytest.raises(StorageError, match="was moved or removed while the collector runs"):
            collection.add(batch).result()
        with pytest.raises(StorageError, match="cannot be opened"):
            collection.add(batch).result()
        assert not path.exists()  # an empty one would hide the loss
        (tmp_path / "elsewhere.db").rename(path)
        collection.add(batch).result()
        assert collection.reports == 5
    finally:
        collection.close()


def test_a_full_disk_stores_nothing_and_passes(tmp_path):
    collection = Collection(replace(parse(LUNCH), storage=str(tmp_path / "reports.db")))
    try:
        collection.add(made(collection, 5)).result()
        connection = collection._store.connection
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages}")
        large = made(collection, 5000)
        with pytest.raises(StorageError, match="the disk is full"):
            collection.add(large).result()
        assert collection.reports == 5
        assert collection.add(large).result().stored == 5000
        assert collection.reports == 5005
    finally:
        collection.close()


def test_a_damaged_report_is_noticed_when_the_collection_is_opened(url):
    survey = replace(parse(LUNCH), storage=url)
    with closing(open_store(url, survey.identity)) as store:
        store.add([(bytes(16), b"\xff")])  # bits beyond the last answer
    with pytest.raises(StorageError, match="the database holds rows that are not reports of its survey"):
        Collection(survey)
