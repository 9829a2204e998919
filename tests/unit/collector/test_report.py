"""The public page of a collection: from the reports alone, in both languages, and not of too few."""

import hashlib
import re

import numpy as np
import pytest

from sudare.collector import export, load
from sudare.collector.collection import Collection
from sudare.collector.report import collection_sections
from sudare.errors import InputError, OutputError
from sudare.language.catalogue import Words
from sudare.local import estimate, joint
from sudare.render.sections import Chart, Map, Table

LABELS = """
name = "lunch"
title = "Lunch"
question = "What did you have for <b>lunch</b>?"
answers = {type = "labels", labels = ["rice", "noodles", "bread", "nothing"]}
privacy = {encoding = "symmetric_unary", epsilon = 1}
estimate = {minimum = 50}
service = {storage = "reports.db", batch = 1}
[translations.ja]
title = "昼食"
question = "昼食は何でしたか。"
labels = ["ご飯", "麺", "パン", "なし"]
"""
ANSWERS = {
    "mesh": '{type = "mesh", size = "1km", rows = [4240, 4243], columns = [3150, 3155]}',
    "tiles": '{type = "tiles", tiles = {north = [0, 1], west = [1, 0], east = [1, 2]}}',
    "labels": '{type = "labels", labels = [' + ", ".join(f'"a{i}"' for i in range(400)) + "]}",
}


def survey_of(tmp_path, text):
    path = tmp_path / "survey.toml"
    path.write_text(text, encoding="utf-8")
    return load(path)


def store(survey, values):
    made = survey.encoding.randomize(np.asarray(values))
    collection = Collection(survey)
    collection.add([(number.to_bytes(16, "big"), bytes(row)) for number, row in enumerate(made.packed)]).result()
    collection.close()
    return made


@pytest.mark.parametrize(
    ("language", "said"), [("en", "What did you have for &lt;b&gt;lunch"), ("ja", "昼食は何でしたか。")]
)
def test_the_page_says_what_was_collected_and_what_protects_it(tmp_path, language, said):
    survey = survey_of(tmp_path, LABELS)
    made = store(survey, [0] * 300 + [1] * 100)
    page, reports = tmp_path / "report.html", tmp_path / "reports.parquet"
    assert export(survey, reports, report=page, language=language) == 400
    text = page.read_text(encoding="utf-8")
    assert said in text
    assert hashlib.sha256(reports.read_bytes()).hexdigest() in text
    assert survey.fingerprint in text
    assert f'<html lang="{language}">' in text
    assert ("Local differential privacy" if language == "en" else "局所差分プライバシー") in text
    assert "release.json" not in re.sub(r"(?s)<script.*?</script>", "", text)
    found = estimate(made, method="auto")
    (table,) = [
        part
        for section in collection_sections(survey, made, Words(language), "")
        for part in section.parts
        if isinstance(part, Table)
    ]
    assert [row[1] for row in table.rows] == [f"{round(count):,}" for count in found.counts.tolist()]
    assert not list(tmp_path.glob(".report*"))


def test_too_few_reports_have_no_page(tmp_path):
    survey = survey_of(tmp_path, LABELS)
    store(survey, [0] * 49)
    with pytest.raises(InputError, match="from 50 reports on") as refusal:
        export(survey, tmp_path / "reports.parquet", report=tmp_path / "report.html")
    assert "49" not in str(refusal.value)
    assert not (tmp_path / "report.html").exists()
    assert (tmp_path / "reports.parquet").exists()


def test_a_page_that_cannot_be_written_is_one_sentence(tmp_path):
    survey = survey_of(tmp_path, LABELS)
    store(survey, [0] * 60)
    with pytest.raises(OutputError, match="cannot be written"):
        export(survey, tmp_path / "reports.parquet", report=tmp_path / "no" / "report.html")


@pytest.mark.parametrize("kind", ANSWERS)
def test_places_are_a_map_and_long_lists_are_shortened(tmp_path, kind):
    plain = re.sub(r"answers = .*", f"answers = {ANSWERS[kind]}", LABELS.partition("[translations")[0])
    survey = survey_of(tmp_path, plain)
    made = survey.encoding.randomize(np.arange(500) % survey.answers.size)
    sections = collection_sections(survey, made, Words("en"), "")
    (picture,) = [part for section in sections for part in section.parts if isinstance(part, Chart | Map)]
    (table,) = [part for section in sections for part in section.parts if isinstance(part, Table)]
    assert isinstance(picture, Map if kind == "mesh" else Chart)
    assert len(table.rows) == min(survey.answers.size, 300)
    if kind == "labels":
        assert "300 largest of 400" in table.caption
        assert len(picture.layouts[0]["datasets"]["places"]) == 60


QUESTIONS = """
name = "commute"
title = "Commute"
question = "Lunch and the way to work"
privacy = {encoding = "symmetric_unary", epsilon = 4}
estimate = {minimum = 50}
service = {storage = "reports.db", batch = 1}
[questions.lunch]
question = "Lunch?"
answers = {type = "labels", labels = ["rice", "bread", "nothing"]}
[questions.home]
question = "Where do you live?"
answers = {type = "tiles", tiles = {north = [0, 1], west = [1, 0]}}
[translations.ja]
question = "昼食と通勤"
[translations.ja.questions.lunch]
question = "昼食は何でしたか。"
labels = ["ご飯", "パン", "なし"]
"""


@pytest.mark.parametrize(
    ("language", "said", "label"), [("en", "Lunch?", "rice"), ("ja", "昼食は何でしたか。", "ご飯")]
)
def test_several_questions_have_a_chart_each_and_tables_of_two(tmp_path, language, said, label):
    survey = survey_of(tmp_path, QUESTIONS)
    made = store(survey, [0] * 300 + [3] * 100)  # rice in the north, bread in the west
    page = tmp_path / "report.html"
    assert export(survey, tmp_path / "reports.parquet", report=page, language=language) == 400
    text = page.read_text(encoding="utf-8")
    assert said in text
    assert label in text
    sections = collection_sections(survey, made, Words(language), "")
    parts = [part for section in sections for part in section.parts]
    assert [part.name for part in parts if isinstance(part, Chart)] == ["estimate", "estimate1"]
    together, lunch, home = (part for part in parts if isinstance(part, Table))
    assert (len(together.rows), len(together.header), len(lunch.rows), len(home.rows)) == (3, 3, 3, 2)
    counts = joint(made, "lunch", "home").counts
    assert together.rows[0][1].startswith(f"{round(counts[0, 0]):,}")
    assert counts[0, 0] > 200
