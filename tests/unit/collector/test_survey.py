import json
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from sudare.collector import load, parse
from sudare.collector.answers import answers_from_json
from sudare.errors import InputError, SudareError

WHOLE = """
name = "tokyo"
title = "Tokyo"
question = "Where?"

[answers]
type = "tiles"
tiles = { Kita = [0, 1], Minato = [2, 1] }

[privacy]
encoding = "symmetric_unary"
epsilon = 0.5

[estimate]
method = "mle"
minimum = 7
token = "sixteen-characters-at-least"

[service]
storage = "tokyo.db"
origins = ["https://example.jp", "http://localhost:3000"]
rate = 60
behind_proxy = true

[translations.ja]
question = "どこ?"
labels = ["北区", "港区"]
"""
SHORT = 'name = "a"\nquestion = "b"\nanswers = {type = "labels", labels = ["x", "y"]}\nprivacy = {epsilon = 1}\n'


def test_a_survey_is_what_its_file_says(tmp_path):
    path = tmp_path / "survey.toml"
    path.write_text("\ufeff" + WHOLE, encoding="utf-8")
    survey = load(path)
    assert survey.encoding.epsilon == Fraction(1, 2)
    assert survey.answers.labels == ["Kita", "Minato"]
    assert (survey.method, survey.minimum, survey.rate, survey.behind_proxy) == ("mle", 7, 60, True)
    assert survey.origins == ("https://example.jp", "http://localhost:3000")
    assert survey.storage == str(tmp_path / "tokyo.db")  # beside its file
    assert survey.translations["ja"].to_json() == {"question": "どこ?", "labels": ("北区", "港区")}
    assert json.loads(json.dumps(survey.to_json()))["translations"]["ja"]["labels"] == ["北区", "港区"]


def test_defaults_are_safe():
    survey = parse(SHORT)
    assert (survey.minimum, survey.origins, survey.rate, survey.behind_proxy) == (100, (), 600, False)
    assert survey.storage == "reports.db"


def test_secrets_come_from_the_environment_and_appear_nowhere(monkeypatch, tmp_path):
    monkeypatch.setenv("SURVEY_STORAGE", "postgresql://me:hidden@host/data")
    monkeypatch.setenv("SURVEY_TOKEN", "hidden-sixteen-characters")
    text = SHORT + 'estimate = {token = "env:SURVEY_TOKEN"}\nservice = {storage = "env:SURVEY_STORAGE"}\n'
    (tmp_path / "survey.toml").write_text(text)
    survey = load(tmp_path / "survey.toml")
    assert (survey.token, survey.storage) == ("hidden-sixteen-characters", "postgresql://me:hidden@host/data")
    assert "hidden" not in repr(survey) + json.dumps(survey.to_json()) + json.dumps(survey.identity)
    monkeypatch.delenv("SURVEY_TOKEN")
    with pytest.raises(InputError, match=r"estimate.token names a variable .* not set \(got 'SURVEY_TOKEN'\)"):
        parse(text)


def test_the_fingerprint_is_of_what_a_report_depends_on():
    survey = parse(WHOLE)
    same = [
        WHOLE.replace("minimum = 7", "minimum = 8"),
        WHOLE.replace("rate = 60", "rate = 0"),
        WHOLE.replace("epsilon = 0.5", "epsilon = 0.50"),
    ]
    other = [
        WHOLE.replace('title = "Tokyo"', 'title = "T"'),  # everything that a person reads
        WHOLE.replace("どこ", "どちら"),
        WHOLE.replace("港区", "区"),
        WHOLE + '[rounds]\nseries = "tokyo"\nnumber = 1\nof = 2\n',
        WHOLE.replace('name = "tokyo"', 'name = "tokyo-2"'),
        WHOLE.replace("Where?", "Where now?"),
        WHOLE.replace("Kita", "North"),
        WHOLE.replace("[0, 1]", "[0, 0]"),
        WHOLE.replace("epsilon = 0.5", "epsilon = 0.51"),
        WHOLE.replace("symmetric_unary", "optimised_unary"),
    ]
    assert {parse(text).fingerprint for text in same} == {survey.fingerprint}
    fingerprints = {parse(text).fingerprint for text in other}
    assert len(fingerprints) == len(other)
    assert survey.fingerprint not in fingerprints


@pytest.mark.parametrize(
    ("written", "wrong", "sentence"),
    [
        ("epsilon = 0.5", "epsilo = 0.5", r"unknown key privacy.epsilo in the survey .* Did you mean 'epsilon'\?"),
        ("rate = 60", "rat = 60", r"unknown key service.rat .* Did you mean 'rate'\?"),
        ("tiles = {", "tile = {", r"unknown key answers.tile in the survey .* Did you mean 'tiles'\?"),
        ('title = "Tokyo"', 'titel = "Tokyo"', r"unknown key titel .* Did you mean 'title'\?"),
        ('question = "どこ?"', 'questio = "どこ?"', r"unknown key translations.ja.questio .* Did you mean 'question'"),
        ('question = "Where?"', "", "the survey lacks question"),
        ('question = "Where?"', 'question = ""', "question: string should have at least 1 character"),
        ("epsilon = 0.5", "epsilon = 0", "epsilon is not positive"),
        ("epsilon = 0.5", "epsilon = -1", "epsilon is not positive"),
        ("epsilon = 0.5", "epsilon = inf", "privacy.epsilon"),
        ("epsilon = 0.5", "epsilon = 100", "epsilon is out of range for a report"),
        (
            "symmetric_unary",
            "symetric_unary",
            "privacy.encoding: input should be .* or 'symmetric_unary'",
        ),
        ("symmetric_unary", "permanent_unary", "first is not positive"),
        ("[estimate]", 'rounds = { series = "s", number = 3, of = 2 }\n[estimate]', "unknown key privacy.rounds"),
        ("symmetric_unary", "square_wave", r"square_wave is for numbers \(got 'categories'; allowed: bins\)"),
        ("minimum = 7", "minimum = 0", "estimate.minimum: input should be greater than or equal to 1"),
        ("sixteen-characters-at-least", "short", r"estimate.token is too easy to guess \(allowed: 16 or more"),
        (
            "https://example.jp",
            "example.jp",
            "service.origins: 'example.jp' is not an origin such as https://example.jp",
        ),
        ("https://example.jp", "https://example.jp/path", "is not an origin"),
        ('labels = ["北区", "港区"]', 'labels = ["北区"]', "translations.ja.labels are not one for each answer"),
        ("[translations.ja]", "[translations.fr]", "translations.fr"),
        ('type = "tiles"', 'type = "tile"', "answers: input tag 'tile' found using 'type' does not match"),
        ("[answers]", "[answers", "the survey is not TOML"),
    ],
)
def test_a_mistake_is_one_sentence(written, wrong, sentence):
    assert written in WHOLE
    with pytest.raises(SudareError, match=sentence) as caught:
        parse(WHOLE.replace(written, wrong, 1))
    assert "\n" not in str(caught.value)
    assert "short" not in str(caught.value)  # not even a bad token is shown


def test_a_file_that_cannot_be_read_is_one_sentence(tmp_path):
    with pytest.raises(InputError, match="there is no such survey"):
        load(tmp_path / "none.toml")
    (tmp_path / "latin.toml").write_bytes(b"name = '\xe9'")
    with pytest.raises(InputError, match="the survey is not text in UTF-8"):
        load(tmp_path / "latin.toml")


def test_an_encoding_for_another_number_of_answers_is_refused():
    survey = parse(SHORT)
    with pytest.raises(InputError, match="the encoding is for another number of answers"):
        replace(
            survey,
            answers=parse(
                WHOLE.replace("Minato = [2, 1]", "Minato = [2, 1], Ota = [3, 1]").replace(
                    '"港区"]', '"港区", "大田区"]'
                )
            ).answers,
        )


@pytest.mark.parametrize(
    "answers", ['{type = "mesh", size = "1km", codes = ["533946"]}', '{type = "bins", start = 0, stop = 1, step = 0.1}']
)
def test_meshes_and_numbers_are_answers_too(answers):
    survey = parse(SHORT.replace('{type = "labels", labels = ["x", "y"]}', answers))
    assert survey.encoding.size == survey.answers.size in (10, 100)


def test_the_survey_of_the_documentation_is_one(monkeypatch):
    monkeypatch.setenv("LUNCH_TOKEN", "sixteen-characters-at-least")
    page = (Path(__file__).parents[3] / "docs" / "how-to" / "collect.md").read_text(encoding="utf-8")
    survey = parse(re.search(r"```toml\n(.*?)```", page, re.DOTALL)[1])
    assert survey.answers.labels == ["rice", "noodles", "bread", "nothing"]
    assert survey.translations["ja"].labels[0] == "ご飯"
    assert survey.law is not None


def test_a_survey_whose_cap_has_a_large_delta_is_refused():
    ledger = 'ledger = {path = "ledger.db", dataset = "tokyo", cap = {epsilon = 1, delta = %s}}\n'
    with pytest.raises(SudareError, match="delta is too large to protect anybody"):
        parse(SHORT + ledger % "0.5")
    assert parse(SHORT + ledger % "0.001").ledger.declared_cap.delta == Fraction(1, 1000)


SEVERAL = """
name = "commute"
question = "Lunch and the way to work"
privacy = {encoding = "randomised_response", epsilon = 2}
[questions.lunch]
question = "Lunch?"
answers = {type = "labels", labels = ["rice", "bread", "nothing"]}
share = 3
[questions.home]
question = "Where do you live?"
answers = {type = "mesh", size = "1km", rows = [4240, 4242], columns = [3150, 3152]}
[translations.ja]
question = "昼食と通勤"
[translations.ja.questions.lunch]
labels = ["ご飯", "パン", "なし"]
"""


def test_several_questions_share_the_budget_and_are_one_survey():
    survey = parse(SEVERAL)
    assert [encoding.epsilon for encoding in survey.encoding.questions.values()] == [Fraction(3, 2), Fraction(1, 2)]
    assert (survey.cost.epsilon, survey.encoding.report_bytes, survey.answers.size) == (2, 2, 12)
    reports = survey.randomize({"lunch": ["rice", "bread"], "home": ([35.34, 35.345], [139.38, 139.39])})
    assert len(reports) == 2
    texts = survey.texts("ja")
    assert texts.question == "昼食と通勤"
    assert texts.asked[0] == ("Lunch?", ("ご飯", "パン", "なし"))
    assert texts.asked[1][0] == "Where do you live?"
    again = answers_from_json(json.loads(json.dumps(survey.to_json()))["answers"])
    assert again == survey.answers
    turned = SEVERAL.replace("questions.lunch]", "questions.way]")
    changed = [turned, SEVERAL.replace("share = 3", "share = 2"), SEVERAL.replace("なし", "無し")]
    assert len({parse(text).fingerprint for text in [SEVERAL, *changed]}) == 4


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (("epsilon = 2", "epsilon = 2, first = 1"), "not one for several questions"),
        (("randomised_response", "local_hashing"), "not one for several questions"),
        (('question = "Lunch and', 'answers = {type = "labels", labels = ["a"]}\nquestion = "Lunch and'), "either"),
        (("[questions.home]", "[questions.lunch.more]"), "more"),
        (("ja.questions.lunch", "ja.questions.dinner"), "a question that is not asked"),
        (('"パン", ', ""), "not one for each answer"),
        (("share = 3", "share = 0"), "share"),
    ],
)
def test_several_questions_that_do_not_fit_are_refused(change, sentence):
    with pytest.raises(SudareError, match=sentence):
        parse(SEVERAL.replace(*change))


def test_the_fingerprint_of_one_question_is_as_it_was():
    """Devices and databases of running surveys know it."""
    assert parse(WHOLE).fingerprint == "5c4adca278e7a22487a89d9bbf4e44cf"
