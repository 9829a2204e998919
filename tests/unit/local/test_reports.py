"""Packed reports, their tallies, and both file formats."""

import base64
import json
from dataclasses import replace

import numpy as np
import pytest

from sudare.errors import InputError, OutputError, SudareError
from sudare.local import (
    OptimisedUnary,
    RandomisedResponse,
    ReportFile,
    Reports,
    SymmetricUnary,
    Tally,
    decode_report,
    encode_report,
    estimate,
)
from sudare.local.files import open_reports


@pytest.fixture
def reports(encoding, people):
    return encoding.randomize(people[:1000])


def test_slices_and_sums(reports):
    assert len(reports[10:20]) == 10
    assert (reports[:400] + reports[400:]).packed.tolist() == reports.packed.tolist()
    assert sum(len(part) for part in reports.chunks(300)) == 1000
    with pytest.raises(InputError, match="taken by slices"):
        reports[3]


def test_seeded_reports_make_all_seeded(encoding, people):
    mixed = encoding.randomize(people[:5]) + encoding.randomize(people[:5], seed=1)
    assert mixed.guarantee.notion == "none: seeded"
    assert Tally(encoding).add(mixed).seeded
    assert (Tally(encoding) + Tally(encoding).add(mixed)).seeded


@pytest.mark.parametrize("ending", ["parquet", "jsonl"])
def test_files_keep_every_byte(reports, tmp_path, ending):
    path = tmp_path / f"reports.{ending}"
    written = reports.to_parquet(path) if ending == "parquet" else reports.to_json_lines(path)
    read = (Reports.from_parquet if ending == "parquet" else Reports.from_json_lines)(written)
    assert read.packed.tolist() == reports.packed.tolist()
    assert read.encoding == reports.encoding
    assert read.guarantee.notion == "epsilon-LDP"
    assert sum(len(part) for part in ReportFile(path)) == 1000


@pytest.mark.parametrize("ending", ["parquet", "jsonl"])
def test_files_remember_a_seed(encoding, people, tmp_path, ending):
    path = tmp_path / f"reports.{ending}"
    seeded = encoding.randomize(people[:3], seed=1)
    seeded.to_parquet(path) if ending == "parquet" else seeded.to_json_lines(path)
    assert estimate(ReportFile(path)).guarantee.notion == "none: seeded"


@pytest.mark.parametrize("ending", ["parquet", "jsonl"])
def test_reports_for_another_survey(people, tmp_path, ending):
    path = tmp_path / f"reports.{ending}"
    reports = SymmetricUnary(size=23, epsilon=1).randomize(people[:10])
    reports.to_parquet(path) if ending == "parquet" else reports.to_json_lines(path)
    read = Reports.from_parquet if ending == "parquet" else Reports.from_json_lines
    for other in (SymmetricUnary(size=23, epsilon=2), OptimisedUnary(size=23, epsilon=1)):
        with pytest.raises(InputError, match=r"^the reports are for another survey"):
            read(path, other)
        with pytest.raises(InputError, match=r"^the reports are for another survey"):
            reports + other.randomize(people[:10])
        with pytest.raises(InputError, match=r"^the reports are for another survey"):
            Tally(other).add(reports)
        with pytest.raises(InputError, match=r"^the reports are for another survey"):
            Tally(other) + Tally(reports.encoding)
        with pytest.raises(InputError, match=r"^the reports are for another survey"):
            estimate([reports, other.randomize(people[:10])])


def test_json_lines_are_what_the_format_says(tmp_path):
    reports = SymmetricUnary(size=23, epsilon=1).randomize([1, 2])
    first, *rest = (reports.to_json_lines(tmp_path / "r.jsonl")).read_text().splitlines()
    assert json.loads(first) == {"format": 1, "survey": reports.encoding.to_json(), "seeded": False}
    assert [base64.urlsafe_b64decode(json.loads(line)["report"] + "=" * 4) for line in rest] == [
        row.tobytes() for row in reports.packed
    ]


def test_lines_without_a_survey_are_refused(tmp_path):
    path = tmp_path / "r.jsonl"
    for text in ("", '{"report": "AAAA"}\n\n{"report": "AQAA"}\n'):
        path.write_text(text)
        with pytest.raises(InputError, match="the first line does not say the survey"):
            Reports.from_json_lines(path)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("AAA", "^a report has the wrong length"),
        ("AAAAA", "^a report is not base64url text"),
        ("AA+A", "^a report is not base64url text"),
        ("AA A", "^a report is not base64url text"),
        (None, "^a report is not base64url text"),
        (7, "^a report is not base64url text"),
        ("ä" * 4, "^a report is not base64url text"),
    ],
)
def test_texts_that_are_no_report(text, sentence):
    with pytest.raises(InputError, match=sentence):
        decode_report(text, SymmetricUnary(size=23, epsilon=1))


def test_one_report_has_one_text():
    """ "AB" and "AA" hold the same byte; only one of them is what a device sends."""
    encoding = SymmetricUnary(size=8, epsilon=1)
    assert decode_report("AA", encoding) == b"\0"
    with pytest.raises(InputError, match="not base64url text"):
        decode_report("AB", encoding)
    assert decode_report(encode_report(b"\xff"), encoding) == b"\xff"


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ('{"survey": 3}\n', "the file's survey cannot be understood"),
        ('{"survey": {"encoding": "x"}}\n', "the file's survey cannot be understood: unknown encoding"),
        ("[]\n", "line 1 is not a JSON object"),
        ("no json\n", "line 1 is not a JSON object"),
    ],
)
def test_json_lines_that_are_none(tmp_path, content, sentence):
    path = tmp_path / "r.jsonl"
    path.write_text(content)
    with pytest.raises(InputError, match=sentence):
        Reports.from_json_lines(path)


def test_a_broken_line_is_named_without_its_content(tmp_path):
    path = SymmetricUnary(size=23, epsilon=1).randomize([1]).to_json_lines(tmp_path / "r.jsonl")
    path.write_text(path.read_text() + '{"report": "AAAAAAAA"}\n')
    with pytest.raises(InputError, match=r"^line 3: a report has the wrong length") as caught:
        Reports.from_json_lines(path)
    assert "AAAAAAAA" not in str(caught.value)
    path.write_text(path.read_text().replace("AAAAAAAA", "AACA"))
    with pytest.raises(InputError, match="bits beyond the last value"):
        Reports.from_json_lines(path)


def test_files_that_cannot_be_read_or_written(tmp_path):
    reports = SymmetricUnary(size=23, epsilon=1).randomize([1])
    for read in (Reports.from_parquet, Reports.from_json_lines):
        with pytest.raises(InputError, match="the reports cannot be read: No such file"):
            read(tmp_path / "missing")
    for write in (reports.to_parquet, reports.to_json_lines):
        with pytest.raises(OutputError, match="the reports cannot be written"):
            write(tmp_path / "missing" / "file")
    (tmp_path / "text.parquet").write_text("text")
    with pytest.raises(InputError, match="not a Parquet file"):
        Reports.from_parquet(tmp_path / "text.parquet")
    (tmp_path / "binary.jsonl").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="not text in UTF-8"):
        Reports.from_json_lines(tmp_path / "binary.jsonl")
    with pytest.raises(InputError, match="not a file of reports"):
        list(ReportFile(tmp_path / "reports.txt"))


def test_parquet_of_something_else(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as parquet

    parquet.write_table(pa.table({"report": [b"abc"]}), tmp_path / "other.parquet")
    with pytest.raises(InputError, match="a Parquet file without reports"):
        Reports.from_parquet(tmp_path / "other.parquet")
    survey = json.dumps(SymmetricUnary(size=23, epsilon=1).to_json())
    schema = pa.schema([("report", pa.binary(4))], metadata={"sudare.survey": survey})
    parquet.write_table(pa.table({"report": [b"abcd"]}, schema=schema), tmp_path / "long.parquet")
    with pytest.raises(InputError, match="a report has the wrong length"):
        Reports.from_parquet(tmp_path / "long.parquet")


def test_tallies_stream_merge_and_are_written_down(reports):
    whole = Tally(reports.encoding).add(reports)
    parts = Tally(reports.encoding).add(reports[:300]) + Tally(reports.encoding).add(reports.packed[300:])
    again = Tally.from_json(json.loads(json.dumps(parts.to_json())))
    for tally in (parts, again):
        assert tally.reports == 1000
        assert (tally.sums == whole.sums).all()
        assert (tally.support == whole.support).all()


def test_a_tally_takes_all_or_nothing():
    encoding = SymmetricUnary(size=23, epsilon=1)
    tally = Tally(encoding)
    bad = encoding.randomize([1, 2, 3]).packed.copy()
    bad[2, 2] |= 128
    with pytest.raises(InputError, match="bits beyond"):
        tally.add(bad)
    assert tally.reports == 0
    assert not tally.sums.any()


@pytest.mark.parametrize(
    "change",
    [{"sums": [1, 2]}, {"sums": [9] * 23}, {"sums": [-1] + [0] * 22}, {"reports": "many"}, {"survey": None}],
)
def test_json_that_is_no_tally(change):
    data = Tally(SymmetricUnary(size=23, epsilon=1)).add(SymmetricUnary(size=23, epsilon=1).randomize([1])).to_json()
    with pytest.raises(SudareError, match=r"tally|encoding"):
        Tally.from_json({**data, **change})


def test_open_reports_takes_tallies_and_files(tmp_path, people):
    encoding = SymmetricUnary(size=23, epsilon=1)
    reports = encoding.randomize(people[:100])
    paths = [reports[:50].to_parquet(tmp_path / "a.parquet"), reports[50:].to_json_lines(tmp_path / "b.jsonl")]
    from_files = estimate(open_reports(paths), "mle")
    (tmp_path / "t.json").write_text(json.dumps(Tally(encoding).add(reports).to_json()))
    from_tally = estimate(open_reports([tmp_path / "t.json"]), "mle")
    assert np.allclose(from_files.counts, from_tally.counts)
    (tmp_path / "t.json").write_text("{")
    with pytest.raises(InputError, match="the JSON of a tally lacks a part"):
        open_reports([tmp_path / "t.json"])
    with pytest.raises(InputError, match="the tally cannot be read"):
        open_reports([tmp_path / "none.json"])


def test_reports_and_estimates_say_whether_a_ledger_counts_them(tmp_path):
    encoding = RandomisedResponse(4, epsilon=1)
    free = encoding.randomize([0, 1, 3])
    kept = replace(free, booked=True)
    for reports, says in ((free, True), (kept, False), (kept + free, True), (kept[:2], False)):
        assert reports.guarantee.in_no_ledger is says
        assert estimate(reports).guarantee.in_no_ledger is says
        assert str(estimate(reports).guarantee).endswith("in no ledger") is says
        path = reports.to_parquet(tmp_path / "reports.parquet")
        assert estimate(ReportFile(path)).guarantee.in_no_ledger is says
        again = Tally.from_json(Tally(encoding).add(reports).to_json())
        assert estimate(again).guarantee.in_no_ledger is says
        assert estimate(again + Tally(encoding).add(kept)).guarantee.in_no_ledger is says
    assert not encoding.randomize([0, 1], seed=1).guarantee.in_no_ledger  # it has nothing to be counted
