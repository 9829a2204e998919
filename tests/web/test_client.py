"""The Python client and ``sudare collect send`` against a real service."""

import asyncio
import json
import signal
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from sudare.cli.collect import collect
from sudare.cli.estimate import estimate
from sudare.collector import Client, Device, load, parse, send
from sudare.collector.client import read_answers
from sudare.collector.collection import Collection
from sudare.collector.service import create_app
from sudare.collector.serving import draw_link, link_of
from sudare.errors import InputError, OutputError
from sudare.local import ENCODINGS
from sudare.workflow.reports import load_or_create, public_text


@pytest.fixture
def serve_here(tmp_path, monkeypatch):
    """A client whose requests go straight to a service in this process."""
    httpx = pytest.importorskip("httpx", reason="needs httpx")
    opened = []

    def start(survey):
        collection = Collection(replace(survey, storage=str(tmp_path / "reports.db"), rate=0, batch=1))
        opened.append(collection)
        transport = httpx.ASGITransport(create_app(collection))

        async def ask(path, body):
            async with httpx.AsyncClient(transport=transport, base_url="http://here") as asking:
                headers = {"content-type": "application/json"}
                return await asking.request("GET" if body is None else "POST", path, content=body, headers=headers)

        def answer(path, body=None):
            got = asyncio.run(ask(path, body))
            return got.content, got.headers

        client = Client("http://here", most_epsilon=3)
        monkeypatch.setattr(client, "_answer", answer)
        return client

    yield start
    for collection in opened:
        collection.close()


def test_the_client_sees_the_survey_as_it_is_and_counts_come_back(launch, survey_file):
    server = launch(survey_file)
    client = Client(server.url + "/")
    assert client.survey.fingerprint == load(survey_file).fingerprint
    receipt = client.send(["rice"] * 1500 + ["bread"] * 800)
    assert (receipt.stored, receipt.known) == (2300, 0)  # in three requests
    estimate = client.estimate()
    assert estimate["reports"] == 2300
    assert abs(estimate["answers"][0]["count"] - 1500) < 700  # 6 standard errors


def test_reports_are_counted_once_however_often_they_are_posted(launch, survey_file):
    client = Client(launch(survey_file).url)
    outbox = client.prepare(["rice"] * 30)
    assert client.post(outbox).stored == 30
    again = client.post(outbox)
    assert (again.stored, again.known) == (0, 30)
    assert client.estimate()["reports"] == 30


@pytest.mark.parametrize("name", ENCODINGS)
def test_every_encoding_can_be_sent(serve_here, name):
    """Numbers, so that the square wave can take part; true counts lie within 7 standard errors and more."""
    survey = parse(f"""
        name = "ages"
        question = "How old are you?"
        answers = {{type = "bins", start = 0.5, stop = 4.5, step = 1}}
        privacy = {{encoding = "{name}", epsilon = 3{", first = 2.5" if name == "permanent_unary" else ""}}}
        estimate = {{minimum = 10}}
    """)
    client = serve_here(survey)
    receipt = client.send(np.repeat([1, 2.2, 4], [900, 600, 500]))
    assert (receipt.stored, receipt.known) == (2000, 0)
    estimate = client.estimate()
    assert estimate["reports"] == 2000
    assert abs(sum(answer["count"] for answer in estimate["answers"]) - 2000) < 1
    counts = np.array([answer["count"] for answer in estimate["answers"]])
    assert np.abs(counts - [900, 600, 0, 500]).max() < 350


def test_a_client_may_ask_for_more_protection_and_refuses_what_is_no_collector(launch, survey_file):
    server = launch(survey_file)
    with pytest.raises(InputError, match=r"protects less than you allow \(got 1; allowed: an epsilon of at most 1/2\)"):
        Client(server.url, most_epsilon=0.5).send(["rice"])
    assert Client(server.url, most_epsilon=1).send(["rice"]).stored == 1
    with pytest.raises(InputError, match="the collector refused: not found"):
        _ = Client(server.url + "/static").survey
    with pytest.raises(InputError, match="a collector's address is not a web address"):
        Client("file:///etc/passwd")


def test_a_value_outside_the_survey_is_refused_before_anything_is_sent(launch, survey_file):
    client = Client(launch(survey_file).url)
    with pytest.raises(InputError, match="a value is not an answer of the survey") as caught:
        client.send(["rice", "my secret"])
    assert "secret" not in str(caught.value)
    with closing(sqlite3.connect(survey_file.with_name("reports.db"))) as connection:
        assert connection.execute("SELECT count(*) FROM reports").fetchone() == (0,)


def test_the_token_goes_to_the_estimate_alone(launch, survey_file):
    token = "a-token-of-some-length"  # noqa: S105 - a stand-in
    survey_file.write_text(survey_file.read_text().replace("minimum = 10", f'minimum = 1, token = "{token}"'))
    server = launch(survey_file)
    Client(server.url).send(["rice"] * 5)
    with pytest.raises(InputError, match="the collector refused: the estimate is for those who have its token"):
        Client(server.url).estimate()
    assert Client(server.url, token=token).estimate()["reports"] == 5


def test_a_collector_that_is_away_or_busy_is_tried_again(launch, survey_file):
    survey_file.write_text(survey_file.read_text().replace("rate = 0", "rate = 20"))
    server = launch(survey_file)
    pauses = []
    client = Client(server.url, tries=3, pause=pauses.append)
    outbox = client.prepare(["rice"] * 15)
    client.post(outbox)
    with pytest.raises(InputError, match="the collector refused: too many reports from one address"):
        client.post(outbox)
    assert len(pauses) == 2
    assert all(1 <= pause <= 60 for pause in pauses)  # as long as the collector asked for
    server.end(signal.SIGKILL)
    with pytest.raises(InputError, match=r"the collector cannot be reached .* The same reports may be sent again"):
        client.post(outbox)
    assert pauses[2:] == [0.5, 1.0]


def test_the_command_makes_reports_once_and_sends_the_same_again(launch, survey_file, tmp_path):
    server = launch(survey_file)
    answers = tmp_path / "answers.txt"
    answers.write_text("rice\nnoodles\n" * 40)
    first = CliRunner().invoke(collect, ["send", server.url, str(answers), "--yes"])
    assert first.exit_code == 0, first.output
    assert "80 reports" in first.output
    assert "epsilon-LDP with epsilon = 1" in first.output
    kept = answers.with_name("answers.txt.reports").read_text()
    assert "rice" not in kept
    again = CliRunner().invoke(collect, ["send", server.url, str(answers), "--json"])
    assert json.loads(again.output) | {"guarantee": ""} == {
        "stored": 0,
        "known": 80,
        "waiting": 0,
        "outbox": str(answers) + ".reports",
        "resumed": True,
        "guarantee": "",
    }
    assert answers.with_name("answers.txt.reports").read_text() == kept
    assert CliRunner().invoke(collect, ["send", server.url, str(answers), "--quiet"]).output == ""


def test_a_year_that_is_full_is_told_before_anybody_is_asked(launch, survey_file, tmp_path):
    server, device = launch(survey_file), Device(tmp_path / "device.db")
    answers = tmp_path / "answers.txt"
    answers.write_text("rice\n")
    asked = []
    with pytest.raises(InputError, match="would pass its limit for a year"):
        send(server.url, answers, most_a_year="0.5", device=device, confirm=lambda client: asked.append(client))
    assert asked == []
    assert device.spent == 0
    with pytest.raises(InputError, match="nothing was sent"):
        send(server.url, answers, device=device, confirm=lambda client: asked.append(client))
    assert len(asked) == 1


QUESTIONS = """
name = "commute"
question = "Lunch and the way to work"
privacy = {encoding = "randomised_response", epsilon = 2}
service = {storage = "commute.db", rate = 0, batch = 1}
[questions.lunch]
question = "Lunch?"
answers = {type = "labels", labels = ["rice, hot", "bread"]}
[questions.age]
question = "How old are you?"
answers = {type = "bins", start = 0, stop = 100, step = 25}
"""


def test_answers_to_several_questions_come_from_a_table_and_are_estimated_one_by_one(launch, tmp_path):
    path, answers, reports = (tmp_path / name for name in ("commute.toml", "answers.csv", "reports.parquet"))
    path.write_text(QUESTIONS)
    server = launch(path)
    answers.write_text('age,lunch\n20,"rice, hot"\n60,bread\n' + "30,bread\n" * 198)
    sent = CliRunner().invoke(collect, ["send", server.url, str(answers), "--yes"])
    assert sent.exit_code == 0, sent.output
    assert "200 reports" in sent.output
    assert "epsilon-LDP with epsilon = 2" in sent.output
    server.end(signal.SIGTERM)
    assert CliRunner().invoke(collect, ["export", str(path), str(reports)]).exit_code == 0
    by_lunch = CliRunner().invoke(estimate, [str(reports), "--question", "lunch", "--json"])
    found = json.loads(by_lunch.output)
    assert found["reports"] == 200
    assert found["counts"][1] > 150
    refused = CliRunner().invoke(estimate, [str(reports)])
    assert "name one (allowed: lunch, age)" in str(refused.exception)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("age,dinner\n20,bread\n", r"not the names of the questions .* lunch, age"),
        ("age,lunch\n", "not the names of the questions"),
        ("age,lunch\n20,bread\n20\n", "line 3 of the answers has not an answer to each question"),
        ("age,lunch\nmy secret,bread\n", "line 2 of the answers is not a number"),
        ("age,lunch\n20,my secret\n", "a value is not an answer of the survey"),
    ],
)
def test_a_table_of_answers_that_cannot_be_read_is_refused_without_its_values(tmp_path, text, sentence):
    survey, path = parse(QUESTIONS), tmp_path / "answers.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=sentence) as caught:
        survey.randomize(*read_answers(path, survey.answers))
    assert "secret" not in str(caught.value)


def test_the_link_carries_the_key_and_is_drawn(tmp_path, survey_file):
    segno = pytest.importorskip("segno", reason="no library for QR codes: pip install 'sudare[collector]'")
    survey = load(survey_file)
    link = link_of(survey, "https://survey.example.jp/")
    assert link == f"https://survey.example.jp/device#key={public_text(load_or_create(Path(survey.key)))}"
    assert Client(link)._key == link.partition("#key=")[2]
    draw_link(link, tmp_path / "link.svg")
    drawn = (tmp_path / "link.svg").read_text()
    assert "<svg" in drawn
    assert segno.make(link, micro=False).svg_inline(scale=8, light="white").partition("<path")[2] in drawn
    with pytest.raises(OutputError, match="the QR code cannot be written"):
        draw_link(link, tmp_path / "no" / "link.svg")


def test_an_outbox_of_another_survey_is_refused(launch, survey_file, tmp_path):
    answers = tmp_path / "answers.txt"
    answers.write_text("rice\n")
    send(launch(survey_file).url, answers)
    other = tmp_path / "other.toml"
    other.write_text(survey_file.read_text().replace("reports.db", "other.db").replace('"lunch"', '"dinner"'))
    with pytest.raises(InputError, match="the reports are for another survey"):
        send(launch(other).url, answers)
