"""The two pages in a real browser: what is shown, what is sent, what is kept."""

import base64
import json

import pytest

from sudare.collector import Client

WARDS = """
name = "wards"
title = "Tokyo"
question = "Where are you?"
answers = {type = "tiles", tiles = {Kita = [0, 1], Shinjuku = [1, 0], Chiyoda = [1, 1]}}
privacy = {encoding = "symmetric_unary", epsilon = 3}
estimate = {minimum = 50, token = "a-token-of-some-length"}
service = {storage = "wards.db", rate = 0, batch = 1}

[translations.ja]
question = "いま、どこにいますか?"
labels = ["北区", "新宿区", "千代田区"]
"""


def sent_by(browser):
    """Bodies of the requests to /reports so far."""
    requests = [
        event["params"]["request"] for event in browser.events if event["method"] == "Network.requestWillBeSent"
    ]
    return [json.loads(request["postData"]) for request in requests if request["url"].endswith("/reports")]


def elsewhere(browser, url):
    """Addresses that the browser asked outside the collector."""
    requests = [
        event["params"]["request"] for event in browser.events if event["method"] == "Network.requestWillBeSent"
    ]
    return [request["url"] for request in requests if not request["url"].startswith(url)]


@pytest.fixture
def browser(chromium):
    chromium.events.clear()
    return chromium


def test_a_person_answers_and_only_the_report_leaves_the_browser(browser, launch, survey_file):
    server = launch(survey_file)
    browser.visit(f"{server.url}/device?lang=en")
    assert browser.wait("document.querySelectorAll('.choice input').length") == 4
    assert browser.evaluate("document.getElementById('send').disabled") is True
    browser.evaluate("document.querySelectorAll('.choice input')[1].click()")
    browser.evaluate("document.getElementById('send').click()")
    terms = browser.wait("document.getElementById('terms').textContent")
    assert "at most 2.72 times as sure" in terms
    assert "this one adds 1," in terms
    assert "add up to 0 so far, of 8 in a year" in terms
    assert "You chose: noodles" in browser.evaluate("document.getElementById('chosen').textContent")
    assert sent_by(browser) == []  # nothing before it is agreed to
    browser.evaluate("document.getElementById('agree').click()")
    browser.wait("document.getElementById('status').textContent.startsWith('Thank you. Your randomised')")
    (body,) = sent_by(browser)
    assert body.keys() == {"survey", "id", "report"}
    bits = base64.urlsafe_b64decode(body["report"] + "==")[0]
    marked = [name for place, name in enumerate(["rice", "noodles", "bread", "nothing"]) if bits >> place & 1]
    said = browser.evaluate("document.getElementById('report').textContent")
    assert [name for name in ["rice", "noodles", "bread", "nothing"] if name in said] == marked
    assert body["report"] not in said
    assert elsewhere(browser, server.url) == []
    assert server.request("/reports", body) == (200, {"stored": 0, "known": 1})  # it is there, once

    # The same browser is not asked again: a second report would tell more about the same person.
    browser.visit(f"{server.url}/device?lang=ja")
    browser.wait("document.getElementById('status').textContent.includes('回答済み')")
    assert browser.evaluate("document.querySelectorAll('.choice').length") == 0
    kept = browser.evaluate("JSON.stringify(Object.entries(localStorage))")
    assert '"answered"' in kept
    assert "noodles" not in kept
    assert body["report"] not in kept


def test_a_report_that_waits_for_its_batch_is_kept_and_sent_again(browser, launch, survey_file):
    survey_file.write_text(survey_file.read_text().replace("batch = 1", "batch = 2"))
    server = launch(survey_file)
    browser.visit(f"{server.url}/device?lang=ja")
    browser.wait("document.querySelectorAll('.choice input').length")
    browser.evaluate("document.querySelectorAll('.choice input')[1].click()")
    browser.evaluate("document.getElementById('send').click()")
    browser.wait("!document.getElementById('confirm').hidden")
    browser.evaluate("document.getElementById('agree').click()")
    browser.wait("document.getElementById('status').textContent.includes('まとめて保存されるのを待っています')")
    assert Client(server.url, tries=1).send(["rice"]).stored == 1  # the second report fills the batch
    browser.visit(f"{server.url}/device?lang=ja")
    browser.wait("document.getElementById('status').textContent.startsWith('ありがとうございました')")
    assert len({json.dumps(body) for body in sent_by(browser)}) == 1


def test_a_link_with_another_key_is_not_answered(browser, launch, survey_file):
    server = launch(survey_file)
    browser.visit(f"{server.url}/device?lang=en#key={'00' * 32}")
    browser.wait("document.getElementById('status').textContent.startsWith('This survey is not signed')")
    assert browser.evaluate("document.querySelectorAll('.choice').length") == 0


def test_a_report_that_could_not_be_sent_is_sent_later_and_not_made_anew(browser, launch, survey_file):
    server = launch(survey_file)
    browser.visit(f"{server.url}/device?lang=en")
    browser.wait("document.querySelectorAll('.choice input').length")
    browser.call("Network.setBlockedURLs", urls=["*/reports"])
    browser.evaluate("document.querySelectorAll('.choice input')[2].click()")
    browser.evaluate("document.getElementById('send').click()")
    browser.evaluate("document.getElementById('agree').click()")
    browser.wait("document.getElementById('status').textContent.startsWith('The collector cannot be reached')")
    browser.visit(f"{server.url}/device?lang=en")  # it tries of its own accord
    browser.wait("document.getElementById('status').textContent.startsWith('The collector cannot be reached')")
    browser.call("Network.setBlockedURLs", urls=[])
    assert browser.evaluate("document.getElementById('send').textContent") == "Send again"
    assert browser.evaluate("document.getElementById('send').checkVisibility()") is True
    browser.evaluate("document.getElementById('send').click()")
    browser.wait("document.getElementById('status').textContent.startsWith('Thank you')")
    bodies = sent_by(browser)
    assert len(bodies) > 1
    assert len({json.dumps(body) for body in bodies}) == 1


def test_the_estimate_asks_for_its_token_shows_a_map_and_follows_the_reports(browser, launch, tmp_path):
    path = tmp_path / "wards.toml"
    path.write_text(WARDS, encoding="utf-8")
    server = launch(path)
    browser.visit(f"{server.url}/?lang=ja")
    browser.wait("!document.getElementById('token-form').hidden")
    enter = "document.getElementById('token').value = {}; document.querySelector('#token-form button').click()"
    browser.evaluate(enter.format("'not-the-token'"))
    browser.wait("document.getElementById('status').textContent === 'トークンが違います。'")
    browser.evaluate(enter.format("'a-token-of-some-length'"))
    browser.wait("document.getElementById('status').textContent.includes('50 件から表示')")
    Client(server.url, most_epsilon=64, most_a_year=64).send(["Shinjuku"] * 900 + ["Kita"] * 100)
    browser.wait("document.getElementById('status').textContent.includes('1,000 件')")
    assert browser.evaluate("[...document.querySelectorAll('.name')].map((name) => name.textContent)") == [
        "北区",
        "新宿区",
        "千代田区",
    ]
    counts = browser.evaluate("[...document.querySelectorAll('.note')].map((note) => Number(note.textContent))")
    assert 800 < counts[1] < 1000
    browser.evaluate("document.querySelectorAll('.square')[1].dispatchEvent(new Event('click'))")
    assert browser.evaluate("document.querySelector('.detail').textContent").startswith("新宿区")
    assert elsewhere(browser, server.url) == []


def test_bars_have_intervals(browser, launch, survey_file):
    server = launch(survey_file)
    Client(server.url).send(["rice"] * 500)
    browser.visit(f"{server.url}/?lang=en")
    browser.wait("document.querySelectorAll('.bar').length === 4")
    assert browser.evaluate("document.querySelectorAll('.whisker').length") == 4
    shown = browser.evaluate("document.querySelector('.count').textContent")
    assert "–" in shown
    assert browser.evaluate("document.querySelectorAll('#rows tr').length") == 4


QUESTIONS = """
name = "commute"
question = "Lunch and the way to work"
privacy = {encoding = "symmetric_unary", epsilon = 2}
estimate = {minimum = 50}
service = {storage = "commute.db", rate = 0, batch = 1}
[questions.lunch]
question = "Lunch?"
answers = {type = "labels", labels = ["rice", "bread", "nothing"]}
[questions.home]
question = "Where do you live?"
answers = {type = "tiles", tiles = {North = [0, 1], West = [1, 0], South = [2, 1]}}
[translations.ja.questions.home]
question = "お住まいはどこですか?"
labels = ["北部", "西部", "南部"]
"""


def test_several_questions_are_answered_on_one_page_by_one_report(browser, launch, tmp_path):
    path = tmp_path / "commute.toml"
    path.write_text(QUESTIONS, encoding="utf-8")
    server = launch(path)
    browser.visit(f"{server.url}/device?lang=ja")
    browser.wait("document.querySelectorAll('fieldset').length === 2")
    legends = browser.evaluate("[...document.querySelectorAll('legend')].map((legend) => legend.textContent)")
    assert legends == ["Lunch?", "お住まいはどこですか?"]
    browser.evaluate("document.querySelectorAll('.choice input')[1].click()")
    assert browser.evaluate("document.getElementById('send').disabled") is True  # one is still to be answered
    browser.evaluate("document.querySelectorAll('.square')[2].dispatchEvent(new Event('click'))")
    browser.evaluate("document.getElementById('send').click()")
    assert browser.wait("document.getElementById('chosen').textContent") == "選んだ回答：bread、南部"
    browser.evaluate("document.getElementById('agree').click()")
    browser.wait("document.getElementById('status').textContent.startsWith('ありがとうございました')")
    (body,) = sent_by(browser)
    assert len(base64.urlsafe_b64decode(body["report"] + "==")) == 2

    answers = {"lunch": ["rice"] * 300 + ["bread"] * 100, "home": ["North"] * 300 + ["West"] * 100}
    assert Client(server.url).send(answers).stored == 400
    browser.visit(f"{server.url}/?lang=en")
    browser.wait("document.querySelectorAll('.question').length === 2")
    assert browser.evaluate("document.querySelectorAll('.bar').length") == 3
    assert browser.evaluate("document.querySelectorAll('.square').length") == 3
    rows = browser.wait("document.querySelectorAll('#joint tr').length")
    assert rows == 4
    shown = browser.evaluate("[...document.querySelectorAll('#joint td')].map((cell) => cell.textContent)")
    estimate = Client(server.url).estimate()
    counts = [f"{round(count):,}" for row in estimate["joint"][0]["counts"] for count in row]
    assert all(text.startswith(count) for text, count in zip(shown, counts, strict=True))
    assert [question["name"] for question in estimate["questions"]] == ["lunch", "home"]
    assert estimate["reports"] == 401


def test_a_survey_with_a_relay_is_refused_in_both_languages(browser, launch, survey_file):
    survey_file.write_text(survey_file.read_text() + 'shuffler = {url = "https://relay.example"}\n')
    server = launch(survey_file)
    browser.visit(f"{server.url}/device?lang=en")
    assert "reports go through a relay" in browser.evaluate("document.getElementById('status').textContent")
    browser.visit(f"{server.url}/device?lang=ja")
    assert "sudare collect send" in browser.evaluate("document.getElementById('status').textContent")
    assert browser.evaluate("document.querySelectorAll('.choice').length") == 0
