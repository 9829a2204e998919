"""A respondent with a phone, in both languages and in the dark: each page that is met, and what it says."""

import re

import pytest

from looks import scrolls_sideways, serious
from sudare.collector import Client

HOME = """
name = "home-{number}"
title = "Nights"
question = "Where do you sleep?"
answers = {{type = "tiles", tiles = {{Kita = [0, 1], Shinjuku = [1, 0], Chiyoda = [1, 1]}}}}
privacy = {{encoding = "permanent_unary", epsilon = 0.5, first = 0.25}}
estimate = {{minimum = 10}}
service = {{storage = "home-{number}.db", rate = 0, batch = 1}}
rounds = {{series = "home", number = {number}, of = 30, changes = 2}}
"""
PHONE = {"width": 360, "height": 740}


def fits(page):
    """No serious complaint of axe, and nothing beside the screen."""
    assert serious(page) == []
    return not scrolls_sideways(page)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_respondent_answers_once_and_sees_the_estimate(opened, words, launch, survey_file, scheme):
    server = launch(survey_file)
    page = opened(words.language, **PHONE)
    page.emulate_media(color_scheme=scheme)
    page.goto(f"{server.url}/device")
    page.locator(".choice").nth(1).click()
    assert fits(page)
    page.locator("#send").click()
    terms = page.locator("#terms")
    terms.wait_for()
    assert "2.72" in terms.inner_text()
    assert fits(page)
    page.locator("#agree").click()
    page.get_by_text(words("collect.thanks")).wait_for()
    assert fits(page)
    page.reload()
    page.get_by_text(words("collect.already")).wait_for()
    assert not page.locator("#answer-form").is_visible()
    Client(server.url).send(["rice"] * 300 + ["bread"] * 100)
    page.goto(server.url)
    page.locator(".bar").first.wait_for()
    assert fits(page)
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (background == "rgb(255, 255, 255)") == (scheme == "light")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_map_and_two_answers_together_can_be_read(opened, words, launch, tmp_path, scheme):
    path = tmp_path / "survey.toml"
    path.write_text(
        """
name = "commute"
question = "Lunch and home"
privacy = {encoding = "symmetric_unary", epsilon = 2}
estimate = {minimum = 50}
service = {storage = "commute.db", rate = 0, batch = 1}
[questions.lunch]
question = "Lunch?"
answers = {type = "labels", labels = ["rice", "bread", "nothing"]}
[questions.home]
question = "Home?"
answers = {type = "tiles", tiles = {North = [0, 1], West = [1, 0], South = [2, 1]}}
""",
        encoding="utf-8",
    )
    server = launch(path)
    Client(server.url).send({"lunch": ["rice"] * 300 + ["bread"] * 100, "home": ["North"] * 300 + ["West"] * 100})
    page = opened(words.language, **PHONE)
    page.emulate_media(color_scheme=scheme)
    page.goto(server.url)
    page.locator("#joint td").first.wait_for()
    page.locator("summary").click()
    assert fits(page)


def test_a_second_round_costs_nothing_more_and_says_so(opened, words, launch, tmp_path):
    pages, page = [], opened(words.language, **PHONE)
    for number in (1, 2):
        path = tmp_path / f"home-{number}.toml"
        path.write_text(HOME.format(number=number), encoding="utf-8")
        server = launch(path)
        # Another port is another site to a browser: what it keeps is carried over, as one address would.
        page.goto(f"{server.url}/device")
        for kept in pages:
            page.evaluate(
                "kept => Object.entries(kept).forEach(([key, text]) => localStorage.setItem(key, text))", kept
            )
        page.reload()
        page.locator("select").select_option("1")
        promise = page.locator(".promise").first.inner_text()
        assert words("collect.rounds", number=number, of=30) in promise
        assert "4.49" in promise  # three values at 0.5, in all rounds together
        page.locator("#send").click()
        page.locator("#terms").wait_for()
        said = page.locator("#terms").inner_text()
        counted = words("collect.terms_again", **gaps("1.5")) == said
        assert counted == (number == 2)
        page.locator("#agree").click()
        page.get_by_text(words("collect.thanks")).wait_for()
        pages.append(page.evaluate("({...localStorage})"))
    spent = page.evaluate("JSON.parse(localStorage.getItem('sudare:spent')).map((row) => row.epsilon)")
    assert spent == [1.5]


def gaps(spent):
    """What the terms of a further round name."""
    question = "Where do you sleep?"
    return {"question": question, "times": "4.49", "epsilon": "1.5", "most": "2", "spent": spent, "year": "8"}


def test_a_report_with_one_answer_is_not_called_a_set_of_marks(opened, words, launch, survey_file):
    survey_file.write_text(survey_file.read_text().replace("symmetric_unary", "randomised_response"))
    server = launch(survey_file)
    page = opened(words.language)
    page.goto(f"{server.url}/device")
    page.locator(".choice").first.click()
    page.locator("#send").click()
    page.locator("#agree").click()
    sent = page.locator("#report")
    sent.wait_for()
    label = next(name for name in ("rice", "noodles", "bread", "nothing") if name in sent.inner_text())
    assert sent.inner_text() == words("collect.sent_answers", labels=label)


@pytest.mark.parametrize("reason", ["weak", "year"])
def test_what_costs_too_much_is_refused_before_anything_is_asked(opened, words, launch, survey_file, reason):
    if reason == "weak":
        survey_file.write_text(survey_file.read_text().replace("epsilon = 1", "epsilon = 2.1"))
    server = launch(survey_file)
    page = opened(words.language)
    page.goto(f"{server.url}/device")
    if reason == "year":
        row = "[{account: 'another', name: 'another', epsilon: 7.5, day: Date.now()}]"
        page.evaluate(f"localStorage.setItem('sudare:spent', JSON.stringify({row}))")
        page.reload()
    page.get_by_text(words(f"collect.error_{reason}")).wait_for()
    assert page.get_by_role("button").count() == 0
    assert page.locator(".choice").count() == 0


@pytest.mark.parametrize("change", ["link", "survey"])
def test_a_survey_that_is_not_the_organisers_has_no_button(opened, words, launch, survey_file, change):
    server = launch(survey_file)
    page = opened(words.language)
    if change == "survey":

        def swap(route):
            answer = route.fetch()
            route.fulfill(response=answer, body=answer.text().replace("noodles", "nothing at all"))

        page.route("**/survey", swap)
    page.goto(f"{server.url}/device" + (f"#key={'00' * 32}" if change == "link" else ""))
    page.get_by_text(words("collect.error_unsigned")).wait_for()
    assert page.get_by_role("button").count() == 0


def test_without_javascript_the_page_says_so_first_and_offers_nothing(chromium, words, launch, survey_file):
    server = launch(survey_file)
    context = chromium.new_context(java_script_enabled=False, locale=words.language)
    page = context.new_page()
    for path, key in (("/device", "noscript"), ("/", "noscript_estimate")):
        page.goto(server.url + path)
        shown = page.locator("main").inner_text()
        said = re.escape(words(f"collect.{key}"))
        assert re.search(rf"lunch\?\s+{said}", shown)
        assert not page.locator("#send").is_visible()
        assert words("collect.loading") not in shown
    context.close()
