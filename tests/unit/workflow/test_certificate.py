"""Verification from public bytes: every kind of tampering is caught and named."""

import json
import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sudare as sd
from sudare.errors import VerificationError
from sudare.privacy.fingerprint import file_digest as digest
from sudare.workflow import reports as signing
from sudare.workflow.reports import canonical


@pytest.fixture
def release(village):
    made = sd.publish(village.recipe)
    public = village.folder / "given-away"
    shutil.copytree(made.folder, public)
    return public


def edit(release, change, resign=None):
    path = release / "release.json"
    certificate = json.loads(path.read_text())
    change(certificate)
    if resign is not None:
        key = signing.load_or_create(resign)
        certificate["publisher"] = signing.public_text(key)
        body = {name: value for name, value in certificate.items() if name != "signature"}
        certificate["signature"] = key.sign(canonical(body)).hex()
    path.write_text(json.dumps(certificate))


def test_a_changed_file_is_caught(release):
    text = (release / "table.csv").read_text().replace("f", "m", 1)
    (release / "table.csv").write_text(text)
    with pytest.raises(VerificationError, match=r"differs from the one that was certified .*table.csv"):
        sd.verify(release)


def test_a_missing_file_is_caught(release):
    (release / "table.parquet").unlink()
    with pytest.raises(VerificationError, match=r"missing .*table.parquet"):
        sd.verify(release)


def test_a_changed_certificate_is_caught(release):
    edit(release, lambda c: c["guarantee"].update(epsilon="1/1000"))
    with pytest.raises(VerificationError, match="signature does not match"):
        sd.verify(release)


def test_a_release_signed_by_someone_else_is_caught(release, village):
    edit(release, lambda c: None, resign=village.folder / "thief.pem")
    assert sd.verify(release).ok  # whole in itself, but
    with pytest.raises(VerificationError, match="another publisher"):
        sd.verify(release, publisher=village.folder / "publisher.pem")


def test_a_key_can_be_given_as_text_or_pem(release, village):
    public = json.loads((release / "release.json").read_text())["publisher"]
    assert sd.verify(release, publisher=public).checks[0].key == "verified.publisher"
    with pytest.raises(VerificationError, match="key cannot be read"):
        sd.verify(release, publisher=village.folder / "none.pem")
    (village.folder / "bad.pem").write_text("nothing")
    with pytest.raises(VerificationError, match="not an Ed25519 key"):
        sd.verify(release, publisher=village.folder / "bad.pem")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda index, count: (index, [c + (i == 0) for i, c in enumerate(count)]), "total is not the certified one"),
        (lambda index, count: (index[::-1], count[::-1]), "twice or out of order"),
        (lambda index, count: (index[:-1], count[:-1]), "nonzero_cells is not the certified one"),
        (lambda index, count: (index, [count[0] + count[1] + 1, -1, *count[2:]]), "smallest is not the certified"),
        (lambda index, count: (index, [float(c) for c in count]), "is not the certified one"),
        (lambda index, count: ([*index[:-1], 2**20], count), "not a cell of the domain"),
    ],
)
def test_a_table_that_is_not_what_the_certificate_says_is_caught_even_when_signed(release, village, change, sentence):
    path = release / "table.parquet"
    table = pq.read_table(path)
    index, count = change(table.column("index").to_pylist(), table.column("count").to_pylist())
    rest = table.drop_columns(["index", "count"]).slice(0, len(index))
    pq.write_table(rest.append_column("index", pa.array(index)).append_column("count", pa.array(count)), path)
    edit(
        release,
        lambda c: c["files"]["table.parquet"].update(sha256=digest(path), bytes=path.stat().st_size),
        resign=village.folder / "publisher.pem",
    )
    with pytest.raises(sd.SudareError, match=sentence):
        sd.verify(release)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda c: c.update(format="other/1"), "not a certificate of this format"),
        (lambda c: c.pop("files"), "incomplete"),
        (lambda c: c["guarantee"].update(notion="perfect"), "no valid guarantee"),
        (lambda c: c["files"].update({"../publisher.pem": {"sha256": "", "bytes": 0}}), "missing"),
        (lambda c: c["guarantee"]["unit"].update(name="person\x1b[2J"), "holds control characters"),
        (lambda c: c["files"].update({"a\x07": {"sha256": "", "bytes": 0}}), "holds control characters"),
    ],
)
def test_a_certificate_that_is_none_is_refused(release, village, change, sentence):
    edit(release, change, resign=village.folder / "publisher.pem")
    with pytest.raises(VerificationError, match=sentence):
        sd.verify(release)


def test_text_that_is_no_certificate_is_refused(tmp_path):
    (tmp_path / "release.json").write_text("{")
    with pytest.raises(VerificationError, match="cannot be read as JSON"):
        sd.verify(tmp_path)
