"""What the pages of the kinds name is known in Japanese."""

import re
from pathlib import Path

import pytest

import sudare
from sudare.anonymity import Measure, anonymized
from sudare.anonymity.anonymized import promised
from sudare.language.catalogue import Words, catalogue
from sudare.privacy.notebook import NAMES

PACKAGE = Path(sudare.__file__).parent


@pytest.mark.parametrize(
    ("family", "page"),
    [("sample", "anonymity/pages.py"), ("weights", "reweight/pages.py"), ("perturbation", "reconstruct/kind.py")],
)
def test_the_page_of_a_kind_takes_its_names_from_the_catalogue(family, page):
    used = re.findall(rf"""words\(["']({family}\.\w+)["']""", (PACKAGE / page).read_text(encoding="utf-8"))
    assert used
    assert set(used) <= set(catalogue("ja"))


def test_measures_and_their_meanings_are_known():
    """Every measure that the module makes, by code; a promised one is known with the reason for its bound."""
    text = Path(anonymized.__file__).read_text(encoding="utf-8")
    codes = {*re.findall(r'Measure\("(\w+)"', text), *anonymized.PUBLIC}
    assert len(codes) > 8
    measures = [Measure(code, 0.0, True) for code in codes] + [Measure("ncp", 0.0, True, "age"), *promised(10)]
    for measure in measures:
        for message in (measure.title, measure.meaning):
            assert re.search(r"[\u3040-\u30ff\u4e00-\u9fff]|NCP", message.text(Words("ja")))
        assert str(measure.title) == measure.name


def test_japanese_is_japanese():
    english, japanese = catalogue("en"), catalogue("ja")
    for key in english:
        if key.partition(".")[0] in ("notion", "format", "sample", "weights", "perturbation", "audit_name"):
            shown = japanese[key].forms[-1]
            assert shown != english[key].forms[-1]
            assert shown == "NCP" or re.search(r"[\u3040-\u30ff\u4e00-\u9fff：]", shown), key


def test_what_is_of_a_column_names_it():
    assert Measure("ncp", 0.5, True, "home town").title.text(Words("ja")) == "情報損失（NCP）：home town"


def test_every_notion_of_privacy_has_a_name():
    named = {key.removeprefix("notion.") for key in catalogue("ja") if key.startswith("notion.")}
    assert {*named, "none", "seeded"} == set(NAMES.values())
