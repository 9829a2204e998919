import json
import re
from pathlib import Path

import pytest

import sudare.collector
from sudare.collector import parse
from sudare.collector.pages import language_of, messages, page

FOLDER = Path(sudare.collector.__file__).parent


def used_keys():
    """Every message that a page or a script asks for."""
    scripts = "".join(path.read_text() for path in (FOLDER / "static").glob("*.js"))
    templates = "".join(path.read_text() for path in (FOLDER / "templates").glob("*.html"))
    keys = set(re.findall(r"messages\.(\w+)", scripts)) | set(re.findall(r"\btext\.(\w+)", templates))
    keys |= set(re.findall(r'\b(?:say|fill|finish)\("(\w+)"', scripts))
    return keys


def test_both_languages_have_every_message_with_the_same_gaps():
    english, japanese = messages("en"), messages("ja")
    assert used_keys() <= english.keys()
    assert english.keys() == japanese.keys()
    for key, text in english.items():
        assert set(re.findall(r"\{(\w+)\}", text)) == set(re.findall(r"\{(\w+)\}", japanese[key])), key
        assert text.strip()
        assert japanese[key].strip()


def test_every_error_of_the_client_has_its_message():
    script = (FOLDER / "static" / "client.js").read_text()
    kinds = set(re.findall(r'ClientError\("(\w+)"', script)) | {"changed", "busy", "refused", "offline"}
    # These cannot happen on our own page: it offers no such answer, and no such survey.
    assert {f"error_{kind}" for kind in kinds - {"bad_answer", "no_law", "weak"}} <= messages("en").keys()


@pytest.mark.parametrize(
    ("asked", "accepted", "language"),
    [
        (None, "", "en"),
        (None, "ja", "ja"),
        (None, "de, ja;q=0.4, en;q=0.3", "ja"),
        (None, "en-GB, ja", "en"),
        (None, "*;q=x, ja;q=y", "en"),
        ("ja", "en", "ja"),
        ("fr", "ja", "ja"),
    ],
)
def test_the_language_is_the_one_asked_for_or_the_browsers(asked, accepted, language):
    assert language_of(asked, accepted) == language


def test_a_page_holds_the_survey_its_texts_and_its_promise():
    survey = parse("""
        name = "lunch"
        question = "Lunch & more?"
        answers = {type = "labels", labels = ["<b>", "no"]}
        privacy = {epsilon = 0.5}
        translations = {ja = {question = "昼食は?", labels = ["はい", "いいえ"]}}
    """)
    english, japanese = page("device", survey, "en"), page("device", survey, "ja")
    assert "Lunch &amp; more?" in english
    assert "at most 1.65 times as likely with your answers as with any others" in english
    assert "昼食は?" in japanese
    data = json.loads(re.search(r'id="page">(.*?)</script>', english)[1])
    assert data["asked"] == [{"question": "Lunch & more?", "labels": ["<b>", "no"]}]
    assert data["survey"] == json.loads(json.dumps(survey.to_json()))
    (shown,) = json.loads(re.search(r'id="page">(.*?)</script>', japanese)[1])["asked"]
    assert shown == {"question": "昼食は?", "labels": ["はい", "いいえ"]}
    assert "<b>" not in english
