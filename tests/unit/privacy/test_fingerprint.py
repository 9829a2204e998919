"""Fingerprints of sources in the ledger, the key they are made with, and the same data under another name."""

import gzip
import json
import zipfile
from multiprocessing.pool import ThreadPool

import pyarrow
import pytest

from sudare.errors import LedgerError
from sudare.privacy import Guarantee, Ledger
from sudare.privacy.fingerprint import Fingerprint, content_digest, key_path, load_or_create, source_text

TENTH = Guarantee("epsilon-DP", epsilon=0.1)
KEY = bytes(32)
ONE, OTHER = (Fingerprint.of_digests([name], KEY) for name in (b"one", b"other"))


@pytest.fixture
def ledger(tmp_path):
    made = Ledger(tmp_path / "ledger.db")
    for name in ("census", "trips"):
        made.set_cap(name, epsilon=1)
    return made


def test_a_digest_is_of_the_content_and_not_of_its_wrapping(tmp_path):
    text = b"a,b\n1,2\n"
    forms = {
        "plain.csv": text,
        "ended.csv": text + b"\r\n",
        "open.csv": text.rstrip(),
        "marked.csv": b"\xef\xbb\xbf" + text,
        "x.csv.gz": gzip.compress(text),
    }
    for name, content in forms.items():
        (tmp_path / name).write_bytes(content)
    with pyarrow.output_stream(tmp_path / "x.csv.zst", compression="zstd") as file:
        file.write(text)
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("inside/x.txt", text)
    assert len({content_digest(tmp_path / name) for name in (*forms, "x.csv.zst", "x.zip")}) == 1
    for other in (text + b"3,4\n", text.replace(b"2", b"3"), b"a,b\n\n1,2\n"):
        (tmp_path / "other.csv").write_bytes(other)
        assert content_digest(tmp_path / "other.csv") != content_digest(tmp_path / "plain.csv")


def test_line_ends_between_pieces_count(tmp_path):
    ends = b"\n" * ((1 << 20) + 7)
    for name, content in {"a": b"x" + ends + b"y", "b": b"x" + ends[1:] + b"y", "c": b"x" + ends}.items():
        (tmp_path / name).write_bytes(content)
    assert len({content_digest(tmp_path / name) for name in "abc"}) == 3


def test_without_the_key_a_fingerprint_is_another_one():
    assert ONE.hash != Fingerprint.of_digests([b"one"], b"k" * 32).hash
    assert Fingerprint.of_digests([b"a", b"b"], KEY) != Fingerprint.of_digests([b"ab"], KEY)


def test_the_key_is_made_once_for_its_owner_alone(tmp_path):
    path = key_path(tmp_path / "ledger.db")
    with ThreadPool(8) as pool:
        keys = pool.map(load_or_create, [path] * 8)
    assert len(set(keys)) == 1
    assert len(keys[0]) == 32
    assert path.stat().st_mode & 0o777 == 0o600
    assert sorted(tmp_path.iterdir()) == [path]


def test_a_key_that_others_read_or_that_is_none_is_refused(tmp_path):
    path = tmp_path / "ledger.db.key"
    load_or_create(path)
    path.chmod(0o640)
    with pytest.raises(LedgerError, match=r"can be read by others than its owner .*mode 600.*chmod 600"):
        load_or_create(path)
    path.chmod(0o600)
    path.write_bytes(b"short")
    with pytest.raises(LedgerError, match="this is not the key of a ledger"):
        load_or_create(path)
    with pytest.raises(LedgerError, match=r"the folder of the ledger .* does not exist"):
        Ledger(tmp_path / "none" / "ledger.db").fingerprint_key()


def test_the_same_data_under_another_name_must_be_confirmed(ledger):
    ledger.spend("census", TENTH, "a", sources=[ONE])
    ledger.spend("census", TENTH, "b", sources=[ONE])
    ledger.spend("trips", TENTH, "c", sources=[OTHER])
    with pytest.raises(LedgerError, match=r"released under another name, and 'trips' would have .*got 'census'"):
        ledger.spend("trips", TENTH, "d", sources=[ONE])
    assert ledger.balance("trips").releases == 1
    row = ledger.spend("trips", TENTH, "d", sources=[ONE], confirm_same_data=True)
    assert row.content["same_data_as"] == ["census"]
    assert source_text(row) == f"{ONE.hash[:8]}, as under census"


def test_sources_without_bytes_and_old_rows_are_said_and_not_taken_for_alike(ledger):
    ledger.spend("census", TENTH, "a", sources=[Fingerprint()])
    ledger.spend("trips", TENTH, "b", sources=[Fingerprint()])
    ledger.spend("trips", TENTH, "c")
    assert [source_text(row) for row in ledger.entries()] == [
        "",
        "",
        "no fingerprint",
        "no fingerprint",
        "not recorded",
    ]


def test_a_lost_key_is_told(ledger):
    ledger.spend("census", TENTH, "a", sources=[ONE])
    again = Fingerprint.of_digests([b"one"], b"k" * 32)
    with pytest.raises(LedgerError, match=r"made with another key.*Bring back the key file"):
        ledger.spend("trips", TENTH, "b", sources=[again])
    ledger.spend("trips", TENTH, "b", sources=[again], confirm_same_data=True)
    ledger.spend("census", TENTH, "c", sources=[Fingerprint.of_digests([b"new"], b"k" * 32)])


def test_a_row_with_broken_sources_is_refused(ledger):
    from sudare.privacy import ledger as module
    from sudare.privacy.store import writing

    content = {"release_id": "x", "guarantee": TENTH.to_json(), "sources": [7]}
    with writing(ledger.path, 1) as session:
        module._append(session, "census", "spend", json.loads(json.dumps(content)))
    with pytest.raises(LedgerError, match=r"row 3 of the ledger does not hold a readable spend"):
        ledger.spend("trips", TENTH, "b", sources=[ONE])


def test_a_cap_is_set_once_and_changed_on_confirmation_only(ledger):
    with pytest.raises(LedgerError, match=r"data set 'census' has a cap already \(got 'epsilon 1'\).*--confirm"):
        ledger.set_cap("census", epsilon=2)
    assert ledger.set_cap("census", epsilon="1.0").id == 1
    assert len(ledger.entries()) == 2
    assert ledger.set_cap("census", epsilon=2, confirm=True).id == 3
    assert str(ledger.balance("census").cap) == "epsilon 2"
