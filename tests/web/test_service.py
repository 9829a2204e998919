"""What each address of the service answers."""

import asyncio
import json
import logging
import os
import sqlite3
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

from sudare.collector import parse
from sudare.collector.collection import Collection
from sudare.collector.serving import Watch
from sudare.collector.storage import StorageError
from sudare.local import encode_report, encoding_from_json

httpx = pytest.importorskip("httpx", reason="the service's tests need httpx")
from sudare.collector.service import create_app  # noqa: E402 - after its reason to skip

TOKEN = "a-token-of-some-length"  # noqa: S105 - a stand-in
LUNCH = """
name = "lunch"
question = "What did you have for lunch?"
answers = {type = "labels", labels = ["rice", "noodles", "bread", "nothing"]}
privacy = {encoding = "symmetric_unary", epsilon = 1}
estimate = {minimum = 10}
service = {rate = 0, batch = 1}
"""


class Service:
    """The service without a network: requests go straight to the application."""

    def __init__(self, survey, watch):
        self.survey = survey
        self._collection = Collection(survey)
        transport = httpx.ASGITransport(create_app(self._collection, watch))
        self._client = httpx.AsyncClient(transport=transport, base_url="http://collector")
        self._runner = asyncio.Runner()

    def request(self, method, path, **options):
        return self._runner.run(self._client.request(method, path, **options))

    def get(self, path, **options):
        return self.request("GET", path, **options)

    def post(self, path, **options):
        return self.request("POST", path, **options)

    def close(self):
        if self._runner is not None:
            self._runner.run(self._client.aclose())
            self._runner.close()
            self._runner = None
            self._collection.close()

    @property
    def stored(self):
        with closing(sqlite3.connect(self.survey.storage)) as connection:
            return connection.execute("SELECT count(*) FROM reports").fetchone()[0]


@pytest.fixture
def serve(tmp_path):
    """The service for a survey with changes."""
    opened = []

    def start(watch=None, **changes):
        survey = replace(parse(LUNCH), storage=str(tmp_path / "reports.db"), **changes)
        opened.append(Service(survey, watch and watch(survey)))
        return opened[-1]

    yield start
    for service in opened:
        service.close()


def batch(survey, values, **changes):
    reports = survey.encoding.randomize(np.asarray(values)).packed
    items = [{"id": os.urandom(16).hex(), "report": encode_report(row.tobytes())} for row in reports]
    return {"survey": survey.fingerprint, "reports": items} | changes


def test_the_survey_is_all_that_a_device_needs_and_holds_no_secret(serve):
    client = serve(token=TOKEN)
    answer = client.get("/survey")
    content = answer.json()
    assert answer.status_code == 200
    assert content["question"] == "What did you have for lunch?"
    assert content["answers"]["labels"] == ["rice", "noodles", "bread", "nothing"]
    assert content["encoding"] == {"encoding": "symmetric_unary", "size": 4, "epsilon": "1"}
    assert content["law"]["kind"] == "unary"
    assert (content["report_bytes"], content["most_reports"], content["minimum"]) == (1, 1000, 10)
    assert TOKEN not in answer.text
    assert "reports.db" not in answer.text


def test_a_device_is_not_told_to_send_more_at_once_than_the_rate_allows(serve):
    assert serve(rate=600).get("/survey").json()["most_reports"] == 600


def test_a_report_is_stored_once_whether_alone_or_in_a_batch(serve):
    client = serve()
    body = batch(client.survey, [0, 1, 2])
    assert client.post("/reports", json=body).json() == {"stored": 3, "known": 0}
    assert client.post("/reports", json=body).json() == {"stored": 0, "known": 3}
    one = {"survey": client.survey.fingerprint, **body["reports"][0]}
    assert client.post("/reports", json=one).json() == {"stored": 0, "known": 1}
    fresh = batch(client.survey, [3])
    both = batch(client.survey, [0], reports=body["reports"] + fresh["reports"])
    assert client.post("/reports", json=both).json() == {"stored": 1, "known": 3}


def test_the_estimate_counts_each_report_once_and_has_intervals(serve):
    client = serve()
    body = batch(client.survey, np.repeat([0, 1], 400))
    for _ in range(2):
        client.post("/reports", json=body)
    content = client.get("/estimate").json()
    assert content["reports"] == 800
    assert content["survey"] == client.survey.fingerprint
    assert [answer["label"] for answer in content["answers"]] == ["rice", "noodles", "bread", "nothing"]
    for answer in content["answers"]:
        assert 0 <= answer["low"] <= answer["high"] <= 800
    assert abs(sum(answer["count"] for answer in content["answers"]) - 800) < 1
    assert "epsilon-LDP with epsilon = 1" in content["guarantee"]


def test_too_few_reports_are_not_shown_nor_counted_aloud(serve):
    client = serve()
    client.post("/reports", json=batch(client.survey, [0] * 9))
    answer = client.get("/estimate")
    assert answer.status_code == 403
    assert answer.json() == {
        "error": "there are too few reports to show an estimate (allowed: from 10 reports on). Come back later."
    }
    client.post("/reports", json=batch(client.survey, [0]))
    assert client.get("/estimate").json()["reports"] == 10


@pytest.mark.parametrize("header", [None, "Bearer wrong", "Basic " + TOKEN, "Bearer", "Bearer 合言葉".encode(), TOKEN])
def test_the_estimate_is_for_those_with_the_token(serve, header):
    client = serve(token=TOKEN)
    client.post("/reports", json=batch(client.survey, [0] * 20))
    refused = client.get("/estimate", headers={} if header is None else {"authorization": header})
    assert refused.status_code == 401
    assert refused.headers["www-authenticate"] == "Bearer"
    assert "the estimate is for those who have its token" in refused.json()["error"]
    assert client.get("/estimate", headers={"authorization": f"Bearer {TOKEN}"}).status_code == 200


def test_tokens_cannot_be_guessed_quickly(serve):
    client = serve(token=TOKEN, rate=5)
    answers = [client.get("/estimate", headers={"authorization": f"Bearer {guess}"}) for guess in range(7)]
    assert [answer.status_code for answer in answers] == [401] * 5 + [429] * 2


BAD = {
    "a report of the wrong length": ({"report": "AAA"}, 400, "a report is malformed"),
    "a report that is no text": ({"report": 7}, 400, "each value a text"),
    "bits beyond the last byte": ({"report": "AB"}, 400, "no bits beyond the last byte"),
    "bits beyond the last answer": ({"report": "8A"}, 400, "a report has bits beyond the last value"),
    "an id of the wrong length": ({"id": "ab"}, 400, "32 hexadecimal digits"),
    "an id with blanks": ({"id": "ab " * 10 + "ab"}, 400, "32 hexadecimal digits"),
    "an id in capitals": ({"id": "AB" * 16}, 400, "32 hexadecimal digits"),
    "the answer beside the report": ({"answer": "rice"}, 400, "the keys id and report for each"),
}


@pytest.mark.parametrize(("change", "status", "sentence"), BAD.values(), ids=BAD)
def test_a_batch_with_one_bad_report_is_refused_whole(serve, change, status, sentence):
    client = serve()
    body = batch(client.survey, [0, 1, 2])
    body["reports"][1] |= change
    answer = client.post("/reports", json=body)
    assert answer.status_code == status
    assert sentence in answer.json()["error"]
    assert client.post("/reports", json=batch(client.survey, [3])).json() == {"stored": 1, "known": 0}
    assert client.stored == 1


BODIES = {
    "not JSON": (b"{", 400, "the request is not JSON"),
    "not UTF-8": (b'{"survey": "\xff"}', 400, "the request is not JSON"),
    "nested without end": (b"[" * 100_000, 400, "the request is not JSON"),
    "a list": (b"[]", 400, "the request is not a report"),
    "nothing": (b"", 400, "the request is not JSON"),
    "another key": (b'{"survey": "x", "value": 3}', 400, "the request is not a report"),
    "another survey": (b'{"survey": "0", "reports": []}', 409, "the report is for another survey"),
}


@pytest.mark.parametrize(("body", "status", "sentence"), BODIES.values(), ids=BODIES)
def test_what_is_no_report_is_refused_with_its_reason(serve, body, status, sentence):
    client = serve()
    answer = client.post("/reports", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == status
    assert sentence in answer.json()["error"]
    assert client.stored == 0


def test_an_empty_a_huge_and_a_repeated_batch_are_refused(serve):
    client = serve()
    body = batch(client.survey, [0])
    for reports, status, sentence in (
        ([], 400, "there are no reports in the request (allowed: 1 to 1000 reports)"),
        (body["reports"] * 1001, 413, "there are too many reports in one request"),
        (body["reports"] * 2, 400, "two reports of one request have the same id"),
        ("reports", 400, "there are no reports in the request"),
    ):
        answer = client.post("/reports", json=body | {"reports": reports})
        assert answer.status_code == status
        assert sentence in answer.json()["error"]
    twice = json.dumps(body).replace('"id"', '"id": "' + "0" * 32 + '", "id"')
    answer = client.post("/reports", content=twice, headers={"content-type": "application/json"})
    assert answer.json()["error"] == "the request is not a report (allowed: each key once, each value a text)"
    large = client.post("/reports", content=b" " * 1_000_000, headers={"content-type": "application/json"})
    assert large.status_code == 413
    assert client.stored == 0


@pytest.mark.parametrize("headers", [{}, {"content-type": "text/plain"}, {"content-encoding": "gzip"}])
def test_reports_come_as_plain_json(serve, headers):
    """A page of another site can send text without asking; it cannot send JSON."""
    client = serve()
    known = {"content-type": "application/json"} if "content-encoding" in headers else {}
    answer = client.post("/reports", content=json.dumps(batch(client.survey, [0])), headers=known | headers)
    assert answer.status_code == 415
    assert client.stored == 0


def test_a_body_that_does_not_come_is_not_waited_for_forever(serve, monkeypatch):
    monkeypatch.setattr("sudare.collector.service.BODY_SECONDS", 0.05)
    client = serve()

    async def slowly():
        yield b'{"survey": '
        await asyncio.sleep(60)

    answer = client.post("/reports", content=slowly(), headers={"content-type": "application/json"})
    assert answer.status_code == 408
    assert answer.json()["error"] == "the request timed out (allowed: 0.05 seconds)"


def test_cors_is_closed_unless_opened(serve, tmp_path):
    asking = {"origin": "https://example.jp", "access-control-request-method": "POST"}
    closed = serve()
    for answer in (closed.get("/survey", headers=asking), closed.request("OPTIONS", "/reports", headers=asking)):
        assert not [name for name in answer.headers if name.startswith("access-control")]
    closed.close()
    opened = serve(origins=("https://example.jp",))
    assert opened.get("/survey", headers=asking).headers["access-control-allow-origin"] == "https://example.jp"
    assert opened.request("OPTIONS", "/reports", headers=asking).status_code == 200
    other = opened.request("OPTIONS", "/reports", headers=asking | {"origin": "https://other.jp"})
    assert other.status_code == 400
    assert "access-control-allow-origin" not in other.headers


def test_an_address_may_send_so_many_reports_a_minute(serve):
    client = serve(rate=5)
    assert client.post("/reports", json=batch(client.survey, [0] * 4)).status_code == 200
    refused = client.post("/reports", json=batch(client.survey, [0] * 2))
    assert refused.status_code == 429
    assert refused.json()["error"] == "too many reports from one address (allowed: 5 a minute)"
    assert 1 <= int(refused.headers["retry-after"]) <= 61
    assert client.stored == 4


def test_behind_a_proxy_the_limit_is_for_those_in_front_of_it(serve):
    client = serve(rate=3, behind_proxy=True)
    for sender in range(5):
        # What stands before the last comma was written by the sender and may be anything.
        headers = {"x-forwarded-for": f"{os.urandom(2).hex()}, 192.0.2.{sender}"}
        codes = [client.post("/reports", json=batch(client.survey, [0]), headers=headers).status_code for _ in range(4)]
        assert codes == [200, 200, 200, 429]


def test_nothing_about_the_sender_is_stored(serve, tmp_path):
    client = serve(behind_proxy=True)
    address = "192.0.2.77"
    headers = {"x-forwarded-for": address, "user-agent": "my-very-own-agent", "cookie": "me=1"}
    body = batch(client.survey, [0, 1])
    client.post("/reports", json=body, headers=headers)
    client.close()
    kept = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    for trace in (address.encode(), b"192.0.2", b"my-very-own-agent", b"me=1", b"\xc0\x00\x02\x4d"):
        assert trace not in kept
    assert bytes.fromhex(body["reports"][0]["id"]) in kept  # the search would have found it


def test_pages_load_nothing_from_elsewhere_and_speak_two_languages(serve):
    client = serve()
    for path in ("/", "/device"):
        english = client.get(path)
        japanese = client.get(path, headers={"accept-language": "ja,en;q=0.5"})
        assert '<html lang="en">' in english.text
        assert '<html lang="ja">' in japanese.text
        assert client.get(f"{path}?lang=ja").text == japanese.text
        policy = english.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self'" in policy
        assert "://" not in english.text.replace("http://www.w3.org", "")
        assert english.headers["cache-control"] == "no-store"
    assert client.get("/static/client.js").headers["content-type"].startswith("text/javascript")


def test_a_text_of_the_survey_cannot_break_out_of_the_page(serve):
    client = serve(title="</script><script>alert(1)</script>")
    text = client.get("/device").text
    assert "<script>alert(1)" not in text
    assert "\\u003c/script>" in text


def test_a_survey_for_programs_has_no_device_page_and_says_so(serve, tmp_path):
    client = serve(encoding=encoding_from_json({"encoding": "local_hashing", "size": 4, "epsilon": "1"}))
    answer = client.get("/device")
    assert answer.status_code == 404
    assert "cannot be answered in a browser: its encoding local_hashing is for programs" in answer.text
    assert client.get("/survey").json()["law"] is None
    assert client.post("/reports", json=batch(client.survey, [0, 1, 2, 3])).json() == {"stored": 4, "known": 0}
    assert 'href="device' not in client.get("/").text


def test_a_survey_changed_while_running_stops_the_collection_with_a_sentence(serve, tmp_path):
    path, now = tmp_path / "survey.toml", [0.0]
    path.write_text(LUNCH)
    client = serve(watch=lambda survey: Watch(path, survey, clock=lambda: now[0]))
    path.write_text(LUNCH.replace("minimum = 10", "minimum = 20"))
    now[0] += 2
    assert client.post("/reports", json=batch(client.survey, [0])).status_code == 200  # devices do not see that
    path.write_text(LUNCH.replace("epsilon = 1", "epsilon = 2").replace("for lunch", "for dinner"))
    now[0] += 2
    for answer in (client.get("/survey"), client.post("/reports", json=batch(client.survey, [0]))):
        assert answer.status_code == 503
        assert answer.json()["error"] == (
            "the survey was changed while the collector runs: privacy and question. Start the collector again with a "
            "storage of its own, or take back the change."
        )
    path.write_text("half written")
    now[0] += 2
    assert client.get("/survey").status_code == 503
    path.write_text(LUNCH)
    now[0] += 2
    assert client.get("/survey").status_code == 200
    path.unlink()
    now[0] += 2
    assert client.get("/survey").status_code == 200


def test_a_database_that_fails_is_503_for_senders_and_a_sentence_for_the_steward(serve, monkeypatch, caplog):
    client = serve()

    def fail(self, rows):
        raise StorageError("the database reports.db cannot be written: the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr("sudare.collector.sqlite_store.SqliteStore.add", fail)
        body = batch(client.survey, [0])
        with caplog.at_level(logging.ERROR):
            answer = client.post("/reports", json=body)
    assert answer.status_code == 503
    assert answer.headers["retry-after"] == "5"
    assert "reports.db" not in answer.text
    assert "the disk is full" in caplog.text
    assert client.post("/reports", json=body).json() == {"stored": 1, "known": 0}


def test_unknown_addresses_and_methods_are_sentences_too(serve):
    client = serve()
    assert client.get("/nowhere").json() == {"error": "not found"}
    wrong = client.request("DELETE", "/reports")
    assert (wrong.status_code, wrong.json()) == (405, {"error": "method not allowed"})
    assert client.get("/static/../service.py").status_code == 404


def test_the_body_of_reports_is_described(serve):
    schema = serve().get("/openapi.json").json()
    body = schema["paths"]["/reports"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert body["required"] == ["survey"]
    assert set(body["properties"]) == {"survey", "id", "report", "reports"}


def test_a_refusal_speaks_the_language_of_the_browser_and_english_to_programs(serve):
    service = serve()
    assert service.get("/estimate").json()["error"].startswith("there are too few reports")
    japanese = service.get("/estimate", headers={"accept-language": "ja"}).json()["error"]
    assert (
        japanese == "報告が少なすぎるため、推定を表示できません（許容：10 件以上の報告）。後でもう一度お試しください。"
    )
    assert service.get("/nothing?lang=ja").json()["error"] == "見つかりません。"


def test_health_and_metrics_tell_nothing_about_single_reports(serve):
    client = serve()
    assert (client.get("/health").status_code, client.get("/health").json()) == (200, {"storing": True})
    for _ in range(3):
        client.post("/reports", json=batch(client.survey, [0, 1, 2]))
        assert "sudare_reports_shown 0\n" in client.get("/metrics").text  # nine are fewer than the minimum
    client.post("/reports", json=batch(client.survey, [0]))
    assert "sudare_reports_shown 10\n" in client.get("/metrics").text
