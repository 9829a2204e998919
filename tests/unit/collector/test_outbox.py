import json

import numpy as np
import pytest

from sudare.collector import Outbox, parse
from sudare.collector.client import read_answers
from sudare.collector.intake import rows_of
from sudare.errors import InputError, OutputError

SURVEY = parse("""
name = "a"
question = "b"
answers = {type = "labels", labels = ["x", "y", "z"]}
privacy = {encoding = "symmetric_unary", epsilon = 1}
""")


@pytest.fixture
def outbox():
    return Outbox.of(SURVEY.encoding.randomize(np.zeros(25, dtype=np.int64)), SURVEY.fingerprint)


def test_every_report_has_an_id_of_its_own_and_the_requests_are_what_the_service_takes(outbox):
    assert len({identity for identity, _ in outbox.rows}) == 25
    sent = [rows_of(outbox.body(rows), SURVEY) for rows in outbox.batches(10)]
    assert [len(rows) for rows in sent] == [10, 10, 5]
    assert tuple(row for rows in sent for row in rows) == outbox.rows


def test_ids_are_drawn_and_tell_nothing_of_the_order(outbox):
    """Ids of 128 bits: two outboxes share one, or 25 lie in order, with chances far below 1e-20."""
    ids = [identity for identity, _ in outbox.rows]
    again = Outbox.of(SURVEY.encoding.randomize(np.zeros(25, dtype=np.int64)), SURVEY.fingerprint)
    assert not set(ids) & {identity for identity, _ in again.rows}
    assert ids != sorted(ids)


def test_reports_come_back_from_their_file(outbox, tmp_path):
    outbox.save(tmp_path / "reports")
    assert Outbox.load(tmp_path / "reports", SURVEY) == outbox
    with pytest.raises(OutputError, match="the reports cannot be written down: File exists"):
        outbox.save(tmp_path / "reports")  # made once


def test_a_file_that_is_not_whole_or_not_for_this_survey_is_refused(outbox, tmp_path):
    path = tmp_path / "reports"
    outbox.save(path)
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:-1]))
    with pytest.raises(InputError, match=r"the file of reports is truncated .* Nothing was sent yet"):
        Outbox.load(path, SURVEY)
    path.write_text(json.dumps({"survey": "other", "reports": 25}) + "\n" + "".join(lines[1:]))
    with pytest.raises(InputError, match="the reports are for another survey"):
        Outbox.load(path, SURVEY)
    for content in ("", "{}", "[]\n[]", lines[0] + '{"id": "zz", "report": "AA"}', lines[0] + '{"id": "00"}'):
        path.write_text(content)
        with pytest.raises(InputError, match="does not hold reports that wait to be sent"):
            Outbox.load(path, SURVEY)
    with pytest.raises(InputError, match="the reports cannot be read"):
        Outbox.load(tmp_path / "none", SURVEY)


def test_answers_are_read_one_a_line(tmp_path):
    path = tmp_path / "answers.txt"
    path.write_text("\ufeffx\n\n  z \r\ny\n", encoding="utf-8")
    assert SURVEY.answers.ranks(*read_answers(path, SURVEY.answers)).tolist() == [0, 2, 1]
    numbers = parse('name="a"\nquestion="b"\nanswers={type="bins",start=0,stop=9,step=3}\nprivacy={epsilon=1}').answers
    path.write_text("8.5\n0\n")
    assert numbers.ranks(*read_answers(path, numbers)).tolist() == [2, 0]
    mesh = parse(
        'name="a"\nquestion="b"\nanswers={type="mesh",size="1km",codes=["533946"]}\nprivacy={epsilon=1}'
    ).answers
    path.write_text("35.68,139.76\n35.69, 139.77\n")
    places = mesh.ranks(*read_answers(path, mesh))
    path.write_text("\n".join(mesh.labels[place] for place in places))
    assert mesh.ranks(*read_answers(path, mesh)).tolist() == places.tolist()


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"\n \n", "there are no answers in the file"),
        (b"3\nmy secret\n", "line 2 of the answers is not a number"),
        (b"\xff", "the answers cannot be read: UnicodeDecodeError"),
        (None, "there is no such file of answers"),
    ],
)
def test_a_file_of_answers_that_cannot_be_read_is_a_sentence_without_them(tmp_path, content, sentence):
    numbers = parse('name="a"\nquestion="b"\nanswers={type="bins",start=0,stop=9,step=3}\nprivacy={epsilon=1}').answers
    path = tmp_path / "answers.txt"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=sentence) as caught:
        read_answers(path, numbers)
    assert "secret" not in str(caught.value)
